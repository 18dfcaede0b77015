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

namespace
{
using namespace ffdp;
using namespace ffdp::test;

SamplerParameters
WithBorder(Border border)
{
  SamplerParameters parameters;
  parameters.border = border;
  return parameters;
}

/** A problem of the given size: image, map, warp and the gradient that comes from the loss. */
struct Problem
{
  Extent        imageSize;
  Volume<float> image;
  CompositeMap  map = ObliqueMap();
  Warp<double>  u;
  Warp<float>   floats;
  Volume<float> g;

  explicit Problem(const Extent & size, double mean = 0, double deviation = 1)
    : imageSize{ size.x + 3, std::max<std::int64_t>(1, size.y - 2), size.z + 1 }
    , image(RandomVolume(imageSize, 41, mean, deviation))
    , u(WarpToRandomPoints(size, imageSize, map, 42))
    , floats(ConvertWarp<float>(u))
    , g(RandomVolume(size, 43))
  {}
};

struct Gradients
{
  Warp<float>              warp;
  std::vector<MapGradient> planeSums;
};

Gradients
Backward(const Problem & p, const SamplerParameters & parameters, unsigned threads = 2)
{
  Gradients result{ Warp<float>(p.g.domain, 7.0f), {} };
  result.planeSums =
    SampleBackward(p.image.View(), p.map, p.floats.View(), p.g.View(), result.warp.View(), true, parameters, threads);
  return result;
}

bool
SameBytes(const Gradients & a, const Gradients & b)
{
  bool same = a.planeSums == b.planeSums;
  for (int c = 0; c < 3; ++c)
  {
    same = same && ffdp::test::SameBytes(a.warp.component[c].values, b.warp.component[c].values);
  }
  return same;
}

/** g times the central difference of the reference's value along displacement component c. */
double
NumericWarpGradient(const Problem &           p,
                    std::int64_t              x,
                    std::int64_t              y,
                    std::int64_t              z,
                    int                       c,
                    const SamplerParameters & s)
{
  const double h = 1e-4; // stays in the cell: points keep 0.1 away from its faces, S is below 2
  double       value[2];
  for (int side = 0; side < 2; ++side)
  {
    Point u{ p.u.component[0].At(x, y, z), p.u.component[1].At(x, y, z), p.u.component[2].At(x, y, z) };
    u[c] += side ? h : -h;
    value[side] = ValueAt(p.image, MapPoint(p.map, { double(x), double(y), double(z) }, u), s);
  }
  return p.g.At(x, y, z) * (value[1] - value[0]) / (2 * h);
}

} // namespace

TEST(SamplerBackward, WarpGradientMatchesFiniteDifferences)
{
  for (const Extent & size : AwkwardSizes())
  {
    for (const double mean : { 0.0, 1000.0 })
    {
      const Problem p(size, mean, mean == 0 ? 1 : 10);
      // Corners reach M; derivatives are differences of at most 2 M that change by at most 4 M per voxel of position
      // error along three axes, times |S| < 1.5 summed over components and |g| < 5; roundings add ten times M.
      const double M = MaxMagnitude(p.image.values);
      const double tolerance = 5 * 1.5 * M * (12 * PositionError(160) + 20 * 6e-8) + 1e-6 * M;
      for (const Border border : { Border::Zero, Border::Edge })
      {
        const Gradients gradients = Backward(p, WithBorder(border));
        double          worst = 0;
        for (std::int64_t z = 0; z < size.z; ++z)
          for (std::int64_t y = 0; y < size.y; ++y)
            for (std::int64_t x = 0; x < size.x; ++x)
              for (int c = 0; c < 3; ++c)
              {
                const double expected = NumericWarpGradient(p, x, y, z, c, WithBorder(border));
                worst = std::max(worst, std::abs(gradients.warp.component[c].At(x, y, z) - expected));
              }
        EXPECT_LE(worst, tolerance);
      }
    }
  }
}

