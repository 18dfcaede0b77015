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
#ifndef ffdpTemporaryFiles_h
#define ffdpTemporaryFiles_h

#include "ffdpInterruption.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

/** Folders that were missing. At the end of this object's life, those go that nothing is in. */
class MadeFolders
{
public:
  MadeFolders() = default;
  ~MadeFolders();
  MadeFolders(const MadeFolders &) = delete;
  MadeFolders &
  operator=(const MadeFolders &) = delete;

  /** Makes this folder and those that it is in. Throws CommandError. */
  void
  Make(const std::filesystem::path & folder);

private:
  std::vector<std::unique_ptr<RemovedWhenStopped>> m_Folders;
};

/** What a private folder says of the run that made it. */
struct RunMark
{
  std::string run;     ///< a number that no other run has
  std::string prefix;  ///< of its outputs, without the folder; a run without a journal has none
  std::string journal; ///< the private folder in which the journal of the run would be

  static RunMark
  Make(const std::string & prefix);

  std::string
  Text() const;
  static RunMark
  Parse(const std::string & text);
};

/** Files that are not complete yet lie in a folder `.ffdp-XXXXXX` beside those that they will be, so that renaming them
 * is all that is left to do. Only this user can enter it, and nobody knows its name before: nobody else can put files
 * or links in their way. Names in it are short, so that those of outputs may be as long as the file system allows.
 *
 * The file `lock` in it is locked as long as this process lives. If it is not, the folder was left by one that was
 * killed (see ffdpLeftovers.h). Where files cannot be locked, such a folder stays until the user removes it. */
class PrivateFolder
{
public:
  static constexpr const char * LockName = "lock";

  /** In a folder that is made if it is missing. That this succeeds shows that files can be written there; throws
   * CommandError if not. */
  explicit PrivateFolder(const std::filesystem::path & parent, const RunMark & mark = {});

  /** Removes the folder with all that is in it. */
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder &) = delete;
  PrivateFolder &
  operator=(const PrivateFolder &) = delete;

  const std::filesystem::path &
  Parent() const
  {
    return m_Parent;
  }
  const std::string &
  Path() const
  {
    return m_Path;
  }
  int
  Handle() const
  {
    return m_Handle;
  }
  int
  ParentHandle() const
  {
    return m_ParentHandle;
  }

  /** The owner and the rights of what this process makes here; where files have none, all look alike. */
  uid_t
  Owner() const
  {
    return m_Owner;
  }
  mode_t
  Rights() const
  {
    return m_Rights;
  }

  /** A new name in it, that ends like this one: endings say the format. */
  std::string
  NewName(const std::string & like);

  /** Throws CommandError unless a file in the parent folder can have this name. `shown` is for the message. */
  void
  RequireName(const std::string & name, const std::string & shown) const;

  /** From now on, the next run takes care of it if this one is stopped. */
  void
  KeepWhenStopped();
  /** It stays when this object goes, for the next run. */
  void
  Keep();

private:
  bool
  Make(const RunMark & mark);
  bool
  Lock(const RunMark & mark);
  void
  Close();

  MadeFolders                         m_Made;
  std::filesystem::path               m_Parent;
  std::string                         m_Path;
  int                                 m_ParentHandle = -1, m_Handle = -1, m_Lock = -1;
  uid_t                               m_Owner = 0;
  mode_t                              m_Rights = 0;
  int                                 m_Names = 0;
  bool                                m_IsKept = false;
  std::unique_ptr<RemovedWhenStopped> m_LockRemoval, m_Removal;
};

/** The private folder of a file that is about to be written to `target`; messages name the file as the user does. */
std::unique_ptr<PrivateFolder>
MakePrivateFolder(const std::string & file, const std::filesystem::path & target);

/** Unlinks all in an open folder but the file `last`, and then that if nothing else is left. */
void
EmptyFolder(int folder, const std::string & last);

/** The names of all in an open folder, if they can be read. */
std::optional<std::vector<std::string>>
ListFolder(int folder);

/** A name for a file that nobody but this program sees, beside `file` or where that leads to; removed in the end. */
class TemporaryFile
{
public:
  explicit TemporaryFile(const std::string & file);
  ~TemporaryFile();

  const std::string &
  Name() const
  {
    return m_Name;
  }

private:
  PrivateFolder      m_Folder;
  std::string        m_Name;
  RemovedWhenStopped m_Removal;
};

#endif
