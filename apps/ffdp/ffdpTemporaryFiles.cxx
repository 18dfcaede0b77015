/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#include "ffdpTemporaryFiles.h"

#include "ffdpFileExchange.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

namespace
{

/** How temporary names on this machine begin; then come the process, '-' and the name that the file will have. */
std::string
TemporaryMark()
{
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return ".ffdp-" + std::string(host) + "-";
}

/** Whether this is the temporary name, of a process that is gone, for a name that begins with `start`. */
bool
IsLeftover(const std::string & name, const std::string & start, bool ofOwnNumber)
{
  const std::string mark = TemporaryMark();
  if (name.compare(0, mark.size(), mark) != 0)
  {
    return false;
  }
  char *     end = nullptr;
  const long process = std::strtol(name.c_str() + mark.size(), &end, 10);
  if (process <= 0 || *end != '-' || std::string(end + 1).compare(0, start.size(), start) != 0)
  {
    return false;
  }
  return process == getpid() ? ofOwnNumber : kill(pid_t(process), 0) != 0 && errno == ESRCH;
}

} // namespace

std::string
TemporaryName(const std::string & target)
{
  const fs::path path(target);
  return (path.parent_path() / (TemporaryMark() + std::to_string(getpid()) + "-" + path.filename().string())).string();
}

void
RemoveLeftovers(const std::string & start, bool ofOwnNumber)
{
  const fs::path        path(start);
  std::error_code       error;
  std::vector<fs::path> found;
  std::vector<fs::path> journals; // of any name: they may speak of files that are about to be removed
  for (const auto & entry :
       fs::directory_iterator(path.parent_path().empty() ? fs::path(".") : path.parent_path(), error))
  {
    const std::string name = entry.path().filename().string();
    if (IsJournal(name) && IsLeftover(name, "", ofOwnNumber))
    {
      journals.push_back(entry.path());
    }
    else if (IsLeftover(name, path.filename().string(), ofOwnNumber))
    {
      found.push_back(entry.path());
    }
  }
  for (const fs::path & journal : journals)
  {
    FinishExchange(journal.string());
  }
  for (const fs::path & file : found)
  {
    fs::remove(file, error);
  }
}
