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

#include "ffdpCommandError.h"
#include "ffdpFileLock.h"
#include "ffdpOutputNames.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <random>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace
{

constexpr int MostAttempts = 100; // another run may remove what is not locked yet

/** What says the format of a file: .nii.gz of a.b.nii.gz. Longer ones are no endings. */
std::string
EndingOf(const std::string & name)
{
  constexpr std::size_t LongestEnding = 32;
  const fs::path        file = fs::path(name).filename();
  const std::string     last = file.extension().string();
  const std::string     ending = last == ".gz" || last == ".GZ" ? file.stem().extension().string() + last : last;
  return ending.size() <= LongestEnding ? ending : std::string();
}

std::string
ThisFolder(const fs::path & folder)
{
  return folder.empty() ? "." : folder.string();
}

} // namespace

MadeFolders::~MadeFolders()
{
  while (!m_Folders.empty())
  {
    rmdir(m_Folders.back()->Name().c_str());
    m_Folders.pop_back();
  }
}

void
MadeFolders::Make(const fs::path & folder)
{
  std::vector<fs::path> missing;
  std::error_code       ignored;
  fs::path              there = folder;
  for (; !there.empty() && !fs::exists(fs::symlink_status(there, ignored)); there = there.parent_path())
  {
    missing.push_back(there);
  }
  if (!fs::is_directory(ThisFolder(there), ignored))
  {
    throw CommandError("the folder '" + folder.string() + "' cannot be made: '" + ThisFolder(there) +
                       "' is not a folder");
  }
  for (; !missing.empty(); missing.pop_back())
  {
    const std::string name = missing.back().string();
    if (mkdir(name.c_str(), 0777) == 0)
    {
      m_Folders.push_back(std::make_unique<RemovedWhenStopped>(name));
    }
    else if (errno != EEXIST) // of another run; and of a name that ends in a slash
    {
      throw CommandError("the folder '" + folder.string() + "' cannot be made: " + std::strerror(errno));
    }
  }
}

RunMark
RunMark::Make(const std::string & prefix)
{
  std::random_device random;
  std::ostringstream run;
  for (int word = 0; word < 4; ++word)
  {
    run << std::hex << random() << '-';
  }
  return { run.str(), prefix, "" };
}

/** The names may have any character but zero and come last; that of the journal is told by its length. */
std::string
RunMark::Text() const
{
  return run + "\n" + std::to_string(journal.size()) + "\n" + journal + prefix;
}

RunMark
RunMark::Parse(const std::string & text)
{
  RunMark            mark;
  std::istringstream in(text);
  std::string        size;
  std::getline(in, mark.run);
  std::getline(in, size);
  std::getline(in, mark.prefix, '\0');
  const auto length = std::size_t(std::strtoul(size.c_str(), nullptr, 10));
  if (length > mark.prefix.size())
  {
    return {};
  }
  mark.journal = mark.prefix.substr(0, length);
  mark.prefix.erase(0, length);
  return mark;
}

PrivateFolder::PrivateFolder(const fs::path & parent, const RunMark & mark)
  : m_Parent(ThisFolder(parent))
{
  for (int attempt = 0; !this->Make(mark); ++attempt)
  {
    this->Close();
    if (attempt == MostAttempts)
    {
      throw CommandError("the folder '" + m_Parent.string() + "' is not writable: what is made in it is gone at once");
    }
  }
}

bool
PrivateFolder::Make(const RunMark & mark)
{
  const SignalsWait wait;
  m_Made.Make(m_Parent);
  std::string name = (m_Parent / ".ffdp-XXXXXX").string();
  if (!mkdtemp(&name[0]))
  {
    if (errno == ENOENT && fs::path(m_Parent).has_parent_path()) // another run made the parent, and removed it
    {
      std::error_code ignored;
      if (!fs::exists(m_Parent, ignored))
      {
        return false;
      }
      errno = ENOENT;
    }
    throw CommandError("the folder '" + m_Parent.string() + "' is not writable: " + std::strerror(errno));
  }
  m_Path = name;
  m_Removal = std::make_unique<RemovedWhenStopped>(m_Path);
  try
  {
    return this->Lock(mark);
  }
  catch (...)
  {
    this->Close();
    throw;
  }
}

