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
#include "ffdpJacobian.h"

#include "ffdpAllocationMeter.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

/** Derivative of a volume along an axis: central inside, one-sided at the border, 0 if there is nowhere to go. */
double
Derivative(const Volume<float> & u, int axis, std::int64_t x, std::int64_t y, std::int64_t z)
{
  const std::int64_t size[3] = { u.domain.x, u.domain.y, u.domain.z };
  std::int64_t       low[3] = { x, y, z }, high[3] = { x, y, z };
  low[axis] = std::max<std::int64_t>(0, low[axis] - 1);
  high[axis] = std::min(size[axis] - 1, high[axis] + 1);
  const double distance = double(high[axis] - low[axis]);
  const double difference = double(u.At(high[0], high[1], high[2])) - double(u.At(low[0], low[1], low[2]));
  return distance > 0 ? difference / distance : 0;
}

/** To the neighbor on one side (-1 or 1), or on the other one if there is none there. */
double
OneSidedDerivative(const Volume<float> & u, int axis, int side, std::int64_t x, std::int64_t y, std::int64_t z)
{
  const std::int64_t size[3] = { u.domain.x, u.domain.y, u.domain.z };
  std::int64_t       to[3] = { x, y, z };
  const std::int64_t at = to[axis];
  to[axis] = at + side >= 0 && at + side < size[axis] ? at + side : at - side;
  if (to[axis] < 0 || to[axis] >= size[axis])
  {
    return 0;
  }
  return (double(u.At(to[0], to[1], to[2])) - double(u.At(x, y, z))) / double(to[axis] - at);
}

/** Of identity and derivative(component, axis), by the rule of Sarrus. */
template <typename TDerivative>
double
DeterminantOf(const TDerivative & derivative)
{
  double J[3][3];
  for (int c = 0; c < 3; ++c)
    for (int a = 0; a < 3; ++a)
    {
      J[c][a] = (c == a ? 1 : 0) + derivative(c, a);
    }
  double sum = 0;
  for (int a = 0; a < 3; ++a)
  {
    sum += J[0][a] * J[1][(a + 1) % 3] * J[2][(a + 2) % 3] - J[0][a] * J[1][(a + 2) % 3] * J[2][(a + 1) % 3];
  }
  return sum;
}

Volume<double>
Reference(const Warp<float> & warp, JacobianDifferences differences = JacobianDifferences::Central)
{
  const Extent   size = warp.component[0].domain;
  Volume<double> determinant(size);
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        if (differences == JacobianDifferences::Central)
        {
          determinant.At(x, y, z) =
            DeterminantOf([&](int c, int a) { return Derivative(warp.component[c], a, x, y, z); });
          continue;
        }
        double least = INFINITY;
        for (int sides = 0; sides < 8; ++sides)
        {
          least = std::min(least, DeterminantOf([&](int c, int a) {
                             return OneSidedDerivative(warp.component[c], a, (sides >> a) % 2 ? 1 : -1, x, y, z);
                           }));
        }
        determinant.At(x, y, z) = least;
      }
  return determinant;
}

struct Outcome
{
  JacobianResult     result;
  std::vector<float> determinant;
};

/** Planes [first, end) from a slab with a halo of one plane. */
Outcome
Evaluate(const Warp<float> &          warp,
         const Volume<std::uint8_t> * mask,
         std::int64_t                 first,
         std::int64_t                 end,
         unsigned                     threads,
         const JacobianParameters &   parameters = {})
{
  const auto    slab = warp.Slab(first - 1, end + 1);
  const auto    maskSlab = mask ? mask->Slab(first, end) : Volume<std::uint8_t>();
  Volume<float> determinant(warp.component[0].domain, first, end - first, NAN);
  Outcome       out;
  out.result = JacobianDeterminant(slab.View(),
                                   first,
                                   end - first,
                                   determinant.View(),
                                   mask ? maskSlab.View() : VolumeView<const std::uint8_t>(),
                                   parameters,
                                   threads);
  out.determinant = determinant.values;
  return out;
}

Outcome
Evaluate(const Warp<float> &          warp,
         const Volume<std::uint8_t> * mask = nullptr,
         unsigned                     threads = 2,
         const JacobianParameters &   parameters = {})
{
  return Evaluate(warp, mask, 0, warp.component[0].domain.z, threads, parameters);
}

