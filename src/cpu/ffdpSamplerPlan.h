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
#ifndef ffdpSamplerPlan_h
#define ffdpSamplerPlan_h

#include "ffdpCheck.h"
#include "ffdpInterpolationTerms.h"
#include "ffdpMapTerms.h"
#include "ffdpSampler.h"
#include "ffdpSamplerCheck.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

/** What the rows of one call to the sampler share, as plain numbers for the kernels. */
namespace ffdp
{

/** Rows and planes of a piece of work. */
constexpr std::int64_t SamplerStrip = 16;
constexpr std::int64_t SamplerPlanes = 8;

/** The map, with the steps of ffdpMapTerms.h as a table. A block of voxels is worked on at a time: its positions stay
 * in the first-level cache. */
struct SamplerMap
{
  double A[9];
  double t[3];
  float  S[9];
  bool   plain; ///< S is the identity
  alignas(64) std::int32_t stepIndex[3][SamplerBlock];
  alignas(64) float stepFraction[3][SamplerBlock];
};

struct SamplerPlan
{
  ImagePlanes  image;
  SamplerMap   map;
  float        outside;       ///< what a voxel outside gets from this slab of the image
  bool         accumulate;    ///< add to the result
  std::int32_t planesInReach; ///< as many planes as 32-bit offsets from one of them can reach; 0: not even one
  float        zeros[SamplerBlock];
};

/** One row of a displacement field: floats, doubles, or neither. */
struct WarpRow
{
  const float *  floats[3];
  const double * doubles[3];
  std::int64_t   stride;
};

/** One row of a field to write. */
struct WarpGradientRow
{
  float *      floats[3];
  double *     doubles[3];
  std::int64_t stride;
};

/** The positions of a block of voxels in the image. */
struct SamplerPositions
{
  alignas(64) std::int32_t index[3][SamplerBlock];
  alignas(64) float fraction[3][SamplerBlock];
};

FFDP_VOXEL_INLINE CellPosition
PositionAt(const SamplerPositions & positions, int k)
{
  return { { positions.index[0][k], positions.index[1][k], positions.index[2][k] },
           { positions.fraction[0][k], positions.fraction[1][k], positions.fraction[2][k] } };
}

/** Groups of eight cells of a block. */
struct SamplerCells
{
  alignas(64) std::int32_t offset[SamplerBlock];
  bool inside[SamplerBlock / 8];  ///< all their corners can be read without a test
  bool outside[SamplerBlock / 8]; ///< none of their corners is in the slab
};

/** A vector per voxel of a block. */
struct SamplerVectors
{
  alignas(64) float value[3][SamplerBlock];
};

inline SamplerMap
MakeSamplerMap(const CompositeMap & map)
{
  SamplerMap plan;
  bool       finite = true;
  plan.plain = true;
  for (int i = 0; i < 9; ++i)
  {
    plan.A[i] = map.A[i];
    plan.S[i] = float(map.S[i]);
    plan.plain = plan.plain && plan.S[i] == (i % 4 == 0 ? 1.0f : 0.0f);
    finite = finite && std::isfinite(map.A[i]) && std::isfinite(plan.S[i]);
  }
  for (int c = 0; c < 3; ++c)
  {
    plan.t[c] = map.t[c];
    finite = finite && std::isfinite(map.t[c]);
    for (int k = 0; k < SamplerBlock; ++k)
    {
      const AxisPosition step = StepInBlock(map.A[3 * c], k);
      plan.stepIndex[c][k] = step.index;
      plan.stepFraction[c][k] = step.fraction;
    }
  }
  Require(finite, "the map of the sampler has an entry that is not finite");
  return plan;
}

template <typename TView>
ImagePlanes
MakeImagePlanes(const TView & image, const char * name)
{
  RequireUsable(image, name);
  const Extent & n = image.domain;
  Require(n.x <= SamplerLongestAxis && n.y <= SamplerLongestAxis && n.z <= SamplerLongestAxis,
          std::string(name) + " has an axis of more than 2^28 voxels");
  return { image.data,
           { std::int32_t(n.x), std::int32_t(n.y), std::int32_t(n.z) },
           std::int32_t(image.firstPlane),
           std::int32_t(image.EndPlane()),
           image.rowStride,
           image.planeStride };
}

template <typename TView>
SamplerPlan
MakeSamplerPlan(const TView & image, const char * name, const CompositeMap & map, const SamplerParameters & parameters)
{
  SamplerPlan plan;
  plan.image = MakeImagePlanes(image, name);
  plan.map = MakeSamplerMap(map);
  plan.outside = parameters.border == Border::Edge && image.firstPlane == 0 ? parameters.outsideValue + 0.0f : 0.0f;
  plan.accumulate = parameters.accumulate;
  const bool ascending = image.planes > 0 && image.rowStride >= image.domain.x && image.planeStride >= image.rowStride;
  plan.planesInReach = ascending ? std::int32_t(std::numeric_limits<std::int32_t>::max() / image.planeStride) : 0;
  for (float & zero : plan.zeros)
  {
    zero = 0.0f;
  }
  return plan;
}

/** The planes from the lowest to the highest that a plane of the fixed grid reaches, cut to those that there are. */
inline PlaneRange
ReachedRange(std::int32_t lowest, std::int32_t highest, std::int64_t imagePlanes)
{
  return lowest <= highest
           ? PlaneRange{ lowest > 0 ? lowest : 0, highest + 1 < imagePlanes ? highest + 1 : imagePlanes }
           : PlaneRange{};
}

inline WarpRow
RowOf(const WarpInput & u, std::int64_t y, std::int64_t z)
{
  WarpRow row{};
  row.stride = u.floats ? u.floats.elementStride : u.doubles.elementStride;
  for (int c = 0; c < 3; ++c)
  {
    row.floats[c] = u.floats ? u.floats.Row(c, y, z) : nullptr;
    row.doubles[c] = u.doubles ? u.doubles.Row(c, y, z) : nullptr;
  }
  return row;
}

inline WarpGradientRow
RowOf(const WarpOutput & u, std::int64_t y, std::int64_t z)
{
  WarpGradientRow row{};
  row.stride = u.floats ? u.floats.elementStride : u.doubles.elementStride;
  for (int c = 0; c < 3; ++c)
  {
    row.floats[c] = u.floats ? u.floats.Row(c, y, z) : nullptr;
    row.doubles[c] = u.doubles ? u.doubles.Row(c, y, z) : nullptr;
  }
  return row;
}

/** The planes [firstPlane, firstPlane + planes) cut into strips of rows. A piece of work is the same strip of a few
 * planes, one after the other: what a plane reads of the image is then still in the cache for the next. */
struct SamplerStrips
{
  std::int64_t rows;
  std::int64_t firstPlane;
  std::int64_t planes;

