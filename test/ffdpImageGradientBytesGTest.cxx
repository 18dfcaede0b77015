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
#include "ffdpImageGradient.h"

#include "ffdpAllocationMeter.h"
#include "ffdpImageGradientReference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#if defined(__unix__)
#  include <sys/mman.h>
#endif

// What must not change the result of the image gradient: threads, slabs, instruction sets, addresses, bad numbers.
namespace
{
using namespace ffdp;
using namespace ffdp::test;

template <typename T>
void
ExpectSameBytes(const GradientProblem<T> & p, const ImageDifferences & h)
{
  const GradientResult once = ComputeGradient(p, h, 1);
  for (const unsigned threads : ThreadCounts())
  {
    EXPECT_TRUE(SameBytes(ComputeGradient(p, h, threads), once));
  }
  ForEachInstructionSet([&] { EXPECT_TRUE(SameBytes(ComputeGradient(p, h), once)); });
  const std::int64_t planes = p.weights.domain.z;
  for (std::int64_t cut = 1; cut < planes; ++cut)
  {
    std::vector<MapGradient> planeSums;
    for (const auto & range : { PlaneRange{ 0, cut }, PlaneRange{ cut, planes } })
    {
      const Warp<float>   u = p.floats.Slab(range.first, range.end);
      const Volume<float> weights = p.weights.Slab(range.first, range.end);
      Warp<float>         d = u;
      const auto part = ImageGradient(p.image.View(), p.map, u.View(), h, weights.View(), p.C, d.View(), true, 2);
      planeSums.insert(planeSums.end(), part.begin(), part.end());
      for (int c = 0; c < 3; ++c)
      {
        const auto expected = once.derivative.component[c].Slab(range.first, range.end);
        EXPECT_TRUE(SameBytes(d.component[c].values, expected.values));
      }
    }
    EXPECT_EQ(planeSums, once.planeSums);
  }
}

#if defined(__unix__)
template <typename T>
void
ExpectAnyStride()
{
  // Planes far apart, of which all, several, or none are within reach of 32-bit offsets; memory between them is not
  // touched.
  const Extent             size{ 37, 9, 11 };
  const GradientProblem<T> p(size);
  for (const std::int64_t stride : { std::int64_t(1) << 20, std::int64_t(1) << 28, (std::int64_t(1) << 31) + 1000 })
  {
    const std::size_t bytes = std::size_t(p.imageSize.z * stride) * sizeof(T);
    void * const      memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
    {
      GTEST_SKIP() << "no address range of " << bytes << " bytes";
    }
    VolumeView<T> large(static_cast<T *>(memory), p.imageSize);
    large.planeStride = stride;
    large.rowStride = stride / 16;
    for (std::int64_t z = 0; z < p.imageSize.z; ++z)
    {
      for (std::int64_t y = 0; y < p.imageSize.y; ++y)
      {
        std::copy_n(&p.image.At(0, y, z), p.imageSize.x, large.Row(y, z));
      }
    }
    for (const ImageDifferences & h : AllDifferences())
    {
      GradientResult result{ Warp<float>(size, 7.0f), {} };
      result.planeSums =
        ImageGradient(large, p.map, p.floats.View(), h, p.weights.View(), p.C, result.derivative.View(), true, 2);
      EXPECT_TRUE(SameBytes(result, ComputeGradient(p, h)));
    }
    munmap(memory, bytes);
  }
}
#endif

} // namespace

TEST(ImageGradient, BytesDoNotDependOnThreadsSlabsOrInstructions)
{
  for (const Extent & size : { Extent{ 45, 37, 6 }, Extent{ 150, 70, 3 } })
  {
    GradientProblem<float>  floats(size, 100, 10);
    GradientProblem<double> doubles(size, 100, 10);
    // stretches without weights: whole blocks, and groups of eight voxels
    std::fill_n(floats.weights.values.begin() + 150, 150, 0.0f);
    std::fill_n(floats.weights.values.begin() + 317, 25, 0.0f);
    for (const ImageDifferences & h : AllDifferences())
    {
      ExpectSameBytes(floats, h);
      ExpectSameBytes(doubles, h);
    }
  }
}

