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
#ifndef ffdpWarpSweep_h
#define ffdpWarpSweep_h

#include "ffdpBlockMarks.h"
#include "ffdpCheck.h"
#include "ffdpComposition.h"

#include <cstdint>
#include <functional>

namespace ffdp
{

/** What composition, squaring and inversion have in common:
 *
 *   output(x) = keep v(x) + gain u(x + step v(x)).
 *
 * output may be u itself and may be v itself (voxel for voxel), and computes the planes [first, end). */
struct WarpSweep
{
  WarpView<const float> u;
  WarpView<const float> v;
  WarpView<float>       output;
  std::int64_t          first = 0;
  std::int64_t          end = 0;
  float                 step = 1;
  float                 keep = 1;
  float                 gain = 1;
  float                 boundAlongZ = 0; ///< of |step v_z|, where that is finite
  WarpBorder            border = WarpBorder::Zero;

  /** Instead of output: -|v(x) + u(x + step v(x))|, but 0 for voxels that are, or get, nearer than `margin` to the
   * border of the grid. */
  VolumeView<float>  error;
  int                margin = 0;
  const BlockMarks * marks = nullptr; ///< the blocks where this is computed; elsewhere 0

  /** Where there is no v to read: writes the three components of its row y of plane z. */
  std::function<void(std::int64_t y, std::int64_t z, float * const * rows)> provide;
};

/** Returns the largest finite |v(x) + u(x + step v(x))|^2 if `wantResidual`, or else 0. Where there is an error map, it
 * is the largest of that. */
float
RunWarpSweep(const WarpSweep & sweep, bool wantResidual, unsigned threads);

/** One plane of a WarpSweep, as its kernel sees it. Old planes of u are packed: four floats per voxel (the
 * fourth is 0), and a margin of one voxel of zeros around the plane. */
struct WarpPlane
{
  const float * const * packed = nullptr;        ///< old planes from `reach` below to `reach` above
  const float *         v[3] = { nullptr };      ///< row 0
  float *               output[3] = { nullptr }; ///< row 0
  std::int64_t          vRowStride = 0;
  std::int64_t          outputRowStride = 0;
  Extent                domain;
  std::int64_t          z = 0;
  std::int64_t          firstRow = 0;
  std::int64_t          endRow = 0;
  std::int64_t          reach = 0;
  float                 step = 1;
  float                 keep = 1;
  float                 gain = 1;
  float                 boundAlongZ = 0;
  bool                  edge = false;    ///< WarpBorder::Edge
  float *               error = nullptr; ///< row 0; instead of output
  std::int64_t          errorRowStride = 0;
  int                   margin = 0;
  const std::uint8_t *  marks = nullptr; ///< of the blocks of this plane; null: all are computed

  static constexpr int PackedFloats = 4;
  std::int64_t
  PackedRowStride() const
  {
    return PackedFloats * (domain.x + 2);
  }
};

/** What comes back from rows of a plane. */
struct WarpRowsResult
{
  float residual = 0;      ///< the largest finite squared residual, if wanted
  float largestAlongZ = 0; ///< the largest finite |step v_z|
};

inline void
RequirePlanarWarp(const WarpView<const float> & warp, const char * name)
{
  RequireUsable(warp, name);
  Require(warp.elementStride == 1 && warp.component[1] && warp.component[2],
          std::string(name) + " must be planar with three components");
}

/** No component of one warp shares memory with a component of the other. */
inline void
RequireApart(const WarpView<const float> & a, const WarpView<const float> & b, const char * names)
{
  for (int i = 0; i < 3; ++i)
  {
    for (int j = 0; j < 3; ++j)
    {
      const auto aFirst = reinterpret_cast<std::uintptr_t>(a.component[i]);
      const auto bFirst = reinterpret_cast<std::uintptr_t>(b.component[j]);
      const auto aBytes = std::uintptr_t(a.planes * a.planeStride) * sizeof(float);
      const auto bBytes = std::uintptr_t(b.planes * b.planeStride) * sizeof(float);
      Require(aFirst + aBytes <= bFirst || bFirst + bBytes <= aFirst, std::string(names) + " share memory");
    }
  }
}

} // namespace ffdp

#endif
