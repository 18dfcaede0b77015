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
#include "ffdpChainDerivative.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

using namespace ffdp;

namespace
{

const double SlopeMatrix[9] = { 0.03, -0.02, 0.05, 0.01, -0.04, 0.02, -0.03, 0.06, 0.02 };

/** A field u = B p + b on an oblique grid: slopes of it have no error but rounding. */
template <typename T>
struct LinearField
{
  Extent         grid{ 14, 13, 12 };
  std::vector<T> values;
  WarpStep       step;
  FieldSlope     slope;

  explicit LinearField(double scale)
    : values(std::size_t(3 * grid.Voxels()))
  {
    const AffineMap toPoint{ { 1.1, 0.2, 0, -0.25, 1.4, 0.1, 0, -0.1, 1.7 }, { -3, -2.5, -4 } };
    step.toIndex = toPoint.Inverse();
    std::copy_n(step.toIndex.matrix, 9, slope.right); // du/dp = du/di di/dp
    for (std::size_t i = 0; i < values.size(); ++i)
    {
      const std::int64_t voxel = std::int64_t(i / 3), c = std::int64_t(i % 3);
      const double       at[3] = { double(voxel % grid.x),
                                   double(voxel / grid.x % grid.y),
                                   double(voxel / (grid.x * grid.y)) };
      double             p[3];
      toPoint.Apply(at, p);
      const double * B = SlopeMatrix + 3 * c;
      values[i] = T(0.2 * double(c) + scale * (B[0] * p[0] + B[1] * p[1] + B[2] * p[2]));
    }
    step.warp = WarpView<const T>::Interleaved(values.data(), 3, grid);
  }
};

AffineMap
Jacobian(double scale)
{
  AffineMap map;
  for (int i = 0; i < 9; ++i)
  {
    map.matrix[i] += scale * SlopeMatrix[i];
  }
  return map;
}

/** Two fields with linear maps around them; the small grid is mapped into the middle of both. */
struct Scene
{
  Extent              grid{ 7, 6, 5 };
  LinearField<double> first{ 1 };
  LinearField<float>  second{ -1.5 };
  ChainDerivative     task;
  std::vector<float>  gradient;

  explicit Scene(std::size_t segment)
    : gradient(std::size_t(3 * grid.Voxels()))
  {
    task.chain.start = AffineMap{ { 0.7, 0.1, 0, 0, 0.8, 0, -0.1, 0, 0.9 }, { 2, 3, 3 } };
    first.step.after = AffineMap{ { 1.02, 0.05, 0, -0.04, 0.97, 0, 0, 0.03, 1.01 }, { 0.2, -0.1, 0.3 } };
    second.step.after = AffineMap{ { 0.6, 0, 0, 0, 0.9, 0.2, 0, 0, 0.8 }, { 1, 2, 3 } };
    task.chain.steps = { first.step, second.step };
    task.slopes = { first.slope, second.slope };
    task.segment = segment;
    std::mt19937 generator(5);
    for (float & g : gradient)
    {
      g = float(generator() % 2001) / 1000 - 1;
    }
    for (int c = 0; c < 3; ++c)
    {
      gradient[std::size_t(c * grid.Voxels() + 11)] = 0;
    }
  }

  WarpView<const float>
  Gradient() const
  {
    return WarpView<const float>::Planar(gradient.data(), grid);
  }

  /** q of the segment at a voxel, from the chain cut there. */
  void
  PointBefore(const double * x, double * q) const
  {
    WarpChain cut = task.chain;
    cut.steps.resize(task.segment);
    std::copy_n(x, 3, q);
    if (task.segment > 0)
    {
      cut.steps.back().after = AffineMap();
      MapPoint(cut, x, q);
    }
  }

  /** d_s / e, which is the same at all voxels. */
  AffineMap
  Expected() const
  {
    AffineMap all; // from the end of the segment to q_2
    if (task.segment == 0)
    {
      all = Compose(Jacobian(-1.5), Compose(first.step.after, Jacobian(1)));
    }
    else if (task.segment == 1)
    {
      all = Jacobian(-1.5);
    }
    AffineMap transposed;
    for (int i = 0; i < 9; ++i)
    {
      transposed.matrix[i] = all.matrix[3 * (i % 3) + i / 3];
    }
    AffineMap last;
    std::copy_n(task.last.data(), 9, last.matrix);
    return Compose(last, transposed);
  }
};

} // namespace

