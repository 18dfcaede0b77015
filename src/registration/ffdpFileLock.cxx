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
#include "ffdpFileLock.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ffdp
{
namespace
{

constexpr char Magic[] = "ffdp-lock";

std::string
HostName()
{
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return host;
}

std::string
BootOfKernel()
{
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string   boot;
  std::getline(in, boot);
  return boot;
}

/** Whether the name leads to this open file. */
bool
IsNamed(int file, const std::string & name)
{
  struct stat opened, named;
  return fstat(file, &opened) == 0 && lstat(name.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

[[noreturn]] void
Refuse(const std::string & name, const std::string & reason)
{
  throw std::runtime_error("the lock '" + name + "' cannot be taken: " + reason);
}

} // namespace

LockHolder
LockHolder::ThisProcess(const std::string & text)
{
  return { long(getpid()), HostName(), BootOfKernel(), text };
}

LockHolder
LockHolder::Parse(const std::string & bytes)
{
  LockHolder         holder;
  std::istringstream in(bytes);
  std::string        magic, process;
  if (std::getline(in, magic) && magic == Magic && std::getline(in, process) && std::getline(in, holder.host) &&
      std::getline(in, holder.boot))
  {
    holder.process = std::strtol(process.c_str(), nullptr, 10);
    std::getline(in, holder.text, '\0'); // the rest, with anything but zeros in it
  }
  return holder.process > 0 ? holder : LockHolder();
}

std::string
LockHolder::Bytes() const
{
  return std::string(Magic) + "\n" + std::to_string(process) + "\n" + host + "\n" + boot + "\n" + text;
}

std::string
LockHolder::Name() const
{
  return process > 0 ? "process " + std::to_string(process) + " of host '" + host + "'" : "another process";
}

bool
LockHolder::IsOfThisMachine() const
{
  return (!boot.empty() && boot == BootOfKernel()) || (!host.empty() && host == HostName());
}

LockAttempt
TryToLock(int file)
{
  while (flock(file, LOCK_EX | LOCK_NB) != 0)
  {
    switch (errno)
    {
      case EINTR:
        break;
      case EWOULDBLOCK:
        return LockAttempt::HeldElsewhere;
      case ENOLCK:
      case ENOSYS:
      case EOPNOTSUPP:
      case EINVAL:
      case EBADF: // network file systems that lock only what is open in another way
        return LockAttempt::NotSupported;
      default:
        throw std::runtime_error(std::strerror(errno));
    }
  }
  return LockAttempt::Got;
}

std::string
ReadLockFile(int file)
{
  char          bytes[1 << 13];
  const ssize_t count = pread(file, bytes, sizeof(bytes), 0);
  return std::string(bytes, std::size_t(count > 0 ? count : 0));
}

bool
IsOwnFile(int file, const std::string & name, uid_t owner)
{
  struct stat status;
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == owner && status.st_nlink == 1 &&
         IsNamed(file, name);
}

FileLock::FileLock(const std::string & file, const std::string & what, const std::string & text, uid_t owner)
  : m_Name(file)
{
  constexpr int MostAttempts = 100; // others may come and go
  for (int attempt = 0; !this->Take(what, owner); ++attempt)
  {
    if (attempt == MostAttempts)
    {
      Refuse(file, "it comes and goes all the time");
    }
  }
  this->Write(what, text);
}

bool
FileLock::Take(const std::string & what, uid_t owner)
{
  constexpr int Flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, OnlyOwner = 0600;
  int           file = open(m_Name.c_str(), Flags | O_CREAT | O_EXCL, OnlyOwner);
  const bool    made = file >= 0;
  if (!made && errno == EEXIST)
  {
    file = open(m_Name.c_str(), Flags);
  }
  if (file < 0)
  {
    const int   reason = errno;
    struct stat status;
    if (reason == ENOENT && lstat(m_Name.c_str(), &status) != 0 && errno == ENOENT)
    {
      return false;
    }
    Refuse(m_Name,
           reason == ELOOP ? "it is a link: remove it"
           : reason == EACCES
             ? "it belongs to another user, who may be using " + what + ", or the folder is not writable"
             : std::strerror(reason));
  }
  LockAttempt attempt;
  try
  {
    attempt = TryToLock(file);
  }
  catch (const std::runtime_error & error)
  {
    if (made)
    {
      unlink(m_Name.c_str());
    }
    close(file);
    Refuse(m_Name, error.what());
  }
  struct stat status;
  if (made && fstat(file, &status) == 0)
  {
    owner = status.st_uid; // a network file system may say another one
  }
  const bool isOwn = IsOwnFile(file, m_Name, owner), isNamed = IsNamed(file, m_Name);
  if (isOwn && (attempt == LockAttempt::Got || (attempt == LockAttempt::NotSupported && made)))
  {
    m_File = file;
    m_Owner = owner;
    return true;
  }
  const std::string inUse = what + " is in use by " + LockHolder::Parse(ReadLockFile(file)).Name();
  close(file);
  if (attempt == LockAttempt::HeldElsewhere)
  {
    throw std::runtime_error(inUse + ": wait for its end, or take another name");
  }
  if (isNamed && !isOwn)
  {
    Refuse(m_Name, "it is no regular file of this user: remove it");
  }
  if (isNamed)
  {
    throw std::runtime_error(inUse +
                             ", or was when that was killed (this file system has no locks): wait for its end, or "
                             "remove '" +
                             m_Name + "'");
  }
  return false;
}

void
FileLock::Write(const std::string & what, const std::string & text)
{
  const std::string bytes = LockHolder::ThisProcess(text).Bytes();
  if (ftruncate(m_File, 0) != 0 || pwrite(m_File, bytes.data(), bytes.size(), 0) != ssize_t(bytes.size()))
  {
    const std::string reason = std::strerror(errno);
    unlink(m_Name.c_str());
    close(m_File);
    throw std::runtime_error("the lock '" + m_Name + "' of " + what + " cannot be written: " + reason);
  }
}

FileLock::~FileLock()
{
  if (IsNamed(m_File, m_Name))
  {
    unlink(m_Name.c_str());
  }
  close(m_File);
}

} // namespace ffdp
