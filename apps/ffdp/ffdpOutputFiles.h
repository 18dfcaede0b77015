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
#ifndef ffdpOutputFiles_h
#define ffdpOutputFiles_h

#include "ffdpCommunicator.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

/** Calls write(name) with a temporary name in a private folder beside `file` (see ffdpTemporaryFiles.h) that ends
 * alike, then renames it to `file`: the file is there as a whole or not at all. If `file` is a link, all this happens
 * where it leads (see ffdpOutputNames.h). Within the life of an OutputSet, renaming waits for its Commit(). The folder
 * is made if it is missing. Signals remove the temporary file, and so does the next call for a file of this folder
 * after a process was killed.
 *
 * With a communicator, all ranks make the call and get the name that rank 0 gives it. write(name) ends by agreeing with
 * the other ranks that the file is complete (see ffdpAgreement.h), or throws on all of them; then rank 0 renames. What
 * one rank throws alone, while others wait for it, is not held up here: it ends the program. */
void
WriteAtomically(const std::string &                                   file,
                ffdp::Communicator &                                  communicator,
                const std::function<void(const std::string & name)> & write);
void
WriteAtomically(const std::string & file, const std::function<void(const std::string & name)> & write);

/** Why a library could not write all of a temporary file, which it does not say: tries to write more. */
std::string
ReasonOfLoss(const std::string & file);

/** As a whole or not at all; to a stream, as it is. */
void
WriteText(const std::string & text, const std::string & file);

class PrivateFolder;
class RemovedWhenStopped;

namespace ffdp
{
class FileLock;
}

/** Files that appear together, when all of them are complete (see ffdpFileExchange.h). There is at most one at a time,
 * on each rank: all ranks have it, rank 0 gives the files their names. */
class OutputSet
{
public:
  /** Makes the folder, and takes the lock of the prefix, which no two runs have at a time: throws if another run has
   * it. Removes what a run that was killed left behind for this prefix, or finishes what it began. */
  OutputSet(const std::string & prefix, ffdp::Communicator & communicator);

  /** Removes what was not committed. */
  ~OutputSet();
  OutputSet(const OutputSet &) = delete;
  OutputSet &
  operator=(const OutputSet &) = delete;

  /** Gives all files their names, and removes those of `outdated` that are there and are not among them. All ranks make
   * the call. */
  void
  Commit(const std::vector<std::string> & outdated = {});

  const std::vector<std::string> &
  Files() const
  {
    return m_Files;
  }

  /** What Commit() removed, on the first rank. */
  const std::vector<std::string> &
  Removed() const
  {
    return m_Removed;
  }

private:
  struct Pending
  {
    std::string                         temporary, name;
    std::unique_ptr<RemovedWhenStopped> removal;
  };

  /** The place of the private folder beside this file; on rank 0. */
  std::size_t
  FindFolder(const std::string & file);
  /** On rank 0. */
  void
  GiveNames(const std::vector<std::string> & outdated);

  friend void
  WriteAtomically(const std::string &                                   file,
                  ffdp::Communicator &                                  communicator,
                  const std::function<void(const std::string & name)> & write);

  ffdp::Communicator &                        m_Communicator;
  std::string                                 m_Run;
  std::vector<std::unique_ptr<PrivateFolder>> m_Folders; ///< on rank 0; the first is beside the prefix
  std::unique_ptr<ffdp::FileLock>             m_Lock;    ///< on rank 0
  std::unique_ptr<RemovedWhenStopped>         m_LockRemoval;
  std::vector<Pending>                        m_Pending;
  std::vector<std::string>                    m_Files; ///< final names of all, also after Commit()
  std::vector<std::string>                    m_Removed;
};

#endif