  std::int64_t
  PerPlane() const
  {
    return (rows + SamplerStrip - 1) / SamplerStrip;
  }
  std::int64_t
  Count() const
  {
    return planes * PerPlane();
  }
  std::int64_t
  Pieces() const
  {
    return (planes + SamplerPlanes - 1) / SamplerPlanes * PerPlane();
  }
  /** Calls body(y, z, strip) for the rows of a piece, in order; strips count up from the first of the first plane. */
  template <typename TBody>
  void
  ForEachRow(std::int64_t piece, const TBody & body) const
  {
    const std::int64_t begin = piece / PerPlane() * SamplerPlanes;
    const std::int64_t strip = piece % PerPlane();
    for (std::int64_t plane = begin; plane < planes && plane < begin + SamplerPlanes; ++plane)
    {
      for (std::int64_t y = strip * SamplerStrip; y < rows && y < (strip + 1) * SamplerStrip; ++y)
      {
        body(y, firstPlane + plane, plane * PerPlane() + strip);
      }
    }
  }
};

/** The sums of strips, added up plane by plane. */
inline std::vector<MapGradient>
AddStrips(const std::vector<MapGradient> & stripSums, const SamplerStrips & strips)
{
  std::vector<MapGradient> planeSums;
  const auto               perPlane = std::ptrdiff_t(strips.PerPlane());
  for (auto first = stripSums.begin(); first != stripSums.end(); first += perPlane)
  {
    planeSums.push_back(AddPlanes(std::vector<MapGradient>(first, first + perPlane)));
  }
  return planeSums;
}

} // namespace ffdp

#endif
