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
  const Extent       domain = volumes.volume[0].domain;
  std::vector<float> taps[3];
  const GaussianAxis axes[3] = { MakeGaussianAxis(parameters, 0, domain.x, taps[0]),
                                 MakeGaussianAxis(parameters, 1, domain.y, taps[1]),
                                 MakeGaussianAxis(parameters, 2, domain.z, taps[2]) };

  // A row more than the plane holds, so that planes whose size is a power of two do not share cache sets.
  const std::int64_t           slotFloats = (domain.y + 1) * domain.x;
  const std::int64_t           reach = axes[2].radius;
  const std::int64_t           widest = 2 * std::max({ axes[0].radius, axes[1].radius, axes[2].radius }) + 1;
  const std::int64_t           scratchFloats = GaussianScratchFloats(axes[0], axes[1]);
  const unsigned               workers = ResolveThreads(threads);
  AlignedBuffer<float>         scratch(std::size_t(workers * scratchFloats));
  AlignedBuffer<const float *> pointers(std::size_t(workers * (widest + 2 * reach + 1)));
  const auto                   smoothPlane = FFDP_SELECT_KERNEL(SmoothPlane);

  const auto pack = [&](std::int64_t lane, std::int64_t z, float * slot) {
    for (std::int64_t y = 0; y < domain.y; ++y)
    {
      std::memcpy(slot + y * domain.x, volumes.volume[lane].Row(y, z), std::size_t(domain.x) * sizeof(float));
    }
  };
  const auto compute = [&](const SweepRows & rows, const InPlaceSweep::Window & window) {
    GaussianPlane plane;
    plane.rows = pointers.Data() + rows.worker * (widest + 2 * reach + 1);
    const float ** planes = plane.rows + widest;
    for (std::int64_t z = rows.z - reach; z <= rows.z + reach; ++z)
    {
      planes[z - rows.z + reach] = z >= 0 && z < domain.z ? window(z) : nullptr;
    }
    plane.planes = planes;
    plane.output = volumes.volume[rows.lane].Row(0, rows.z);
    plane.outputRowStride = volumes.volume[rows.lane].rowStride;
    plane.position = rows.z;
    plane.firstRow = rows.firstRow;
    plane.endRow = rows.endRow;
    plane.x = axes[0];
    plane.y = axes[1];
    plane.z = axes[2];
    plane.bordersDiffer = parameters.border == SmoothingBorder::Renormalize;
    plane.scratch = scratch.Data() + rows.worker * scratchFloats;
    smoothPlane(plane);
  };
  InPlaceSweep(domain, firstOwned, firstOwned + ownedPlanes, reach, slotFloats, volumes.count, workers)
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
