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
#include "ffdpSampler.h"

#include "ffdpAllocationMeter.h"
#include "ffdpSamplerReference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#ifdef __linux__
#  include <sys/mman.h>
#endif

namespace
{
using namespace ffdp;
using namespace ffdp::test;

Volume<float>
SampleVolume(const Volume<float> &     image,
             const CompositeMap &      map,
             const WarpInput &         u,
             const Extent &            fixedSize,
             const SamplerParameters & parameters,
             unsigned                  threads = 2)
{
  Volume<float> out(fixedSize, 7.0f);
  Sample(image.View(), map, u, out.View(), parameters, threads);
  return out;
}

/** An image size that differs from the fixed size on every axis. */
Extent
ImageSizeFor(const Extent & fixedSize)
{
  return { fixedSize.x + 3, std::max<std::int64_t>(1, fixedSize.y - 2), fixedSize.z + 1 };
}

} // namespace

TEST(Sampler, MatchesTheReferenceInEveryLayout)
{
  const CompositeMap map = ObliqueMap();
  for (const Extent & size : AwkwardSizes())
  {
    const Extent        imageSize = ImageSizeFor(size);
    const Volume<float> image = RandomVolume(imageSize, 5, 1000, 10);
    const Warp<double>  u = WarpToRandomPoints(size, imageSize, map, 11);
    const Warp<float>   floats = ConvertWarp<float>(u);
    std::vector<float>  mixedFloats = Interleave<float>(u);
    std::vector<double> mixedDoubles = Interleave<double>(u);
    // Values reach 1050 and fall to 0 within a voxel at a zero border: position errors count with that slope along
    // three axes, and the interpolation itself makes about ten roundings.
    const double tolerance = 1050 * (3 * PositionError(160) + 10 * 6e-8);
    for (const SamplerParameters & parameters : AllSamplerParameters())
    {
      const Volume<double> expected = SampleReference(image, map, u, parameters);
      const Volume<float>  planar = SampleVolume(image, map, floats.View(), size, parameters);
      EXPECT_LE(MaxDifference(planar.values, expected.values), tolerance);
      for (const WarpInput & layout : { WarpInput(u.View()),
                                        WarpInput(WarpView<const float>::Interleaved(mixedFloats.data(), 3, size)),
                                        WarpInput(WarpView<const double>::Interleaved(mixedDoubles.data(), 3, size)) })
      {
        EXPECT_TRUE(SameBytes(SampleVolume(image, map, layout, size, parameters).values, planar.values));
      }
    }
  }
}

TEST(Sampler, IdentityAndWholeShiftsCopy)
{
  for (const Extent & size : AwkwardSizes())
  {
    const Volume<float> image = RandomVolume(size, 3);
    for (const SamplerParameters & parameters : AllSamplerParameters())
    {
      EXPECT_TRUE(SameBytes(SampleVolume(image, {}, {}, size, parameters).values, image.values));
    }
    CompositeMap shift;
    shift.t[0] = 2;
    shift.t[1] = -1;
    const Volume<float> shifted = SampleVolume(image, shift, {}, size, {});
    for (std::int64_t y = 0; y < size.y; ++y)
    {
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        EXPECT_EQ(shifted.At(x, y, 0), x + 2 < size.x && y > 0 ? image.At(x + 2, y - 1, 0) : 0.0f);
      }
    }
  }
}

TEST(Sampler, AffineMapWithoutWarpMatchesTheReference)
{
  const Extent        size{ 150, 20, 12 }, imageSize{ 140, 25, 10 };
  const CompositeMap  map = ObliqueMap();
  const Volume<float> image = RandomVolume(imageSize, 8);
  // Positions of an affine map round once or twice near 1, however far from the origin; slopes are below 10.
  const double tolerance = 10 * (3 * PositionError(0) + 10 * 6e-8);
  const auto   expected = SampleReference(image, map, Warp<double>(size), {});
  EXPECT_LE(MaxDifference(SampleVolume(image, map, {}, size, {}).values, expected.values), tolerance);
}

TEST(Sampler, KeepsItsPrecisionFarFromTheOrigin)
{
  const Extent  size{ 300001, 1, 1 };
  Volume<float> image(size);
  for (std::int64_t x = 0; x < size.x; ++x)
  {
    image.At(x, 0, 0) = float(x % 2);
  }
  CompositeMap map;
  map.t[0] = 0.3; // a float near 300000 has a spacing of 0.03
  const Volume<float> out = SampleVolume(image, map, {}, size, {});
  for (const std::int64_t x : { 10, 299990 })
  {
    EXPECT_NEAR(out.At(x, 0, 0), 0.3, 1e-7);
    EXPECT_NEAR(out.At(x + 1, 0, 0), 0.7, 1e-7);
  }
}

