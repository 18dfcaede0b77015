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
#include "ffdpCudaGaussian.h"

#include "ffdpBackend.h"
#include "ffdpDeviceStaging.h"
#include "ffdpSchedules.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

GaussianParameters
Parameters(double x, double y, double z, SmoothingBorder border)
{
  GaussianParameters parameters;
  parameters.sigma[0] = x;
  parameters.sigma[1] = y;
  parameters.sigma[2] = z;
  parameters.border = border;
  return parameters;
}

const SmoothingBorder Borders[] = { SmoothingBorder::Renormalize, SmoothingBorder::Zero };

/** The bytes of groups that hold so many planes of a warp. */
std::size_t
BytesOfPlanes(const Extent & size, std::int64_t planes)
{
  return std::size_t(3 * size.x * size.y * planes) * sizeof(float);
}

void
ExpectBitsOfTheProcessor(const Warp<float> & input, const GaussianParameters & parameters, std::size_t groupBytes)
{
  const Extent size = input.component[0].domain;
  Warp<float>  expected = input;
  Warp<float>  smoothed = input;
  MakeCpuBackend(1)->SmoothGaussian(expected.View(), 0, size.z, parameters);
  cuda::SmoothGaussian(TestDevice(), StagedWarp<float>(smoothed.View()), 0, size.z, parameters, groupBytes);
  for (int c = 0; c < 3; ++c)
  {
    EXPECT_TRUE(SameBytes(smoothed.component[c].values, expected.component[c].values))
      << size.x << "x" << size.y << "x" << size.z << ", component " << c;
  }
}

} // namespace

TEST(CudaGaussian, HasTheBitsOfTheProcessorAtEverySize)
{
  for (const Extent & size : AwkwardSizes())
  {
    for (const SmoothingBorder border : Borders)
    {
      for (const GaussianParameters & parameters : { Parameters(1, 1, 1, border),
                                                     Parameters(0.5, 1.5, 2, border),
                                                     Parameters(0, 3, 0.3, border),
                                                     Parameters(2, 0, 4, border),
                                                     Parameters(0, 0, 0, border) })
      {
        ExpectBitsOfTheProcessor(RandomWarp(size, 3, 2), parameters, cuda::DefaultGroupBytes);
      }
    }
  }
  ExpectBitsOfTheProcessor(Warp<float>({ 23, 17, 11 }, 7.5f), Parameters(1, 1, 1, Borders[0]), cuda::DefaultGroupBytes);
  ExpectBitsOfTheProcessor(RandomWarp({ 23, 17, 11 }, 1, 1e30), Parameters(1, 2, 1, Borders[0]), 0);
}

TEST(CudaGaussian, HasTheBitsOfTheProcessorInGroupsOfAnySize)
{
  const Extent size{ 19, 11, 14 };
  for (const SmoothingBorder border : Borders)
  {
    for (const double sigma : { 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 9.0 }) // radii 0 to 4, 6, and all planes
    {
      for (const std::int64_t planes : { 0, 2, 5, 13 })
      {
        ExpectBitsOfTheProcessor(RandomWarp(size, 3, 2), Parameters(1, 1, sigma, border), BytesOfPlanes(size, planes));
      }
    }
  }
}

TEST(CudaGaussian, HasTheBitsOfTheProcessorWhereTilesDoNotFit)
{
  for (const SmoothingBorder border : Borders)
  {
    for (const Extent & size : { Extent{ 150, 90, 2 }, Extent{ 40, 200, 1 }, Extent{ 300, 5, 2 } })
    {
      const GaussianParameters parameters = Parameters(40, 30, 1, border);
      ExpectBitsOfTheProcessor(RandomWarp(size, 3, 2), parameters, cuda::DefaultGroupBytes);
      ExpectBitsOfTheProcessor(RandomWarp(size, 3, 2), parameters, BytesOfPlanes(size, 1));
    }
  }
}

TEST(CudaGaussian, SlabsWithHalosHaveTheBitsOfTheWhole)
{
  const Extent             size{ 37, 12, 13 };
  const GaussianParameters parameters = Parameters(1, 2, 1.5, SmoothingBorder::Renormalize);
  const std::int64_t       halo = GaussianRadius(1.5);
  const Warp<float>        input = RandomWarp(size, 3, 2);
  Warp<float>              expected = input;
  MakeCpuBackend(1)->SmoothGaussian(expected.View(), 0, size.z, parameters);
  for (std::int64_t cut = 1; cut < size.z; cut += 3)
  {
    const std::int64_t bounds[3] = { 0, cut, size.z };
    for (int part = 0; part < 2; ++part)
    {
      const std::int64_t first = bounds[part], end = bounds[part + 1];
      Warp<float>        slab = input.Slab(first - halo, end + halo);
      const Warp<float>  before = slab;
      cuda::SmoothGaussian(
        TestDevice(), StagedWarp<float>(slab.View()), first, end - first, parameters, BytesOfPlanes(size, 2));
      for (int c = 0; c < 3; ++c)
      {
        EXPECT_TRUE(
          SameBytes(slab.component[c].Slab(first, end).values, expected.component[c].Slab(first, end).values));
        EXPECT_TRUE(
          SameBytes(slab.component[c].Slab(end, end + halo).values, before.component[c].Slab(end, end + halo).values));
      }
    }
  }
}

TEST(CudaGaussian, DoesNotDependOnTheSchedule)
{
  const Extent size{ 70, 20, 9 };
  for (const double sigma : { 1.0, 3.0 })
  {
    ForEachSchedule([&] {
      Warp<float> warp = RandomWarp(size, 3, 2);
      cuda::SmoothGaussian(TestDevice(),
                           StagedWarp<float>(warp.View()),
                           0,
                           size.z,
                           Parameters(sigma, 1, sigma, SmoothingBorder::Renormalize),
                           BytesOfPlanes(size, 4));
      std::vector<float> all = warp.component[0].values;
      all.insert(all.end(), warp.component[1].values.begin(), warp.component[1].values.end());
      all.insert(all.end(), warp.component[2].values.begin(), warp.component[2].values.end());
      return all;
    });
  }
}

TEST(CudaGaussian, KeepsAGroupOfPlanesHoweverManyThereAre)
{
  for (const std::int64_t planes : { 20, 40 })
  {
    const Extent              size{ 16, 16, planes };
    cuda::Device              device(0);
    cuda::DeviceBuffer<float> warp(device, 3 * size.Voxels());
    warp.FillZero();
    const std::size_t before = device.PeakBytes();
    cuda::SmoothGaussian(
      device, WarpView<float>::Planar(warp.Data(), size), 0, size.z, GaussianParameters{}, BytesOfPlanes(size, 4));
    // The group, and 2 planes below it; taps.
    EXPECT_LE(device.PeakBytes() - before, BytesOfPlanes(size, 6) + 1024);
  }
}
