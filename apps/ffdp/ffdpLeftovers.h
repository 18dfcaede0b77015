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
#ifndef ffdpLeftovers_h
#define ffdpLeftovers_h

#include "ffdpTemporaryFiles.h"

#include <optional>

/** The private folder of a run that was killed. Nobody else takes it while this object lives. */
class Leftover
{
public:
  /** Nothing unless `name`, in an open folder, is a private folder of this user, as `own` is one, whose lock is free.
   * An empty one, killed before it had a lock, is removed. */
  static std::optional<Leftover>
  Find(int parent, const std::string & name, const PrivateFolder & own);

  Leftover(Leftover && other) noexcept;
  ~Leftover();
  Leftover &
  operator=(Leftover &&) = delete;

  int
  Handle() const
  {
    return m_Handle;
  }
  const std::string &
  Name() const
  {
    return m_Name;
  }
  const RunMark &
  Mark() const
  {
    return m_Mark;
  }

  /** Whether that run was on this machine, where a lock that is free means that its process is gone. */
  bool
  IsOfThisMachine() const
  {
    return m_IsOfThisMachine;
  }

  bool
  Has(const std::string & name) const;

  void
  Remove();

private:
  Leftover() = default;

  int         m_Parent = -1, m_Handle = -1, m_Lock = -1;
  std::string m_Name;
  RunMark     m_Mark;
  bool        m_IsOfThisMachine = false;
};

/** Removes what killed runs of this user left in the folder that `own` is in. Files of others are not touched, nor what
 * a running process holds, nor what runs of other machines left, which share the folder: locks might not reach them.
 *
 * prefix: that of this run, if it has one and holds its lock. A set of files of this prefix that was complete, and was
 * getting its names when the process was killed, gets the rest of them first, from whatever machine it was (see
 * ffdpFileExchange.h); sets of other prefixes wait for runs of theirs. */
void
RemoveLeftovers(const PrivateFolder & own, const std::string * prefix = nullptr);

/** The name, in the folder of the outputs, of the file that runs of one prefix lock. */
std::string
LockNameOf(const std::string & prefix);

#endif
