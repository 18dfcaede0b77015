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

#include "ffdpAllocationMeter.h"
#include "ffdpGaussianReference.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

GaussianParameters
Parameters(double x, double y, double z, SmoothingBorder border, double truncate = 2)
{
  GaussianParameters parameters;
  parameters.sigma[0] = x;
  parameters.sigma[1] = y;
  parameters.sigma[2] = z;
  parameters.border = border;
  parameters.truncate = truncate;
  return parameters;
}

const SmoothingBorder Borders[] = { SmoothingBorder::Renormalize, SmoothingBorder::Zero };

/** Three sums of 2 r + 1 products with positive weights that sum to 1: each of them errs by at most (r + 3)
 * roundings (product, pair, r additions, tap) of 2^-24 relative to the largest magnitude. */
double
Tolerance(const Volume<float> & input, const GaussianParameters & parameters)
{
  double roundings = 0;
  for (const double sigma : parameters.sigma)
  {
    roundings += double(GaussianRadius(sigma, parameters.truncate)) + 3;
  }
  return roundings * std::ldexp(1.0, -24) * MaxMagnitude(input.values);
}

} // namespace

TEST(Gaussian, TapsFollowTheDefinition)
{
  // Known radii: sigma 0.25 and 0.5 have 3 taps, 1 has 5, 2 has 9.
  EXPECT_EQ(GaussianRadius(0), 0);
  EXPECT_EQ(GaussianRadius(0.25), 1);
  EXPECT_EQ(GaussianRadius(0.5), 1);
  EXPECT_EQ(GaussianRadius(1), 2);
  EXPECT_EQ(GaussianRadius(2), 4);
  for (const double sigma : { 0.0, 0.3, 1.0, 2.7 })
  {
    const std::vector<double> half = GaussianTaps(sigma, 3);
    const std::vector<double> whole = ReferenceGaussianKernel(sigma, 3);
    ASSERT_EQ(2 * half.size() - 1, whole.size());
    for (std::size_t i = 0; i < half.size(); ++i)
    {
      EXPECT_NEAR(half[i], whole[whole.size() / 2 + i], 1e-15);
    }
  }
}

TEST(Gaussian, EqualsTheReferenceAtEverySize)
{
  for (const Extent & size : AwkwardSizes())
  {
    for (const SmoothingBorder border : Borders)
    {
      for (const GaussianParameters & parameters : { Parameters(1, 1, 1, border),
                                                     Parameters(0.5, 1.5, 2, border),
                                                     Parameters(0, 3, 0.3, border),
                                                     Parameters(2, 0, 4, border, 3),
                                                     Parameters(0, 0, 0, border) })
      {
        for (const Volume<float> & input :
             { RandomVolume(size, 3), RandomVolume(size, 4, 1000, 10), Volume<float>(size, 7.5f) })
        {
          Volume<float> output = input;
          SmoothGaussian(output.View(), parameters, 2);
          EXPECT_LE(MaxDifference(output.values, ReferenceGaussian(input.As<double>(), parameters).values),
                    Tolerance(input, parameters))
            << size.x << "x" << size.y << "x" << size.z;
        }
      }
    }
  }
}

TEST(Gaussian, LeavesAVolumeAloneWithoutSigma)
{
  const Volume<float> input = RandomVolume({ 19, 7, 5 }, 1);
  Volume<float>       output = input;
  SmoothGaussian(output.View(), Parameters(0, 0, 0, SmoothingBorder::Renormalize));
  EXPECT_TRUE(SameBytes(output.values, input.values));
}

