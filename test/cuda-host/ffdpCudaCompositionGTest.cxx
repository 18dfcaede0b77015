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
#include "ffdpCudaComposition.h"

#include "ffdpBackend.h"
#include "ffdpDeviceStaging.h"
#include "ffdpSchedules.h"
#include "ffdpTestSupport.h"
#include "ffdpWarpReference.h"

#include <gtest/gtest.h>

#include <limits>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

const WarpBorder Borders[] = { WarpBorder::Zero, WarpBorder::Edge };

CompositionParameters
Parameters(float stepScale, WarpBorder border, float bound = -1)
{
  CompositionParameters parameters;
  parameters.stepScale = stepScale;
  parameters.border = border;
  parameters.boundAlongZ = bound;
  return parameters;
}

std::size_t
BytesOfPlanes(const Extent & size, std::int64_t planes)
{
  return std::size_t(3 * size.x * size.y * planes) * sizeof(float);
}

void
ExpectBitsOfTheProcessor(const Warp<float> &           u,
                         const Warp<float> &           v,
                         const CompositionParameters & parameters,
                         std::size_t                   groupBytes)
{
  const Extent size = u.component[0].domain;
  Warp<float>  expected = u;
  Warp<float>  composed = u;
  MakeCpuBackend(1)->ComposeWarps(expected.View(), 0, size.z, v.View(), parameters);
  cuda::ComposeWarps(TestDevice(),
                     StagedWarp<float>(composed.View()),
                     0,
                     size.z,
                     StagedWarp<const float>(v.View()),
                     parameters,
                     groupBytes);
  EXPECT_TRUE(SameBytes(composed, expected)) << size.x << "x" << size.y << "x" << size.z;
}

} // namespace

TEST(CudaComposition, HasTheBitsOfTheProcessorAtEverySize)
{
  for (const Extent & size : AwkwardSizes())
  {
    for (const WarpBorder border : Borders)
    {
      for (const double most : { 0.0, 0.4, 3.0, 20.0 })
      {
        const Warp<float> u = RandomWarp(size, 7, 2), v = RandomWarp(size, 9, most);
        ExpectBitsOfTheProcessor(u, v, Parameters(1, border), cuda::DefaultGroupBytes);
        ExpectBitsOfTheProcessor(u, v, Parameters(-0.3f, border), 0);
      }
    }
  }
}

TEST(CudaComposition, HasTheBitsOfTheProcessorInGroupsOfAnySize)
{
  const Extent size{ 35, 11, 14 };
  for (const WarpBorder border : Borders)
  {
    for (const double most : { 0.2, 1.0, 4.0 })
    {
      for (const std::int64_t planes : { 0, 2, 5, 13 })
      {
        ExpectBitsOfTheProcessor(
          RandomWarp(size, 7, 2), RandomWarp(size, 9, most), Parameters(1, border), BytesOfPlanes(size, planes));
      }
    }
  }
}

TEST(CudaComposition, HasTheBitsOfTheProcessorWithWhatIsNotFinite)
{
  const Extent size{ 40, 9, 12 };
  Warp<float>  u = RandomWarp(size, 5, 2), v = RandomWarp(size, 6, 0.5);
  const float  wrong[] = { std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity() };
  for (int i = 0; i < 12; ++i)
  {
    v.component[i % 3].At(3 * i, i % 9, i) = wrong[i % 2];
    u.component[i % 3].At(2 * i, (i + 3) % 9, i) = 3e38f;
  }
  for (const WarpBorder border : Borders)
  {
    Warp<float> expected = u, composed = u;
    MakeCpuBackend(1)->ComposeWarps(expected.View(), 0, size.z, v.View(), Parameters(1, border));
    cuda::ComposeWarps(TestDevice(),
                       StagedWarp<float>(composed.View()),
                       0,
                       size.z,
                       StagedWarp<const float>(v.View()),
                       Parameters(1, border),
                       BytesOfPlanes(size, 5));
    for (int c = 0; c < 3; ++c)
    {
      for (std::size_t i = 0; i < composed.component[c].values.size(); ++i)
      {
        const float a = composed.component[c].values[i], b = expected.component[c].values[i];
        EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))); // NaNs may differ in bits that say nothing
      }
    }
  }
}

TEST(CudaComposition, SlabsWithHalosHaveTheBitsOfTheWhole)
{
  const Extent       size{ 19, 11, 13 };
  const Warp<float>  u = RandomWarp(size, 5, 2), v = RandomWarp(size, 6, 0.5);
  const float        bound = float(MaxMagnitude(v.component[2].values));
  const std::int64_t halo = CompositionHalo(bound);
  Warp<float>        expected = u;
  MakeCpuBackend(1)->ComposeWarps(expected.View(), 0, size.z, v.View(), Parameters(1, WarpBorder::Zero));
  for (std::int64_t cut = 1; cut < size.z; ++cut)
  {
    const std::int64_t bounds[3] = { 0, cut, size.z };
    for (int part = 0; part < 2; ++part)
    {
      const std::int64_t first = bounds[part], end = bounds[part + 1];
      Warp<float>        slab = u.Slab(first - halo, end + halo);
      const Warp<float>  own = v.Slab(first, end);
      cuda::ComposeWarps(TestDevice(),
                         StagedWarp<float>(slab.View()),
                         first,
                         end - first,
                         StagedWarp<const float>(own.View()),
                         Parameters(1, WarpBorder::Zero, bound),
                         BytesOfPlanes(size, 2));
      EXPECT_TRUE(SameBytes(slab.Slab(first, end), expected.Slab(first, end))) << cut;
      EXPECT_TRUE(SameBytes(slab.Slab(end, end + halo), u.Slab(end, end + halo))) << cut; // only read
    }
  }
}

TEST(CudaComposition, DoesNotDependOnTheSchedule)
{
  const Extent      size{ 40, 12, 9 };
  const Warp<float> v = RandomWarp(size, 6, 1);
  ForEachSchedule([&] {
    Warp<float> u = RandomWarp(size, 5, 2);
    cuda::ComposeWarps(TestDevice(),
                       StagedWarp<float>(u.View()),
                       0,
                       size.z,
                       StagedWarp<const float>(v.View()),
                       Parameters(1, WarpBorder::Zero),
                       BytesOfPlanes(size, 3));
    std::vector<float> all = u.component[0].values;
    all.insert(all.end(), u.component[1].values.begin(), u.component[1].values.end());
    all.insert(all.end(), u.component[2].values.begin(), u.component[2].values.end());
    return all;
  });
}

TEST(CudaComposition, KeepsAGroupOfPlanesHoweverManyThereAre)
{
  for (const std::int64_t planes : { 20, 40 })
  {
    const Extent              size{ 16, 16, planes };
    cuda::Device              device(0);
    cuda::DeviceBuffer<float> u(device, 3 * size.Voxels()), v(device, 3 * size.Voxels());
    u.FillZero();
    v.FillZero();
    const std::size_t before = device.PeakBytes();
    cuda::ComposeWarps(device,
                       WarpView<float>::Planar(u.Data(), size),
                       0,
                       size.z,
                       WarpView<const float>::Planar(v.Data(), size),
                       Parameters(1, WarpBorder::Zero, 2.5f),
                       BytesOfPlanes(size, 4));
    EXPECT_LE(device.PeakBytes() - before, BytesOfPlanes(size, 4 + 3) + 64); // the group, 3 planes below, two maxima
  }
}