TEST(SamplerBackward, MapGradientMatchesFiniteDifferences)
{
  for (const Extent & size : { Extent{ 23, 17, 11 }, Extent{ 33, 19, 1 }, Extent{ 1, 12, 10 }, Extent{ 150, 5, 3 } })
  {
    const Problem p(size);
    for (const Border border : { Border::Zero, Border::Edge })
    {
      const MapGradient gradient = AddPlanes(Backward(p, WithBorder(border)).planeSums);
      for (int i = 0; i < 12; ++i)
      {
        const double h = 1e-4; // moves a point by at most 0.015 voxels: it stays in its cell
        double       loss[2];
        for (int side = 0; side < 2; ++side)
        {
          CompositeMap map = p.map;
          (i < 9 ? map.A[i] : map.t[i - 9]) += side ? h : -h;
          loss[side] = Dot(SampleReference(p.image, map, p.u, WithBorder(border)).values, p.g.values);
        }
        // A term is |g| < 4 times a derivative that changes by at most 4 per voxel of position error along three axes,
        // times a coordinate; errors of independent voxels add up like a walk.
        const double reach = double(std::max(size.x, size.y)) + 5;
        const double scale = 3 * 4 * 4 * PositionError(reach) * (i < 9 ? reach : 1);
        EXPECT_NEAR(gradient[std::size_t(i)], (loss[1] - loss[0]) / (2 * h), scale * std::sqrt(double(size.Voxels())));
      }
    }
  }
}

TEST(SamplerBackward, FlatImagesHaveNoGradientInside)
{
  const Extent        size{ 20, 15, 10 };
  const Volume<float> image(size, 1000.0f), g = RandomVolume(size, 1);
  const Warp<float>   u = RandomWarp(size, 2, 0.5);
  Warp<float>         gradient(size, 7.0f);
  SampleBackward(image.View(), {}, u.View(), g.View(), gradient.View(), false);
  for (std::int64_t z = 3; z < size.z - 3; ++z)
    for (std::int64_t y = 3; y < size.y - 3; ++y)
      for (std::int64_t x = 3; x < size.x - 3; ++x)
        for (int c = 0; c < 3; ++c)
        {
          EXPECT_EQ(gradient.component[c].At(x, y, z), 0.0f);
        }
}

TEST(SamplerBackward, WritesAndAddsInEveryLayout)
{
  const Extent      size{ 21, 9, 5 };
  const Problem     p(size);
  SamplerParameters parameters;
  const Gradients   planar = Backward(p, parameters);
  for (const bool accumulate : { false, true })
  {
    parameters.accumulate = accumulate;
    const double        before = 2;
    Warp<float>         floats(size, 2.0f);
    std::vector<float>  mixedFloats(std::size_t(3 * size.Voxels()), 2.0f);
    std::vector<double> mixedDoubles(mixedFloats.size(), before), planarDoubles(mixedFloats.size(), before);
    std::vector<float>  pairs(std::size_t(2 * size.Voxels()), 2.0f);
    for (const WarpOutput & layout : { WarpOutput(floats.View()),
                                       WarpOutput(WarpView<float>::Interleaved(mixedFloats.data(), 3, size)),
                                       WarpOutput(WarpView<double>::Interleaved(mixedDoubles.data(), 3, size)),
                                       WarpOutput(WarpView<double>::Planar(planarDoubles.data(), size)),
                                       WarpOutput(WarpView<float>::Interleaved(pairs.data(), 2, size)) })
    {
      SampleBackward(p.image.View(), p.map, p.floats.View(), p.g.View(), layout, false, parameters);
    }
    const std::size_t n = std::size_t(size.Voxels());
    for (std::size_t i = 0; i < n; ++i)
    {
      for (std::size_t c = 0; c < 3; ++c)
      {
        const float value = planar.warp.component[c].values[i];
        EXPECT_EQ(floats.component[c].values[i], accumulate ? 2.0f + value : value);
        EXPECT_EQ(mixedFloats[3 * i + c], accumulate ? 2.0f + value : value);
        EXPECT_EQ(mixedDoubles[3 * i + c], accumulate ? before + value : double(value));
        EXPECT_EQ(planarDoubles[c * n + i], accumulate ? before + value : double(value));
        if (c < 2)
        {
          EXPECT_EQ(pairs[2 * i + c], accumulate ? 2.0f + value : value);
        }
      }
    }
  }
}

