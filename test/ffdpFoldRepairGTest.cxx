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
#include "ffdpFoldRepair.h"

#include "ffdpJacobian.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

const Extent Size{ 24, 20, 34 };

/** A smooth warp with a fold in the middle: displacements there fall faster than one voxel per voxel. On the processor,
 * planes are done sixteen at a time, so the middle is at a seam. */
std::vector<float>
FoldedWarp()
{
  const std::int64_t n = Size.Voxels();
  std::vector<float> u(std::size_t(3 * n), 0.0f);
  for (std::int64_t i = 0; i < n; ++i)
  {
    const double x = double(i % Size.x), y = double(i / Size.x % Size.y), z = double(i / Size.x / Size.y);
    const double d = (x - 12) * (x - 12) + (y - 10) * (y - 10) + (z - 16) * (z - 16);
    u[std::size_t(i)] = float(-2.2 * (x - 12) * std::exp(-d / 3));
    u[std::size_t(i + n)] = float(0.3 * std::sin(x / 4));
  }
  return u;
}

struct Ironed
{
  std::vector<float> warp;
  int                passes = 0;
};

Ironed
IronOut(std::vector<float> values, unsigned threads)
{
  const auto    u = WarpView<float>::Planar(values.data(), Size);
  Volume<float> determinant(Size);
  Ironed        result;
  while (result.passes < 50 && JacobianDeterminant(u, 0, Size.z, determinant.View()).minimum < 0.05f)
  {
    IronFolds(u, 0, Size.z, determinant.View(), 0.05f, threads);
    ++result.passes;
  }
  result.warp = values;
  return result;
}

} // namespace

TEST(FoldRepair, TakesFoldsOutAndLeavesTheRestAlone)
{
  const std::vector<float> folded = FoldedWarp();
  std::vector<float>       copy = folded;
  const auto               before = JacobianDeterminant(WarpView<float>::Planar(copy.data(), Size), 0, Size.z, {});
  ASSERT_GT(before.notPositive, 0);
  const Ironed ironed = IronOut(folded, 2);
  EXPECT_GT(ironed.passes, 0);
  EXPECT_LT(ironed.passes, 20);
  copy = ironed.warp;
  const auto after = JacobianDeterminant(WarpView<float>::Planar(copy.data(), Size), 0, Size.z, {});
  EXPECT_EQ(after.notPositive, 0);
  EXPECT_GE(after.minimum, 0.05f);
  std::int64_t changed = 0;
  for (std::int64_t i = 0; i < Size.Voxels(); ++i)
  {
    const bool far = std::abs(i % Size.x - 12) > 8 || std::abs(i / Size.x % Size.y - 10) > 8;
    const bool same = folded[std::size_t(i)] == ironed.warp[std::size_t(i)];
    EXPECT_TRUE(same || !far);
    changed += same ? 0 : 1;
  }
  EXPECT_GT(changed, 0);
  EXPECT_LT(changed, Size.Voxels() / 8);
}

TEST(FoldRepair, BytesDependNeitherOnThreadsNorOnSlabs)
{
  const std::vector<float> folded = FoldedWarp();
  const Ironed             one = IronOut(folded, 1);
  EXPECT_TRUE(SameBytes(one.warp, IronOut(folded, 3).warp));

  std::vector<float> whole = folded;
  const auto         u = WarpView<float>::Planar(whole.data(), Size);
  Volume<float>      determinant(Size);
  JacobianDeterminant(u, 0, Size.z, determinant.View());
  std::vector<float> slabs = whole;
  const std::int64_t changed = IronFolds(u, 0, Size.z, determinant.View(), 0.05f);
  std::int64_t       changedInSlabs = 0;
  for (const auto & range : { PlaneRange{ 0, 14 }, PlaneRange{ 14, 17 }, PlaneRange{ 17, 34 } })
  {
    // each slab has a copy of its own, as a rank would, with one plane of halo
    std::vector<float> own = folded;
    const std::int64_t first = std::max<std::int64_t>(0, range.first - 1), end = std::min(Size.z, range.end + 1);
    const auto         view = WarpView<float>::Planar(own.data(), Size).Planes(first, end - first);
    changedInSlabs +=
      IronFolds(view, range.first, range.end - range.first, determinant.View().Planes(first, end - first), 0.05f);
    for (int c = 0; c < 3; ++c)
    {
      const auto at = std::size_t(c * Size.Voxels() + range.first * Size.x * Size.y);
      const auto count = std::size_t((range.end - range.first) * Size.x * Size.y);
      std::copy_n(own.begin() + std::ptrdiff_t(at), count, slabs.begin() + std::ptrdiff_t(at));
    }
  }
  EXPECT_EQ(changed, changedInSlabs);
  EXPECT_TRUE(SameBytes(whole, slabs));
}

TEST(FoldRepair, LeavesAGoodWarpAlone)
{
  std::vector<float> u(std::size_t(3 * Size.Voxels()), 0.25f);
  const auto         view = WarpView<float>::Planar(u.data(), Size);
  Volume<float>      determinant(Size);
  JacobianDeterminant(view, 0, Size.z, determinant.View());
  EXPECT_EQ(IronFolds(view, 0, Size.z, determinant.View(), 0.05f), 0);
  EXPECT_THROW(IronFolds(view, 0, Size.z + 1, determinant.View(), 0.05f), std::invalid_argument);
}
