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
#ifndef ffdpCudaSamplerVectors_h
#define ffdpCudaSamplerVectors_h

#include "ffdpCudaLaunch.h"
#include "ffdpSamplerPlan.h"

#include <algorithm>
#include <cstdint>

/** Writing a vector per voxel: what the kernels of the sampler's gradients share. */
namespace ffdp
{
namespace cuda
{

struct Matrix3
{
  float entry[9];
};

inline Matrix3
SOf(const SamplerMap & map)
{
  Matrix3 S;
  std::copy_n(map.S, 9, S.entry);
  return S;
}

/** Writes or adds a vector in the layout that was asked for. */
template <typename T>
__device__ void
StoreComponents(const WarpView<T> & to,
                std::int64_t        x,
                std::int64_t        y,
                std::int64_t        z,
                const VoxelVector & v,
                bool                accumulate)
{
  const float value[3] = { v.x, v.y, v.z };
  for (int c = 0; c < 3; ++c)
  {
    if (T * const row = to.Row(c, y, z))
    {
      T * const voxel = row + x * to.elementStride;
      *voxel = accumulate ? *voxel + T(value[c]) : T(value[c]);
    }
  }
}

/** Stores or adds S^T v. */
__device__ inline void
StoreWarpGradient(const WarpOutput &  to,
                  const Matrix3 &     S,
                  std::int64_t        x,
                  std::int64_t        y,
                  std::int64_t        z,
                  const VoxelVector & v,
                  bool                accumulate)
{
  const float *     s = S.entry;
  const VoxelVector product{ AddThreeProducts(s[0], v.x, s[3], v.y, s[6], v.z),
                             AddThreeProducts(s[1], v.x, s[4], v.y, s[7], v.z),
                             AddThreeProducts(s[2], v.x, s[5], v.y, s[8], v.z) };
  if (to.floats)
  {
    StoreComponents(to.floats, x, y, z, product, accumulate);
  }
  else if (to.doubles)
  {
    StoreComponents(to.doubles, x, y, z, product, accumulate);
  }
}

__device__ inline VoxelVector
Multiply(const VoxelVector & v, float g)
{
  return { v.x * g, v.y * g, v.z * g };
}

} // namespace cuda
} // namespace ffdp

#endif
