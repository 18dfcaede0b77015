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
#ifndef ffdpLaunch_h
#define ffdpLaunch_h

#include "ffdpCommunicator.h"

#include <memory>
#include <string>

/** The processes that the program was started as: by mpirun or srun, or one by itself. MPI is started only if a
 * launcher started the program, and ends with this object.
 *
 * Without a number of threads from the user, processes that may run on the same cores share them. */
class Launch
{
public:
  Launch(int argc, char ** argv);
  ~Launch();
  Launch(const Launch &) = delete;
  Launch &
  operator=(const Launch &) = delete;

  ffdp::Communicator &
  Ranks() const
  {
    return *m_Ranks;
  }

  /** Processes on this machine. */
  int
  RanksHere() const
  {
    return m_RanksHere;
  }

  /** Throws CommandError if a launcher started several processes that do not find each other. */
  void
  RequireAll() const;

  /** The largest code of all ranks, on all ranks, which make the call when they have done their work. */
  int
  AgreeOnCode(int code) const;

  /** For a rank that cannot go on. True if all ranks say so within a moment: then all of them can end as usual, and
   * rank 0 tells why. Otherwise the others wait for this one, and it has to tell why itself and to call Abort(). */
  bool
  AllFailed() const;

  /** Ends all ranks at once with this code. */
  [[noreturn]] void
  Abort(int code) const;

  /** Of the one that was built in, if any. */
  static std::string
  NameOfMpi();

private:
  struct Mpi;

  std::unique_ptr<Mpi>                m_Mpi;
  std::unique_ptr<ffdp::Communicator> m_Ranks;
  int                                 m_RanksHere = 1;
  const char *                        m_SignOfSeveral; ///< in the environment, as it was before MPI started
};

#endif
