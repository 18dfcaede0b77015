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
#include "ffdpMetricPlanes.h"

#include "ffdpCheck.h"
#include "ffdpParallel.h"
#include "ffdpResample.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#define FFDP_KERNEL_FILE "ffdpMetricPlanesKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{
namespace
{

bool
IsIdentity(const CompositeMap & map)
{
  for (int i = 0; i < 9; ++i)
  {
    if (map.A[i] != (i % 4 == 0 ? 1 : 0))
    {
      return false;
    }
  }
  return map.t[0] == 0 && map.t[1] == 0 && map.t[2] == 0;
}

bool
HasWarp(const MetricImage & image)
{
  return bool(image.warp) || !image.chain.steps.empty();
}

/** Sampling would give the image itself. */
bool
IsOnGrid(const MetricImage & image, const Extent & grid)
{
  return bool(image.image.floats) && image.image.floats.domain == grid && IsIdentity(image.map) && !HasWarp(image);
}

/** Planes to sample at a time, of at most `capacity`: all that are asked for, unless buffers are needed for them. */
std::int64_t
BatchOf(const MetricProblem & problem, std::int64_t capacity)
{
  constexpr std::int64_t BatchVoxels = 65536;
  const bool             chained = !problem.fixed.chain.steps.empty() || !problem.moving.chain.steps.empty();
  const bool             masked = bool(problem.fixed.mask) || bool(problem.moving.mask);
  return chained || masked || problem.within
           ? std::min(capacity, std::max<std::int64_t>(1, BatchVoxels / (problem.grid.x * problem.grid.y)))
           : capacity;
}

/** Moves what is held of planes `from` and later to the front of the buffer. */
template <typename T>
void
MoveToFront(const AlignedBuffer<T> & buffer, std::int64_t from, std::int64_t count)
{
  if (buffer.Count() > 0)
  {
    std::memmove(buffer.Data(), buffer.Data() + from, std::size_t(count) * sizeof(T));
  }
}

} // namespace

CompositeMap
MapThrough(const AffineMap & a, const CompositeMap & map)
{
  CompositeMap result;
  for (int r = 0; r < 3; ++r)
  {
    const double * m = a.matrix + 3 * r;
    for (int c = 0; c < 3; ++c)
    {
      result.A[3 * r + c] = m[0] * map.A[c] + m[1] * map.A[3 + c] + m[2] * map.A[6 + c];
      result.S[3 * r + c] = m[0] * map.S[c] + m[1] * map.S[3 + c] + m[2] * map.S[6 + c];
    }
  }
  a.Apply(map.t, result.t);
  return result;
}

MetricPlanes::MetricPlanes(const MetricProblem & problem, std::int64_t capacity, bool findValid)
  : m_Problem(problem)
  , m_PlaneVoxels(problem.grid.x * problem.grid.y)
  , m_FixedInPlace(IsOnGrid(problem.fixed, problem.grid))
  , m_FindValid(findValid)
  , m_Batch(BatchOf(problem, capacity))
  , m_Fixed(m_FixedInPlace ? 0 : std::size_t(capacity * m_PlaneVoxels))
  , m_Moving(std::size_t(capacity * m_PlaneVoxels))
  , m_Valid(findValid ? std::size_t(capacity * m_PlaneVoxels) : 0)
{
  if (!problem.fixed.chain.steps.empty() || !problem.moving.chain.steps.empty())
  {
    m_Residuals = AlignedBuffer<float>(std::size_t(3 * m_Batch * m_PlaneVoxels));
  }
  if (findValid && (problem.fixed.mask || problem.moving.mask))
  {
    m_Mask = AlignedBuffer<std::uint8_t>(std::size_t(2 * m_Batch * m_PlaneVoxels));
  }
}

void
MetricPlanes::KeepPlanes(std::int64_t first)
{
  const bool         kept = first >= m_Range.first && first < m_Range.end;
  const std::int64_t from = kept ? (first - m_Range.first) * m_PlaneVoxels : 0;
  const std::int64_t count = kept ? (m_Range.end - first) * m_PlaneVoxels : 0;
  if (from > 0)
  {
    MoveToFront(m_Fixed, from, count);
    MoveToFront(m_Moving, from, count);
    MoveToFront(m_Valid, from, count);
    m_ValidCounts.erase(m_ValidCounts.begin(), m_ValidCounts.begin() + (first - m_Range.first));
  }
  if (!kept)
  {
    m_ValidCounts.clear();
  }
  m_Range = PlaneRange{ first, kept ? m_Range.end : first };
}

void
MetricPlanes::Load(std::int64_t first, std::int64_t end, unsigned threads)
{
  this->KeepPlanes(first);
  for (std::int64_t next = m_Range.end; next < end; next += m_Batch)
  {
    this->LoadBatch(next, std::min(end, next + m_Batch), threads);
  }
}

