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
#include "ffdpMutualInformation.h"

#include "ffdpAllocationMeter.h"
#include "ffdpMutualInformationReference.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace
{
using namespace ffdp;
using namespace ffdp::test;
using Kind = MutualInformationKind;

const std::vector<Kind> AllKinds{ Kind::BSpline, Kind::Gaussian, Kind::Approximate, Kind::Mattes };

/** The values' own range, as a caller would find it. */
IntensityRange
RangeOf(const Volume<float> & volume)
{
  IntensityRange range;
  range.low = *std::min_element(volume.values.begin(), volume.values.end());
  range.high = *std::max_element(volume.values.begin(), volume.values.end());
  if (range.low == range.high)
  {
    range.high = range.low + 1;
  }
  return range;
}

MutualInformationParameters
MakeParameters(Kind kind, int bins, const Volume<float> & fixed, const Volume<float> & moving)
{
  MutualInformationParameters parameters;
  parameters.kind = kind;
  parameters.bins = bins;
  parameters.fixedRange = RangeOf(fixed);
  parameters.movingRange = RangeOf(moving);
  return parameters;
}

/** A moving image that has something to do with the fixed one. */
Volume<float>
RelatedVolume(const Volume<float> & fixed, unsigned seed)
{
  const IntensityRange range = RangeOf(fixed);
  Volume<float>        moving = RandomVolume(fixed.domain, seed, 0, 0.1);
  for (std::size_t i = 0; i < moving.values.size(); ++i)
  {
    const double x = (fixed.values[i] - range.low) / (range.high - range.low);
    moving.values[i] += float(std::sin(4 * x));
  }
  return moving;
}

struct Result
{
  double        value = 0;
  Volume<float> moving;
  Volume<float> fixed;
};

Result
Compute(const MutualInformationParameters & parameters,
        const Volume<float> &               fixed,
        const Volume<float> &               moving,
        const Volume<std::uint8_t> *        mask = nullptr,
        unsigned                            threads = 0)
{
  Result result;
  result.moving = Volume<float>(fixed.domain, 123.0f);
  result.fixed = Volume<float>(fixed.domain, 123.0f);
  result.value = ComputeMutualInformation(parameters,
                                          fixed.View(),
                                          moving.View(),
                                          mask ? mask->View() : VolumeView<const std::uint8_t>(),
                                          result.moving.View(),
                                          parameters.kind == Kind::Mattes ? VolumeView<float>() : result.fixed.View(),
                                          threads);
  return result;
}

/** How far a single-precision position among the bins, and a histogram in steps of 2^-25, may move things.
 *
 * Two roundings of a position s <= bins: ds = bins * 2^-23. The gradient, in units of 1 / (samples * binWidth), changes
 * by ds times differences of log(p / (pf pm)) between bins, of about 20 at most, in two places. A weight w that is lost
 * in the fixed point of a bin of its own has a derivative below (6 * 2^-26)^(2/3) / 2 = 1e-5, times a logarithm of
 * about 20. */
double
GradientTolerance(int bins)
{
  return 2 * 20 * bins * std::pow(2.0, -23) + 2e-4;
}

/** The value moves by the mean gradient (below 20 per bin) times ds. */
double
ValueTolerance(int bins)
{
  return 20 * bins * std::pow(2.0, -23);
}

/** Value and both gradients against the formulas in double precision, at every voxel. */
void
CompareWithReference(const MutualInformationParameters & parameters,
                     const Volume<float> &               fixed,
                     const Volume<float> &               moving,
                     const Volume<std::uint8_t> *        mask)
{
  const MutualInformationReference reference(parameters, fixed, moving, mask);
  if (reference.samples == 0)
  {
    EXPECT_THROW(Compute(parameters, fixed, moving, mask), std::invalid_argument); // nothing to measure
    return;
  }
  const Result result = Compute(parameters, fixed, moving, mask);
  EXPECT_NEAR(result.value, reference.value, ValueTolerance(parameters.bins));
  for (const bool forFixed : { false, true })
  {
    if (forFixed && parameters.kind == Kind::Mattes)
    {
      continue;
    }
    const double unit =
      1 / (double(reference.samples) * reference.BinWidth(forFixed ? parameters.fixedRange : parameters.movingRange));
    double worst = 0;
    for (std::size_t i = 0; i < fixed.values.size(); ++i)
    {
      const bool   outside = mask && mask->values[i] == 0;
      const double expected = outside ? 0 : reference.Gradient(fixed.values[i], moving.values[i], forFixed);
      const double actual = (forFixed ? result.fixed : result.moving).values[i];
      const double difference = std::abs(actual - expected) / unit;
      worst = !(difference <= worst) ? difference : worst; // keeps NaN
    }
    EXPECT_LE(worst, GradientTolerance(parameters.bins)) << (forFixed ? "fixed" : "moving");
  }
}

class MutualInformationOfKind : public ::testing::TestWithParam<Kind>
{};

std::string
KindName(const ::testing::TestParamInfo<Kind> & info)
{
  const char * names[] = { "BSpline", "Gaussian", "Approximate", "Mattes" };
  return names[int(info.param)];
}

INSTANTIATE_TEST_SUITE_P(MutualInformation, MutualInformationOfKind, ::testing::ValuesIn(AllKinds), KindName);

} // namespace

