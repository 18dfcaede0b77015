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
#include "ffdpLeftovers.h"

#include "ffdpFileExchange.h"
#include "ffdpFileLock.h"

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace
{

const std::string Beginning = ".ffdp-", LockEnding = ".lock";

constexpr int OpenFile = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

/** Whether `text` has so many characters after the beginning that all temporary names have, and this ending. */
bool
IsNameOf(const std::string & text, std::size_t characters, const std::string & ending)
{
  if (text.size() != Beginning.size() + characters + ending.size() ||
      text.compare(0, Beginning.size(), Beginning) != 0 ||
      text.compare(text.size() - ending.size(), ending.size(), ending) != 0)
  {
    return false;
  }
  for (std::size_t i = 0; i < characters; ++i)
  {
    if (std::isalnum(static_cast<unsigned char>(text[Beginning.size() + i])) == 0)
    {
      return false;
    }
  }
  return true;
}

/** Whether an open file is a regular one of this owner, with one name. */
bool
IsPlainFile(int file, uid_t owner)
{
  struct stat status;
  return file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == owner &&
         status.st_nlink == 1;
}

bool
GetsLock(int file)
{
  try
  {
    return ffdp::TryToLock(file) == ffdp::LockAttempt::Got;
  }
  catch (const std::exception &)
  {
    return false;
  }
}

/** The lock of a prefix that no process holds; one without a text is of a process that was killed at once. */
void
RemoveFreeLock(const PrivateFolder & own, const std::string & name)
{
  const int   file = openat(own.ParentHandle(), name.c_str(), OpenFile);
  struct stat opened, named;
  if (IsPlainFile(file, own.Owner()) && GetsLock(file))
  {
    const std::string text = ffdp::ReadLockFile(file);
    if ((text.empty() || ffdp::LockHolder::Parse(text).IsOfThisMachine()) && fstat(file, &opened) == 0 &&
        fstatat(own.ParentHandle(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 && opened.st_ino == named.st_ino)
    {
      unlinkat(own.ParentHandle(), name.c_str(), 0);
    }
  }
  if (file >= 0)
  {
    close(file);
  }
}

/** Whether files in this folder wait for names that the journal in another says. */
bool
IsNeeded(const Leftover & leftover)
{
  const std::string & journal = leftover.Mark().journal;
  struct stat         status;
  return leftover.Has(JournalName()) ||
         (!journal.empty() && lstat((journal + "/" + JournalName()).c_str(), &status) == 0);
}

} // namespace

std::optional<Leftover>
Leftover::Find(int parent, const std::string & name, const PrivateFolder & own)
{
  Leftover    found;
  struct stat status;
  found.m_Parent = parent;
  found.m_Name = name;
  found.m_Handle = openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  constexpr mode_t RightsOfOthers = 0077; // where files have no rights, own ones look as if others had them, too
  if (found.m_Handle < 0 || fstat(found.m_Handle, &status) != 0 || status.st_uid != own.Owner() ||
      (status.st_mode & RightsOfOthers & ~own.Rights()) != 0)
  {
    return {};
  }
  found.m_Lock = openat(found.m_Handle, PrivateFolder::LockName, OpenFile);
  if (found.m_Lock < 0)
  {
    if (errno == ENOENT)
    {
      unlinkat(parent, name.c_str(), AT_REMOVEDIR); // fails if anything is in it
    }
    return {};
  }
  if (!IsPlainFile(found.m_Lock, own.Owner()) || !GetsLock(found.m_Lock))
  {
    return {};
  }
  const std::string bytes = ffdp::ReadLockFile(found.m_Lock);
  const auto        holder = ffdp::LockHolder::Parse(bytes);
  if (holder.process <= 0 && !bytes.empty()) // without a text, it was killed before it wrote it
  {
    return {};
  }
  found.m_Mark = RunMark::Parse(holder.text);
  found.m_IsOfThisMachine = bytes.empty() || holder.IsOfThisMachine();
  return found;
}

Leftover::Leftover(Leftover && other) noexcept
  : m_Parent(other.m_Parent)
  , m_Handle(std::exchange(other.m_Handle, -1))
  , m_Lock(std::exchange(other.m_Lock, -1))
  , m_Name(std::move(other.m_Name))
  , m_Mark(std::move(other.m_Mark))
  , m_IsOfThisMachine(other.m_IsOfThisMachine)
{}

Leftover::~Leftover()
{
  for (const int handle : { m_Handle, m_Lock })
  {
    if (handle >= 0)
    {
      close(handle);
    }
  }
}

bool
Leftover::Has(const std::string & name) const
{
  struct stat status;
  return fstatat(m_Handle, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

void
Leftover::Remove()
{
  EmptyFolder(m_Handle, PrivateFolder::LockName);
  unlinkat(m_Parent, m_Name.c_str(), AT_REMOVEDIR);
}

void
RemoveLeftovers(const PrivateFolder & own, const std::string * prefix)
{
  constexpr std::size_t Random = 6, Hash = 16; // characters
  const std::string     ownName = std::filesystem::path(own.Path()).filename().string();
  for (const std::string & name : ListFolder(own.ParentHandle()).value_or(std::vector<std::string>()))
  {
    if (IsNameOf(name, Hash, LockEnding) && !(prefix && name == LockNameOf(*prefix)))
    {
      RemoveFreeLock(own, name);
    }
    if (!IsNameOf(name, Random, "") || name == ownName)
    {
      continue;
    }
    std::optional<Leftover> leftover = Leftover::Find(own.ParentHandle(), name, own);
    if (!leftover)
    {
      continue;
    }
    const bool ofThisPrefix = prefix && !leftover->Mark().run.empty() && leftover->Mark().prefix == *prefix;
    const bool isFinished =
      !IsNeeded(*leftover) || (ofThisPrefix && leftover->Has(JournalName()) && FinishExchange(*leftover, own));
    if (isFinished && (ofThisPrefix || leftover->IsOfThisMachine()))
    {
      leftover->Remove();
    }
  }
}

std::string
LockNameOf(const std::string & prefix)
{
  char name[32];
  std::snprintf(name, sizeof(name), "%016llx", static_cast<unsigned long long>(HashOf(prefix)));
  return Beginning + name + LockEnding;
}