TEST(ChainDerivative, JacobianOfALinearFieldIsItsMatrix)
{
  const LinearField<double> field(1);
  const AffineMap           expected = Jacobian(1);
  const AffineMap           toPoint = field.step.toIndex.Inverse();
  for (int axis = 0; axis < 3; ++axis)
  {
    const std::int64_t size[3] = { field.grid.x, field.grid.y, field.grid.z };
    for (std::int64_t i = -2; i < size[axis] + 2; ++i)
    {
      double at[3] = { 5, 6, 5 }, point[3], found[9];
      at[axis] = double(i) + 0.3; // the nearest sample counts
      toPoint.Apply(at, point);
      FieldJacobian(field.step, field.slope, point, found);
      const bool flat = i < 1 || i > size[axis] - 2; // the first and the last sample and outside
      const bool whole = i > 1 && i < size[axis] - 2;
      for (int k = 0; k < 9; ++k)
      {
        const double unit = k % 4 == 0 ? 1 : 0;
        EXPECT_TRUE(!flat || found[k] == unit) << axis << " " << i;
        EXPECT_TRUE(!whole || std::abs(found[k] - expected.matrix[k]) < 1e-13) << axis << " " << i;
      }
    }
  }
}

TEST(ChainDerivative, JacobianNextToTheBorder)
{
  // u = i^2 along x, so that each rule gives a number of its own: (u[a] - 8 u[b] + 8 u[c] - u[d]) / 12
  const Extent        grid{ 6, 3, 3 };
  std::vector<double> values(std::size_t(3 * grid.Voxels()), 0.0);
  for (std::size_t i = 0; i < values.size(); i += 3)
  {
    values[i] = double((i / 3 % 6) * (i / 3 % 6));
  }
  WarpStep step;
  step.warp = WarpView<const double>::Interleaved(values.data(), 3, grid);
  const auto slopeAt = [&](FieldSlope::Border border, double x) {
    FieldSlope slope;
    slope.border = border;
    const double point[3] = { x, 1, 1 };
    double       jacobian[9];
    FieldJacobian(step, slope, point, jacobian);
    return jacobian[0] - 1;
  };
  const double clamped[6] = { 0, (0 - 0 + 32 - 9) / 12.0, 4, 6, (4 - 72 + 200 - 25) / 12.0, 0 };
  const double still[6] = { 0, (1 - 8 + 32 - 9) / 12.0, 4, 6, (4 - 72 + 128 - 16) / 12.0, (9 - 128 + 200 - 25) / 12.0 };
  for (int x = 0; x < 6; ++x)
  {
    EXPECT_NEAR(slopeAt(FieldSlope::Border::Clamped, x), clamped[x], 1e-14) << x;
    EXPECT_NEAR(slopeAt(FieldSlope::Border::Still, x), still[x], 1e-14) << x;
    EXPECT_EQ(slopeAt(FieldSlope::Border::Still, x + 0.49), slopeAt(FieldSlope::Border::Still, x));
    EXPECT_EQ(slopeAt(FieldSlope::Border::Still, x - 0.5), slopeAt(FieldSlope::Border::Still, x)); // halves go up
  }
  EXPECT_EQ(slopeAt(FieldSlope::Border::Still, 5.5), 0);
  EXPECT_EQ(slopeAt(FieldSlope::Border::Still, -1e30), 0);
  EXPECT_EQ(slopeAt(FieldSlope::Border::Still, std::numeric_limits<double>::quiet_NaN()), 0);
  values[3 * (18 + 6 + 4)] = std::numeric_limits<double>::infinity(); // sample (4, 1, 1)
  EXPECT_EQ(slopeAt(FieldSlope::Border::Still, 2), 0);
}