TEST(SamplerBackward, BytesDoNotDependOnThreadsSlabsOrInstructions)
{
  for (const Extent & size : { Extent{ 45, 37, 6 }, Extent{ 150, 70, 3 } })
  {
    const Problem p(size);
    for (const Border border : { Border::Zero, Border::Edge })
    {
      const SamplerParameters parameters = WithBorder(border);
      const Gradients         once = Backward(p, parameters, 1);
      for (const unsigned threads : ThreadCounts())
      {
        EXPECT_TRUE(SameBytes(Backward(p, parameters, threads), once));
      }
      ForEachInstructionSet([&] { EXPECT_TRUE(SameBytes(Backward(p, parameters), once)); });
      for (std::int64_t cut = 1; cut < size.z; ++cut)
      {
        std::vector<MapGradient> planeSums;
        for (const auto & range : { PlaneRange{ 0, cut }, PlaneRange{ cut, size.z } })
        {
          const Warp<float>   u = p.floats.Slab(range.first, range.end);
          const Volume<float> g = p.g.Slab(range.first, range.end);
          Warp<float>         gu = u;
          const auto part = SampleBackward(p.image.View(), p.map, u.View(), g.View(), gu.View(), true, parameters, 2);
          planeSums.insert(planeSums.end(), part.begin(), part.end());
          for (int c = 0; c < 3; ++c)
          {
            const auto expected = once.warp.component[c].Slab(range.first, range.end);
            EXPECT_TRUE(ffdp::test::SameBytes(gu.component[c].values, expected.values));
          }
        }
        EXPECT_EQ(planeSums, once.planeSums);
      }
    }
  }
}

TEST(SamplerBackward, SlabsOfTheImageAddUpToTheWhole)
{
  Problem p({ 31, 14, 8 });
  for (std::size_t i = 0; i < p.image.values.size(); i += 3)
  {
    p.image.values[i] = i % 2 ? -0.0f : 0.0f;
  }
  ForEachInstructionSet([&] {
    for (const Border border : { Border::Zero, Border::Edge })
    {
      SamplerParameters parameters = WithBorder(border);
      const Gradients   fused = Backward(p, parameters);
      for (std::int64_t cut = 1; cut < p.imageSize.z; ++cut)
      {
        Gradients sum{ Warp<float>(p.g.domain, 5.0f), {} };
        for (const auto & range : { PlaneRange{ 0, cut }, PlaneRange{ cut, p.imageSize.z } })
        {
          parameters.accumulate = range.first > 0;
          const Volume<float> slab = p.image.Slab(range.first, range.end);
          SampleDerivative(slab.View(), p.map, p.floats.View(), sum.warp.View(), parameters, 2);
        }
        sum.planeSums = FinishSampleBackward(p.map, p.g.View(), sum.warp.View(), true, 2);
        EXPECT_TRUE(SameBytes(sum, fused));
      }
    }
  });
}

TEST(SamplerBackward, ASlabThatHoldsAllThatIsReachedIsEnough)
{
  Problem p({ 31, 14, 12 });
  p.map = CompositeMap(); // displacements that stay near: planes of the output then reach few planes of the image
  for (Volume<float> & component : p.floats.component)
  {
    for (float & value : component.values)
    {
      value = std::fmod(value, 1.5f);
    }
  }
  p.floats.component[2].values[7] = 0; // exactly on a plane: the one above has no weight, but a derivative
  ForEachInstructionSet([&] {
    for (const Border border : { Border::Zero, Border::Edge })
    {
      const SamplerParameters parameters = WithBorder(border);
      const Gradients         whole = Backward(p, parameters);
      for (std::int64_t plane = 0; plane < p.g.domain.z; ++plane)
      {
        const Volume<float> g = p.g.Slab(plane, plane + 1);
        const PlaneRange    reached =
          FindReachedPlanes(p.imageSize, p.map, p.floats.View(), p.g.domain, plane, 1, parameters)[0];
        EXPECT_LT(reached.end - reached.first, 6);
        const Volume<float> slab = p.image.Slab(reached.first, reached.end);
        Warp<float>         gradient = Warp<float>(p.g.domain, 7.0f).Slab(plane, plane + 1);
        const auto          sums =
          SampleBackward(slab.View(), p.map, p.floats.View(), g.View(), gradient.View(), true, parameters, 2);
        EXPECT_TRUE(sums.front() == whole.planeSums[std::size_t(plane)]);
        for (int c = 0; c < 3; ++c)
        {
          EXPECT_TRUE(gradient.component[c].values == whole.warp.component[c].Slab(plane, plane + 1).values);
        }
      }
    }
  });
}