TEST(Sampler, NearestRoundsHalvesToEven)
{
  Volume<float>     image({ 6, 1, 1 });
  SamplerParameters nearest;
  nearest.interpolation = Interpolation::Nearest;
  for (int x = 0; x < 6; ++x)
  {
    image.At(x, 0, 0) = float(x + 1);
  }
  CompositeMap half;
  half.t[0] = 0.5; // 0.5, 1.5, 2.5, 3.5, 4.5, 5.5 -> 0, 2, 2, 4, 4, 6
  EXPECT_EQ(SampleVolume(image, half, {}, image.domain, nearest).values, (std::vector<float>{ 1, 3, 3, 5, 5, 0 }));
  half.t[0] = -0.5; // -0.5 -> 0
  EXPECT_EQ(SampleVolume(image, half, {}, image.domain, nearest).values, (std::vector<float>{ 1, 1, 3, 3, 5, 5 }));
}

TEST(Sampler, BordersFadeToZeroOrFollowItk)
{
  const Volume<float> image({ 4, 1, 1 }, 8.0f);
  SamplerParameters   edge;
  edge.border = Border::Edge;
  edge.outsideValue = -1;
  CompositeMap map;
  map.t[0] = -0.5; // -0.5 is inside for ITK
  EXPECT_EQ(SampleVolume(image, map, {}, image.domain, edge).values, (std::vector<float>{ 8, 8, 8, 8 }));
  EXPECT_EQ(SampleVolume(image, map, {}, image.domain, {}).values, (std::vector<float>{ 4, 8, 8, 8 }));
  map.t[0] = 0.5; // n - 0.5 is outside for ITK
  EXPECT_EQ(SampleVolume(image, map, {}, image.domain, edge).values, (std::vector<float>{ 8, 8, 8, -1 }));
  EXPECT_EQ(SampleVolume(image, map, {}, image.domain, {}).values, (std::vector<float>{ 8, 8, 8, 4 }));
  map.t[0] = 1.75;
  EXPECT_EQ(SampleVolume(image, map, {}, image.domain, {}).values, (std::vector<float>{ 8, 8, 2, 0 }));
}

TEST(Sampler, BytesDoNotDependOnThreadsSlabsOrInstructions)
{
  // S = identity is a case of its own in some of the code
  for (const bool plainS : { false, true })
    for (const Extent & size : { Extent{ 45, 37, 6 }, Extent{ 150, 40, 3 }, Extent{ 33, 19, 1 } })
    {
      CompositeMap       map = ObliqueMap();
      const CompositeMap plain;
      std::copy(plain.S, plain.S + (plainS ? 9 : 0), map.S);
      const Extent        imageSize = ImageSizeFor(size);
      const Volume<float> image = RandomVolume(imageSize, 15);
      const Warp<float>   u = ConvertWarp<float>(WarpToRandomPoints(size, imageSize, map, 21));
      for (const SamplerParameters & parameters : AllSamplerParameters())
      {
        const Volume<float> once = SampleVolume(image, map, u.View(), size, parameters, 1);
        for (const unsigned threads : ThreadCounts())
        {
          EXPECT_TRUE(SameBytes(SampleVolume(image, map, u.View(), size, parameters, threads).values, once.values));
        }
        ForEachInstructionSet(
          [&] { EXPECT_TRUE(SameBytes(SampleVolume(image, map, u.View(), size, parameters).values, once.values)); });
        for (std::int64_t cut = 1; cut < size.z; ++cut)
        {
          for (const auto & range : { PlaneRange{ 0, cut }, PlaneRange{ cut, size.z } })
          {
            const Warp<float> slab = u.Slab(range.first, range.end);
            Volume<float>     out(size, range.first, range.end - range.first);
            Sample(image.View(), map, slab.View(), out.View(), parameters, 2);
            EXPECT_TRUE(SameBytes(out.values, once.Slab(range.first, range.end).values));
          }
        }
      }
    }
}

