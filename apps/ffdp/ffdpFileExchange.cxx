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
#include "ffdpLeftovers.h"
#include "ffdpOutputNames.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace
{

constexpr char        Magic[] = "ffdp-journal 1";
constexpr std::size_t LargestJournal = 1 << 20;

[[noreturn]] void
Fail(const std::string & file, int reason)
{
  throw CommandError("'" + file + "' cannot be written: " + std::strerror(reason));
}

/** Tells a file from another that gets its name later; empty if there is none. */
std::string
IdentityOf(int folder, const std::string & name)
{
  struct stat status;
  if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
  {
    return errno == ENOENT ? "" : "unknown";
  }
  return std::to_string(status.st_ino) + " " + std::to_string(status.st_size) + " " +
         std::to_string(status.st_mtim.tv_sec) + " " + std::to_string(status.st_mtim.tv_nsec);
}

std::string
AsideName(std::size_t step)
{
  return "old-" + std::to_string(step);
}

/** Whether this is the name of a file, and not a way out of its folder or into one of a run. */
bool
IsBareName(const std::string & name)
{
  return !name.empty() && name.find('/') == std::string::npos && name != "." && name != ".." &&
         name.compare(0, 6, ".ffdp-") != 0;
}

/** Renames, and remembers how to undo it. */
class Renames
{
public:
  void
  Do(int fromFolder, const std::string & from, int toFolder, const std::string & to, const std::string & shown)
  {
    if (renameat(fromFolder, from.c_str(), toFolder, to.c_str()) != 0)
    {
      Fail(shown, errno);
    }
    m_Done.push_back({ fromFolder, from, toFolder, to });
  }
  /** Whether all is as it was. */
  bool
  Undo()
  {
    bool undone = true;
    for (auto done = m_Done.rbegin(); done != m_Done.rend(); ++done)
    {
      undone = renameat(done->toFolder, done->to.c_str(), done->fromFolder, done->from.c_str()) == 0 && undone;
    }
    return undone;
  }

private:
  struct Rename
  {
    int         fromFolder;
    std::string from;
    int         toFolder;
    std::string to;
  };
  std::vector<Rename> m_Done;
};

/** It is there as a whole or not at all. It need not reach the disk: it is for the end of a process, not of the
 * machine.
 */
void
SaveJournal(const FileExchange & exchange, const PrivateFolder & folder)
{
  const std::string bytes = WriteJournal(exchange), unfinished = JournalName() + ".part";
  constexpr int     Flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, OnlyOwner = 0600;
  const int         file = openat(folder.Handle(), unfinished.c_str(), Flags, OnlyOwner);
  ssize_t           written = file < 0 ? -1 : 0;
  for (std::size_t done = 0; written >= 0 && done < bytes.size(); done += std::size_t(written))
  {
    written = write(file, bytes.data() + done, bytes.size() - done);
  }
  bool saved = written >= 0;
  int  reason = errno;
  if (file >= 0 && close(file) != 0 && saved)
  {
    saved = false;
    reason = errno;
  }
  if (saved && renameat(folder.Handle(), unfinished.c_str(), folder.Handle(), JournalName().c_str()) != 0)
  {
    saved = false;
    reason = errno;
  }
  if (!saved)
  {
    Fail(folder.Path() + "/" + JournalName(), reason);
  }
}

/** The bytes of the journal of a killed run, if it is a file as this program makes it. */
std::string
LoadJournal(int folder, const PrivateFolder & own)
{
  const int   file = openat(folder, JournalName().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat status;
  std::string bytes;
  if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == own.Owner() &&
      status.st_nlink == 1 && std::uint64_t(status.st_size) <= LargestJournal)
  {
    bytes.resize(std::size_t(status.st_size));
    if (read(file, &bytes[0], bytes.size()) != ssize_t(bytes.size()))
    {
      bytes.clear();
    }
  }
  if (file >= 0)
  {
    close(file);
  }
  return bytes;
}

/** Beside a private folder of a run that was killed. */
void
FinishStep(const ExchangeStep & step, int privateFolder, int folder, const std::string & shown)
{
  const std::string now = IdentityOf(folder, step.name);
  const bool        isOld = now == step.before;
  const bool        isFinished = step.temporary.empty()
                                   ? !isOld || now.empty() || unlinkat(folder, step.name.c_str(), 0) == 0
                                   : (!isOld && !now.empty()) || IdentityOf(privateFolder, step.temporary).empty() ||
                                renameat(privateFolder, step.temporary.c_str(), folder, step.name.c_str()) == 0;
  if (!isFinished)
  {
    throw CommandError(
      "'" + shown + "', which a run that was killed left to be finished, cannot be written: " + std::strerror(errno));
  }
}

/** The folder beside another private folder of the run of a journal, if it is one. */
struct OtherFolder
{
  OtherFolder(const std::string & path, const std::string & run, const PrivateFolder & own)
    : parent(open(fs::path(path).parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))
    , leftover(parent < 0 ? std::nullopt : Leftover::Find(parent, fs::path(path).filename().string(), own))
  {
    if (leftover && leftover->Mark().run != run)
    {
      leftover.reset();
    }
  }
  ~OtherFolder()
  {
    if (parent >= 0)
    {
      close(parent);
    }
  }
  OtherFolder(const OtherFolder &) = delete;
  OtherFolder &
  operator=(const OtherFolder &) = delete;

  int                     parent;
  std::optional<Leftover> leftover;
};

} // namespace

std::string
JournalName()
{
  return "journal";
}

std::uint64_t
HashOf(const std::string & text)
{
  std::uint64_t hash = 0xcbf29ce484222325ull; // 64-bit FNV-1a
  for (const char c : text)
  {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  }
  return hash;
}

