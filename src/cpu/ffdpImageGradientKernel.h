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

/** Differences over one voxel along the axes of a block; some number where a voxel has no weight. */
template <typename T>
FFDP_VOXEL_INLINE void
DifferenceAlongAxes(const SamplerPlan &   plan,
                    const WholeImage<T> & image,
                    const BlockStart &    start,
                    const float *         weights,
                    int                   count,
                    SamplerVectors &      difference)
{
#if FFDP_ISA_AVX2
  if constexpr (std::is_same<T, float>::value)
  {
    if (plan.planesInReach > 0)
    {
      const PlaneWindow window = PlaceWindow(plan, start);
      if (image.size[0] > 3 && image.size[1] > 3 && window.end - window.first > 3)
      {
        DifferenceRoomyBlock(plan, image, start, window, weights, count, difference);
        return;
      }
    }
  }
#endif
  SamplerPositions positions;
  LocateBlock(plan.map, start, count, positions);
  for (int k = 0; k < count; ++k)
  {
    if (weights[k] != 0.0f)
    {
      DifferenceVoxel(image, positions, k, difference);
    }
    else
    {
      difference.value[0][k] = difference.value[1][k] = difference.value[2][k] = 0.0f;
    }
  }
}

/** Values at the positions of a block moved by `step`. */
template <typename T>
FFDP_VOXEL_INLINE void
ReadMovedBlock(const SamplerPlan &   plan,
               const WholeImage<T> & image,
               const BlockStart &    start,
               const float *         step,
               int                   count,
               BlockValues<T> &      to)
{
  BlockStart moved = start;
  for (int c = 0; c < 3; ++c)
  {
    const AxisPosition p = LocateOnAxis(start.index[c], start.fraction[c] + step[c]);
    moved.index[c] = p.index;
    moved.fraction[c] = p.fraction;
  }
#if FFDP_ISA_AVX2
  if (plan.planesInReach >= (std::is_same<T, float>::value ? 1 : image.size[2]))
  {
    ReadBlock(plan, image, moved, count, to);
    return;
  }
#endif
  SamplerPositions positions;
  LocateBlock(plan.map, moved, count, positions);
  ReadVoxels(image, positions, 0, count, to);
}

/** I(X + h_c) - I(X - h_c) of a block for any steps h_c. */
template <typename T>
FFDP_VOXEL_INLINE void
DifferenceAlongSteps(const GradientPlan &  plan,
                     const WholeImage<T> & image,
                     const BlockStart &    start,
                     int                   count,
                     SamplerVectors &      difference)
{
  BlockValues<T> ahead, behind;
  for (int c = 0; c < 3; ++c)
  {
    float * __restrict to = difference.value[c];
    if (c < plan.dimension)
    {
      ReadMovedBlock(plan.sampler, image, start, plan.step[c], count, ahead);
      ReadMovedBlock(plan.sampler, image, start, plan.back[c], count, behind);
    }
    FFDP_SIMD
    for (int k = 0; k < count; ++k)
    {
      const bool bothInside = (ahead.inside[k] & behind.inside[k]) != 0;
      to[k] = c < plan.dimension && bothInside ? float(ahead.value[k] - behind.value[k]) : 0.0f;
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
  MapSumsOfRow   sums;
  if (moments)
  {
    sums = MapSumsOfRow{};
  }
  for (std::int64_t x = 0; x < width; x += SamplerBlock)
  {
    const int  count = int(width - x < SamplerBlock ? width - x : SamplerBlock);
    const bool any = HasWeights(weights + x, count);
    if (any)
    {
      const BlockStart start = StartBlock(plan.sampler, u, x, y, z, count, copy);
      if (TAlongAxes)
      {
        DifferenceAlongAxes(plan.sampler, image, start, weights + x, count, vectors);
      }
      else
      {
        DifferenceAlongSteps(plan, image, start, count, vectors);
      }
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