TEST(Sampler, SlabsOfTheImageAddUpToTheWhole)
{
  const Extent       size{ 31, 14, 8 }, imageSize{ 29, 16, 7 };
  const CompositeMap map = ObliqueMap();
  Volume<float>      image = RandomVolume(imageSize, 25);
  for (std::size_t i = 0; i < image.values.size(); i += 5)
  {
    image.values[i] = -0.0f; // adding a zero must not change its sign in one case and not in the other
  }
  const Warp<float> u = ConvertWarp<float>(WarpToRandomPoints(size, imageSize, map, 31));
  ForEachInstructionSet([&] {
    for (SamplerParameters parameters : AllSamplerParameters())
    {
      const Volume<float> whole = SampleVolume(image, map, u.View(), size, parameters);
      for (std::int64_t cut = 1; cut < imageSize.z; ++cut)
      {
        for (const bool upperFirst : { false, true })
        {
          Volume<float> sum(size, 5.0f);
          for (const bool upper : { upperFirst, !upperFirst })
          {
            const Volume<float> slab = upper ? image.Slab(cut, imageSize.z) : image.Slab(0, cut);
            parameters.accumulate = upper != upperFirst;
            Sample(slab.View(), map, u.View(), sum.View(), parameters, 2);
          }
          EXPECT_TRUE(SameBytes(sum.values, whole.values));
        }
      }
      Volume<float> sum(size);
      parameters.accumulate = true;
      for (std::int64_t z = 0; z < imageSize.z; ++z)
      {
        Sample(image.Slab(z, z + 1).View(), map, u.View(), sum.View(), parameters, 2);
      }
      EXPECT_TRUE(SameBytes(sum.values, whole.values));
    }
  });
}

// Halves of the smallest number round to negative zeros, and only their sum in one piece would keep the sign.
TEST(Sampler, SlabsOfTheImageAgreeOnTheSignOfZero)
{
  const Extent        size{ 9, 1, 2 };
  const Volume<float> image(size, -std::numeric_limits<float>::denorm_min());
  CompositeMap        map;
  map.t[2] = 0.5;
  ForEachInstructionSet([&] {
    SamplerParameters parameters;
    Volume<float>     sum(size);
    parameters.accumulate = true;
    Sample(image.Slab(0, 1).View(), map, {}, sum.View(), parameters);
    Sample(image.Slab(1, 2).View(), map, {}, sum.View(), parameters);
    EXPECT_TRUE(SameBytes(sum.values, SampleVolume(image, map, {}, size, {}).values));
  });
}

TEST(Sampler, NotANumberAndInfinityAreOutside)
{
  const Extent size{ 21, 5, 3 };
  const float  bad[] = { std::nanf(""),
                         std::numeric_limits<float>::infinity(),
                         -std::numeric_limits<float>::infinity(),
                         std::numeric_limits<float>::max(),
                         -std::numeric_limits<float>::max() };
  const auto   image = RandomVolume(size, 1, 100, 1);
  ForEachInstructionSet([&] {
    for (const SamplerParameters & parameters : AllSamplerParameters())
    {
      for (int c = 0; c < 3; ++c)
      {
        Warp<float> u(size);
        for (std::size_t i = 0; i < 5; ++i)
        {
          u.component[c].values[i * 20] = bad[i];
        }
        const Volume<float> out = SampleVolume(image, {}, u.View(), size, parameters);
        for (std::size_t i = 0; i < out.values.size(); ++i)
        {
          EXPECT_EQ(out.values[i], i % 20 == 0 && i < 100 ? parameters.outsideValue : image.values[i]);
        }
      }
    }
  });
}

TEST(Sampler, TwoComponentsLeaveTheThirdAxisAlone)
{
  const Extent       size{ 40, 23, 1 };
  const auto         image = RandomVolume(size, 2);
  const CompositeMap map;
  Warp<double>       u = WarpToRandomPoints(size, size, map, 9);
  u.component[2] = Volume<double>(size);
  std::vector<float> vectors = Interleave<float>(u, 2);
  const auto out = SampleVolume(image, map, WarpView<const float>::Interleaved(vectors.data(), 2, size), size, {});
  EXPECT_TRUE(SameBytes(out.values, SampleVolume(image, map, u.View(), size, {}).values));
  const double tolerance = 10 * (3 * PositionError(45) + 10 * 6e-8);
  EXPECT_LE(MaxDifference(out.values, SampleReference(image, map, u, {}).values), tolerance);
}