JacobianParameters
LeastOneSided(const BlockMarks * marks = nullptr)
{
  JacobianParameters parameters;
  parameters.differences = JacobianDifferences::LeastOneSided;
  parameters.marks = marks;
  return parameters;
}

void
ExpectSame(const Outcome & a, const Outcome & b)
{
  EXPECT_TRUE(SameBytes(a.determinant, b.determinant));
  EXPECT_TRUE(SameBytes(a.result.planeSums, b.result.planeSums));
  EXPECT_TRUE(SameBytes(a.result.planeCounts, b.result.planeCounts));
  EXPECT_EQ(a.result.minimum, b.result.minimum);
  EXPECT_EQ(a.result.notPositive, b.result.notPositive);
  EXPECT_EQ(a.result.planeMinima, b.result.planeMinima);
}

} // namespace

GTEST_TEST(Jacobian, AgreesWithReference)
{
  auto sizes = AwkwardSizes();
  sizes.push_back({ 1500, 3, 2 }); // rows longer than a chunk
  sizes.push_back({ 1025, 2, 1 }); // the last chunk is one voxel
  for (const Extent & size : sizes)
    for (const bool masked : { false, true })
    {
      const auto warp = RandomWarp(size, 3, 0.6);
      const auto mask = RandomMask(size, 4);
      const auto out = Evaluate(warp, masked ? &mask : nullptr);
      const auto reference = Reference(warp);
      // Entries of the matrix are below 5 here, products of three below 125; each of six products and
      // their sums round a few times.
      EXPECT_LT(MaxDifference(out.determinant, reference.values), 6 * 125 * 5 * 6e-8);

      // Statistics against the determinants themselves.
      std::vector<double> planeMinima(std::size_t(size.z), INFINITY);
      double              minimum = INFINITY, sum = 0;
      std::int64_t        notPositive = 0, count = 0;
      for (std::size_t i = 0; i < out.determinant.size(); ++i)
      {
        if (!masked || mask.values[i])
        {
          minimum = std::min(minimum, double(out.determinant[i]));
          double & ofPlane = planeMinima[i / std::size_t(size.x * size.y)];
          ofPlane = std::min(ofPlane, double(out.determinant[i]));
          sum += out.determinant[i];
          notPositive += out.determinant[i] > 0 ? 0 : 1;
          ++count;
        }
      }
      EXPECT_EQ(out.result.minimum, minimum);
      EXPECT_EQ(out.result.planeMinima, planeMinima);
      EXPECT_EQ(out.result.notPositive, notPositive);
      if (count > 0)
      {
        EXPECT_NEAR(out.result.Mean(), sum / double(count), 1e-12 * double(count + 1)); // order of doubles
      }
    }
}

GTEST_TEST(Jacobian, LeastOfEightAgreesWithReference)
{
  auto sizes = AwkwardSizes();
  sizes.push_back({ 1025, 2, 1 });
  for (const Extent & size : sizes)
  {
    const auto warp = RandomWarp(size, 3, 0.6);
    const auto out = Evaluate(warp, nullptr, 2, LeastOneSided());
    const auto reference = Reference(warp, JacobianDifferences::LeastOneSided);
    // One-sided differences are twice as large as central ones: products of three are below 1000.
    EXPECT_LT(MaxDifference(out.determinant, reference.values), 6 * 1000 * 5 * 6e-8);
    const auto central = Evaluate(warp);
    for (std::size_t i = 0; i < out.determinant.size(); ++i) // the mean of the eight is the one of central differences
    {
      EXPECT_LE(out.determinant[i], central.determinant[i] + 1e-3f);
    }
  }
}

GTEST_TEST(Jacobian, LeastOfEightFindsFoldsWithinCells)
{
  // One voxel is pushed beyond its neighbor: the cells between them fold, which central differences do not see there.
  Warp<float> warp(Extent{ 12, 9, 7 });
  warp.component[0].At(5, 4, 3) = 1.25f;
  EXPECT_EQ(Evaluate(warp).result.notPositive, 0);
  const auto out = Evaluate(warp, nullptr, 2, LeastOneSided());
  EXPECT_EQ(out.result.notPositive, 2); // the voxel and the neighbor that it passes
  EXPECT_EQ(out.result.minimum, -0.25);
  EXPECT_EQ(Evaluate(Warp<float>(Extent{ 6, 5, 4 }, 3.25f), nullptr, 2, LeastOneSided()).result.minimum, 1);

  warp.component[2].At(5, 4, 3) = NAN;
  const auto notANumber = Evaluate(warp, nullptr, 2, LeastOneSided());
  EXPECT_EQ(notANumber.result.notPositive, 7); // itself and its six neighbors
  EXPECT_EQ(notANumber.result.minimum, -INFINITY);
}