TEST(Gaussian, OfAnImpulseIsTheProductOfTheTaps)
{
  const Extent  size{ 21, 19, 17 };
  Volume<float> volume(size);
  volume.At(10, 9, 8) = 1;
  SmoothGaussian(volume.View(), Parameters(1, 1.5, 2, SmoothingBorder::Zero));
  const std::vector<double> kx = GaussianTaps(1), ky = GaussianTaps(1.5), kz = GaussianTaps(2);
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        const auto i = std::size_t(std::abs(x - 10)), j = std::size_t(std::abs(y - 9)),
                   k = std::size_t(std::abs(z - 8));
        const double expected = i < kx.size() && j < ky.size() && k < kz.size() ? kx[i] * ky[j] * kz[k] : 0;
        EXPECT_NEAR(volume.At(x, y, z), expected, 6 * std::ldexp(1.0, -24) * expected); // 3 taps, 3 products
      }
}

TEST(Gaussian, WithZeroBorderIsItsOwnAdjoint)
{
  const Extent             size{ 23, 9, 14 };
  const GaussianParameters parameters = Parameters(1, 2, 1.5, SmoothingBorder::Zero);
  const Volume<float>      x = RandomVolume(size, 1, 1), y = RandomVolume(size, 2, 1);
  Volume<float>            gx = x, gy = y;
  SmoothGaussian(gx.View(), parameters);
  SmoothGaussian(gy.View(), parameters);
  // Each product sums N values of magnitude below 6 whose error is below Tolerance().
  const double error = 2 * 6 * double(size.Voxels()) * Tolerance(x, parameters);
  EXPECT_NEAR(Dot(gx.values, y.values), Dot(x.values, gy.values), error);
  EXPECT_GT(std::abs(Dot(gx.values, y.values)), 10 * error);
}

TEST(Gaussian, OfAWarpIsThatOfItsComponents)
{
  const Extent             size{ 33, 12, 10 };
  const GaussianParameters parameters = Parameters(1, 1.2, 0.7, SmoothingBorder::Renormalize);
  const Warp<float>        input = RandomWarp(size, 5, 2);
  Warp<float>              warp = input;
  SmoothGaussian(warp.View(), parameters, 2);
  for (int c = 0; c < 3; ++c)
  {
    Volume<float> component = input.component[c];
    SmoothGaussian(component.View(), parameters, 3);
    EXPECT_TRUE(SameBytes(component.values, warp.component[c].values));
  }
}

TEST(Gaussian, BytesDoNotDependOnThreadsOrInstructions)
{
  for (const Extent & size : { Extent{ 70, 37, 29 }, Extent{ 23, 17, 3 }, Extent{ 90, 65, 1 } })
  {
    for (const SmoothingBorder border : Borders)
    {
      for (const double sigma : { 0.5, 1.0, 1.5, 2.0, 3.0 }) // radii 1, 2, 3, 4 and one that takes two rounds
      {
        const Warp<float> input = RandomWarp(size, 5, 2);
        Warp<float>       expected = input;
        SmoothGaussian(expected.View(), Parameters(sigma, sigma, sigma, border), 1);
        ForEachInstructionSet([&] {
          for (const unsigned threads : ThreadCounts())
          {
            Warp<float> warp = input;
            SmoothGaussian(warp.View(), Parameters(sigma, sigma, sigma, border), threads);
            for (int c = 0; c < 3; ++c)
            {
              EXPECT_TRUE(SameBytes(warp.component[c].values, expected.component[c].values)) << threads << " threads";
            }
          }
        });
      }
    }
  }
}

