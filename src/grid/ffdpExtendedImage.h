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
#ifndef ffdpExtendedImage_h
#define ffdpExtendedImage_h

#include "ffdpSlab.h"

#include <memory>

namespace ffdp
{

/** Memory in which planes that lie apart are put side by side. Images that are looked at one after the other share it.
 */
using JoinedPlanes = std::shared_ptr<DeviceArray<float>>;

/** An image that does not change, of which this rank owns some planes, with planes of other ranks below and above them.
 * The owned planes stay where they are: an image is not copied to have a few neighbors. */
class ExtendedImage
{
public:
  ExtendedImage() = default;
  ExtendedImage(Backend &                       backend,
                Communicator &                  communicator,
                const VolumeView<const float> & own,
                const JoinedPlanes &            joined);

  /** Fetches what ranks want (wanted[rank]) and do not have yet. Ranks that have all that they want keep what they
   * hold, and nothing is sent to them. `inOnePiece`: what this rank fetches is held in one piece with a copy of its
   * own planes. That takes less than View() does where most of them are seen at once. */
  void
  Extend(const std::vector<PlaneRange> & wanted, bool inOnePiece = false);

  /** Gives back what was fetched. All ranks do, or none. */
  void
  Forget();

  /** These planes in one piece: in place where they lie so, otherwise put together; good until the next call for an
   * image that shares the memory for that. */
  VolumeView<const float>
  View(const PlaneRange & planes);

  const VolumeView<const float> &
  Own() const
  {
    return m_Own;
  }

private:
  /** For planes that this rank fetches. */
  void
  MakeRoom(const PlaneRange & below, const PlaneRange & above, bool inOnePiece);
  /** Gives back the memory for them. */
  void
  Release();

  Backend *               m_Backend = nullptr;
  Communicator *          m_Communicator = nullptr;
  VolumeView<const float> m_Own;
  std::vector<PlaneRange> m_Held; ///< by each rank in one piece: what it fetched, with its own planes if they touch
  Slab                    m_Below, m_Above; ///< or
  Slab                    m_Whole;          ///< with its own planes
  JoinedPlanes            m_Joined;
};

} // namespace ffdp

#endif
