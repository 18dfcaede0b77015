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
#include "ffdpGaussian.h"

#include "ffdpGaussianPlan.h"
#include "ffdpGaussianTerms.h"
#include "ffdpInPlaceSweep.h"

#include <cmath>
#include <cstring>

#define FFDP_KERNEL_FILE "ffdpGaussianKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{
namespace
{

/** Smooths rows of planes, whose old neighbors along z lie wherever they lie. */
class PlaneSmoother
{
public:
  PlaneSmoother(const Extent & domain, const GaussianParameters & parameters, unsigned workers)
    : m_Domain(domain)
    , m_BordersDiffer(parameters.border == SmoothingBorder::Renormalize)
    , m_Axes{ MakeGaussianAxis(parameters, 0, domain.x, m_Taps[0]),
              MakeGaussianAxis(parameters, 1, domain.y, m_Taps[1]),
              MakeGaussianAxis(parameters, 2, domain.z, m_Taps[2]) }
    , m_Widest(2 * std::max({ m_Axes[0].radius, m_Axes[1].radius, m_Axes[2].radius }) + 1)
    , m_ScratchFloats(GaussianScratchFloats(m_Axes[0], m_Axes[1]))
    , m_Scratch(std::size_t(workers * m_ScratchFloats))
    , m_Pointers(std::size_t(workers * (m_Widest + 2 * Reach() + 1)))
    , m_SmoothPlane(FFDP_SELECT_KERNEL(SmoothPlane))
  {}

  std::int64_t
  Reach() const
  {
    return m_Axes[2].radius;
  }

  /** planeAt(z): the old plane z, densely packed; output: row 0 of the new plane. */
  template <typename TPlaneAt>
  void
  operator()(const SweepRows & rows, const TPlaneAt & planeAt, float * output, std::int64_t outputRowStride) const
  {
    const std::int64_t reach = this->Reach();
    GaussianPlane      plane;
    plane.rows = m_Pointers.Data() + rows.worker * (m_Widest + 2 * reach + 1);
    const float ** planes = plane.rows + m_Widest;
    for (std::int64_t z = rows.z - reach; z <= rows.z + reach; ++z)
    {
      planes[z - rows.z + reach] = z >= 0 && z < m_Domain.z ? planeAt(z) : nullptr;
    }
    plane.planes = planes;
    plane.output = output;
    plane.outputRowStride = outputRowStride;
    plane.position = rows.z;
    plane.firstRow = rows.firstRow;
    plane.endRow = rows.endRow;
    plane.x = m_Axes[0];
    plane.y = m_Axes[1];
    plane.z = m_Axes[2];
    plane.bordersDiffer = m_BordersDiffer;
    plane.scratch = m_Scratch.Data() + rows.worker * m_ScratchFloats;
    m_SmoothPlane(plane);
  }

private:
  Extent                       m_Domain;
  bool                         m_BordersDiffer;
  std::vector<float>           m_Taps[3];
  GaussianAxis                 m_Axes[3];
  std::int64_t                 m_Widest;
  std::int64_t                 m_ScratchFloats;
  AlignedBuffer<float>         m_Scratch;
  AlignedBuffer<const float *> m_Pointers;
  void (*m_SmoothPlane)(const GaussianPlane &);
};

struct Volumes
{
  VolumeView<float> volume[3];
  int               count = 0;
};

void
Smooth(const Volumes &            volumes,
       std::int64_t               firstOwned,
       std::int64_t               ownedPlanes,
       const GaussianParameters & parameters,
       unsigned                   threads)
{
  const Extent        domain = volumes.volume[0].domain;
  const unsigned      workers = ResolveThreads(threads);
  const PlaneSmoother smoother(domain, parameters, workers);
  // A row more than the plane holds, so that planes whose size is a power of two do not share cache sets.
  const std::int64_t slotFloats = (domain.y + 1) * domain.x;

  const auto pack = [&](std::int64_t lane, std::int64_t z, float * slot) {
    for (std::int64_t y = 0; y < domain.y; ++y)
    {
      std::memcpy(slot + y * domain.x, volumes.volume[lane].Row(y, z), std::size_t(domain.x) * sizeof(float));
    }
  };
  const auto compute = [&](const SweepRows & rows, const InPlaceSweep::Window & window) {
    const VolumeView<float> & volume = volumes.volume[rows.lane];
    smoother(rows, window, volume.Row(0, rows.z), volume.rowStride);
  };
  InPlaceSweep(domain, firstOwned, firstOwned + ownedPlanes, smoother.Reach(), slotFloats, volumes.count, workers)
    .Run(pack, compute);
}

} // namespace