TEST_P(MutualInformationOfKind, EqualsReferenceForAwkwardSizes)
{
  unsigned seed = 1;
  for (const Extent & size : AwkwardSizes())
  {
    SCOPED_TRACE(testing::Message() << size.x << "x" << size.y << "x" << size.z);
    const Volume<float>        fixed = RandomVolume(size, ++seed);
    const Volume<float>        moving = RelatedVolume(fixed, ++seed);
    const Volume<std::uint8_t> mask = RandomMask(size, ++seed);
    const auto                 parameters = MakeParameters(GetParam(), 12, fixed, moving);
    CompareWithReference(parameters, fixed, moving, nullptr);
    CompareWithReference(parameters, fixed, moving, &mask);
  }
}

TEST_P(MutualInformationOfKind, EqualsReferenceForAnyNumberOfBins)
{
  const Extent        size{ 13, 11, 5 };
  const Volume<float> fixed = RandomVolume(size, 3);
  const Volume<float> moving = RelatedVolume(fixed, 4);
  for (const int bins : { 4, 5, 6, 7, 17, 32, 50 })
  {
    if (bins == 4 && GetParam() == Kind::Mattes)
    {
      continue;
    }
    SCOPED_TRACE(bins);
    CompareWithReference(MakeParameters(GetParam(), bins, fixed, moving), fixed, moving, nullptr);
  }
}

TEST_P(MutualInformationOfKind, EqualsReferenceForBrightSmoothAndFlatImages)
{
  const Extent        size{ 19, 14, 6 };
  const Volume<float> bright = RandomVolume(size, 5, 1000, 10);
  const Volume<float> smooth = SmoothVolume(size, 6, -3, 5);
  Volume<float>       background = smooth; // most of it in one bin, at the end of the range
  for (float & v : background.values)
  {
    v = std::max(v, 1.5f);
  }
  const Volume<float> constant(size, 4.0f);
  CompareWithReference(MakeParameters(GetParam(), 16, bright, smooth), bright, smooth, nullptr);
  CompareWithReference(MakeParameters(GetParam(), 16, smooth, bright), smooth, bright, nullptr);
  CompareWithReference(MakeParameters(GetParam(), 16, background, bright), background, bright, nullptr);
  CompareWithReference(MakeParameters(GetParam(), 16, smooth, background), smooth, background, nullptr);
  CompareWithReference(MakeParameters(GetParam(), 16, constant, bright), constant, bright, nullptr);
  CompareWithReference(MakeParameters(GetParam(), 16, constant, constant), constant, constant, nullptr);
}

