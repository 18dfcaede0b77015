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
#include "ffdpFileLock.h"
#include "ffdpImageFiles.h"
#include "ffdpInterruption.h"
#include "ffdpLeftovers.h"
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

/** As a journal names it, which is read by runs in other folders. */
std::string
AbsolutePath(const PrivateFolder & folder)
{
  std::error_code error;
  const fs::path  path = fs::canonical(folder.Path(), error);
  return (error ? fs::absolute(folder.Path(), error) : path).string();
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
  const std::string              target = FollowLinks(file);
  std::string                    temporary;
  std::unique_ptr<PrivateFolder> own;
  DoOnFirst(communicator, [&] {
    RequireReplaceable({ file });
    if (!theOutputSet)
    {
      own = MakePrivateFolder(file, target);
      RemoveLeftovers(*own);
    }
    temporary = (own ? *own : *theOutputSet->m_Folders[theOutputSet->FindFolder(target)]).NewName(file);
  });
  temporary = TakeFromFirst(communicator, temporary);
  auto removal = std::make_unique<RemovedWhenStopped>(temporary);
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

OutputSet::OutputSet(const std::string & prefix, ffdp::Communicator & communicator)
  : m_Communicator(communicator)
{
  DoOnFirst(communicator, [&] {
    const std::string base = fs::path(prefix).filename().string();
    const RunMark     mark = RunMark::Make(base);
    m_Run = mark.run;
    m_Folders.push_back(std::make_unique<PrivateFolder>(fs::path(prefix).parent_path(), mark));
    const PrivateFolder & own = *m_Folders.front();
    const std::string     lock = (own.Parent() / LockNameOf(base)).string();
    {
      const SignalsWait wait;
      m_Lock = std::make_unique<ffdp::FileLock>(lock, "the output '" + prefix + "'", base, own.Owner());
      m_LockRemoval = std::make_unique<RemovedWhenStopped>(lock);
    }
    RemoveLeftovers(own, &base);
  });
  theOutputSet = this;
}

/** On all ranks: rank 0 may be gone, and the files may be on a disk that others see. The lock goes before the folder
 * that was made for it. */
OutputSet::~OutputSet()
{
  theOutputSet = nullptr;
  for (const Pending & file : m_Pending)
  {
    Remove(file.temporary);
  }
  m_Lock.reset();
  m_LockRemoval.reset();
}

std::size_t
OutputSet::FindFolder(const std::string & file)
{
  const fs::path  parent = fs::path(file).parent_path();
  std::error_code ignored;
  for (std::size_t i = 0; i < m_Folders.size(); ++i)
  {
    if (fs::equivalent(parent.empty() ? fs::path(".") : parent, m_Folders[i]->Parent(), ignored))
    {
      return i;
    }
  }
  RunMark mark;
  mark.run = m_Run;
  mark.journal = AbsolutePath(*m_Folders.front());
  m_Folders.push_back(std::make_unique<PrivateFolder>(parent, mark));
  RemoveLeftovers(*m_Folders.back());
  return m_Folders.size() - 1;
}

void
OutputSet::GiveNames(const std::vector<std::string> & outdated)
{
  FileExchange exchange;
  exchange.run = m_Run;
  std::error_code ignored;
  const auto      nameOf = [](const std::string & file) { return fs::path(file).filename().string(); };
  for (const Pending & file : m_Pending)
  {
    exchange.steps.push_back({ this->FindFolder(file.name), nameOf(file.temporary), nameOf(file.name), "" });
  }
  for (const std::string & file : outdated)
  {
    if (!IsAmong(file, m_Files) && fs::is_regular_file(file, ignored))
    {
      exchange.steps.push_back({ this->FindFolder(file), "", nameOf(file), "" });
      m_Removed.push_back(file);
    }
  }
  for (const auto & folder : m_Folders)
  {
    exchange.folders.push_back(AbsolutePath(*folder));
  }
  if (!m_Pending.empty())
  {
    for (const auto & folder : m_Folders)
    {
      folder->KeepWhenStopped(); // from now on, a run that is stopped is finished by the next
    }
    m_LockRemoval.reset();
    for (Pending & file : m_Pending)
    {
      file.removal.reset();
    }
    ExchangeFiles(exchange, m_Folders);
  }
}

void
OutputSet::Commit(const std::vector<std::string> & outdated)
{
  DoOnFirst(m_Communicator, [&] { this->GiveNames(outdated); });
  m_Pending.clear();
  m_Folders.clear();
}
