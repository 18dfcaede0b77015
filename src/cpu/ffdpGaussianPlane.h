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
#ifndef ffdpGaussianPlane_h
#define ffdpGaussianPlane_h

#include "ffdpVolume.h"

#include <cstdint>

namespace ffdp
{

/** The kernel along one axis. Near a border its taps may differ from position to position. */
struct GaussianAxis
{
  const float * taps = nullptr; ///< radius + 1 taps (center outward) per kind of position
  std::int64_t  radius = 0;     ///< at most size - 1: taps that reach further always fall outside
  std::int64_t  size = 1;       ///< voxels along the axis

  /** The taps at position p: there is one kind of position per distance to a border that is below the
   * radius, and one for all positions between. */
  FFDP_HOST_DEVICE const float *
  At(std::int64_t p) const
  {
    std::int64_t kind = p;
    if (size > 2 * radius)
    {
      kind = p < radius ? p : (p < size - radius ? radius : p - size + 2 * radius + 1);
    }
    return taps + kind * (radius + 1);
  }
};

/** What the kernel needs to smooth rows of one plane. */
struct GaussianPlane
{
  const float * const * planes = nullptr; ///< 2 z.radius + 1 dense old planes around this one, null outside
  float *               output = nullptr; ///< row 0 of the plane to write
  std::int64_t          outputRowStride = 0;
  std::int64_t          position = 0; ///< of the plane along z
  std::int64_t          firstRow = 0;
  std::int64_t          endRow = 0;
  GaussianAxis          x;
  GaussianAxis          y;
  GaussianAxis          z;
  bool                  bordersDiffer = false; ///< the taps near a border are not those of the middle
  float *               scratch = nullptr;     ///< GaussianScratchFloats() numbers
  const float **        rows = nullptr;        ///< room for 2 max radius + 1 pointers
};

/** Rows: those within reach along y, one of zeros, and one with room for the reach along x. */
inline std::int64_t
GaussianScratchFloats(const GaussianAxis & x, const GaussianAxis & y)
{
  return (2 * y.radius + 2) * x.size + x.size + 2 * x.radius;
}

} // namespace ffdp

#endif