TEST(Gaussian, BytesDoNotDependOnSlabs)
{
  const Extent size{ 19, 11, 13 };
  for (const SmoothingBorder border : Borders)
  {
    for (const double sigma : { 0.0, 1.0, 2.0 })
    {
      const GaussianParameters parameters = Parameters(1, 1, sigma, border);
      const std::int64_t       halo = GaussianRadius(sigma);
      const Volume<float>      input = RandomVolume(size, 8);
      Volume<float>            expected = input;
      SmoothGaussian(expected.View(), parameters, 2);
      for (std::int64_t cut = 1; cut < size.z; ++cut)
      {
        for (const unsigned threads : { 1u, 2u })
        {
          Volume<float> low = input.Slab(0, cut + halo), high = input.Slab(cut - halo, size.z);
          SmoothGaussian(low.View(), 0, cut, parameters, threads);
          SmoothGaussian(high.View(), cut, size.z - cut, parameters, threads);
          EXPECT_TRUE(SameBytes(low.Slab(0, cut).values, expected.Slab(0, cut).values)) << "cut at " << cut;
          EXPECT_TRUE(SameBytes(high.Slab(cut, size.z).values, expected.Slab(cut, size.z).values)) << "cut at " << cut;
          // Halos are only read.
          EXPECT_TRUE(SameBytes(low.Slab(cut, cut + halo).values, input.Slab(cut, cut + halo).values));
          EXPECT_TRUE(SameBytes(high.Slab(cut - halo, cut).values, input.Slab(cut - halo, cut).values));
        }
      }
    }
  }
}

TEST(Gaussian, BytesDoNotDependOnSlabsWhoseWindowThreadsShare)
{
  const Extent             size{ 9, 8, 60 };
  const GaussianParameters parameters = Parameters(1, 1, 3, SmoothingBorder::Renormalize);
  const std::int64_t       halo = GaussianRadius(3);
  const Warp<float>        input = RandomWarp(size, 8, 1);
  Warp<float>              expected = input;
  SmoothGaussian(expected.View(), parameters, 2);
  for (const std::int64_t cut : { 20, 31, 45 })
  {
    for (const unsigned threads : { 1u, 2u })
    {
      Warp<float> low = input.Slab(0, cut + halo), high = input.Slab(cut - halo, size.z);
      SmoothGaussian(low.View(), 0, cut, parameters, threads);
      SmoothGaussian(high.View(), cut, size.z - cut, parameters, threads);
      for (int c = 0; c < 3; ++c)
      {
        const Volume<float> & whole = expected.component[c];
        EXPECT_TRUE(SameBytes(low.component[c].Slab(0, cut).values, whole.Slab(0, cut).values)) << cut;
        EXPECT_TRUE(SameBytes(high.component[c].Slab(cut, size.z).values, whole.Slab(cut, size.z).values)) << cut;
      }
    }
  }
}

TEST(Gaussian, FromOneWarpToAnotherHasTheBytesOfInPlace)
{
  const GaussianParameters parameters = Parameters(1, 0.5, 1.2, SmoothingBorder::Renormalize);
  std::vector<Extent>      sizes = AwkwardSizes();
  sizes.push_back({ 9, 300, 5 }); // several pieces of rows
  for (const Extent & size : sizes)
  {
    Warp<float> warp = RandomWarp(size, 4, 1);
    Warp<float> expected = warp;
    SmoothGaussian(expected.View(), parameters, 2);
    for (const unsigned threads : ThreadCounts())
    {
      Warp<float> smoothed(size);
      SmoothGaussian(WarpView<const float>(warp.View()), smoothed.View(), parameters, threads);
      for (int c = 0; c < 3; ++c)
      {
        EXPECT_TRUE(SameBytes(smoothed.component[c].values, expected.component[c].values)) << size.y << " " << threads;
      }
    }
  }
  const Extent size{ 7, 6, 12 };
  Warp<float>  warp = RandomWarp(size, 5, 1);
  Warp<float>  expected = warp;
  SmoothGaussian(expected.View(), parameters, 2);
  Warp<float> part = warp.Slab(2, 10), smoothed = warp.Slab(4, 8);
  SmoothGaussian(WarpView<const float>(part.View()), smoothed.View(), parameters, 2);
  EXPECT_TRUE(SameBytes(smoothed.component[2].values, expected.component[2].Slab(4, 8).values));
  EXPECT_THROW(SmoothGaussian(WarpView<const float>(part.View()), warp.View(), parameters), std::invalid_argument);
}

