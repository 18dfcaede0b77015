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
#include "ffdpStatistics.h"

#include "ffdpAllocationMeter.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

/** The values that count. */
std::vector<double>
Selected(const Volume<float> & image, const Volume<std::uint8_t> * mask)
{
  std::vector<double> values;
  for (std::size_t i = 0; i < image.values.size(); ++i)
  {
    if ((!mask || mask->values[i]) && std::isfinite(image.values[i]))
    {
      values.push_back(image.values[i]);
    }
  }
  return values;
}

void
ExpectReference(const Volume<float> & image, const Volume<std::uint8_t> * mask)
{
  const auto values = Selected(image, mask);
  const auto measured =
    CombineStatistics(PlaneStatistics(image.View(), mask ? mask->View() : VolumeView<const std::uint8_t>(), 2));
  long double sum = 0, squares = 0;
  for (const double v : values)
  {
    sum += v;
  }
  const long double mean = values.empty() ? 0 : sum / (long double)(values.size());
  for (const double v : values)
  {
    squares += (v - mean) * (v - mean);
  }
  ASSERT_EQ(measured.count, std::int64_t(values.size()));
  if (values.empty())
  {
    EXPECT_EQ(measured.Variance(), 0);
    return;
  }
  EXPECT_EQ(measured.minimum, *std::min_element(values.begin(), values.end()));
  EXPECT_EQ(measured.maximum, *std::max_element(values.begin(), values.end()));
  // Double sums of n values lose at most n * 2^-53 of the sum of magnitudes; a shifted mean enters the
  // deviations squared.
  const double n = double(values.size());
  EXPECT_NEAR(measured.mean, double(mean), n * 1.2e-16 * MaxMagnitude(values));
  EXPECT_NEAR(measured.squares, double(squares), n * 1.2e-16 * (double(squares) + MaxMagnitude(values)) * 4);
}

bool
Same(const std::vector<Statistics> & a, const std::vector<Statistics> & b)
{
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i)
  {
    same = a[i].count == b[i].count && a[i].notFinite == b[i].notFinite && a[i].minimum == b[i].minimum &&
           a[i].maximum == b[i].maximum && a[i].mean == b[i].mean && a[i].squares == b[i].squares;
  }
  return same;
}

/** The exact quantile that lies between two of the sorted values. */
double
ExactQuantile(std::vector<double> values, double fraction)
{
  std::sort(values.begin(), values.end());
  const auto at = std::size_t(fraction * double(values.size() - 1));
  return values[at];
}

} // namespace

GTEST_TEST(Statistics, AgreesWithReference)
{
  auto sizes = AwkwardSizes();
  sizes.push_back({ 2500, 3, 2 }); // rows longer than a run
  for (const Extent & size : sizes)
  {
    const auto mask = RandomMask(size, 3);
    for (const double mean : { 0.0, 1000.0, 1e6 })
    {
      const auto image = RandomVolume(size, 1, mean, mean == 1000 ? 10 : 1);
      ExpectReference(image, nullptr);
      ExpectReference(image, &mask);
    }
  }
}

GTEST_TEST(Statistics, ConstantHasNoVariance)
{
  const Volume<float> image(Extent{ 33, 19, 7 }, 1000.7f);
  const auto          measured = CombineStatistics(PlaneStatistics(image.View(), {}, 2));
  EXPECT_NEAR(measured.mean, double(1000.7f), 1e-12 * 1000.7);
  EXPECT_LT(measured.Variance(), 1e-20); // squares of double rounding
  EXPECT_EQ(measured.minimum, 1000.7f);
  EXPECT_EQ(measured.maximum, 1000.7f);
}

GTEST_TEST(Statistics, NotFiniteIsCountedAndLeftOut)
{
  auto image = RandomVolume({ 33, 19, 7 }, 1);
  image.values[0] = NAN;
  image.values[100] = INFINITY;
  image.values[200] = -INFINITY;
  ExpectReference(image, nullptr);
  EXPECT_EQ(CombineStatistics(PlaneStatistics(image.View(), {}, 2)).notFinite, 3);
  Volume<std::uint8_t> mask(image.domain, 1);
  mask.values[0] = 0; // hides one of them
  EXPECT_EQ(CombineStatistics(PlaneStatistics(image.View(), mask.View(), 2)).notFinite, 2);
}

GTEST_TEST(Statistics, NothingSelected)
{
  const auto                 image = RandomVolume({ 9, 8, 7 }, 1);
  const Volume<std::uint8_t> mask(image.domain);
  const auto                 measured = CombineStatistics(PlaneStatistics(image.View(), mask.View(), 2));
  EXPECT_EQ(measured.count, 0);
  EXPECT_EQ(measured.mean, 0);
  EXPECT_EQ(measured.Variance(), 0);
  EXPECT_EQ(MeasureHistogram(image.View(), 0, 1, mask.View(), 16, 2).Quantile(0.5), 0);
}