void
MetricPlanes::LoadBatch(std::int64_t first, std::int64_t end, unsigned threads)
{
  m_Range.end = end;
  if (!m_FixedInPlace)
  {
    const VolumeView<float> held(m_Fixed.Data(), m_Problem.grid, m_Range.first, end - m_Range.first);
    this->SampleImage(m_Problem.fixed, held.Planes(first, end - first), threads);
  }
  this->SampleImage(m_Problem.moving, this->Moving().Planes(first, end - first), threads);
  if (m_FindValid)
  {
    this->FindValid(first, end, threads);
  }
}

VolumeView<const float>
MetricPlanes::Fixed() const
{
  const std::int64_t count = m_Range.end - m_Range.first;
  return m_FixedInPlace ? m_Problem.fixed.image.floats.Planes(m_Range.first, count)
                        : VolumeView<const float>(m_Fixed.Data(), m_Problem.grid, m_Range.first, count);
}

VolumeView<float>
MetricPlanes::Moving() const
{
  return VolumeView<float>(m_Moving.Data(), m_Problem.grid, m_Range.first, m_Range.end - m_Range.first);
}

VolumeView<const std::uint8_t>
MetricPlanes::Valid() const
{
  for (const std::int64_t count : m_ValidCounts)
  {
    if (count != m_PlaneVoxels)
    {
      return VolumeView<const std::uint8_t>(m_Valid.Data(), m_Problem.grid, m_Range.first, m_Range.end - m_Range.first);
    }
  }
  return {};
}

VolumeView<float>
MetricPlanes::Weights()
{
  if (m_Weights.Count() == 0)
  {
    m_Weights = AlignedBuffer<float>(m_Moving.Count());
  }
  return VolumeView<float>(m_Weights.Data(), m_Problem.grid, m_Range.first, m_Range.end - m_Range.first);
}

WarpInput
MetricPlanes::WarpOf(const MetricImage & image, std::int64_t first, std::int64_t end, unsigned threads)
{
  if (image.chain.steps.empty())
  {
    return image.warp;
  }
  const std::int64_t voxels = (end - first) * m_PlaneVoxels;
  float * const      r = m_Residuals.Data();
  const auto residuals = WarpView<float>::Planar(r, r + voxels, r + 2 * voxels, m_Problem.grid, first, end - first);
  FillResiduals(image.chain, residuals, threads);
  return residuals;
}

void
MetricPlanes::SampleImage(const MetricImage & image, const VolumeView<float> & output, unsigned threads)
{
  const WarpInput warp = this->WarpOf(image, output.firstPlane, output.EndPlane(), threads);
  const float     outside = std::numeric_limits<float>::quiet_NaN();
  if (image.image.floats)
  {
    SamplerParameters parameters;
    parameters.border = Border::Edge;
    parameters.outsideValue = outside;
    Sample(image.image.floats, image.map, warp, output, parameters, threads);
  }
  else
  {
    ResampleParameters parameters;
    parameters.outside = { outside };
    Resample(ConstPixelView(image.image.doubles), image.map, warp, PixelView(output), parameters, threads);
  }
}

void
MetricPlanes::FindValid(std::int64_t first, std::int64_t end, unsigned threads)
{
  const Extent &     grid = m_Problem.grid;
  const std::int64_t planes = end - first;
  const auto         sampleMask = [&](const MetricImage & image, std::uint8_t * buffer) {
    VolumeView<std::uint8_t> mask;
    if (image.mask)
    {
      mask = VolumeView<std::uint8_t>(buffer, grid, first, planes);
      SampleMask(image, this->WarpOf(image, first, end, threads), mask, threads);
    }
    return mask;
  };
  const VolumeView<std::uint8_t> fixedMask = sampleMask(m_Problem.fixed, m_Mask.Data());
  const VolumeView<std::uint8_t> movingMask = sampleMask(m_Problem.moving, m_Mask.Data() + m_Mask.Count() / 2);

  const auto                     kernel = FFDP_SELECT_KERNEL(FindValidInRow);
  const VolumeView<const float>  fixed = this->Fixed();
  const VolumeView<float>        moving = this->Moving();
  const VolumeView<std::uint8_t> valid(m_Valid.Data(), grid, m_Range.first, m_Range.end - m_Range.first);
  std::vector<std::int64_t>      counts(static_cast<std::size_t>(planes), 0);
  ParallelFor(planes, threads, [&](std::int64_t plane, unsigned) {
    const std::int64_t z = first + plane;
    for (std::int64_t y = 0; y < grid.y; ++y)
    {
      counts[std::size_t(plane)] += kernel(fixed.Row(y, z),
                                           moving.Row(y, z),
                                           fixedMask ? fixedMask.Row(y, z) : nullptr,
                                           movingMask ? movingMask.Row(y, z) : nullptr,
                                           grid.x,
                                           valid.Row(y, z));
    }
  });
  m_ValidCounts.insert(m_ValidCounts.end(), counts.begin(), counts.end());
}

