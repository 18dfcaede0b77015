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
#include "ffdpWarpGrid.h"

#include "ffdpAllocationMeter.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

/** Trilinear interpolation of a volume at a point that is first cut to its grid. */
double
Trilinear(const Volume<float> & volume, const double (&point)[3])
{
  const std::int64_t size[3] = { volume.domain.x, volume.domain.y, volume.domain.z };
  std::int64_t       lower[3];
  double             fraction[3];
  for (int a = 0; a < 3; ++a)
  {
    const double at = std::min(std::max(point[a], 0.0), double(size[a] - 1));
    lower[a] = std::min(std::int64_t(at), std::max<std::int64_t>(0, size[a] - 2));
    fraction[a] = at - double(lower[a]);
  }
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner)
  {
    double       weight = 1;
    std::int64_t at[3];
    for (int a = 0; a < 3; ++a)
    {
      const int up = corner >> a & 1;
      at[a] = std::min(lower[a] + up, size[a] - 1);
      weight *= up ? fraction[a] : 1 - fraction[a];
    }
    sum += weight * volume.At(at[0], at[1], at[2]);
  }
  return sum;
}

Warp<double>
Reference(const Warp<float> & coarse, const Extent & size, const GridMap & map)
{
  Warp<double> fine(size);
  for (int c = 0; c < 3; ++c)
    for (std::int64_t z = 0; z < size.z; ++z)
      for (std::int64_t y = 0; y < size.y; ++y)
        for (std::int64_t x = 0; x < size.x; ++x)
        {
          const double point[3] = { (double(x) - map.offset[0]) / map.scale[0],
                                    (double(y) - map.offset[1]) / map.scale[1],
                                    (double(z) - map.offset[2]) / map.scale[2] };
          fine.component[c].At(x, y, z) = map.scale[c] * Trilinear(coarse.component[c], point);
        }
  return fine;
}

Warp<float>
Enlarge(const Warp<float> & coarse, const Extent & size, const GridMap & map, unsigned threads = 2)
{
  Warp<float> fine(size, NAN);
  UpsampleWarp(coarse.View(), fine.View(), map, threads);
  return fine;
}

bool
Same(const Warp<float> & a, const Warp<float> & b)
{
  bool same = true;
  for (int c = 0; c < 3; ++c)
  {
    same = same && SameBytes(a.component[c].values, b.component[c].values);
  }
  return same;
}

} // namespace

GTEST_TEST(WarpGrid, UpsamplingAgreesWithReference)
{
  for (const Extent & size : AwkwardSizes())
    for (const double factor : { 1.0, 2.0, 3.7 })
    {
      const Extent      coarseSize{ std::max<std::int64_t>(1, std::int64_t(double(size.x) / factor)),
                               std::max<std::int64_t>(1, std::int64_t(double(size.y) / factor)),
                               std::max<std::int64_t>(1, std::int64_t(double(size.z) / factor)) };
      const Warp<float> coarse = RandomWarp(coarseSize, 5, 3);
      for (const GridMap & map : { GridMap::Centered(size, coarseSize), GridMap::AlignCorners(size, coarseSize) })
      {
        const auto fine = Enlarge(coarse, size, map);
        const auto reference = Reference(coarse, size, map);
        for (int c = 0; c < 3; ++c)
        {
          // Three interpolations and a factor, each a few roundings of values up to twice the largest;
          // the fraction is float too.
          const double largest = map.scale[c] * MaxMagnitude(coarse.component[c].values);
          EXPECT_LT(MaxDifference(fine.component[c].values, reference.component[c].values), largest * 20 * 6e-8);
        }
      }
    }
}

GTEST_TEST(WarpGrid, EqualGridsAreTheIdentityAndConstantsKeepTheirLength)
{
  const Extent size{ 17, 13, 5 };
  const auto   warp = RandomWarp(size, 1, 3);
  EXPECT_TRUE(Same(Enlarge(warp, size, GridMap::Centered(size, size)), warp));
  EXPECT_TRUE(Same(Enlarge(warp, size, GridMap::AlignCorners(size, size)), warp));

  const Extent doubled{ 34, 26, 5 };
  const auto   fine = Enlarge(Warp<float>(size, 0.7f), doubled, GridMap::Centered(doubled, size));
  EXPECT_EQ(fine.component[0].values, std::vector<float>(fine.component[0].values.size(), 1.4f)); // twice the voxels
  EXPECT_EQ(fine.component[2].values, std::vector<float>(fine.component[2].values.size(), 0.7f)); // z is as it was
}