TEST_P(MutualInformationOfKind, IntensitiesOutsideTheRange)
{
  const Extent        size{ 19, 14, 6 };
  const Volume<float> fixed = RandomVolume(size, 7);
  const Volume<float> moving = RandomVolume(size, 8);
  auto                parameters = MakeParameters(GetParam(), 16, fixed, moving);
  parameters.fixedRange = IntensityRange{ -1.25, 0.75 };
  parameters.movingRange = IntensityRange{ -0.5, 1.5 };
  CompareWithReference(parameters, fixed, moving, nullptr);
}

TEST_P(MutualInformationOfKind, GradientIsTheOneOfTheValue)
{
  if (GetParam() == Kind::Approximate)
  {
    return; // its value has no useful gradient: see EqualsReference...
  }
  const Extent               size{ 11, 9, 5 };
  const Volume<float>        fixed = RandomVolume(size, 9, 1000, 10);
  const Volume<float>        moving = RelatedVolume(fixed, 10);
  const Volume<std::uint8_t> mask = RandomMask(size, 11);
  auto                       parameters = MakeParameters(GetParam(), 10, fixed, moving);
  parameters.movingRange.high -= 0.3; // some are cut off
  const Result               result = Compute(parameters, fixed, moving, &mask);
  MutualInformationReference reference(parameters, fixed, moving, &mask);
  for (const bool forFixed : { false, true })
  {
    if (forFixed && GetParam() == Kind::Mattes)
    {
      continue;
    }
    const double binWidth = reference.BinWidth(forFixed ? parameters.fixedRange : parameters.movingRange);
    const double unit = 1 / (double(reference.samples) * binWidth);
    // Central differences: the error of their own is about step^2 = 1e-8 in these units. At the ends of the range, and
    // where a bin is about to become empty, the value has a kink or a logarithm: smaller than the tolerance at this
    // step.
    const double step = 1e-4 * binWidth;
    double       largest = 0;
    for (std::size_t i = 0; i < fixed.values.size(); ++i)
    {
      const double           f = fixed.values[i];
      const double           m = moving.values[i];
      const IntensityRange & range = forFixed ? parameters.fixedRange : parameters.movingRange;
      const double           active = forFixed ? f : m;
      if (mask.values[i] == 0 || !reference.IsSample(f, m))
      {
        EXPECT_EQ((forFixed ? result.fixed : result.moving).values[i], 0.0f);
        continue;
      }
      if (std::abs(active - range.low) <= step || std::abs(active - range.high) <= step)
      {
        continue; // one-sided there
      }
      const double df = forFixed ? step : 0;
      const double dm = forFixed ? 0 : step;
      const double expected =
        (reference.ValueAfterChange(f, m, f + df, m + dm) - reference.ValueAfterChange(f, m, f - df, m - dm)) /
        (2 * step);
      const double actual = (forFixed ? result.fixed : result.moving).values[i];
      EXPECT_NEAR(actual / unit, expected / unit, GradientTolerance(parameters.bins)) << i;
      largest = std::max(largest, std::abs(expected) / unit);
    }
    EXPECT_GT(largest, 0.5); // there was something to compare
  }
}

TEST_P(MutualInformationOfKind, SameBytesForThreadsAndInstructionSets)
{
  const Extent               size{ 71, 37, 29 }; // more voxels than one piece of work
  const Volume<float>        fixed = RandomVolume(size, 12);
  const Volume<float>        moving = RelatedVolume(fixed, 13);
  const Volume<std::uint8_t> mask = RandomMask(size, 14, 0.6);
  const auto                 parameters = MakeParameters(GetParam(), 23, fixed, moving);
  for (const Volume<std::uint8_t> * m : { static_cast<const Volume<std::uint8_t> *>(nullptr), &mask })
  {
    const Result expected = Compute(parameters, fixed, moving, m, 1);
    ForEachInstructionSet([&] {
      for (const unsigned threads : ThreadCounts())
      {
        const Result result = Compute(parameters, fixed, moving, m, threads);
        EXPECT_EQ(result.value, expected.value);
        EXPECT_TRUE(SameBytes(result.moving.values, expected.moving.values));
        EXPECT_TRUE(SameBytes(result.fixed.values, expected.fixed.values));
      }
    });
  }
}

