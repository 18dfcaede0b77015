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
#include "ffdpFileExchange.h"

#include "ffdpCommandError.h"
#include "ffdpOutputNames.h"
#include "ffdpTemporaryFiles.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

namespace
{

const std::string JournalEnding = ".ffdp-journal", AsideEnding = ".old";

bool
IsThere(const std::string & file)
{
  std::error_code ignored;
  return fs::exists(fs::symlink_status(file, ignored));
}

std::string
AsideName(const std::string & file)
{
  return TemporaryName(file) + AsideEnding;
}

/** Renames, and remembers how to undo it. */
class Renames
{
public:
  void
  Do(const std::string & from, const std::string & to, const std::string & about)
  {
    std::error_code error;
    fs::rename(from, to, error);
    if (error)
    {
      throw CommandError("'" + about + "' cannot be written: " + error.message());
    }
    m_Done.emplace_back(from, to);
  }
  void
  Undo()
  {
    std::error_code ignored;
    for (auto done = m_Done.rbegin(); done != m_Done.rend(); ++done)
    {
      fs::rename(done->second, done->first, ignored);
    }
  }

private:
  std::vector<std::pair<std::string, std::string>> m_Done;
};

/** Temporary name, name, ... each ended by a zero; without a temporary name, the file goes. It is there as a whole or
 * not at all. */
void
WriteJournal(const FileExchange & exchange, const std::string & journal)
{
  const std::string unfinished = journal + ".part";
  std::ofstream     out(unfinished, std::ios::binary);
  for (const auto & names : exchange.arriving)
  {
    out << fs::absolute(names.first).string() << '\0' << fs::absolute(names.second).string() << '\0';
  }
  for (const std::string & file : exchange.leaving)
  {
    out << '\0' << fs::absolute(file).string() << '\0';
  }
  out.close();
  const int       reason = errno;
  std::error_code error;
  if (out)
  {
    fs::rename(unfinished, journal, error);
  }
  if (!out || error)
  {
    std::error_code ignored;
    fs::remove(unfinished, ignored);
    throw CommandError("'" + journal + "' cannot be written: " + (error ? error.message() : std::strerror(reason)));
  }
}

} // namespace

std::string
JournalName(const std::string & prefix)
{
  return TemporaryName(prefix) + JournalEnding;
}

bool
IsJournal(const std::string & file)
{
  return file.size() > JournalEnding.size() &&
         file.compare(file.size() - JournalEnding.size(), JournalEnding.size(), JournalEnding) == 0;
}

void
ExchangeFiles(const FileExchange & exchange, const std::string & journal)
{
  std::vector<std::string> targets = exchange.leaving;
  for (const auto & names : exchange.arriving)
  {
    targets.push_back(names.second);
  }
  RequireReplaceable(targets);
  WriteJournal(exchange, journal);
  std::error_code ignored;
  Renames         renames;
  try
  {
    for (const std::string & file : targets)
    {
      if (IsThere(file))
      {
        renames.Do(file, AsideName(file), file);
      }
    }
    for (const auto & names : exchange.arriving)
    {
      renames.Do(names.first, names.second, names.second);
    }
  }
  catch (...)
  {
    renames.Undo();
    fs::remove(journal, ignored);
    throw;
  }
  fs::remove(journal, ignored);
  for (const std::string & file : targets)
  {
    fs::remove(AsideName(file), ignored);
  }
}

void
FinishExchange(const std::string & journal)
{
  std::ifstream   in(journal, std::ios::binary);
  std::error_code ignored;
  for (std::string temporary, file; std::getline(in, temporary, '\0') && std::getline(in, file, '\0');)
  {
    if (temporary.empty())
    {
      fs::remove(file, ignored);
    }
    else if (IsThere(temporary))
    {
      fs::rename(temporary, file, ignored);
    }
  }
  fs::remove(journal, ignored);
}
