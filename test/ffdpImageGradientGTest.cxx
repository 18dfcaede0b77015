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

#include "ffdpImageGradientReference.h"

#include "itkCentralDifferenceImageFunction.h"
#include "itkImage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

namespace
{
using namespace ffdp;
using namespace ffdp::test;

/** How far d may be off where a voxel has weight 1. A difference is of two values; each is off by the position error
 * along three axes (and one rounding of a position of up to two voxels) times the largest step between neighbors, and
 * by a dozen roundings of the brightest voxel. Entries of |C| add up to at most 1.6 in a row, distances are 0.8 at
 * least; products and sums with them round five more times. */
double
Tolerance(double largest, double range)
{
  const double position = PositionError(160) + 2 * 6e-8;
  const double difference = 2 * (3 * position * range + 12 * 6e-8 * largest);
  return 1.6 / 0.8 * (difference + 5 * 6e-8 * 3 * range);
}

template <typename T>
void
ExpectReference(const Extent & size, double mean, double deviation)
{
  const GradientProblem<T> p(size, mean, deviation);
  double                   range = 0;
  for (const T & v : p.image.values)
  {
    range = std::max(range, 2 * std::abs(double(v) - mean));
  }
  const double tolerance = Tolerance(MaxMagnitude(p.image.values), range);
  for (const ImageDifferences & h : AllDifferences())
  {
    const GradientResult result = ComputeGradient(p, h);
    double               worst = 0;
    std::int64_t         uncertain = 0;
    ForEachMappedVoxel(p.map, p.u, [&](std::int64_t x, std::int64_t y, std::int64_t z, const Point & X) {
      const ReferenceGradient expected = GradientAt(p.image, X, h, p.C);
      const double            w = p.weights.At(x, y, z);
      uncertain += expected.certain ? 0 : 1;
      for (std::size_t c = 0; expected.certain && c < 3; ++c)
      {
        const double error = std::abs(result.derivative.component[c].At(x, y, z) - w * expected.value[c]);
        worst = !(error <= std::abs(w) * worst) ? error / std::abs(w) : worst; // keeps NaN
      }
    });
    EXPECT_LE(worst, tolerance);
    EXPECT_LE(uncertain, 1 + size.Voxels() / 50);
  }
}

} // namespace

TEST(ImageGradient, MatchesTheReference)
{
  for (const Extent & size : AwkwardSizes())
  {
    ExpectReference<float>(size, 0, 1);
    ExpectReference<float>(size, 1000, 10);
    ExpectReference<double>(size, 0, 1);
    ExpectReference<double>(size, 1000, 10);
  }
}