TEST_P(MutualInformationOfKind, SameBytesForSlabs)
{
  const Extent               size{ 23, 17, 7 };
  const Volume<float>        fixed = RandomVolume(size, 15);
  const Volume<float>        moving = RelatedVolume(fixed, 16);
  const Volume<std::uint8_t> mask = RandomMask(size, 17);
  const auto                 parameters = MakeParameters(GetParam(), 20, fixed, moving);
  const Result               whole = Compute(parameters, fixed, moving, &mask);
  for (std::int64_t cut = 0; cut <= size.z; ++cut)
  {
    JointHistogram     sum(parameters);
    const std::int64_t bounds[] = { 0, cut, size.z };
    for (int s = 1; s >= 0; --s)
    {
      const auto m = moving.Slab(bounds[s], bounds[s + 1]);
      if (m.planes > 0)
      {
        sum += ComputeJointHistogram(parameters, fixed.View(), m.View(), mask.View());
      }
    }
    const MutualInformation information = FinishMutualInformation(sum, GetParam() != Kind::Mattes);
    EXPECT_EQ(information.value, whole.value);
    for (int s = 0; s < 2; ++s)
    {
      const auto    m = moving.Slab(bounds[s], bounds[s + 1]);
      const auto    f = fixed.Slab(bounds[s] - 1, bounds[s + 1] + 1); // more planes than needed
      Volume<float> gradient = m;
      if (m.planes > 0)
      {
        MutualInformationGradient(information, f.View(), m.View(), mask.View(), gradient.View());
        EXPECT_TRUE(SameBytes(gradient.values, whole.moving.Slab(bounds[s], bounds[s + 1]).values));
      }
    }
  }
}

TEST_P(MutualInformationOfKind, RowsWithGapsGiveTheSameBytes)
{
  const Extent        size{ 21, 9, 5 };
  const Volume<float> fixed = RandomVolume(size, 18);
  const Volume<float> moving = RelatedVolume(fixed, 19);
  const auto          parameters = MakeParameters(GetParam(), 16, fixed, moving);
  const Result        expected = Compute(parameters, fixed, moving);

  // The same voxels as a part of a wider volume, with NaN in between.
  const Extent  wide{ 30, 11, 5 };
  Volume<float> padded(wide, std::numeric_limits<float>::quiet_NaN());
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        padded.At(x, y, z) = moving.At(x, y, z);
      }
  VolumeView<const float> view(padded.values.data(), size);
  view.rowStride = wide.x;
  view.planeStride = wide.x * wide.y;
  Volume<float> gradient(size);
  EXPECT_EQ(ComputeMutualInformation(parameters, fixed.View(), view, {}, gradient.View()), expected.value);
  EXPECT_TRUE(SameBytes(gradient.values, expected.moving.values));
}