/** False if another run took the folder for one that was left, before it was locked. */
bool
PrivateFolder::Lock(const RunMark & mark)
{
  const auto fail = [this] {
    throw CommandError("the folder '" + m_Parent.string() + "' is not writable: " + std::strerror(errno));
  };
  constexpr int OpenFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC, OnlyOwner = 0600;
  m_ParentHandle = open(m_Parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); // it need not be readable
  m_Handle = open(m_Path.c_str(), OpenFolder | O_NOFOLLOW);
  m_Lock = m_Handle < 0 || m_ParentHandle < 0
             ? -1
             : openat(m_Handle, LockName, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, OnlyOwner);
  if (m_Lock < 0)
  {
    return errno == ENOENT ? false : (fail(), false);
  }
  const std::string lock = m_Path + "/" + LockName;
  m_LockRemoval = std::make_unique<RemovedWhenStopped>(lock, true);
  struct stat status;
  if (fstat(m_Handle, &status) != 0)
  {
    fail();
  }
  m_Owner = status.st_uid;
  m_Rights = status.st_mode;
  ffdp::LockAttempt attempt;
  try
  {
    attempt = ffdp::TryToLock(m_Lock);
  }
  catch (const std::runtime_error & error)
  {
    throw CommandError("'" + lock + "' cannot be locked: " + error.what());
  }
  if (attempt == ffdp::LockAttempt::HeldElsewhere || fstat(m_Lock, &status) != 0 || status.st_nlink == 0)
  {
    return false;
  }
  const std::string text = ffdp::LockHolder::ThisProcess(mark.Text()).Bytes();
  if (write(m_Lock, text.data(), text.size()) != ssize_t(text.size()))
  {
    fail();
  }
  return true;
}

void
PrivateFolder::Close()
{
  if (!m_IsKept && m_Handle >= 0)
  {
    EmptyFolder(m_Handle, LockName);
  }
  if (!m_IsKept && !m_Path.empty())
  {
    rmdir(m_Path.c_str());
  }
  m_LockRemoval.reset();
  m_Removal.reset();
  for (int * handle : { &m_Handle, &m_ParentHandle, &m_Lock }) // last: it says that this process lives
  {
    if (*handle >= 0)
    {
      close(*handle);
    }
    *handle = -1;
  }
  m_Path.clear();
}

PrivateFolder::~PrivateFolder()
{
  this->Close();
}

std::unique_ptr<PrivateFolder>
MakePrivateFolder(const std::string & file, const fs::path & target)
{
  try
  {
    return std::make_unique<PrivateFolder>(target.parent_path());
  }
  catch (const CommandError & error)
  {
    throw CommandError("'" + file + "' cannot be written: " + error.what());
  }
}

std::string
PrivateFolder::NewName(const std::string & like)
{
  return m_Path + "/" + std::to_string(++m_Names) + EndingOf(like);
}

void
PrivateFolder::RequireName(const std::string & name, const std::string & shown) const
{
  const auto        refuse = [&] { throw CommandError("'" + shown + "' cannot be written: " + std::strerror(errno)); };
  constexpr int     Flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, OnlyOwner = 0600;
  const SignalsWait wait;
  const int         file = openat(m_Handle, name.c_str(), Flags, OnlyOwner);
  if (file < 0 && errno != EEXIST) // the name of the lock
  {
    refuse();
  }
  if (file >= 0)
  {
    unlinkat(m_Handle, name.c_str(), 0);
    close(file);
  }
  const fs::path target = m_Parent / name;
  struct stat    there, folder;
  if (lstat(target.c_str(), &there) != 0)
  {
    return errno == ENOENT ? void() : refuse();
  }
  const uid_t user = geteuid();
  const bool  othersStay = fstat(m_ParentHandle, &folder) == 0 && (folder.st_mode & S_ISVTX) != 0;
  if (othersStay && user != 0 && user != there.st_uid && user != folder.st_uid)
  {
    throw CommandError("'" + shown + "' belongs to another user, and only that one can replace it in this folder");
  }
  if (access(target.c_str(), W_OK) != 0 && errno == EPERM) // of a file that nobody may change, also not its owner
  {
    refuse();
  }
}

void
PrivateFolder::KeepWhenStopped()
{
  m_LockRemoval.reset();
  m_Removal.reset();
}

void
PrivateFolder::Keep()
{
  this->KeepWhenStopped();
  m_IsKept = true;
}

std::optional<std::vector<std::string>>
ListFolder(int folder)
{
  const int   again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR * const entries = again < 0 ? nullptr : fdopendir(again);
  if (!entries)
  {
    if (again >= 0)
    {
      close(again);
    }
    return {};
  }
  std::vector<std::string> names;
  errno = 0;
  while (const dirent * entry = readdir(entries))
  {
    const std::string name = entry->d_name;
    if (name != "." && name != "..")
    {
      names.push_back(name);
    }
  }
  const bool isWhole = errno == 0;
  closedir(entries);
  return isWhole ? std::optional<std::vector<std::string>>(names) : std::nullopt;
}

void
EmptyFolder(int folder, const std::string & last)
{
  const auto names = ListFolder(folder);
  bool       isEmpty = names.has_value();
  for (const std::string & name : names.value_or(std::vector<std::string>()))
  {
    isEmpty = (name == last || unlinkat(folder, name.c_str(), 0) == 0) && isEmpty;
  }
  if (isEmpty)
  {
    unlinkat(folder, last.c_str(), 0);
  }
}

TemporaryFile::TemporaryFile(const std::string & file)
  : m_Folder(fs::path(FollowLinks(file)).parent_path())
  , m_Name(m_Folder.NewName(file))
  , m_Removal(m_Name)
{}

TemporaryFile::~TemporaryFile()
{
  unlink(m_Name.c_str()); // while a signal would remove it, too
}