std::int64_t
GaussianRadius(double sigma, double truncate)
{
  return sigma > 0 ? std::int64_t(std::max(truncate * sigma, 0.5) + 0.5) : 0;
}

std::vector<double>
GaussianTaps(double sigma, double truncate)
{
  std::vector<double> taps(std::size_t(GaussianRadius(sigma, truncate)) + 1, 1.0);
  if (taps.size() > 1)
  {
    const double scale = 1 / (sigma * std::sqrt(2.0));
    double       sum = 0;
    for (std::size_t i = 0; i < taps.size(); ++i)
    {
      taps[i] = 0.5 * (std::erf((double(i) + 0.5) * scale) - std::erf((double(i) - 0.5) * scale));
      sum += i == 0 ? taps[i] : 2 * taps[i];
    }
    for (double & tap : taps)
    {
      tap /= sum;
    }
  }
  return taps;
}

void
SmoothGaussian(const VolumeView<float> &  volume,
               std::int64_t               firstOwned,
               std::int64_t               ownedPlanes,
               const GaussianParameters & parameters,
               unsigned                   threads)
{
  CheckGaussian(volume, firstOwned, ownedPlanes, parameters);
  if (ownedPlanes > 0)
  {
    Volumes volumes;
    volumes.volume[0] = volume;
    volumes.count = 1;
    Smooth(volumes, firstOwned, ownedPlanes, parameters, threads);
  }
}

void
SmoothGaussian(const WarpView<float> &    warp,
               std::int64_t               firstOwned,
               std::int64_t               ownedPlanes,
               const GaussianParameters & parameters,
               unsigned                   threads)
{
  CheckGaussian(warp, firstOwned, ownedPlanes, parameters);
  if (ownedPlanes > 0)
  {
    Volumes volumes;
    for (int c = 0; c < 3; ++c)
    {
      volumes.volume[c] = warp.Component(c);
    }
    volumes.count = 3;
    Smooth(volumes, firstOwned, ownedPlanes, parameters, threads);
  }
}

void
SmoothGaussian(const WarpView<const float> & warp,
               const WarpView<float> &       smoothed,
               const GaussianParameters &    parameters,
               unsigned                      threads)
{
  CheckGaussian(warp, smoothed, parameters);
  constexpr std::int64_t RowsPerPiece = 128; // pieces of a plane do some rows twice
  const Extent &         domain = warp.domain;
  const unsigned         workers = ResolveThreads(threads);
  const PlaneSmoother    smoother(domain, parameters, workers);
  const std::int64_t     perPlane = (domain.y + RowsPerPiece - 1) / RowsPerPiece;
  ParallelFor(3 * smoothed.planes * perPlane, workers, [&](std::int64_t piece, unsigned worker) {
    SweepRows rows;
    rows.lane = piece % 3;
    rows.z = smoothed.firstPlane + piece / 3 / perPlane;
    rows.firstRow = piece / 3 % perPlane * RowsPerPiece;
    rows.endRow = std::min(domain.y, rows.firstRow + RowsPerPiece);
    rows.worker = worker;
    const int c = int(rows.lane);
    smoother(
      rows, [&](std::int64_t z) { return warp.Row(c, 0, z); }, smoothed.Row(c, 0, rows.z), smoothed.rowStride);
  });
}

void
SmoothGaussian(const VolumeView<float> & volume, const GaussianParameters & parameters, unsigned threads)
{
  SmoothGaussian(volume, volume.firstPlane, volume.planes, parameters, threads);
}

void
SmoothGaussian(const WarpView<float> & warp, const GaussianParameters & parameters, unsigned threads)
{
  SmoothGaussian(warp, warp.firstPlane, warp.planes, parameters, threads);
}

} // namespace ffdp