TEST(ImageGradient, FollowsTheBorderRuleOfItk)
{
  // I = 2 x + 3 y - 4 z at the grid points: half a voxel beyond the first sample is inside and has its value, half a
  // voxel beyond the last is outside.
  const Extent  size{ 40, 6, 5 };
  Volume<float> image(size), weights(size, 1.0f);
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        image.At(x, y, z) = float(2 * x + 3 * y - 4 * z);
      }
  const auto expected = [](float slope, std::int64_t i, std::int64_t n) {
    return i == n - 1 ? 0.0f : (i == 0 ? slope / 2 : slope);
  };
  const std::array<double, 9> identity{ { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
  ImageDifferences            halves;         // the fast way
  ImageDifferences            twice;          // the general way: two steps of half a voxel that are not
  twice.step[0][1] = twice.step[1][2] = 2e-6; // quite along the axes
  for (const ImageDifferences & h : { halves, twice })
  {
    Warp<float> d(size, 7.0f);
    ImageGradient(image.View(), {}, {}, h, weights.View(), identity, d.View(), false);
    for (std::int64_t z = 0; z < size.z; ++z)
      for (std::int64_t y = 0; y < size.y; ++y)
        for (std::int64_t x = 0; x < size.x; ++x)
        {
          EXPECT_NEAR(d.component[0].At(x, y, z), expected(2, x, size.x), 1e-4);
          EXPECT_NEAR(d.component[1].At(x, y, z), expected(3, y, size.y), 1e-4);
          EXPECT_NEAR(d.component[2].At(x, y, z), expected(-4, z, size.z), 1e-4);
        }
  }
}

TEST(ImageGradient, AgreesWithItk)
{
  using ImageType = itk::Image<double, 3>;
  const Extent            size{ 12, 9, 10 };
  GradientProblem<double> p(size);
  ImageType::SizeType     itkSize;
  itkSize[0] = itk::SizeValueType(p.imageSize.x);
  itkSize[1] = itk::SizeValueType(p.imageSize.y);
  itkSize[2] = itk::SizeValueType(p.imageSize.z);
  const double spacing[3] = { 0.9, 1.4, 2.1 };
  const double origin[3] = { 12.5, -7, 3 };
  for (const double angle : { 0.0, 0.3 }) // in the plane of x and z
  {
    ImageType::DirectionType direction;
    direction.SetIdentity();
    direction[0][0] = direction[2][2] = std::cos(angle);
    direction[0][2] = -std::sin(angle);
    direction[2][0] = std::sin(angle);
    const ImageType::Pointer image = ImageType::New();
    image->SetRegions(itkSize);
    image->SetSpacing(spacing);
    image->SetOrigin(origin);
    image->SetDirection(direction);
    image->Allocate();
    std::copy(p.image.values.begin(), p.image.values.end(), image->GetBufferPointer());
    const auto function = itk::CentralDifferenceImageFunction<ImageType, double>::New();
    function->SetInputImage(image);

    ImageDifferences h;
    for (int c = 0; c < 3; ++c)
    {
      itk::Vector<double, 3> half(0.0);
      half[c] = spacing[c] / 2;
      const auto index = image->GetInverseDirection() * half;
      for (int i = 0; i < 3; ++i)
      {
        h.step[c][i] = index[i] / spacing[i];
      }
      h.distance[c] = spacing[c];
    }
    std::fill(p.weights.values.begin(), p.weights.values.end(), 1.0f);
    p.C = { { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
    const GradientResult result = ComputeGradient(p, h);
    int                  compared = 0;
    ForEachMappedVoxel(p.map, p.u, [&](std::int64_t x, std::int64_t y, std::int64_t z, const Point & X) {
      itk::ContinuousIndex<double, 3> index;
      index[0] = X[0];
      index[1] = X[1];
      index[2] = X[2];
      ImageType::PointType point;
      image->TransformContinuousIndexToPhysicalPoint(index, point);
      if (GradientAt(p.image, X, h, p.C).certain && function->IsInsideBuffer(point))
      {
        const auto expected = function->Evaluate(point);
        for (unsigned c = 0; c < 3; ++c)
        {
          EXPECT_NEAR(result.derivative.component[c].At(x, y, z), expected[c], Tolerance(5, 10));
        }
        ++compared;
      }
    });
    EXPECT_GT(compared, 300);
  }
}

TEST(ImageGradient, FlatImagesHaveNone)
{
  const Extent        size{ 20, 15, 10 };
  const Volume<float> image(size, 1000.1f), weights = RandomVolume(size, 1);
  const Warp<float>   u = RandomWarp(size, 2, 2.0);
  for (const ImageDifferences & h : AllDifferences())
  {
    Warp<float> d(size, 7.0f);
    ImageGradient(image.View(), {}, u.View(), h, weights.View(), SomeMatrix(), d.View(), false);
    for (const Volume<float> & component : d.component)
    {
      EXPECT_EQ(MaxMagnitude(component.values), 0.0);
    }
  }
}

TEST(ImageGradient, TwoDimensionsHaveTwoDifferences)
{
  const Extent        size{ 30, 21, 1 };
  const Volume<float> image = RandomVolume(size, 3);
  Volume<float>       weights(size, 1.0f);
  const Warp<double>  u = ConvertWarp<double>(Warp<double>(size, 0.2));
  std::vector<double> field = Interleave<double>(u, 2), d(field.size(), 7.0);
  ImageDifferences    h;
  const WarpInput     input(WarpView<double>::Interleaved(field.data(), 2, size));
  const WarpOutput    output(WarpView<double>::Interleaved(d.data(), 2, size));
  for (const double across : { 0.0, 0.2 })
  {
    h.dimension = 2;
    h.step[0][1] = across;
    ImageGradient(image.View(), {}, input, h, weights.View(), SomeMatrix(), output, false);
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        const Point expected = GradientAt(image, { { x + 0.2, y + 0.2, 0 } }, h, SomeMatrix()).value;
        EXPECT_NEAR(d[std::size_t(2 * (x + size.x * y))], expected[0], Tolerance(5, 10));
        EXPECT_NEAR(d[std::size_t(2 * (x + size.x * y) + 1)], expected[1], Tolerance(5, 10));
      }
  }
}

TEST(ImageGradient, ReadsAndWritesEveryLayout)
{
  const Extent                 size{ 150, 9, 5 };
  const GradientProblem<float> p(size);
  std::vector<double>          mixedIn = Interleave<double>(p.u);
  std::vector<float>           mixedFloatsIn = Interleave<float>(p.u);
  Warp<double>                 planarIn = p.u;
  for (const ImageDifferences & h : { AllDifferences()[1], AllDifferences()[3] })
  {
    const GradientResult planar = ComputeGradient(p, h);
    const std::size_t    n = std::size_t(size.Voxels());
    std::vector<double>  mixed(3 * n, 7.0), planes(3 * n, 7.0);
    std::vector<float>   mixedFloats(3 * n, 7.0f), pairs(2 * n, 7.0f);
    const auto           compute = [&](const WarpInput & u, const WarpOutput & d) {
      ImageGradient(p.image.View(), p.map, u, h, p.weights.View(), p.C, d, false);
    };
    compute(WarpView<double>::Interleaved(mixedIn.data(), 3, size),
            WarpView<double>::Interleaved(mixed.data(), 3, size));
    compute(planarIn.View(), WarpView<double>::Planar(planes.data(), size));
    compute(WarpView<float>::Interleaved(mixedFloatsIn.data(), 3, size),
            WarpView<float>::Interleaved(mixedFloats.data(), 3, size));
    compute(p.floats.View(), WarpView<float>::Interleaved(pairs.data(), 2, size));
    for (std::size_t i = 0; i < n; ++i)
    {
      for (std::size_t c = 0; c < 3; ++c)
      {
        const float value = planar.derivative.component[c].values[i];
        ASSERT_EQ(mixed[3 * i + c], value);
        ASSERT_EQ(planes[c * n + i], value);
        ASSERT_EQ(mixedFloats[3 * i + c], value);
        ASSERT_EQ(c < 2 ? pairs[2 * i + c] : value, value);
      }
    }
  }
}

TEST(ImageGradient, MomentsAreSumsOfTheDerivative)
{
  for (const Extent & size : { Extent{ 23, 17, 5 }, Extent{ 150, 33, 2 } })
  {
    const GradientProblem<float> p(size);
    for (const ImageDifferences & h : AllDifferences())
    {
      const GradientResult result = ComputeGradient(p, h);
      ASSERT_EQ(result.planeSums.size(), std::size_t(size.z));
      for (std::int64_t z = 0; z < size.z; ++z)
      {
        MapGradient expected{}, magnitude{};
        for (std::int64_t y = 0; y < size.y; ++y)
          for (std::int64_t x = 0; x < size.x; ++x)
            for (std::size_t r = 0; r < 3; ++r)
            {
              const double d = result.derivative.component[r].At(x, y, z);
              const double times[4] = { double(x), double(y), double(z), 1 };
              for (std::size_t c = 0; c < 4; ++c)
              {
                expected[c < 3 ? 3 * r + c : 9 + r] += d * times[c];
                magnitude[c < 3 ? 3 * r + c : 9 + r] += std::abs(d * times[c]);
              }
            }
        for (std::size_t i = 0; i < 12; ++i)
        {
          // sums of the same numbers in another order: a rounding of double precision per term at most
          EXPECT_NEAR(
            result.planeSums[std::size_t(z)][i], expected[i], 1.2e-16 * double(size.x * size.y) * magnitude[i]);
        }
      }
      // the derivative need not be written
      EXPECT_EQ(ImageGradient(p.image.View(), p.map, p.floats.View(), h, p.weights.View(), p.C, {}, true),
                result.planeSums);
      // and the moments need not be summed
      EXPECT_TRUE(ImageGradient(p.image.View(), p.map, p.floats.View(), h, p.weights.View(), p.C, {}, false).empty());
    }
  }
}

TEST(ImageGradient, RefusesWhatItCannotDifferentiate)
{
  const GradientProblem<float> p({ 8, 7, 6 });
  Warp<float>                  d(p.weights.domain);
  const auto compute = [&](const ImageInput & image, const ImageDifferences & h, const WarpOutput & to) {
    ImageGradient(image, p.map, p.floats.View(), h, p.weights.View(), p.C, to, true);
  };
  EXPECT_NO_THROW(compute(p.image.View(), {}, d.View()));
  EXPECT_THROW(compute({}, {}, d.View()), std::invalid_argument);                        // no image
  EXPECT_THROW(compute(p.image.Slab(0, 3).View(), {}, d.View()), std::invalid_argument); // part of an image
  EXPECT_THROW(compute(p.image.View(), {}, d.Slab(0, 3).View()), std::invalid_argument); // planes missing
  EXPECT_THROW(compute(p.image.As<double>().Slab(0, 3).View(), {}, d.View()), std::invalid_argument);
  EXPECT_THROW(ImageGradient(p.image.View(), p.map, p.floats.View(), {}, {}, p.C, d.View(), true),
               std::invalid_argument); // no weights
  ImageDifferences bad;
  bad.dimension = 1;
  EXPECT_THROW(compute(p.image.View(), bad, d.View()), std::invalid_argument);
  bad = {};
  bad.distance[1] = 0;
  EXPECT_THROW(compute(p.image.View(), bad, d.View()), std::invalid_argument);
  bad = {};
  bad.step[2][0] = std::nan("");
  EXPECT_THROW(compute(p.image.View(), bad, d.View()), std::invalid_argument);
  std::array<double, 9> C = p.C;
  C[4] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(ImageGradient(p.image.View(), p.map, p.floats.View(), {}, p.weights.View(), C, d.View(), true),
               std::invalid_argument);
}
