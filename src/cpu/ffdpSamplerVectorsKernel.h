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
// Writing a vector per voxel of a block, and summing up moments of it: what the kernels of the sampler's gradients and
// of the image gradient share. See ffdpForEachInstructionSet.h.
namespace ffdp
{
namespace FFDP_ISA
{

/** Writes or adds `count` values with a stride. */
template <typename T>
FFDP_VOXEL_INLINE void
StoreValues(const float * __restrict values, int count, T * __restrict to, std::int64_t stride, bool accumulate)
{
  if (stride == 1 && !accumulate)
  {
    for (int k = 0; k < count; ++k)
    {
      to[k] = T(values[k]);
    }
  }
  else if (accumulate)
  {
    for (int k = 0; k < count; ++k)
    {
      to[k * stride] += T(values[k]);
    }
  }
  else
  {
    for (int k = 0; k < count; ++k)
    {
      to[k * stride] = T(values[k]);
    }
  }
}

/** Writes vectors of three doubles side by side, in one pass. */
FFDP_VOXEL_INLINE void
StoreInterleaved(const SamplerVectors & vectors, int count, double * __restrict to)
{
  const float * __restrict x = vectors.value[0];
  const float * __restrict y = vectors.value[1];
  const float * __restrict z = vectors.value[2];
  for (int k = 0; k < count; ++k)
  {
    to[3 * k] = double(x[k]);
    to[3 * k + 1] = double(y[k]);
    to[3 * k + 2] = double(z[k]);
  }
}

FFDP_VOXEL_INLINE void
StoreVectors(const SamplerVectors & vectors, int count, std::int64_t x, const WarpGradientRow & to, bool accumulate)
{
  const double * const first = to.doubles[0];
  if (first && to.stride == 3 && to.doubles[1] == first + 1 && to.doubles[2] == first + 2 && !accumulate)
  {
    StoreInterleaved(vectors, count, to.doubles[0] + 3 * x);
    return;
  }
  for (int c = 0; c < 3; ++c)
  {
    if (to.floats[c])
    {
      StoreValues(vectors.value[c], count, to.floats[c] + x * to.stride, to.stride, accumulate);
    }
    else if (to.doubles[c])
    {
      StoreValues(vectors.value[c], count, to.doubles[c] + x * to.stride, to.stride, accumulate);
    }
  }
}

/** Sums over a row of g dI/dX_r and of g dI/dX_r x. Voxel x goes to lane x mod 16, whatever the vector width. */
struct MapSumsOfRow
{
  double plain[3][16];
  double timesX[3][16];
};

FFDP_VOXEL_INLINE void
AddMapSums(const SamplerVectors & product, int count, std::int64_t x, MapSumsOfRow & sums)
{
  for (int r = 0; r < 3; ++r)
  {
    const float * values = product.value[r];
    int           k = 0;
    for (; k + 16 <= count; k += 16)
    {
      FFDP_SIMD
      for (int lane = 0; lane < 16; ++lane)
      {
        const double value = values[k + lane];
        sums.plain[r][lane] += value;
        sums.timesX[r][lane] += value * double(std::int32_t(x) + k + lane);
      }
    }
    for (int lane = 0; k + lane < count; ++lane)
    {
      const double value = values[k + lane];
      sums.plain[r][lane] += value;
      sums.timesX[r][lane] += value * double(std::int32_t(x) + k + lane);
    }
  }
}

FFDP_VOXEL_INLINE double
AddLanes(const double * lane)
{
  double sum = 0;
  for (int k = 0; k < 16; ++k)
  {
    sum += lane[k];
  }
  return sum;
}

/** Adds the sums of row (y, z) to the twelve entries of a MapGradient. */
FFDP_VOXEL_INLINE void
AddRowToMapGradient(const MapSumsOfRow & sums, std::int64_t y, std::int64_t z, double * gradient)
{
  for (int r = 0; r < 3; ++r)
  {
    const double plain = AddLanes(sums.plain[r]);
    gradient[3 * r] += AddLanes(sums.timesX[r]);
    gradient[3 * r + 1] += plain * double(y);
    gradient[3 * r + 2] += plain * double(z);
    gradient[9 + r] += plain;
  }
}

} // namespace FFDP_ISA
} // namespace ffdp