TEST(SamplerBackward, BadDisplacementsGiveNoGradient)
{
  Problem p({ 21, 5, 3 });
  p.floats.component[0].values[3] = std::nanf("");
  p.floats.component[1].values[50] = std::numeric_limits<float>::infinity();
  p.floats.component[2].values[99] = -std::numeric_limits<float>::max();
  for (const Border border : { Border::Zero, Border::Edge })
  {
    const Gradients gradients = Backward(p, WithBorder(border));
    for (const std::size_t i : { 3, 50, 99 })
    {
      EXPECT_EQ(gradients.warp.component[0].values[i], 0.0f);
      EXPECT_EQ(gradients.warp.component[1].values[i], 0.0f);
      EXPECT_EQ(gradients.warp.component[2].values[i], 0.0f);
    }
  }
}

#ifndef FFDP_TEST_ON_DEVICE // meters the processor's memory
TEST(SamplerBackward, ExtraMemoryIsAFewNumbersPerStrip)
{
  std::size_t peak[2];
  for (int i = 0; i < 2; ++i)
  {
    const Problem p({ 64, 64, 8 << i });
    Warp<float>   gu(p.g.domain);
    peak[i] = MeasurePeakAllocation(
      [&] { SampleBackward(p.image.View(), p.map, p.floats.View(), p.g.View(), gu.View(), true, {}, 2); });
  }
  // per plane: 12 doubles for each strip of rows and for the plane (the result; its vector may double as it grows)
  EXPECT_LE(peak[1], peak[0] + 8 * 8 * 96);
  EXPECT_LE(peak[1], std::size_t(100000));
}
#endif

TEST(SamplerBackward, RefusesWhatHasNoGradient)
{
  Problem           p({ 8, 7, 6 });
  Warp<float>       gu(p.g.domain);
  SamplerParameters nearest;
  nearest.interpolation = Interpolation::Nearest;
  const auto backward = [&](const VolumeView<const float> & image,
                            const VolumeView<const float> & g,
                            const WarpOutput & to) { SampleBackward(image, p.map, p.floats.View(), g, to, true); };
  // nearest has no gradient for positions
  EXPECT_THROW(SampleBackward(p.image.View(), p.map, {}, p.g.View(), {}, true, nearest), std::invalid_argument);
  EXPECT_THROW(SampleDerivative(p.image.View(), p.map, {}, gu.View(), nearest), std::invalid_argument);
  EXPECT_THROW(backward(p.image.View(), {}, gu.View()), std::invalid_argument);                    // no gradient
  EXPECT_THROW(backward(p.image.View(), p.g.View(), gu.Slab(0, 3).View()), std::invalid_argument); // planes missing
  EXPECT_THROW(FinishSampleBackward(p.map, p.g.Slab(1, 3).View(), gu.View(), true), std::invalid_argument);
  std::vector<float> pairs(std::size_t(2 * p.g.domain.Voxels()));
  // the derivative has three components also in 2-D
  EXPECT_THROW(SampleDerivative(p.image.View(), p.map, {}, WarpView<float>::Interleaved(pairs.data(), 2, p.g.domain)),
               std::invalid_argument);
  EXPECT_THROW(SampleAdjoint(p.g.View(), p.map, {}, {}), std::invalid_argument); // no image
}

