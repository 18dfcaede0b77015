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
#include "ffdpFileExchange.h"
#include "ffdpImageFiles.h"
#include "ffdpInterruption.h"
#include "ffdpOutputNames.h"
#include "ffdpTemporaryFiles.h"

#include "itkMacro.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace
{

namespace fs = std::filesystem;

thread_local OutputSet * theOutputSet = nullptr; // in tests, ranks are threads

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

/** Beside the file that links lead to, so that renaming replaces it; ends like the name that was given. */
std::string
TemporaryNameFor(const std::string & file, const std::string & target)
{
  return TemporaryName(target == file ? file : target + "-" + fs::path(file).filename().string());
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
  const std::string target = FollowLinks(file);
  DoOnFirst(communicator, [&] {
    RequireReplaceable({ file });
    MakeFolderOf(target);
    RemoveLeftovers(target, false);
  });
  const std::string temporary = TakeFromFirst(communicator, TemporaryNameFor(file, target));
  auto              removal = std::make_unique<RemovedWhenStopped>(temporary);
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
    theOutputSet->m_Pending.push_back({ temporary, target, std::move(removal) });
    theOutputSet->m_Files.push_back(file);
  }
  else
  {
    DoOnFirst(communicator, [&] { Rename(temporary, target); });
  }
}

void
WriteAtomically(const std::string & file, const std::function<void(const std::string & name)> & write)
{
  WriteAtomically(file, *ffdp::MakeSelfCommunicator(), write);
}

std::string
ReasonOfLoss(const std::string & file)
{
  const std::string bytes(1 << 16, 'x');
  const int         handle = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const ssize_t     written = handle < 0 ? -1 : write(handle, bytes.data(), bytes.size());
  std::string       reason = written < 0 ? std::strerror(errno) : "was the disk full for a moment?";
  if (written >= 0 && std::size_t(written) < bytes.size())
  {
    reason = std::strerror(ENOSPC);
  }
  if (handle >= 0)
  {
    close(handle);
  }
  return reason;
}

namespace
{

/** To what is open, or is opened here and not made. */
void
WriteToStream(const std::string & text, const std::string & file)
{
  std::fflush(stdout); // what was printed before comes first, if this is the same stream
  const int   descriptor = DescriptorOf(file);
  const int   handle = descriptor >= 0 ? dup(descriptor) : open(file.c_str(), O_WRONLY | O_CLOEXEC);
  std::size_t done = 0;
  ssize_t     written = handle < 0 ? -1 : 0;
  while (written >= 0 && done < text.size())
  {
    written = write(handle, text.data() + done, text.size() - done);
    done += std::size_t(std::max<ssize_t>(written, 0));
  }
  const int reason = errno;
  if (handle >= 0)
  {
    close(handle);
  }
  if (written < 0)
  {
    throw CommandError("'" + file + "' cannot be written: " + std::strerror(reason));
  }
}

} // namespace

void
WriteText(const std::string & text, const std::string & file)
{
  if (IsStream(file))
  {
    WriteToStream(text, file);
    return;
  }
  WriteAtomically(file, [&](const std::string & name) {
    errno = 0;
    std::ofstream out(name, std::ios::binary);
    out << text;
    out.close();
    if (!out)
    {
      throw CommandError("'" + file + "' cannot be written: " + std::strerror(errno));
    }
  });
}

void
MakeFolderOf(const std::string & file)
{
  const fs::path  parent = fs::path(file).parent_path();
  std::error_code error;
  if (!parent.empty())
  {
    fs::create_directories(parent, error);
  }
  if (error)
  {
    throw CommandError("the folder '" + parent.string() + "' cannot be made: " + error.message());
  }
}

OutputSet::OutputSet(const std::string & prefix, ffdp::Communicator & communicator)
  : m_Prefix(prefix)
  , m_Communicator(communicator)
{
  if (communicator.Rank() == 0)
  {
    RemoveLeftovers(prefix, true);
  }
  theOutputSet = this;
}

/** On all ranks: rank 0 may be gone, and the files may be on a disk that others see. */
OutputSet::~OutputSet()
{
  theOutputSet = nullptr;
  for (const Pending & file : m_Pending)
  {
    Remove(file.temporary);
  }
}

void
OutputSet::Commit(const std::vector<std::string> & outdated)
{
  FileExchange exchange;
  for (Pending & file : m_Pending)
  {
    exchange.arriving.emplace_back(file.temporary, file.name);
    file.removal.reset(); // from now on, a run that is stopped is finished by the next
  }
  DoOnFirst(m_Communicator, [&] {
    std::error_code ignored;
    for (const std::string & file : outdated)
    {
      if (!IsAmong(file, m_Files) && fs::is_regular_file(file, ignored))
      {
        exchange.leaving.push_back(file);
      }
    }
    if (!m_Pending.empty())
    {
      ExchangeFiles(exchange, JournalName(m_Prefix));
    }
  });
  m_Removed = exchange.leaving;
  m_Pending.clear();
}
