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
#ifndef ffdpCudaCorrelationColumns_h
#define ffdpCudaCorrelationColumns_h

#include "ffdpCudaCorrelationLaunch.h"

/** What a thread of ffdpCudaCorrelationMarch.cu has in its registers: the planes of a window at one column and row. */
namespace ffdp
{
namespace cuda
{

/** The last planes of one voxel of both images. */
template <int VRadius>
struct ImageColumn
{
  static constexpr int      Length = 2 * VRadius + 1;
  static constexpr unsigned All = (1u << Length) - 1;

  float    fixed[Length] = {};
  float    moving[Length] = {};
  unsigned present = 0; ///< bit k: plane k is in the volume, and inside the mask if windows are masked

  __device__ void
  Push(const CorrelationLaunch & launch, bool inside, int x, int y, std::int64_t z)
  {
#pragma unroll
    for (int k = 0; k + 1 < Length; ++k)
    {
      fixed[k] = fixed[k + 1];
      moving[k] = moving[k + 1];
    }
    present >>= 1;
    fixed[Length - 1] = moving[Length - 1] = 0.0f;
    if (inside && launch.ContainsPlane(z) && (!launch.maskedWindows || VoxelOf(launch.task.mask, x, y, z) != 0))
    {
      fixed[Length - 1] = VoxelOf(launch.task.fixed, x, y, z);
      moving[Length - 1] = VoxelOf(launch.task.moving, x, y, z);
      present |= 1u << (Length - 1);
    }
  }

  __device__ CorrelationSums<float>
             Sums(const CorrelationShift & shift) const
  {
    CorrelationSums<float> sums{ 0, 0, 0, 0, 0 };
    if (present == All)
    {
#pragma unroll
      for (int k = 0; k < Length; ++k)
      {
        this->Add(sums, shift.fixed - fixed[k], shift.moving - moving[k]);
      }
      return sums;
    }
#pragma unroll
    for (int k = 0; k < Length; ++k)
    {
      const bool there = (present >> k & 1u) != 0;
      this->Add(sums, there ? shift.fixed - fixed[k] : 0.0f, there ? shift.moving - moving[k] : 0.0f);
    }
    return sums;
  }

  /** How many planes are present: the weight of a box. */
  __device__ float
  Weight() const
  {
    int count = 0;
#pragma unroll
    for (int k = 0; k < Length; ++k)
    {
      count += int(present >> k & 1u);
    }
    return float(count);
  }

private:
  __device__ static void
  Add(CorrelationSums<float> & sums, float f, float m)
  {
    sums.f += f;
    sums.m += m;
    sums.ff += f * f;
    sums.mm += m * m;
    sums.fm += f * m;
  }
};

/** The last planes of one voxel of the fields that a gradient sums. */
template <int VRadius>
struct FieldColumn
{
  static constexpr int Length = 2 * VRadius + 1;
  static constexpr int Fields = 3;

  float value[Fields][Length] = {};

  __device__ void
  Push(const CorrelationLaunch & launch, int ownField, bool inside, int x, int y, std::int64_t z)
  {
    const bool there = inside && launch.ContainsPlane(z);
#pragma unroll
    for (int f = 0; f < Fields; ++f)
    {
#pragma unroll
      for (int k = 0; k + 1 < Length; ++k)
      {
        value[f][k] = value[f][k + 1];
      }
      value[f][Length - 1] = there ? launch.Field(f == 0 ? 0 : ownField + f - 1, x, y, z) : 0.0f;
    }
  }

  __device__ float
  Sum(int f) const
  {
    float sum = value[f][0];
#pragma unroll
    for (int k = 1; k < Length; ++k)
    {
      sum += value[f][k];
    }
    return sum;
  }
};

/** The sum over the 2 r + 1 lanes that start with this one; the last 2 r lanes get a number of no use. */
template <int VRadius>
__device__ float
SumOfNextLanes(float value)
{
  const auto  next = [](float v, unsigned lanes) { return __shfl_down_sync(0xffffffffu, v, lanes); };
  const float two = value + next(value, 1);
  if constexpr (VRadius == 1)
  {
    return two + next(value, 2);
  }
  const float four = two + next(two, 2);
  if constexpr (VRadius == 2)
  {
    return four + next(value, 4);
  }
  else if constexpr (VRadius == 3)
  {
    return (four + next(two, 4)) + next(value, 6);
  }
  else
  {
    const float eight = four + next(four, 4);
    return eight + next(value, 8);
  }
}

} // namespace cuda
} // namespace ffdp

#endif