#if defined(__linux__) && !defined(FFDP_TEST_ON_DEVICE) // ffdpCudaSamplerGTest.cxx has one that copies nothing
// Large strides in an address range of which only a few pages are touched. 2^28 elements per plane: 32-bit offsets
// reach some of the planes. 2^31 and more: not even one.
TEST(Sampler, OffsetsMayNeedMoreThan32Bits)
{
  const Extent        size{ 37, 5, 11 };
  const Volume<float> image = RandomVolume(size, 6), g = RandomVolume(size, 7);
  const CompositeMap  map = ObliqueMap();
  const Warp<float>   u = ConvertWarp<float>(WarpToRandomPoints(size, size, map, 19));
  for (const std::int64_t stride : { std::int64_t(1) << 28, (std::int64_t(1) << 31) + 1000 })
  {
    const std::size_t bytes = std::size_t(size.z * stride) * sizeof(float);
    void * const      memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
    {
      GTEST_SKIP() << "no address range of " << bytes << " bytes";
    }
    VolumeView<float> large(static_cast<float *>(memory), size);
    large.planeStride = stride;
    large.rowStride = stride / 8;
    for (std::int64_t z = 0; z < size.z; ++z)
    {
      for (std::int64_t y = 0; y < size.y; ++y)
      {
        std::copy_n(&image.At(0, y, z), size.x, large.Row(y, z));
      }
    }
    for (const SamplerParameters & parameters : AllSamplerParameters())
    {
      Volume<float> out(size);
      Sample(large, map, u.View(), out.View(), parameters, 2);
      EXPECT_TRUE(SameBytes(out.values, SampleVolume(image, map, u.View(), size, parameters).values));
      if (parameters.interpolation == Interpolation::Linear)
      {
        Warp<float> gradient(size), expected(size);
        SampleBackward(large, map, u.View(), g.View(), gradient.View(), false, parameters, 2);
        SampleBackward(image.View(), map, u.View(), g.View(), expected.View(), false, parameters, 2);
        for (int c = 0; c < 3; ++c)
        {
          EXPECT_TRUE(SameBytes(gradient.component[c].values, expected.component[c].values));
        }
      }
    }
    munmap(memory, bytes);
  }
}
#endif

TEST(Sampler, ReachedPlanesCoverWhatIsRead)
{
  const Extent       size{ 20, 10, 6 }, imageSize{ 20, 10, 40 };
  const CompositeMap map = ObliqueMap();
  const Warp<float>  u = RandomWarp(size, 4, 3);
  const auto         image = RandomVolume(imageSize, 3, 100, 1);
  const auto         ranges = FindReachedPlanes(imageSize, map, u.View(), size, 0, size.z);
  ASSERT_EQ(ranges.size(), std::size_t(size.z));
  const Volume<float> whole = SampleVolume(image, map, u.View(), size, {});
  for (std::int64_t z = 0; z < size.z; ++z)
  {
    const PlaneRange range = ranges[std::size_t(z)];
    EXPECT_LT(range.end - range.first, 30); // displacements of 3 voxels do not need all 40 planes
    Volume<float> out(size, z, 1);
    Sample(image.Slab(range.first, range.end).View(), map, u.View(), out.View());
    EXPECT_TRUE(SameBytes(out.values, whole.Slab(z, z + 1).values));
  }
  CompositeMap away;
  away.t[2] = 100;
  EXPECT_GE(FindReachedPlanes(imageSize, away, {}, size, 0, size.z)[0].first,
            FindReachedPlanes(imageSize, away, {}, size, 0, size.z)[0].end);
}

#ifndef FFDP_TEST_ON_DEVICE // meters the processor's memory
TEST(Sampler, ExtraMemoryDoesNotGrowWithTheVolume)
{
  std::size_t peak[2];
  for (int i = 0; i < 2; ++i)
  {
    const Extent      size{ 64, 64, 16 << i };
    const auto        image = RandomVolume(size, 1);
    const Warp<float> u = RandomWarp(size, 2, 2);
    Volume<float>     out(size);
    peak[i] = MeasurePeakAllocation([&] { Sample(image.View(), {}, u.View(), out.View(), {}, 2); });
  }
  EXPECT_LE(peak[1], peak[0] + 2048); // ITK's thread pool allocates a little more or less from run to run
  EXPECT_LE(peak[1], std::size_t(100000));
}
#endif

TEST(Sampler, RefusesWhatItCannotSample)
{
  const Extent      size{ 8, 7, 6 };
  Volume<float>     image(size), out(size);
  const Warp<float> u(size), other({ 8, 7, 5 });
  CompositeMap      map;
  EXPECT_THROW(Sample({}, map, {}, out.View()), std::invalid_argument);                     // no image
  EXPECT_THROW(Sample(image.View(), map, {}, {}), std::invalid_argument);                   // no output
  EXPECT_THROW(Sample(image.View(), map, other.View(), out.View()), std::invalid_argument); // warp of another size
  EXPECT_THROW(Sample(image.View(), map, u.Slab(1, 6).View(), out.View()), std::invalid_argument); // planes missing
  map.A[4] = std::nan("");
  EXPECT_THROW(Sample(image.View(), map, u.View(), out.View()), std::invalid_argument); // map is not finite
#ifndef FFDP_TEST_ON_DEVICE // has no such voxels to copy there
  VolumeView<const float> endless(image.values.data(), Extent{ (std::int64_t(1) << 28) + 1, 1, 1 });
  EXPECT_THROW(Sample(endless, {}, {}, out.View()), std::invalid_argument); // axis too long
#endif
}