TEST_P(MutualInformationOfKind, NaNIsNoSampleAndInfinityIsAnEnd)
{
  const Extent  size{ 31, 9, 4 };
  Volume<float> fixed = RandomVolume(size, 20);
  Volume<float> moving = RelatedVolume(fixed, 21);
  const auto    parameters = MakeParameters(GetParam(), 16, fixed, moving);

  Volume<std::uint8_t> mask(size, 1);
  Volume<float>        fixedNaN = fixed;
  Volume<float>        movingNaN = moving;
  for (std::size_t i = 0; i < mask.values.size(); i += 5)
  {
    mask.values[i] = 0;
    (i % 2 ? fixedNaN : movingNaN).values[i] = std::numeric_limits<float>::quiet_NaN();
  }
  const Result masked = Compute(parameters, fixed, moving, &mask);
  const Result withNaN = Compute(parameters, fixedNaN, movingNaN);
  EXPECT_EQ(masked.value, withNaN.value);
  EXPECT_TRUE(SameBytes(masked.moving.values, withNaN.moving.values));
  EXPECT_TRUE(SameBytes(masked.fixed.values, withNaN.fixed.values));

  for (std::size_t i = 0; i < mask.values.size(); i += 7)
  {
    fixed.values[i] = (i % 2 ? 1 : -1) * std::numeric_limits<float>::infinity();
    moving.values[i] = (i % 3 ? 1 : -1) * std::numeric_limits<float>::infinity();
  }
  ForEachInstructionSet([&] { CompareWithReference(parameters, fixed, moving, nullptr); });

  const Volume<float> onlyNaN(size, std::numeric_limits<float>::quiet_NaN());
  EXPECT_THROW(Compute(parameters, onlyNaN, moving), std::invalid_argument); // no sample
  const Volume<std::uint8_t> empty(size, 0);
  EXPECT_THROW(Compute(parameters, fixed, moving, &empty), std::invalid_argument); // no sample
}

TEST_P(MutualInformationOfKind, CountsDoNotOverflow)
{
  // All samples in the same bins: 32-bit counts would overflow after about 100.
  const Extent        size{ 64, 64, 16 };
  const Volume<float> fixed(size, 0.5f);
  const Volume<float> moving(size, 0.25f);
  auto                parameters = MakeParameters(GetParam(), 8, fixed, moving);
  parameters.fixedRange = parameters.movingRange = IntensityRange{ 0, 1 };
  ForEachInstructionSet([&] {
    const JointHistogram histogram = ComputeJointHistogram(parameters, fixed.View(), moving.View(), {}, 2);
    const std::int64_t   samples = size.Voxels();
    EXPECT_EQ(histogram.samples, samples);
    double total = 0;
    for (const std::int64_t count : histogram.counts)
    {
      EXPECT_GE(count, 0);
      total += double(count);
    }
    // Each of at most 36 weights is rounded by at most one unit of 2^-25, and by a few float roundings.
    const double one = double(1 << JointHistogram::FractionBits);
    EXPECT_NEAR(total / one / double(samples), 1.0, 36 / one + 1e-6);
    EXPECT_NEAR(FinishMutualInformation(histogram).value, 0.0, 1e-6); // independent
  });
}

#ifndef FFDP_TEST_ON_DEVICE // meters the processor's memory
TEST_P(MutualInformationOfKind, MemoryDoesNotGrowWithTheVolume)
{
  std::size_t peak[2];
  for (int k = 0; k < 2; ++k)
  {
    const Extent        size{ 128, 128, 32 * (k + 1) };
    const Volume<float> fixed = SmoothVolume(size, 22);
    const Volume<float> moving = SmoothVolume(size, 23);
    Volume<float>       gradient(size);
    const auto          parameters = MakeParameters(GetParam(), 32, fixed, moving);
    // What the threader allocates differs from run to run, and only adds to the peak: the least of some is ours.
    peak[k] = std::numeric_limits<std::size_t>::max();
    for (int run = 0; run < 4; ++run)
    {
      const std::size_t found = MeasurePeakAllocation(
        [&] { ComputeMutualInformation(parameters, fixed.View(), moving.View(), {}, gradient.View(), {}, 2); });
      peak[k] = std::min(peak[k], found);
    }
  }
  EXPECT_NEAR(double(peak[0]), double(peak[1]), 4096);
  EXPECT_LE(peak[1], std::size_t(1) << 20);
}

