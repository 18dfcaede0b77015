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
#include "ffdpOutputFiles.h"

#include "ffdpAgreement.h"
#include "ffdpCommandError.h"
#include "ffdpImageFiles.h"
#include "ffdpLibraryChatter.h"

#include "itkMacro.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace
{

namespace fs = std::filesystem;


thread_local OutputSet * theOutputSet = nullptr; // in tests, ranks are threads

/** How temporary names on this machine begin; then come the process, '-' and the name that the file will have. */
std::string
TemporaryMark()
{
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return ".ffdp-" + std::string(host) + "-";
}

std::string
TemporaryName(const fs::path & target)
{
  return (target.parent_path() / (TemporaryMark() + std::to_string(getpid()) + "-" + target.filename().string()))
    .string();
}

void
Remove(const fs::path & file)
{
  std::error_code ignored;
  fs::remove(file, ignored);
}

void
Rename(const std::string & temporary, const std::string & file)
{
  std::error_code error;
  fs::rename(temporary, file, error);
  if (error)
  {
    Remove(temporary);
    throw CommandError("'" + file + "' cannot be written: " + error.message());
  }
}

/** Whether this is the temporary file of a process that is gone, for a name that begins with `start`. Of processes on
 * other machines, which may share the folder, nothing is known. */
bool
IsLeftover(const std::string & name, const std::string & start)
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
  return process == getpid() || (kill(pid_t(process), 0) != 0 && errno == ESRCH);
}

/** A message in one line that names the file instead of its temporary name. */
std::string
MessageFor(std::string text, const std::string & temporary, const std::string & file)
{
  for (char & c : text)
  {
    c = c == '\n' ? ' ' : c;
  }
  const auto at = text.find(temporary);
  return at == std::string::npos ? text : text.replace(at, temporary.size(), file);
}

} // namespace

void
WriteAtomically(const std::string &                                   file,
                ffdp::Communicator &                                  communicator,
                const std::function<void(const std::string & name)> & write)
{
  const std::string temporary = TakeFromFirst(communicator, TemporaryName(file));
  try
  {
    write(temporary);
  }
  catch (const itk::ExceptionObject & failure)
  {
    Remove(temporary);
    throw CommandError("'" + file + "' cannot be written: " + MessageFor(OneLine(failure), temporary, file));
  }
  catch (const CommandError & failure)
  {
    Remove(temporary);
    throw CommandError(MessageFor(failure.what(), temporary, file));
  }
  catch (...)
  {
    Remove(temporary);
    throw;
  }
  if (theOutputSet)
  {
    theOutputSet->m_Pending.emplace_back(temporary, file);
    theOutputSet->m_Files.push_back(file);
  }
  else
  {
    DoOnFirst(communicator, [&] { Rename(temporary, file); });
  }
}

void
WriteAtomically(const std::string & file, const std::function<void(const std::string & name)> & write)
{
  WriteAtomically(file, *ffdp::MakeSelfCommunicator(), [&](const std::string & name) {
    const LibraryChatter chatter;
    write(name);
  });
}

void
WriteText(const std::string & text, const std::string & file)
{
  WriteAtomically(file, [&](const std::string & name) {
    std::ofstream out(name, std::ios::binary);
    out << text;
    out.close();
    if (!out)
    {
      throw CommandError("'" + file + "' cannot be written");
    }
  });
}

void
RequireWritable(const std::string & prefix)
{
  const fs::path  parent = fs::path(prefix).parent_path();
  std::error_code error;
  if (!parent.empty())
  {
    fs::create_directories(parent, error);
    if (error)
    {
      throw CommandError("the folder '" + parent.string() + "' cannot be made: " + error.message());
    }
  }
  const std::string folder = parent.empty() ? "." : parent.string();
  if (access(folder.c_str(), W_OK) != 0)
  {
    throw CommandError("the folder '" + folder + "' is not writable");
  }
}

OutputSet::OutputSet(const std::string & prefix, ffdp::Communicator & communicator)
  : m_Communicator(communicator)
{
  const fs::path  start(prefix);
  std::error_code error;
  if (communicator.Rank() == 0)
  {
    for (const auto & entry :
         fs::directory_iterator(start.parent_path().empty() ? fs::path(".") : start.parent_path(), error))
    {
      if (IsLeftover(entry.path().filename().string(), start.filename().string()))
      {
        Remove(entry.path());
      }
    }
  }
  theOutputSet = this;
}

/** On all ranks: rank 0 may be gone, and the files may be on a disk that others see. */
OutputSet::~OutputSet()
{
  theOutputSet = nullptr;
  for (const auto & names : m_Pending)
  {
    Remove(names.first);
  }
}

void
OutputSet::Commit()
{
  DoOnFirst(m_Communicator, [&] {
    while (!m_Pending.empty())
    {
      const auto names = m_Pending.back();
      m_Pending.pop_back();
      Rename(names.first, names.second);
    }
  });
  m_Pending.clear();
}