TEST(Gaussian, WorksOnPartsOfLargerRowsAndPlanes)
{
  const Extent        outer{ 31, 20, 9 }, size{ 17, 13, 9 };
  const Volume<float> input = RandomVolume(outer, 8);
  Volume<float>       output = input, packed(size);
  VolumeView<float>   view(output.values.data(), size);
  view.rowStride = outer.x;
  view.planeStride = outer.x * outer.y;
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      std::copy_n(view.Row(y, z), size.x, packed.View().Row(y, z));
  SmoothGaussian(view, GaussianParameters{}, 2);
  SmoothGaussian(packed.View(), GaussianParameters{}, 2);
  for (std::int64_t z = 0; z < outer.z; ++z)
    for (std::int64_t y = 0; y < outer.y; ++y)
      for (std::int64_t x = 0; x < outer.x; ++x)
      {
        const bool inside = x < size.x && y < size.y;
        EXPECT_EQ(output.At(x, y, z), inside ? packed.At(x, y, z) : input.At(x, y, z));
      }
}

TEST(Gaussian, SpreadsNaNNoFurtherThanItsWindow)
{
  const Extent  size{ 40, 15, 12 };
  Volume<float> input = RandomVolume(size, 2);
  input.At(20, 7, 6) = std::numeric_limits<float>::quiet_NaN();
  Volume<float> output = input;
  SmoothGaussian(output.View(), GaussianParameters{}, 2);
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        const bool near = std::abs(x - 20) <= 2 && std::abs(y - 7) <= 2 && std::abs(z - 6) <= 2;
        EXPECT_EQ(std::isnan(output.At(x, y, z)), near);
      }
}

#ifndef FFDP_TEST_ON_DEVICE // meters the processor's memory
TEST(Gaussian, KeepsAWindowOfPlanesHoweverManyThereAre)
{
  std::size_t peak[2];
  for (const int i : { 0, 1 })
  {
    Warp<float> warp = RandomWarp({ 64, 64, i == 0 ? 60 : 120 }, 1, 1);
    peak[i] = MeasurePeakAllocation([&] { SmoothGaussian(warp.View(), GaussianParameters{}, 2); });
  }
  const std::size_t slot = 64 * 65 * sizeof(float); // a plane and a row
  const std::size_t threader = 16384;               // what starting threads takes, and a few rows
  EXPECT_LE(peak[0], 2 * 3 * 7 * slot + threader);  // 3 r + 1 planes for r = 2
  EXPECT_LE(peak[1], 2 * 3 * 7 * slot + threader);
}
#endif

TEST(Gaussian, RefusesWhatItCannotSmooth)
{
  const Extent       size{ 8, 8, 8 };
  Volume<float>      volume(size);
  Warp<float>        warp(size);
  GaussianParameters parameters;
  EXPECT_THROW(SmoothGaussian(VolumeView<float>(), parameters), std::invalid_argument); // no volume
  EXPECT_THROW(SmoothGaussian(volume.View(), Parameters(1, 1, -1, SmoothingBorder::Zero)), std::invalid_argument);
  EXPECT_THROW(SmoothGaussian(volume.View(), Parameters(1, NAN, 1, SmoothingBorder::Zero)), std::invalid_argument);
  EXPECT_THROW(SmoothGaussian(volume.View(), Parameters(1, 1, 1, SmoothingBorder::Zero, 0)), std::invalid_argument);
  EXPECT_THROW(SmoothGaussian(volume.View(), 3, 6, parameters), std::invalid_argument); // planes that it has not
  Volume<float> slab = volume.Slab(3, 6);
  EXPECT_THROW(SmoothGaussian(slab.View(), parameters), std::invalid_argument); // no halo
  const auto interleaved = WarpView<float>::Interleaved(volume.values.data(), 3, { 4, 4, 4 });
  EXPECT_THROW(SmoothGaussian(interleaved, parameters), std::invalid_argument); // not planar
  EXPECT_NO_THROW(SmoothGaussian(slab.View(), 4, 0, parameters));               // nothing to do
}
