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
#include "ffdpRunInput.h"

#include "ffdpCheck.h"

namespace ffdp
{

void
RequireOwnPlanes(const Communicator & communicator, const std::vector<ImagePair> & pairs)
{
  for (const ImagePair & pair : pairs)
  {
    for (const VolumeView<const float> & volume :
         { pair.fixed.voxels, pair.moving.voxels, pair.fixedMask, pair.movingMask })
    {
      if (!volume.IsGiven())
      {
        continue;
      }
      const Extent &   size = volume.domain;
      const PlaneRange own = Partition(size.z, communicator.Size()).Owned(communicator.Rank());
      Require(volume.firstPlane == own.first && volume.EndPlane() == own.end,
              "an image does not hold the planes that this rank owns");
      Require(volume.rowStride == size.x && volume.planeStride == size.x * size.y,
              "an image to register is not densely packed");
    }
  }
}

Slab
TakeWarp(Backend & backend, Communicator & communicator, const WarpView<const float> & warp, const Extent & size)
{
  RequireSameDomain(warp.domain, size, "the warp to start from and the fixed image");
  Slab               copy(backend, communicator, size, 3);
  const PlaneRange & own = copy.Owned();
  Require(warp.elementStride == 1 && warp.firstPlane == own.first && warp.EndPlane() == own.end,
          "the warp to start from must be planar and hold the planes that this rank owns");
  for (int c = 0; c < 3 && !copy.IsEmpty(); ++c)
  {
    Require(warp.component[c] != nullptr, "the warp to start from must have three components");
    backend.CopyFromHost(
      copy.Volume(c).data, warp.component[c], std::size_t(warp.planes * warp.planeStride) * sizeof(float));
  }
  return copy;
}

} // namespace ffdp