GTEST_TEST(Jacobian, MarksLimitWhatIsLookedAt)
{
  const Extent size{ 150, 21, 19 };
  const auto   warp = RandomWarp(size, 3, 0.6);
  BlockMarks   marks(size);
  marks.marks[1] = marks.marks[4] = marks.marks[26] = 1;
  for (const bool leastOneSided : { false, true })
  {
    JacobianParameters parameters = leastOneSided ? LeastOneSided() : JacobianParameters();
    const auto         all = Evaluate(warp, nullptr, 2, parameters);
    parameters.marks = &marks;
    const auto   marked = Evaluate(warp, nullptr, 2, parameters);
    double       minimum = INFINITY;
    std::int64_t count = 0;
    std::size_t  i = 0;
    for (std::int64_t z = 0; z < size.z; ++z)
      for (std::int64_t y = 0; y < size.y; ++y)
        for (std::int64_t x = 0; x < size.x; ++x, ++i)
        {
          const bool isMarked = marks.At(x, y, z);
          EXPECT_EQ(marked.determinant[i], isMarked ? all.determinant[i] : 1.0f);
          minimum = isMarked ? std::min(minimum, double(all.determinant[i])) : minimum;
          count += isMarked ? 1 : 0;
        }
    EXPECT_EQ(marked.result.minimum, minimum);
    EXPECT_EQ(std::accumulate(marked.result.planeCounts.begin(), marked.result.planeCounts.end(), std::int64_t(0)),
              count);
  }
  const BlockMarks other(Extent{ 64, 8, 8 });
  EXPECT_THROW(Evaluate(warp, nullptr, 2, LeastOneSided(&other)), std::invalid_argument);
}

GTEST_TEST(Jacobian, IdentityIsExactlyOne)
{
  const auto out = Evaluate(Warp<float>(Extent{ 6, 5, 4 }, 3.25f)); // a translation
  EXPECT_EQ(out.determinant, std::vector<float>(out.determinant.size(), 1.0f));
  EXPECT_EQ(out.result.minimum, 1);
  EXPECT_EQ(out.result.notPositive, 0);
  EXPECT_EQ(out.result.Mean(), 1);
}

GTEST_TEST(Jacobian, LinearWarpsHaveTheirMatrix)
{
  // u = M x: the determinant of I + M everywhere, borders too.
  const double M[3][3] = { { 0.25, -0.5, 0.125 }, { 0.5, -0.25, 0.25 }, { -0.125, 0.375, 0.5 } };
  const Extent size{ 7, 6, 5 };
  Warp<float>  warp(size);
  for (int c = 0; c < 3; ++c)
    for (std::int64_t z = 0; z < size.z; ++z)
      for (std::int64_t y = 0; y < size.y; ++y)
        for (std::int64_t x = 0; x < size.x; ++x)
        {
          warp.component[c].At(x, y, z) = float(M[c][0] * double(x) + M[c][1] * double(y) + M[c][2] * double(z));
        }
  const double a = 1.25, b = 0.75, d = 1.5;
  const double expected =
    a * (b * d - 0.25 * 0.375) + 0.5 * (0.5 * d - 0.25 * -0.125) + 0.125 * (0.5 * 0.375 - b * -0.125);
  for (const float value : Evaluate(warp).determinant)
  {
    ASSERT_NEAR(value, expected, 1e-6); // values of order 1, a dozen roundings
  }
}

GTEST_TEST(Jacobian, AFoldIsCounted)
{
  // Two neighbors change places along y: at the four voxels next to them the order of points is reversed or lost.
  const Extent size{ 40, 9, 3 };
  Warp<float>  warp(size);
  for (std::int64_t z = 0; z < size.z; ++z)
  {
    warp.component[1].At(37, 3, z) = 2.5f;
    warp.component[1].At(37, 5, z) = -2.5f;
  }
  const auto out = Evaluate(warp);
  EXPECT_EQ(out.result.notPositive, size.z); // in the middle: 1 + (-2.5 - 2.5) / 2 < 0
  EXPECT_EQ(out.result.minimum, -1.5);
}