TEST(SamplerAdjoint, MatchesTheReferenceAndTheForwardMap)
{
  for (const Extent & size : AwkwardSizes())
  {
    const Problem p(size);
    for (SamplerParameters parameters : AllSamplerParameters())
    {
      parameters.outsideValue = 0; // a constant is no part of a linear map
      Volume<float> adjoint(p.imageSize, 7.0f);
      SampleAdjoint(p.g.View(), p.map, p.floats.View(), adjoint.View(), parameters, 2);
      const Volume<double> expected = AdjointReference(p.g, p.map, p.u, p.imageSize, parameters);
      // A voxel receives a few dozen terms (all of them if it is the only one): g < 5 times a weight that is off by
      // three position errors and a few roundings; sums of n terms of size 5 round n times.
      const double terms = std::min<double>(double(size.Voxels()), 60);
      const double tolerance = terms * 5 * (3 * PositionError(160) + (4 + terms) * 6e-8);
      EXPECT_LE(MaxDifference(adjoint.values, expected.values), tolerance);

      Volume<float> forward(size);
      Sample(p.image.View(), p.map, p.floats.View(), forward.View(), parameters, 2);
      // both sides are sums over the voxels of terms with the relative error of a few roundings
      EXPECT_NEAR(Dot(forward.values, p.g.values),
                  Dot(adjoint.values, p.image.values),
                  30 * 6e-8 * (terms + 10) * std::sqrt(double(size.Voxels())));
    }
  }
}

TEST(SamplerAdjoint, BytesDoNotDependOnThreadsSlabsOrInstructions)
{
  const Problem p({ 45, 37, 6 });
  for (SamplerParameters parameters : AllSamplerParameters())
  {
    const auto adjoint = [&](unsigned threads) {
      Volume<float> image(p.imageSize, 7.0f);
      SampleAdjoint(p.g.View(), p.map, p.floats.View(), image.View(), parameters, threads);
      return image;
    };
    const Volume<float> once = adjoint(1);
    for (const unsigned threads : ThreadCounts())
    {
      EXPECT_TRUE(ffdp::test::SameBytes(adjoint(threads).values, once.values));
    }
    ForEachInstructionSet([&] { EXPECT_TRUE(ffdp::test::SameBytes(adjoint(2).values, once.values)); });
    for (std::int64_t cut = 1; cut < p.g.domain.z; ++cut)
    {
      Volume<float> image(p.imageSize, 7.0f);
      for (const auto & range : { PlaneRange{ 0, cut }, PlaneRange{ cut, p.g.domain.z } })
      {
        SamplerParameters part = parameters;
        part.accumulate = range.first > 0;
        SampleAdjoint(p.g.Slab(range.first, range.end).View(),
                      p.map,
                      p.floats.Slab(range.first, range.end).View(),
                      image.View(),
                      part,
                      2);
      }
      EXPECT_TRUE(ffdp::test::SameBytes(image.values, once.values));
    }
    for (std::int64_t cut = 1; cut < p.imageSize.z; ++cut)
    {
      Volume<float> upper(p.imageSize, cut, p.imageSize.z - cut, 7.0f);
      SampleAdjoint(p.g.View(), p.map, p.floats.View(), upper.View(), parameters, 2);
      EXPECT_TRUE(ffdp::test::SameBytes(upper.values, once.Slab(cut, p.imageSize.z).values));
    }
  }
}

#ifndef FFDP_TEST_ON_DEVICE // meters the processor's memory
TEST(SamplerAdjoint, ExtraMemoryIsAFewNumbersPerPlane)
{
  std::size_t peak[2];
  for (int i = 0; i < 2; ++i)
  {
    const Problem p({ 64, 64, 8 << i });
    Volume<float> image(p.imageSize);
    peak[i] = MeasurePeakAllocation([&] { SampleAdjoint(p.g.View(), p.map, p.floats.View(), image.View(), {}, 2); });
  }
  // ITK's thread pool allocates a little more or less from run to run; a plane would be 16 KB
  EXPECT_LE(peak[1], peak[0] + 8 * sizeof(PlaneRange) + 2048);
  EXPECT_LE(peak[1], std::size_t(100000));
}
#endif