TEST(MutualInformation, MemoryForManyBinsIsAsDocumented)
{
  const Extent        size{ 64, 64, 32 };
  const Volume<float> fixed = SmoothVolume(size, 22);
  const Volume<float> moving = SmoothVolume(size, 23);
  Volume<float>       gradient(size);
  const std::size_t   perThread[] = { 8 + 64, 2 * (8 + 4), 8 + 4, 8 + 16 };
  for (const Kind kind : AllKinds)
  {
    const auto        parameters = MakeParameters(kind, 256, fixed, moving);
    const std::size_t peak = MeasurePeakAllocation(
      [&] { ComputeMutualInformation(parameters, fixed.View(), moving.View(), {}, gradient.View(), {}, 2); });
    // Two threads; and the histogram itself, double matrices on the way to the tables.
    EXPECT_LE(peak, 256 * 256 * (2 * perThread[int(kind)] + 8 * 6)) << int(kind);
  }
}
#endif

TEST(MutualInformation, SigmaIsHonored)
{
  const Extent        size{ 17, 12, 5 };
  const Volume<float> fixed = RandomVolume(size, 24);
  const Volume<float> moving = RelatedVolume(fixed, 25);
  for (const Kind kind : { Kind::Gaussian, Kind::Approximate })
  {
    for (const double sigma : { 0.3, 0.75, 1.5, 4.0 })
    {
      SCOPED_TRACE(sigma);
      auto parameters = MakeParameters(kind, 14, fixed, moving);
      parameters.sigma = sigma;
      CompareWithReference(parameters, fixed, moving, nullptr);
    }
  }
}

TEST(MutualInformation, ApproximateGradientPointsAlongGaussian)
{
  const Extent        size{ 40, 30, 8 };
  const Volume<float> fixed = SmoothVolume(size, 26);
  const Volume<float> moving = RelatedVolume(fixed, 27);
  const Result        exact = Compute(MakeParameters(Kind::Gaussian, 32, fixed, moving), fixed, moving);
  const Result        fast = Compute(MakeParameters(Kind::Approximate, 32, fixed, moving), fixed, moving);
  const double        cosine =
    Dot(exact.moving.values, fast.moving.values) /
    std::sqrt(Dot(exact.moving.values, exact.moving.values) * Dot(fast.moving.values, fast.moving.values));
  EXPECT_GT(cosine, 0.8); // a step of half a bin at most lies between the two places of evaluation
}

TEST(MutualInformation, IntensityScaleDoesNotMatter)
{
  const Extent        size{ 23, 17, 7 };
  const Volume<float> fixed = RandomVolume(size, 28);
  const Volume<float> moving = RelatedVolume(fixed, 29);
  Volume<float>       scaled = moving;
  for (float & v : scaled.values)
  {
    v *= 1024; // exact in floats
  }
  for (const Kind kind : AllKinds)
  {
    const Result a = Compute(MakeParameters(kind, 32, fixed, moving), fixed, moving);
    const Result b = Compute(MakeParameters(kind, 32, fixed, scaled), fixed, scaled);
    EXPECT_EQ(a.value, b.value);
    for (std::size_t i = 0; i < a.moving.values.size(); ++i)
    {
      EXPECT_EQ(a.moving.values[i], 1024 * b.moving.values[i]);
    }
  }
}

TEST(MutualInformation, MattesBinsAreThoseOfITK)
{
  // 12 bins, 2 of padding at both ends: [0, 8] has 8 intervals, so integers sit on the borders of bins.
  const Extent  size{ 9, 1, 1 };
  Volume<float> fixed(size);
  Volume<float> moving(size, 3.0f);
  for (int i = 0; i < 9; ++i)
  {
    fixed.values[std::size_t(i)] = float(i);
  }
  MutualInformationParameters parameters;
  parameters.kind = Kind::Mattes;
  parameters.bins = 12;
  parameters.fixedRange = parameters.movingRange = IntensityRange{ 0, 8 };
  const JointHistogram histogram = ComputeJointHistogram(parameters, fixed.View(), moving.View());
  const double         one = double(1 << JointHistogram::FractionBits);
  for (int a = 0; a < 12; ++a)
  {
    // The largest value shares the last bin, 9, with the one before it.
    const double inBin = a < 2 || a > 9 ? 0 : a == 9 ? 2 : 1;
    for (int b = 0; b < 12; ++b)
    {
      // The moving position is 3 + 2 = 5 exactly.
      const double w = b == 5 ? 2.0 / 3 : b == 4 || b == 6 ? 1.0 / 6 : 0.0;
      EXPECT_NEAR(double(histogram.counts[std::size_t(a * 12 + b)]) / one, inBin * w, 1e-7);
    }
  }
  moving.values[4] = 8.5f; // outside: no sample
  EXPECT_EQ(ComputeJointHistogram(parameters, fixed.View(), moving.View()).samples, 8);
}

