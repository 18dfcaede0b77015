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
// Inner loops of ffdpImageGradient.cxx, compiled once per instruction set: see ffdpForEachInstructionSet.h.
namespace ffdp
{
namespace FFDP_ISA
{

FFDP_VOXEL_INLINE ImagePosition
PositionOf(const SamplerPositions & positions, int k)
{
  return { { positions.index[0][k], positions.index[1][k], positions.index[2][k] },
           { positions.fraction[0][k], positions.fraction[1][k], positions.fraction[2][k] } };
}

/** Differences of voxels [first, end) of a block, one voxel at a time: any image, any machine. Voxels without a weight
 * are left out. */
template <typename T, bool TAlongAxes>
FFDP_VOXEL_INLINE void
DifferenceVoxels(const GradientPlan &     plan,
                 const WholeImage<T> &    image,
                 const SamplerPositions & positions,
                 const float *            weights,
                 int                      first,
                 int                      end,
                 SamplerVectors &         difference)
{
  for (int k = first; k < end; ++k)
  {
    float d[3] = { 0.0f, 0.0f, 0.0f };
    if (weights[k] != 0.0f)
    {
      const ImagePosition p = PositionOf(positions, k);
      if (TAlongAxes)
      {
        ReadDifferencesAlongAxes(image, p, d);
      }
      else
      {
        for (int c = 0; c < plan.dimension; ++c)
        {
          d[c] = ReadDifference(image, p, plan.step[c], plan.back[c]);
        }
      }
    }
    for (int c = 0; c < 3; ++c)
    {
      difference.value[c][k] = d[c];
    }
  }
}

/** From differences to d = w M (differences), in place. */
FFDP_VOXEL_INLINE void
WeightDifferences(const float * M, const float * __restrict weights, int count, SamplerVectors & vectors)
{
  float * __restrict toX = vectors.value[0];
  float * __restrict toY = vectors.value[1];
  float * __restrict toZ = vectors.value[2];
  const float m0 = M[0], m1 = M[1], m2 = M[2], m3 = M[3], m4 = M[4], m5 = M[5], m6 = M[6], m7 = M[7], m8 = M[8];
  FFDP_SIMD
  for (int k = 0; k < count; ++k)
  {
    const float w = weights[k];
    const float x = toX[k], y = toY[k], z = toZ[k];
    const float dx = w * ((m0 * x + m1 * y) + m2 * z);
    const float dy = w * ((m3 * x + m4 * y) + m5 * z);
    const float dz = w * ((m6 * x + m7 * y) + m8 * z);
    toX[k] = w != 0.0f ? dx : 0.0f;
    toY[k] = w != 0.0f ? dy : 0.0f;
    toZ[k] = w != 0.0f ? dz : 0.0f;
  }
}

/** Whether a block has weights other than 0; not a number is one. */
FFDP_VOXEL_INLINE bool
HasWeights(const float * weights, int count)
{
  int any = 0;
  FFDP_SIMD
  for (int k = 0; k < count; ++k)
  {
    any |= int(weights[k] != 0.0f);
  }
  return any != 0;
}

/** One row of ImageGradient(); `moments` may be null. */
template <typename T, bool TAlongAxes>
void
ImageGradientRow(const GradientPlan &    plan,
                 const WholeImage<T> &   image,
                 const WarpRow &         u,
                 std::int64_t            width,
                 std::int64_t            y,
                 std::int64_t            z,
                 const float *           weights,
                 const WarpGradientRow & derivative,
                 double *                moments)
{
  SamplerVectors copy;
  SamplerVectors vectors;
  MapSumsOfRow   sums{};
  for (std::int64_t x = 0; x < width; x += SamplerBlock)
  {
    const int  count = int(width - x < SamplerBlock ? width - x : SamplerBlock);
    const bool any = HasWeights(weights + x, count);
    if (any)
    {
      SamplerPositions positions;
      LocateBlock(plan.sampler.map, StartBlock(plan.sampler, u, x, y, z, count, copy), count, positions);
      DifferenceVoxels<T, TAlongAxes>(plan, image, positions, weights + x, 0, count, vectors);
      WeightDifferences(plan.M, weights + x, count, vectors);
    }
    else
    {
      vectors = SamplerVectors{};
    }
    if (moments && any)
    {
      AddMapSums(vectors, count, x, sums);
    }
    if (derivative.stride > 0)
    {
      StoreVectors(vectors, count, x, derivative, false);
    }
  }
  if (moments)
  {
    AddRowToMapGradient(sums, y, z, moments);
  }
}

} // namespace FFDP_ISA
} // namespace ffdp
