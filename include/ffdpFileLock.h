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
#ifndef ffdpFileLock_h
#define ffdpFileLock_h

#include "FFDPExport.h"

#include <string>
#include <sys/types.h>

namespace ffdp
{

/** A process as others can tell it from those before and after it: a process id alone comes back after a restart of the
 * machine, and is the same in all containers. */
struct FFDP_EXPORT LockHolder
{
  long        process = 0;
  std::string host;
  std::string boot; ///< of the kernel, which containers share
  std::string text; ///< anything else that the holder says of itself

  static LockHolder
  ThisProcess(const std::string & text);

  /** As it stands in the file of a lock. A text that is none of a lock makes a holder without a process. */
  static LockHolder
  Parse(const std::string & bytes);
  std::string
  Bytes() const;

  /** "process 12 of host 'node3'" */
  std::string
  Name() const;

  /** Whether locks of that process surely reach this one: both run, or ran, on one machine. Network folders can be
   * mounted such that locks stay on each machine. */
  bool
  IsOfThisMachine() const;
};

enum class LockAttempt
{
  Got,
  HeldElsewhere,
  NotSupported ///< by this file system
};

/** Takes the lock of an open file, which any end of this process releases. Throws std::runtime_error with the reason if
 * it is another than these. */
FFDP_EXPORT LockAttempt
TryToLock(int file);

/** The beginning of an open file, enough for a LockHolder. */
FFDP_EXPORT std::string
            ReadLockFile(int file);

/** Whether the name still leads to this open file, which is a regular one of this owner with no other name. */
FFDP_EXPORT bool
IsOwnFile(int file, const std::string & name, uid_t owner);

/** A file that one process at a time holds. It is removed while it is still held; what a killed process left is taken
 * over. Where files cannot be locked, the file itself is the lock, and what a killed process left must be removed by
 * hand: the message says so. */
class FFDP_EXPORT FileLock
{
public:
  /** what: "the prefix 'out_'", for the message of std::runtime_error if another process holds the lock. owner: of
   * the file, if it is there already. */
  FileLock(const std::string & file, const std::string & what, const std::string & text, uid_t owner);
  ~FileLock();
  FileLock(const FileLock &) = delete;
  FileLock &
  operator=(const FileLock &) = delete;

  uid_t
  Owner() const
  {
    return m_Owner;
  }

private:
  /** False if the file was removed meanwhile: try again. */
  bool
  Take(const std::string & what, uid_t owner);
  void
  Write(const std::string & what, const std::string & text);

  std::string m_Name;
  int         m_File = -1;
  uid_t       m_Owner = 0; ///< of the file
};

} // namespace ffdp

#endif
