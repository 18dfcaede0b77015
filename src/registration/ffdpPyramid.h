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
#ifndef ffdpPyramid_h
#define ffdpPyramid_h

#include "ffdpAffineMap.h"
#include "ffdpSlab.h"
#include "ffdpRegistration.h"

namespace ffdp
{

/** Edges of a voxel in mm: the lengths of the columns of a map from index to mm. */
std::array<double, 3>
SpacingOf(const AffineMap & indexToPhysical);

/** The Gaussian that an image is smoothed with before it is shrunk. */
struct LevelSmoothing
{
  double sigma = -1;   ///< negative: what the shrinking asks for
  bool   inMm = false; ///< otherwise in voxels of the image at full resolution
};

/** The planes of an image that this rank owns at a level of a pyramid. */
class LevelImage
{
public:
  /** The image smoothed and resampled to `size` voxels over the same part of space; the image itself where there is
   * nothing to do. */
  LevelImage(Backend &              backend,
             Communicator &         communicator,
             const PlacedImage &    full,
             const Extent &         size,
             const LevelSmoothing & smoothing = {});

  const PlacedImage &
  Image() const
  {
    return m_Image;
  }

  /** Multiplies what was shrunk; an image that is the full one stays as it is. All ranks. */
  void
  Scale(Backend & backend, float factor)
  {
    if (m_Slab && !m_Slab.IsEmpty())
    {
      backend.Scale(m_Slab.OwnedVolume(), factor);
    }
  }

private:
  Slab        m_Slab;
  PlacedImage m_Image;
};

/** Where the voxels of an image are once it is shrunk to `size` voxels. */
AffineMap
LevelToPhysical(const PlacedImage & full, const Extent & size);

/** The size at which an image has voxels of about the size of those of a grid, each of its axes compared with the axes
 * of the grid that it lies along by the headers: images may be stored with other axes first. Axes along which it has
 * such voxels already, or larger ones, stay as they are. */
Extent
SizeForGrid(const PlacedImage & full, const AffineMap & gridToPhysical);

/** Of `planes` planes of a volume, how many to work on at a time: enough for the device, few enough to be small.
 * fewVoxels: see Backend. */
std::int64_t
PlanesAtATime(std::int64_t fewVoxels, const Extent & domain, std::int64_t planes);

} // namespace ffdp

#endif
