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
#include "ffdpCudaJacobian.h"

#include "ffdpBackend.h"
#include "ffdpDeviceStaging.h"
#include "ffdpSchedules.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

using namespace ffdp;
using namespace ffdp::test;

namespace
{

/** All numbers as bytes: a zero keeps its sign. */
std::vector<double>
Numbers(const JacobianResult & result, const Volume<float> & determinant)
{
  std::vector<double> numbers(determinant.values.begin(), determinant.values.end());
  numbers.insert(numbers.end(), result.planeSums.begin(), result.planeSums.end());
  numbers.insert(numbers.end(), result.planeCounts.begin(), result.planeCounts.end());
  numbers.push_back(result.minimum);
  numbers.push_back(double(result.notPositive));
  return numbers;
}

std::vector<double>
OnDevice(const WarpView<const float> & warp,
         std::int64_t                  first,
         std::int64_t                  planes,
         const JacobianParameters &    parameters = {})
{
  Volume<float>  determinant(warp.domain, first, planes, 7.0f);
  JacobianResult result;
  {
    const StagedWarp<const float> stagedWarp(warp);
    const StagedVolume<float>     stagedDeterminant(determinant.View());
    result = cuda::JacobianDeterminant(TestDevice(), stagedWarp, first, planes, stagedDeterminant, {}, parameters);
  }
  return Numbers(result, determinant);
}

void
ExpectSameAsCpu(const WarpView<const float> & warp, std::int64_t first, std::int64_t planes)
{
  BlockMarks marks(warp.domain);
  for (std::size_t i = 0; i < marks.marks.size(); i += 2)
  {
    marks.marks[i] = 1;
  }
  JacobianParameters parameters;
  for (const BlockMarks * looked :
       { static_cast<const BlockMarks *>(nullptr), static_cast<const BlockMarks *>(&marks) })
    for (const auto differences : { JacobianDifferences::Central, JacobianDifferences::LeastOneSided })
    {
      parameters.differences = differences;
      parameters.marks = looked;
      Volume<float> determinant(warp.domain, first, planes, 7.0f);
      const auto result = MakeCpuBackend(2)->JacobianDeterminant(warp, first, planes, determinant.View(), parameters);
      EXPECT_TRUE(SameBytes(OnDevice(warp, first, planes, parameters), Numbers(result, determinant)))
        << warp.domain.x << "x" << warp.domain.y << "x" << warp.domain.z << " " << int(differences);
    }
}

} // namespace

TEST(CudaJacobian, SameBytesAsCpu)
{
  auto sizes = AwkwardSizes();
  sizes.push_back({ 16, 70, 2 }); // as wide as the lanes, several rows at once
  sizes.push_back({ 128, 34, 2 });
  sizes.push_back({ 1500, 3, 2 });
  for (const Extent & size : sizes)
  {
    auto warp = RandomWarp(size, 3, 0.6);
    ExpectSameAsCpu(warp.View(), 0, size.z);
    auto flat = warp.View();
    flat.component[2] = nullptr;
    ExpectSameAsCpu(flat, 0, size.z);
    warp.component[1].values.back() = NAN;
    ExpectSameAsCpu(warp.View(), 0, size.z);
  }
}

TEST(CudaJacobian, SameBytesAsCpuForSlabsAndZeros)
{
  const auto warp = RandomWarp({ 70, 37, 9 }, 4, 0.6);
  ExpectSameAsCpu(warp.Slab(2, 7).View(), 3, 3);
  ExpectSameAsCpu(warp.View(), 4, 0);
  auto gaps = warp.View();
  gaps.domain = { 61, 33, 9 };
  ExpectSameAsCpu(gaps, 0, 9);
  Warp<float> collapsed({ 20, 9, 3 }); // u = -x: determinants are zeros
  for (std::int64_t i = 0; i < 20 * 9 * 3; ++i)
  {
    collapsed.component[0].values[std::size_t(i)] = -float(i % 20);
    collapsed.component[1].values[std::size_t(i)] = (i % 2 ? 3.0f : -3.0f);
  }
  ExpectSameAsCpu(collapsed.View(), 0, 3);
}

TEST(CudaJacobian, DoesNotDependOnTheSchedule)
{
  for (const Extent & size : { Extent{ 150, 40, 3 }, Extent{ 20, 40, 3 } })
  {
    const auto warp = RandomWarp(size, 5, 0.6);
    ForEachSchedule([&] { return OnDevice(warp.View(), 0, 3); });
  }
}