TEST(ChainDerivative, IsThatOfLinearMapsIfFieldsAreLinear)
{
  for (std::size_t segment = 0; segment <= 2; ++segment)
  {
    Scene scene(segment);
    scene.task.last = { { 1, 0.5, 0, 0, 2, 0, 0.25, 0, -1 } };
    const std::int64_t  voxels = scene.grid.Voxels();
    std::vector<double> d(std::size_t(3 * voxels), 7.0);
    const auto          output = WarpView<double>::Interleaved(d.data(), 3, scene.grid);
    const MapGradient   moments = AddPlanes(LeadBack(scene.task, scene.Gradient(), output, true, 2));
    const AffineMap     matrix = scene.Expected();
    MapGradient         expected{};
    for (std::int64_t i = 0; i < voxels; ++i)
    {
      const double x[3] = { double(i % 7), double(i / 7 % 6), double(i / 42) };
      const double e[3] = { scene.gradient[std::size_t(i)],
                            scene.gradient[std::size_t(voxels + i)],
                            scene.gradient[std::size_t(2 * voxels + i)] };
      double       v[3], q[3];
      matrix.Apply(e, v);
      scene.PointBefore(x, q);
      for (std::size_t r = 0; r < 3; ++r)
      {
        EXPECT_NEAR(d[std::size_t(3 * i) + r], v[r], 2e-6) << segment << " " << i; // samples of a field are float
        for (std::size_t c = 0; c < 3; ++c)
        {
          expected[3 * r + c] += v[r] * q[c];
        }
        expected[9 + r] += v[r];
      }
    }
    for (std::size_t i = 0; i < 12; ++i)
    {
      EXPECT_NEAR(moments[i], expected[i], 1e-3) << segment << " " << i; // 210 of them, q up to 10
    }
    EXPECT_EQ(d[33], 0);
  }
}

TEST(ChainDerivative, AVoxelWithoutGradientIsZeroWhereverItIsMapped)
{
  Scene scene(1);
  std::fill(scene.first.values.begin(), scene.first.values.end(), std::numeric_limits<double>::quiet_NaN());
  std::fill(scene.gradient.begin(), scene.gradient.end(), 0.0f);
  std::vector<float> d(scene.gradient.size(), 7.0f);
  const MapGradient  moments =
    AddPlanes(LeadBack(scene.task, scene.Gradient(), WarpView<float>::Planar(d.data(), scene.grid), true, 1));
  EXPECT_EQ(moments, MapGradient{});
  EXPECT_EQ(d, scene.gradient);
}

TEST(ChainDerivative, BytesDoNotDependOnThreadsOrSlabs)
{
  const Scene                    scene(0);
  const std::vector<MapGradient> whole = LeadBack(scene.task, scene.Gradient(), {}, true, 1);
  EXPECT_EQ(LeadBack(scene.task, scene.Gradient(), {}, true, 5), whole);
  std::vector<MapGradient> slabs = LeadBack(scene.task, scene.Gradient().Planes(0, 2), {}, true, 2);
  for (const MapGradient & plane : LeadBack(scene.task, scene.Gradient().Planes(2, 3), {}, true, 3))
  {
    slabs.push_back(plane);
  }
  EXPECT_EQ(slabs, whole);
  EXPECT_TRUE(LeadBack(scene.task, scene.Gradient(), {}, false).empty());
}

TEST(ChainDerivative, RefusesWhatDoesNotFit)
{
  Scene scene(1);
  EXPECT_THROW(LeadBack(ChainDerivative(), scene.Gradient(), {}, true), std::invalid_argument);
  EXPECT_THROW(LeadBack(scene.task, {}, {}, true), std::invalid_argument);
  scene.task.segment = 3;
  EXPECT_THROW(LeadBack(scene.task, scene.Gradient(), {}, true), std::invalid_argument);
  scene.task.segment = 2;
  scene.task.slopes.pop_back();
  EXPECT_THROW(LeadBack(scene.task, scene.Gradient(), {}, true), std::invalid_argument);
  scene.task.slopes.resize(2);
  std::vector<float> other(36);
  EXPECT_THROW(LeadBack(scene.task, scene.Gradient(), WarpView<float>::Planar(other.data(), Extent{ 3, 2, 2 }), true),
               std::invalid_argument);
}