GTEST_TEST(Statistics, SameBytesForThreadsSlabsAndInstructionSets)
{
  const auto image = RandomVolume({ 37, 70, 6 }, 1, 1000, 10);
  const auto mask = RandomMask(image.domain, 3);
  const auto whole = PlaneStatistics(image.View(), mask.View(), 1);
  for (const unsigned threads : ThreadCounts())
  {
    EXPECT_TRUE(Same(PlaneStatistics(image.View(), mask.View(), threads), whole));
  }
  ForEachInstructionSet([&] { EXPECT_TRUE(Same(PlaneStatistics(image.View(), mask.View(), 2), whole)); });
  for (std::int64_t cut = 1; cut < image.domain.z; ++cut)
  {
    auto       lower = PlaneStatistics(image.Slab(0, cut).View(), mask.View(), 2);
    const auto upper = PlaneStatistics(image.Slab(cut, image.domain.z).View(), mask.View(), 2);
    lower.insert(lower.end(), upper.begin(), upper.end());
    EXPECT_TRUE(Same(lower, whole));
    EXPECT_EQ(CombineStatistics(lower).mean, CombineStatistics(whole).mean);
  }
}

GTEST_TEST(Statistics, HistogramCountsEveryVoxelOnce)
{
  for (const Extent & size : AwkwardSizes())
  {
    const auto image = RandomVolume(size, 1);
    const auto mask = RandomMask(size, 3);
    const auto histogram = MeasureHistogram(image.View(), -0.5f, 0.5f, mask.View(), 7, 2);
    // Boundaries are whole multiples of 1/7 from -0.5; random values do not sit on them.
    std::vector<std::int64_t> expected(7);
    std::int64_t              below = 0, above = 0;
    for (const double v : Selected(image, &mask))
    {
      if (v < -0.5)
      {
        ++below;
      }
      else if (v > 0.5)
      {
        ++above;
      }
      else
      {
        ++expected[std::size_t(std::min(6.0, (v + 0.5) * 7))];
      }
    }
    EXPECT_EQ(histogram.counts, expected);
    EXPECT_EQ(histogram.below, below);
    EXPECT_EQ(histogram.above, above);
  }
}

GTEST_TEST(Statistics, QuantilesAreWithinABin)
{
  for (const double mean : { 0.0, 1000.0 })
  {
    const auto image = RandomVolume({ 41, 37, 29 }, 1, mean, 10);
    const auto values = Selected(image, nullptr);
    const auto whole = CombineStatistics(PlaneStatistics(image.View(), {}, 2));
    const auto histogram = MeasureHistogram(image.View(), whole.minimum, whole.maximum, {}, 4096, 2);
    const auto width = (double(whole.maximum) - double(whole.minimum)) / 4096;
    for (const double fraction : { 0.005, 0.25, 0.5, 0.995 })
    {
      // A bin, and one voxel more or less at the thin ends, where voxels are up to a few bins apart.
      EXPECT_NEAR(histogram.Quantile(fraction), ExactQuantile(values, fraction), 4 * width);
    }
    EXPECT_NEAR(histogram.Quantile(0), whole.minimum, width);
    EXPECT_NEAR(histogram.Quantile(1), whole.maximum, 1e-6 * std::abs(whole.maximum));
    const auto range = RobustRange(histogram);
    EXPECT_EQ(range.low, histogram.Quantile(0.005));
    EXPECT_EQ(range.high, histogram.Quantile(0.995));
  }
}

GTEST_TEST(Statistics, QuantilesCountWhatLiesOutsideTheHistogram)
{
  const auto image = RandomVolume({ 41, 37, 29 }, 1, 0, 10);
  const auto values = Selected(image, nullptr);
  const auto low = float(ExactQuantile(values, 0.3));
  const auto high = float(ExactQuantile(values, 0.8));
  const auto histogram = MeasureHistogram(image.View(), low, high, {}, 4096, 2);
  for (const double fraction : { 0.31, 0.5, 0.79 })
  {
    // One voxel more or less, and neighbors in rank are some 1e-3 apart here.
    EXPECT_NEAR(histogram.Quantile(fraction), ExactQuantile(values, fraction), 0.01);
  }
  EXPECT_EQ(histogram.Quantile(0.1), low);
  EXPECT_EQ(histogram.Quantile(0.9), high);
}