GTEST_TEST(WarpGrid, AnAffineFieldStaysAffine)
{
  // u(x) = x / 4 in voxels of the coarse grid is the same physical field as x / 4 in those of the fine one.
  const Extent  size{ 20, 18, 14 }, coarseSize{ 10, 9, 7 };
  const GridMap map = GridMap::AlignCorners(size, coarseSize);
  Warp<float>   coarse(coarseSize);
  for (std::int64_t z = 0; z < coarseSize.z; ++z)
    for (std::int64_t y = 0; y < coarseSize.y; ++y)
      for (std::int64_t x = 0; x < coarseSize.x; ++x)
      {
        coarse.component[0].At(x, y, z) = 0.25f * float(x);
        coarse.component[2].At(x, y, z) = 0.25f * float(z);
      }
  const auto fine = Enlarge(coarse, size, map);
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        ASSERT_NEAR(fine.component[0].At(x, y, z), 0.25 * double(x), 5 * 20 * 6e-8);
        ASSERT_NEAR(fine.component[2].At(x, y, z), 0.25 * double(z), 5 * 20 * 6e-8);
      }
}

GTEST_TEST(WarpGrid, UpsamplingGivesTheSameBytesForThreadsSlabsAndInstructionSets)
{
  const Extent size{ 37, 53, 13 }, coarseSize{ 17, 25, 6 };
  const auto   coarse = RandomWarp(coarseSize, 1, 3);
  const auto   map = GridMap::Centered(size, coarseSize);
  const auto   whole = Enlarge(coarse, size, map, 1);
  for (const unsigned threads : ThreadCounts())
  {
    EXPECT_TRUE(Same(Enlarge(coarse, size, map, threads), whole));
  }
  ForEachInstructionSet([&] { EXPECT_TRUE(Same(Enlarge(coarse, size, map), whole)); });
  for (std::int64_t first = 0; first < size.z; ++first)
    for (std::int64_t end = first + 1; end <= size.z; ++end)
    {
      const auto  needed = UpsampleWarpPlanes(coarseSize, map, { first, end });
      const auto  slab = coarse.Slab(needed.first, needed.end);
      Warp<float> part = Warp<float>(size).Slab(first, end);
      UpsampleWarp(slab.View(), part.View(), map, 2);
      EXPECT_TRUE(Same(part, whole.Slab(first, end)));
      const auto shorter = slab.View().Planes(needed.first, needed.end - needed.first - 1);
      EXPECT_THROW(UpsampleWarp(shorter, part.View(), map), std::invalid_argument); // one plane less is noticed
    }
}

GTEST_TEST(WarpGrid, MeasureAgreesWithReference)
{
  for (const Extent & size : AwkwardSizes())
  {
    const auto   warp = RandomWarp(size, 7, 3);
    const double scale[3] = { 0.5, 2, 3 };
    const auto   measured = MeasureWarp(warp.View(), scale, 2);
    double       norm = 0, plain = 0;
    for (std::size_t i = 0; i < warp.component[0].values.size(); ++i)
    {
      double weighted = 0, square = 0;
      for (int c = 0; c < 3; ++c)
      {
        const double u = warp.component[c].values[i];
        weighted += scale[c] * u * scale[c] * u;
        square += u * u;
      }
      norm = std::max(norm, std::sqrt(weighted));
      plain = std::max(plain, std::sqrt(square));
    }
    EXPECT_NEAR(measured.norm, norm, norm * 5 * 6e-8); // squares and sums are float
    EXPECT_NEAR(MeasureWarp(warp.View(), 2).norm, plain, plain * 5 * 6e-8);
    for (int c = 0; c < 3; ++c)
    {
      EXPECT_EQ(measured.largest[c], MaxMagnitude(warp.component[c].values));
    }
  }
}

GTEST_TEST(WarpGrid, MeasureFindsTheOneLargeVectorAnywhere)
{
#ifdef FFDP_TEST_ON_DEVICE
  const Extent size{ 3, 34, 2 }; // a launch for each voxel
#else
  const Extent size{ 19, 35, 3 };
#endif
  for (std::int64_t i = 0; i < size.Voxels(); ++i)
  {
    Warp<float> warp(size);
    warp.component[1].values[std::size_t(i)] = -5;
    const auto measured = MeasureWarp(warp.View(), 2);
    ASSERT_EQ(measured.norm, 5);
    ASSERT_EQ(measured.largest[1], 5);
    ASSERT_EQ(measured.largest[0], 0);
  }
}

