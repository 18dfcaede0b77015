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
#include "ffdpSampler.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

/** What the rows of one call to the sampler share, as plain numbers for the kernels. */
namespace ffdp
{

/** Voxels of a row that are worked on at a time: their positions stay in the first-level cache. Blocks begin at
 * multiples of this in the whole row, so that rounding depends on global coordinates only. */
constexpr int SamplerBlock = 128;

/** Rows and planes of a piece of work. */
constexpr std::int64_t SamplerStrip = 16;
constexpr std::int64_t SamplerPlanes = 8;

/** The longest axis. Indices stay within 32 bits when base, step and offset are added. */
constexpr std::int64_t SamplerLongestAxis = std::int64_t(1) << 28;

/** The map in a form that loses no precision far from the origin: the base of a block is computed in double, and the
 * step from there to voxel k of the block is a table of whole voxels and fractions. */
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

/** Groups of eight cells of a block whose corners can be read without a test. */
struct SamplerCells
{
  alignas(64) std::int32_t offset[SamplerBlock];
  bool inside[SamplerBlock / 8];
};

/** A vector per voxel of a block. */
struct SamplerVectors
{
  alignas(64) float value[3][SamplerBlock];
};

/** Whole voxels of a coordinate, cut to what an index may be. */
inline std::int32_t
WholeVoxels(double coordinate)
{
  const double limit = double(SamplerLongestAxis);
  const double whole = std::floor(coordinate);
  return std::int32_t(whole > limit ? limit : (whole > -limit ? whole : -limit));
}

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
      const double step = map.A[3 * c] * k;
      plan.stepIndex[c][k] = finite ? WholeVoxels(step) : 0;
      plan.stepFraction[c][k] = float(step - std::floor(step));
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

template <typename TView>
void
RequireWarp(const TView & warp, const Extent & domain, std::int64_t first, std::int64_t end, const char * name)
{
  if (warp)
  {
    RequirePlanes(warp, first, end, 0, name);
    RequireSameDomain(warp.domain, domain, name);
    Require(warp.component[1] != nullptr, std::string(name) + " has no y component");
  }
}

/** The field, if given, lies on the fixed grid and holds its planes [first, end). */
inline void
RequireFixedGrid(const WarpInput & u, const Extent & domain, std::int64_t first, std::int64_t end)
{
  Require(domain.x <= SamplerLongestAxis && domain.y <= SamplerLongestAxis && domain.z <= SamplerLongestAxis,
          "the fixed grid has an axis of more than 2^28 voxels");
  RequireWarp(u.floats, domain, first, end, "the warp, which must lie on the fixed grid,");
  RequireWarp(u.doubles, domain, first, end, "the warp, which must lie on the fixed grid,");
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
