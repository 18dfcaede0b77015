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
#ifndef ffdpCheckpoint_h
#define ffdpCheckpoint_h

#include "ffdpFileLock.h"
#include "ffdpRegistration.h"
#include "ffdpStateArchive.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace ffdp
{

/** A number that tells one registration from another: of the images, where they start, and the stages. It does not
 * depend on the number of ranks. */
std::uint64_t
FingerprintOf(Backend &                              backend,
              Communicator &                         communicator,
              const std::vector<ImagePair> &         pairs,
              const RegistrationStart &              start,
              const std::vector<RegistrationStage> & stages);

/** Of all that stages say. */
std::uint64_t
FingerprintOf(const std::vector<RegistrationStage> & stages);

/** The state of a registration in a directory that all ranks see: there is one whole file or none. All ranks make the
 * calls. */
class Checkpoint
{
public:
  /** Makes the directory if it is missing, and takes its lock: throws if another process keeps its state there. */
  Checkpoint(Communicator & communicator, const RegistrationCheckpoint & where, std::uint64_t fingerprint);

  bool
  IsKept() const
  {
    return !m_Where.directory.empty();
  }

  /** Whether state was saved. */
  bool
  Exists() const;

  /** Calls exchange(archive) with the file. Throws if it is that of another registration, or damaged. */
  void
  Load(const std::function<void(StateArchive &)> & exchange) const;

  /** Returns why it cannot be saved, on all ranks, or nothing. What was saved before then stays. */
  std::string
  Save(const std::function<void(StateArchive &)> & exchange);

  /** True when enough time has gone by since the last save, on this rank's clock. */
  bool
  IsDue() const;

private:
  /** Throws on all ranks unless all see the same directory, and the first can write to it. */
  void
  RequireOneDirectory();
  std::string
  MakeProbe(const std::filesystem::path & probe);

  Communicator &            m_Communicator;
  RegistrationCheckpoint    m_Where;
  std::uint64_t             m_Fingerprint;
  double                    m_LastSave;
  uid_t                     m_Owner = 0; ///< of files that the first rank makes in the directory
  std::unique_ptr<FileLock> m_Lock;      ///< on the first rank
};

} // namespace ffdp

#endif