TEST(ImageGradient, SmallImagesGiveTheSameBytesForAllInstructions)
{
  for (const Extent & imageSize :
       { Extent{ 1, 9, 9 }, Extent{ 3, 9, 9 }, Extent{ 9, 3, 9 }, Extent{ 9, 9, 3 }, Extent{ 4, 4, 4 } })
  {
    const Extent           size{ 21, 9, 4 };
    GradientProblem<float> p(size);
    p.imageSize = imageSize;
    p.image = RandomVolume(imageSize, 5);
    p.u = WarpToRandomPoints(size, imageSize, p.map, 6);
    p.floats = ConvertWarp<float>(p.u);
    for (const ImageDifferences & h : AllDifferences())
    {
      ExpectSameBytes(p, h);
    }
  }
}

TEST(ImageGradient, NoWeightMeansZero)
{
  GradientProblem<float> p({ 45, 7, 5 });
  std::fill(p.image.values.begin(), p.image.values.end(), std::nanf(""));
  ForEachInstructionSet([&] {
    for (const ImageDifferences & h : AllDifferences())
    {
      const GradientResult result = ComputeGradient(p, h);
      std::size_t          bad = 0;
      for (std::size_t i = 0; i < p.weights.values.size(); ++i)
      {
        for (const Volume<float> & component : result.derivative.component)
        {
          if (p.weights.values[i] == 0)
          {
            ASSERT_EQ(component.values[i], 0.0f);
          }
          bad += std::isnan(component.values[i]) ? 1 : 0;
        }
      }
      EXPECT_GT(bad, 0u); // an image that is not a number shows
    }
  });
}

TEST(ImageGradient, BadPositionsAreOutside)
{
  GradientProblem<float> p({ 21, 5, 3 });
  p.floats.component[0].values[4] = std::nanf("");
  p.floats.component[1].values[50] = std::numeric_limits<float>::infinity();
  p.floats.component[2].values[100] = -std::numeric_limits<float>::max();
  p.floats.component[2].values[101] = std::numeric_limits<float>::max();
  p.weights.values[7] = std::nanf(""); // must not crash
  p.weights.values[8] = std::numeric_limits<float>::infinity();
  p.image.values[60] = std::numeric_limits<float>::infinity();
  ForEachInstructionSet([&] {
    for (const ImageDifferences & h : AllDifferences())
    {
      const GradientResult result = ComputeGradient(p, h);
      for (const std::size_t i : { 4, 50, 100, 101 })
      {
        ASSERT_NE(p.weights.values[i], 0.0f);
        for (const Volume<float> & component : result.derivative.component)
        {
          EXPECT_EQ(component.values[i], 0.0f);
        }
      }
    }
  });
}

#if defined(__unix__)
TEST(ImageGradient, OffsetsMayNeedMoreThan32Bits)
{
  ExpectAnyStride<float>();
  ExpectAnyStride<double>();
}
#endif

TEST(ImageGradient, ExtraMemoryIsAFewNumbersPerStrip)
{
  std::size_t peak[2];
  for (int i = 0; i < 2; ++i)
  {
    const GradientProblem<float> p({ 64, 64, 8 << i });
    Warp<float>                  d(p.weights.domain);
    peak[i] = MeasurePeakAllocation(
      [&] { ImageGradient(p.image.View(), p.map, p.floats.View(), {}, p.weights.View(), p.C, d.View(), true, 2); });
  }
  // per plane: 12 doubles for each strip of rows and for the plane (the result; its vector may double as it grows);
  // ITK's thread pool allocates a little more or less from run to run; a plane would be 16 KB
  EXPECT_LE(peak[1], peak[0] + 8 * 8 * 96 + 2048);
  EXPECT_LE(peak[1], std::size_t(100000));
}