/** Texts, each ended by a zero; the last is a check of those before. */
std::string
WriteJournal(const FileExchange & exchange)
{
  std::string bytes;
  const auto  add = [&](const std::string & text) { bytes += text + '\0'; };
  add(Magic);
  add(exchange.run);
  add(std::to_string(exchange.folders.size()));
  for (const std::string & folder : exchange.folders)
  {
    add(folder);
  }
  for (const ExchangeStep & step : exchange.steps)
  {
    add(std::to_string(step.folder));
    add(step.temporary);
    add(step.name);
    add(step.before);
  }
  add(std::to_string(HashOf(bytes)));
  return bytes;
}

std::optional<FileExchange>
ParseJournal(const std::string & bytes)
{
  std::vector<std::string> texts;
  std::size_t              checked = 0; // bytes before the last text
  for (std::size_t at = 0; at < bytes.size();)
  {
    const std::size_t end = bytes.find('\0', at);
    if (end == std::string::npos)
    {
      return {};
    }
    checked = at;
    texts.push_back(bytes.substr(at, end - at));
    at = end + 1;
  }
  constexpr std::size_t Head = 3, Fields = 4;
  if (texts.size() < Head + 1 || texts[0] != Magic || texts.back() != std::to_string(HashOf(bytes.substr(0, checked))))
  {
    return {};
  }
  texts.pop_back();
  FileExchange exchange;
  exchange.run = texts[1];
  const std::size_t folders = std::strtoull(texts[2].c_str(), nullptr, 10);
  if (exchange.run.empty() || folders == 0 || folders > texts.size() - Head ||
      (texts.size() - Head - folders) % Fields != 0)
  {
    return {};
  }
  exchange.folders.assign(texts.begin() + Head, texts.begin() + std::ptrdiff_t(Head + folders));
  for (std::size_t i = Head + folders; i < texts.size(); i += Fields)
  {
    const ExchangeStep step{
      std::size_t(std::strtoull(texts[i].c_str(), nullptr, 10)), texts[i + 1], texts[i + 2], texts[i + 3]
    };
    if (step.folder >= folders || !IsBareName(step.name) || (!step.temporary.empty() && !IsBareName(step.temporary)))
    {
      return {};
    }
    exchange.steps.push_back(step);
  }
  return exchange;
}

void
ExchangeFiles(FileExchange exchange, const std::vector<std::unique_ptr<PrivateFolder>> & folders)
{
  const auto folderOf = [&](const ExchangeStep & step) -> PrivateFolder & { return *folders[step.folder]; };
  const auto shown = [&](const ExchangeStep & step) {
    const fs::path parent = folderOf(step).Parent();
    return parent == "." ? step.name : (parent / step.name).string();
  };
  std::vector<std::string> targets;
  for (ExchangeStep & step : exchange.steps)
  {
    targets.push_back(shown(step));
    step.before = IdentityOf(folderOf(step).ParentHandle(), step.name);
  }
  RequireReplaceable(targets);
  SaveJournal(exchange, *folders.front());
  Renames renames;
  try
  {
    for (std::size_t i = 0; i < exchange.steps.size(); ++i)
    {
      const ExchangeStep & step = exchange.steps[i];
      if (!step.before.empty())
      {
        renames.Do(folderOf(step).ParentHandle(), step.name, folderOf(step).Handle(), AsideName(i), targets[i]);
      }
    }
    for (std::size_t i = 0; i < exchange.steps.size(); ++i)
    {
      const ExchangeStep & step = exchange.steps[i];
      if (!step.temporary.empty())
      {
        renames.Do(folderOf(step).Handle(), step.temporary, folderOf(step).ParentHandle(), step.name, targets[i]);
      }
    }
  }
  catch (...)
  {
    if (renames.Undo())
    {
      unlinkat(folders.front()->Handle(), JournalName().c_str(), 0);
    }
    else // the next run of this prefix finds both, and brings the new ones to their places
    {
      for (const auto & folder : folders)
      {
        folder->Keep();
      }
    }
    throw;
  }
  unlinkat(folders.front()->Handle(), JournalName().c_str(), 0);
}

bool
FinishExchange(const Leftover & leftover, const PrivateFolder & own)
{
  const auto exchange = ParseJournal(LoadJournal(leftover.Handle(), own));
  if (!exchange || exchange->run != leftover.Mark().run)
  {
    std::cerr << "ffdp: warning: '" << (own.Parent() / leftover.Name()).string()
              << "' has outputs of a run that was killed, and its journal is damaged: remove it\n";
    return false;
  }
  for (std::size_t folder = 0; folder < exchange->folders.size(); ++folder)
  {
    std::unique_ptr<OtherFolder> other;
    if (folder > 0)
    {
      other = std::make_unique<OtherFolder>(exchange->folders[folder], exchange->run, own);
      if (!other->leftover)
      {
        continue; // the user removed it
      }
    }
    const int      privateFolder = folder == 0 ? leftover.Handle() : other->leftover->Handle();
    const int      parent = folder == 0 ? own.ParentHandle() : other->parent;
    const fs::path shown = folder == 0 ? own.Parent() : fs::path(exchange->folders[folder]).parent_path();
    for (const ExchangeStep & step : exchange->steps)
    {
      if (step.folder == folder)
      {
        FinishStep(step, privateFolder, parent, (shown / step.name).string());
      }
    }
    if (other)
    {
      other->leftover->Remove();
    }
  }
  unlinkat(leftover.Handle(), JournalName().c_str(), 0);
  return true;
}