TEST(MutualInformation, BadInputThrows)
{
  const Extent        size{ 6, 5, 4 };
  const Volume<float> fixed = RandomVolume(size, 30);
  const Volume<float> moving = RandomVolume(size, 31);
  Volume<float>       gradient(size);
  for (const Kind kind : AllKinds)
  {
    const auto good = MakeParameters(kind, 8, fixed, moving);
    const auto run = [&](const MutualInformationParameters & p) { return Compute(p, fixed, moving); };
    EXPECT_NO_THROW(run(good));
    for (const int bins : { -1, 0, 3, 257, kind == Kind::Mattes ? 4 : 3 })
    {
      auto p = good;
      p.bins = bins;
      EXPECT_THROW(run(p), std::invalid_argument) << bins; // too few or too many bins
    }
    auto p = good;
    p.movingRange.high = p.movingRange.low;
    EXPECT_THROW(run(p), std::invalid_argument); // a constant image
    p.movingRange.high = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(run(p), std::invalid_argument); // NaN range
    p.movingRange = IntensityRange{ -3e38, 3e38 };
    EXPECT_THROW(run(p), std::invalid_argument); // wider than a float
    p = good;
    p.sigma = 0.1;
    if (kind == Kind::Gaussian || kind == Kind::Approximate)
    {
      EXPECT_THROW(run(p), std::invalid_argument); // a window narrower than its bins
    }
    JointHistogram histogram(good);
    p = good;
    p.bins = 9;
    EXPECT_THROW(histogram += JointHistogram(p), std::invalid_argument);     // different bins
    EXPECT_THROW(FinishMutualInformation(histogram), std::invalid_argument); // no sample

    const auto          sum = ComputeJointHistogram(good, fixed.View(), moving.View());
    const auto          information = FinishMutualInformation(sum);
    const Volume<float> slab = fixed.Slab(1, 3);
    const Volume<float> other(Extent{ 6, 5, 5 });
    EXPECT_THROW(ComputeJointHistogram(good, {}, moving.View()), std::invalid_argument);           // no fixed image
    EXPECT_THROW(ComputeJointHistogram(good, slab.View(), moving.View()), std::invalid_argument);  // planes missing
    EXPECT_THROW(ComputeJointHistogram(good, other.View(), moving.View()), std::invalid_argument); // sizes differ
    EXPECT_THROW(MutualInformationGradient(information, fixed.View(), moving.View(), {}, {}),
                 std::invalid_argument); // no output
    EXPECT_THROW(MutualInformationGradient(information, fixed.View(), slab.View(), {}, gradient.View()),
                 std::invalid_argument); // planes missing
    EXPECT_THROW(
      MutualInformationGradient(information, fixed.View(), moving.View(), {}, gradient.View(), gradient.View()),
      std::invalid_argument); // no table for the fixed image
  }
  const auto mattes = MakeParameters(Kind::Mattes, 8, fixed, moving);
  EXPECT_THROW(ComputeMutualInformation(mattes, fixed.View(), moving.View(), {}, {}, gradient.View()),
               std::invalid_argument); // Mattes has no gradient for the fixed image
}