GTEST_TEST(WarpGrid, MeasureIsTheSameForThreadsSlabsAndInstructionSets)
{
  const Extent size{ 37, 70, 5 };
  const auto   warp = RandomWarp(size, 7, 3);
  const double scale[3] = { 0.5, 2, 3 };
  const auto   whole = MeasureWarp(warp.View(), scale, 1);
  const auto   expectWhole = [&](const WarpSize & measured) {
    EXPECT_EQ(measured.norm, whole.norm);
    EXPECT_EQ(measured.largest[0], whole.largest[0]);
  };
  for (const unsigned threads : ThreadCounts())
  {
    expectWhole(MeasureWarp(warp.View(), scale, threads));
  }
  ForEachInstructionSet([&] { expectWhole(MeasureWarp(warp.View(), scale, 2)); });
  for (std::int64_t cut = 1; cut < size.z; ++cut)
  {
    auto       lower = MeasureWarp(warp.View().Planes(0, cut), scale, 2);
    const auto upper = MeasureWarp(warp.View().Planes(cut, size.z - cut), scale, 2);
    lower.norm = std::max(lower.norm, upper.norm);
    lower.largest[0] = std::max(lower.largest[0], upper.largest[0]);
    expectWhole(lower);
  }
}

GTEST_TEST(WarpGrid, MeasureLeavesOutWhatIsNotFinite)
{
  Warp<float> warp = RandomWarp({ 70, 9, 8 }, 3, 0.1);
  warp.component[0].At(69, 8, 7) = -3;
  warp.component[1].At(69, 8, 7) = 4;
  warp.component[2].At(0, 0, 0) = 4.5f;
  warp.component[2].At(1, 1, 1) = NAN;
  warp.component[1].At(2, 2, 2) = -INFINITY;
  ForEachInstructionSet([&] {
    for (const unsigned threads : ThreadCounts())
    {
      const WarpSize reach = MeasureWarp(warp.View(), threads);
      EXPECT_FALSE(reach.finite);
      EXPECT_EQ(reach.largest[0], 3);
      EXPECT_EQ(reach.largest[1], 4);
      EXPECT_EQ(reach.largest[2], 4.5f);
      const float z = warp.component[2].At(69, 8, 7);
      EXPECT_FLOAT_EQ(reach.norm, std::sqrt(25 + z * z));
    }
  });
}

GTEST_TEST(WarpGrid, TwoComponents)
{
  const Extent size{ 20, 18, 1 }, coarseSize{ 10, 9, 1 };
  auto         coarse = RandomWarp(coarseSize, 1, 3);
  const auto   map = GridMap::Centered(size, coarseSize);
  const auto   three = Enlarge(coarse, size, map);
  Warp<float>  two(size, 7);
  const auto   flat = [](auto view) {
    view.component[2] = nullptr;
    return view;
  };
  UpsampleWarp(flat(coarse.View()), flat(two.View()), map, 2);
  EXPECT_TRUE(SameBytes(two.component[1].values, three.component[1].values));
  EXPECT_EQ(two.component[2].values[0], 7); // not touched
  EXPECT_EQ(MeasureWarp(flat(coarse.View()), 2).largest[2], 0);
  EXPECT_THROW(UpsampleWarp(flat(coarse.View()), two.View(), map), std::invalid_argument); // 2-D into 3-D
}

#ifndef FFDP_TEST_ON_DEVICE // meters the processor's memory
GTEST_TEST(WarpGrid, MemoryIsARowAndTables)
{
  for (const std::int64_t planes : { 32, 128 })
  {
    const Extent size{ 64, 64, planes }, coarseSize{ 32, 32, planes / 2 };
    const auto   coarse = RandomWarp(coarseSize, 1, 3);
    Warp<float>  fine(size);
    const auto   map = GridMap::Centered(size, coarseSize);
    EXPECT_LT(MeasurePeakAllocation([&] { UpsampleWarp(coarse.View(), fine.View(), map, 2); }),
              16384u + std::size_t(planes) * 32u);
    EXPECT_LT(MeasurePeakAllocation([&] { MeasureWarp(fine.View(), 2); }), 16384u + std::size_t(planes) * 64u);
  }
}
#endif

GTEST_TEST(WarpGrid, RefusesBadInput)
{
  Warp<float>       fine(Extent{ 8, 8, 8 });
  const Warp<float> coarse(Extent{ 4, 4, 4 });
  GridMap           map = GridMap::Centered({ 8, 8, 8 }, { 4, 4, 4 });
  EXPECT_THROW(UpsampleWarp({}, fine.View(), map), std::invalid_argument);   // no input
  EXPECT_THROW(UpsampleWarp(coarse.View(), {}, map), std::invalid_argument); // no output
  const auto interleaved = WarpView<float>::Interleaved(fine.component[0].values.data(), 3, { 4, 4, 4 });
  EXPECT_THROW(UpsampleWarp(interleaved, fine.View(), map), std::invalid_argument); // not planar
  EXPECT_THROW(MeasureWarp(interleaved), std::invalid_argument);                    // not planar
  EXPECT_THROW(MeasureWarp({}), std::invalid_argument);                             // nothing to measure
  map.scale[2] = -1;                                                                // a mirror
  EXPECT_THROW(UpsampleWarp(coarse.View(), fine.View(), map), std::invalid_argument);
}