GTEST_TEST(Jacobian, NotANumberCountsAsAFold)
{
  Warp<float> warp(Extent{ 40, 9, 3 });
  warp.component[1].At(20, 4, 1) = NAN;
  const auto out = Evaluate(warp);
  EXPECT_EQ(out.result.notPositive, 6); // its six neighbors
  EXPECT_EQ(out.result.minimum, -INFINITY);
}

GTEST_TEST(Jacobian, TwoComponents)
{
  auto warp = RandomWarp({ 33, 19, 1 }, 1, 0.4);
  warp.component[2] = Volume<float>(warp.component[0].domain);
  const auto    three = Evaluate(warp);
  Volume<float> determinant(warp.component[0].domain);
  auto          flat = warp.View();
  flat.component[2] = nullptr;
  JacobianDeterminant(flat, 0, 1, determinant.View());
  EXPECT_TRUE(SameBytes(determinant.values, three.determinant));
}

GTEST_TEST(Jacobian, SameBytesForThreadsSlabsAndInstructionSets)
{
  const Extent size{ 37, 70, 6 };
  const auto   warp = RandomWarp(size, 3, 0.6);
  const auto   mask = RandomMask(size, 4);
  const auto   whole = Evaluate(warp, &mask, 1);
  for (const unsigned threads : ThreadCounts())
  {
    ExpectSame(Evaluate(warp, &mask, threads), whole);
  }
  ForEachInstructionSet([&] { ExpectSame(Evaluate(warp, &mask), whole); });
  for (std::int64_t cut = 1; cut < size.z; ++cut)
  {
    auto       lower = Evaluate(warp, &mask, 0, cut, 2);
    const auto upper = Evaluate(warp, &mask, cut, size.z, 2);
    const auto append = [](auto & a, const auto & b) { a.insert(a.end(), b.begin(), b.end()); };
    append(lower.determinant, upper.determinant);
    lower.result.Append(upper.result);
    lower.result.minimum = std::min(lower.result.minimum, upper.result.minimum);
    lower.result.notPositive += upper.result.notPositive;
    append(lower.result.planeMinima, upper.result.planeMinima);
    ExpectSame(lower, whole);
  }
  const auto least = Evaluate(warp, nullptr, 1, LeastOneSided());
  ExpectSame(Evaluate(warp, nullptr, 3, LeastOneSided()), least);
  ForEachInstructionSet([&] { ExpectSame(Evaluate(warp, nullptr, 2, LeastOneSided()), least); });
  const auto withoutOutput = JacobianDeterminant(warp.View(), 0, size.z, {}, mask.View(), {}, 2);
  EXPECT_TRUE(SameBytes(withoutOutput.planeSums, whole.result.planeSums));
}

#ifndef FFDP_TEST_ON_DEVICE // meters the processor's memory
GTEST_TEST(Jacobian, MemoryIsAFewNumbersPerPieceOfRows)
{
  for (const std::int64_t planes : { 16, 64 })
  {
    const auto    warp = RandomWarp({ 64, 64, planes }, 1, 1);
    Volume<float> determinant(warp.component[0].domain);
    const auto    extra =
      MeasurePeakAllocation([&] { JacobianDeterminant(warp.View(), 0, planes, determinant.View(), {}, {}, 2); });
    EXPECT_LT(extra, 16384u + std::size_t(planes) * 128u); // the threader; 2 pieces and 2 sums per plane
  }
}
#endif

GTEST_TEST(Jacobian, RefusesBadInput)
{
  const auto    warp = RandomWarp({ 6, 5, 4 }, 1, 1);
  Volume<float> other(Extent{ 6, 5, 3 });
  EXPECT_THROW(JacobianDeterminant({}, 0, 1), std::invalid_argument);                        // no warp
  EXPECT_THROW(JacobianDeterminant(warp.View(), 0, 5), std::invalid_argument);               // 5 of 4 planes
  EXPECT_THROW(JacobianDeterminant(warp.View(), 0, 3, other.View()), std::invalid_argument); // sizes differ
  EXPECT_THROW(JacobianDeterminant(warp.Slab(1, 3).View(), 1, 2), std::invalid_argument);    // no halo
  EXPECT_THROW(JacobianDeterminant(warp.View(), -1, 2), std::invalid_argument);              // plane -1
  auto interleaved = warp.View();
  interleaved.elementStride = 3;
  EXPECT_THROW(JacobianDeterminant(interleaved, 0, 4), std::invalid_argument); // not planar
}