GTEST_TEST(Statistics, ASecondHistogramSeesPastOutliers)
{
  auto image = RandomVolume({ 41, 37, 29 }, 1, 0, 1);
  image.values[77] = 1e9f; // 4096 bins up to here are 2e5 wide
  const auto whole = CombineStatistics(PlaneStatistics(image.View(), {}, 2));
  float      high = whole.maximum;
  double     quantile = 0;
  for (int repeat = 0; repeat < 3; ++repeat) // bins of 2e5, of 60, of 0.015
  {
    const auto histogram = MeasureHistogram(image.View(), whole.minimum, high, {}, 4096, 2);
    EXPECT_EQ(histogram.above > 0, repeat > 0);
    quantile = histogram.Quantile(0.995);
    high = float(histogram.Quantile(0.999));
  }
  EXPECT_NEAR(quantile, ExactQuantile(Selected(image, nullptr), 0.995), 4 * 0.015);
}

GTEST_TEST(Statistics, ConstantImageHasItsValueAsQuantiles)
{
  const Volume<float> image(Extent{ 9, 8, 7 }, 5);
  const auto          histogram = MeasureHistogram(image.View(), 5, 5, {}, 4096, 2);
  EXPECT_EQ(histogram.counts[0], 9 * 8 * 7);
  EXPECT_EQ(histogram.Quantile(0.5), 5);
}

GTEST_TEST(Statistics, HistogramIsTheSameForThreadsSlabsAndInstructionSets)
{
  auto image = RandomVolume({ 37, 70, 6 }, 1, 1000, 10);
  image.values[5] = NAN;
  image.values[6] = INFINITY;
  const auto mask = RandomMask(image.domain, 3);
  const auto whole = MeasureHistogram(image.View(), 980, 1020, mask.View(), 256, 1);
  const auto expectWhole = [&](const IntensityHistogram & histogram) {
    EXPECT_EQ(histogram.counts, whole.counts);
    EXPECT_EQ(histogram.below, whole.below);
    EXPECT_EQ(histogram.above, whole.above);
  };
  for (const unsigned threads : ThreadCounts())
  {
    expectWhole(MeasureHistogram(image.View(), 980, 1020, mask.View(), 256, threads));
  }
  ForEachInstructionSet([&] { expectWhole(MeasureHistogram(image.View(), 980, 1020, mask.View(), 256, 2)); });
  for (std::int64_t cut = 1; cut < image.domain.z; ++cut)
  {
    auto lower = MeasureHistogram(image.Slab(0, cut).View(), 980, 1020, mask.View(), 256, 2);
    lower.Add(MeasureHistogram(image.Slab(cut, image.domain.z).View(), 980, 1020, mask.View(), 256, 2));
    expectWhole(lower);
  }
}

#ifndef FFDP_TEST_ON_DEVICE // meters the processor's memory
GTEST_TEST(Statistics, MemoryDoesNotGrowWithTheVolume)
{
  for (const std::int64_t planes : { 16, 64 })
  {
    const auto image = RandomVolume({ 64, 64, planes }, 1);
    // 3 x 40 bytes per plane in two pieces and one plane; two histograms per thread and the sum of them.
    EXPECT_LT(MeasurePeakAllocation([&] { PlaneStatistics(image.View(), {}, 2); }),
              16384u + std::size_t(planes) * 160u);
    EXPECT_LT(MeasurePeakAllocation([&] { MeasureHistogram(image.View(), -3, 3, {}, 4096, 2); }),
              16384u + 6u * 8u * 4100u);
  }
}
#endif

GTEST_TEST(Statistics, RefusesBadInput)
{
  const auto                 image = RandomVolume({ 6, 5, 4 }, 1);
  const Volume<std::uint8_t> other(Extent{ 6, 5, 3 }, 1);
  EXPECT_THROW(PlaneStatistics({}), std::invalid_argument);                         // no image
  EXPECT_THROW(PlaneStatistics(image.View(), other.View()), std::invalid_argument); // mask of another size
  EXPECT_THROW(MeasureHistogram(image.View(), 1, 0), std::invalid_argument);        // range upside down
  EXPECT_THROW(MeasureHistogram(image.View(), NAN, 1), std::invalid_argument);      // no range
  EXPECT_THROW(MeasureHistogram(image.View(), 0, 1, {}, 0), std::invalid_argument); // no bins
  auto histogram = MeasureHistogram(image.View(), 0, 1);
  EXPECT_THROW(histogram.Add(MeasureHistogram(image.View(), 0, 2)), std::invalid_argument); // other range
  EXPECT_THROW(RobustRange(histogram, 0.9, 0.1), std::invalid_argument);                    // fractions swapped
}