WarpView<float>
MetricPlanes::GradientToLeadBack(std::int64_t first, std::int64_t count)
{
  const std::int64_t voxels = m_Batch * m_PlaneVoxels;
  if (m_Gradient.Count() == 0)
  {
    m_Gradient = AlignedBuffer<float>(std::size_t(3 * voxels));
  }
  float * const g = m_Gradient.Data();
  return WarpView<float>::Planar(g, g + voxels, g + 2 * voxels, m_Problem.grid, first, count);
}

std::vector<MapGradient>
MetricPlanes::Differentiate(const VolumeView<const float> & weights,
                            const MetricDerivative &        derivative,
                            unsigned                        threads)
{
  const MetricImage &      moving = m_Problem.moving;
  const bool               within = bool(m_Problem.within);
  std::vector<MapGradient> moments;
  for (std::int64_t first = weights.firstPlane; first < weights.EndPlane(); first += m_Batch)
  {
    const std::int64_t count = std::min(m_Batch, weights.EndPlane() - first);
    const WarpInput    warp = this->WarpOf(moving, first, first + count, threads);
    WarpOutput         local = derivative.local;
    if (local.floats)
    {
      local.floats = local.floats.Planes(first, count);
    }
    if (local.doubles)
    {
      local.doubles = local.doubles.Planes(first, count);
    }
    const WarpView<float> gradient = within ? this->GradientToLeadBack(first, count) : WarpView<float>();

    std::vector<MapGradient> part = ImageGradient(moving.image,
                                                  moving.map,
                                                  warp,
                                                  m_Problem.differences,
                                                  weights.Planes(first, count),
                                                  m_Problem.C,
                                                  within ? WarpOutput(gradient) : local,
                                                  derivative.moments && !within,
                                                  threads);
    if (within)
    {
      part = LeadBack(m_Problem.within, gradient, local, derivative.moments, threads);
    }
    moments.insert(moments.end(), part.begin(), part.end());
  }
  return moments;
}

void
SampleMask(const MetricImage & image, const WarpInput & warp, const VolumeView<std::uint8_t> & output, unsigned threads)
{
  ResampleParameters parameters;
  parameters.interpolation = Interpolation::Nearest;
  const CompositeMap map = MapThrough(image.toMask, image.map);
  Resample(ConstPixelView(image.mask), map, warp, PixelView(output), parameters, threads);
}

void
SweepPlanes(const MetricProblem &                                                               problem,
            bool                                                                                findValid,
            const std::function<void(MetricPlanes &, const PlaneRange &, unsigned, unsigned)> & work)
{
  constexpr std::int64_t PieceVoxels = 32768; // buffers of a thread stay in its cache
  const Extent &         grid = problem.grid;
  const std::int64_t     piecePlanes = std::min(grid.z, std::max<std::int64_t>(1, PieceVoxels / (grid.x * grid.y)));
  const std::int64_t     pieces = (grid.z + piecePlanes - 1) / piecePlanes;
  const unsigned         threads = ResolveThreads(problem.threads);
  const bool             shareOut = pieces >= std::int64_t(threads);

  std::vector<std::unique_ptr<MetricPlanes>> planes(shareOut ? threads : 1);
  ParallelFor(pieces, shareOut ? threads : 1, [&](std::int64_t piece, unsigned worker) {
    std::unique_ptr<MetricPlanes> & mine = planes[worker];
    if (!mine)
    {
      mine = std::make_unique<MetricPlanes>(problem, piecePlanes, findValid);
    }
    const PlaneRange range{ piece * piecePlanes, std::min(grid.z, (piece + 1) * piecePlanes) };
    mine->Load(range.first, range.end, shareOut ? 1 : threads);
    work(*mine, range, worker, shareOut ? 1 : threads);
  });
}

void
CheckProblem(const MetricProblem & problem, const MetricDerivative & derivative)
{
  const Extent & grid = problem.grid;
  Require(grid.x > 0 && grid.y > 0 && grid.z > 0, "the grid of the metric has no voxels");
  Require(bool(problem.fixed.image), "the fixed image is missing");
  Require(bool(problem.moving.image), "the moving image is missing");
  if (derivative.local.floats)
  {
    RequirePlanes(derivative.local.floats, 0, grid.z, 0, "the derivative");
    RequireSameDomain(grid, derivative.local.floats.domain, "the grid and the derivative");
  }
  if (derivative.local.doubles)
  {
    RequirePlanes(derivative.local.doubles, 0, grid.z, 0, "the derivative");
    RequireSameDomain(grid, derivative.local.doubles.domain, "the grid and the derivative");
  }
}

} // namespace ffdp
