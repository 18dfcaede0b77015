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
// Inner loops of ffdpSamplerBackward.cxx, compiled once per instruction set: see ffdpForEachInstructionSet.h.
namespace ffdp
{
namespace FFDP_ISA
{

/** Derivatives of a block, one voxel at a time: any image, any machine. */
template <bool TEdge>
FFDP_VOXEL_INLINE void
DifferentiateVoxels(const SamplerPlan &      plan,
                    const SamplerPositions & positions,
                    int                      first,
                    int                      end,
                    SamplerVectors &         derivative)
{
  for (int k = first; k < end; ++k)
  {
    const VoxelVector d = DifferentiateAt<TEdge>(plan.image, PositionAt(positions, k));
    derivative.value[0][k] = d.x;
    derivative.value[1][k] = d.y;
    derivative.value[2][k] = d.z;
  }
}

#if FFDP_ISA_AVX2
struct PlaneTermsOfLanes
{
  __m256 value;
  __m256 dx;
  __m256 dy;
};

/** InterpolateInPlane() for eight cells: rows `first` and first + 1 of their corners. */
FFDP_VOXEL_INLINE PlaneTermsOfLanes
InterpolateLanes(const CellCorners & c, int first, __m256 fx, __m256 fy)
{
  const __m256 step0 = _mm256_sub_ps(c.b[first], c.a[first]);
  const __m256 step1 = _mm256_sub_ps(c.b[first + 1], c.a[first + 1]);
  const __m256 row0 = MultiplyAdd(c.a[first], fx, step0);
  const __m256 row1 = MultiplyAdd(c.a[first + 1], fx, step1);
  const __m256 dy = _mm256_sub_ps(row1, row0);
  return { MultiplyAdd(row0, fy, dy), MultiplyAdd(step0, fy, _mm256_sub_ps(step1, step0)), dy };
}
#endif

/** dI/dX of a block. */
template <bool TEdge>
FFDP_VOXEL_INLINE void
DifferentiateBlock(const SamplerPlan & plan, const BlockStart & start, int count, SamplerVectors & derivative)
{
  SamplerPositions positions;
#if FFDP_ISA_AVX2
  if (plan.planesInReach > 0)
  {
    SamplerCells      cells;
    const PlaneWindow window = PlaceWindow(plan, start);
    if (plan.map.plain)
    {
      LocateCells<true>(plan, start, window, count, positions, cells);
    }
    else
    {
      LocateCells<false>(plan, start, window, count, positions, cells);
    }
    for (int k = 0; k < count; k += 8)
    {
      CellCorners corners;
      if (cells.inside[k / 8])
      {
        LoadCorners(plan.image, window, cells.offset + k, corners);
      }
      else if (cells.outside[k / 8])
      {
        for (int c = 0; c < 3; ++c)
        {
          _mm256_store_ps(derivative.value[c] + k, _mm256_setzero_ps());
        }
        continue;
      }
      else if (window.complete)
      {
        LoadBorderCorners<TEdge>(plan.image, window, positions, k, corners); // no corners, no derivative
      }
      else
      {
        DifferentiateVoxels<TEdge>(plan, positions, k, k + 8, derivative);
        continue;
      }
      const __m256            fx = _mm256_load_ps(positions.fraction[0] + k);
      const __m256            fy = _mm256_load_ps(positions.fraction[1] + k);
      const __m256            fz = _mm256_load_ps(positions.fraction[2] + k);
      const PlaneTermsOfLanes lower = InterpolateLanes(corners, 0, fx, fy);
      const PlaneTermsOfLanes upper = InterpolateLanes(corners, 2, fx, fy);
      const __m256            dz = _mm256_add_ps(_mm256_sub_ps(_mm256_setzero_ps(), lower.value), upper.value);
      _mm256_store_ps(derivative.value[0] + k, AddPlanesOfLanes(lower.dx, upper.dx, fz));
      _mm256_store_ps(derivative.value[1] + k, AddPlanesOfLanes(lower.dy, upper.dy, fz));
      _mm256_store_ps(derivative.value[2] + k, dz);
    }
    return;
  }
#endif
  LocateBlock(plan.map, start, count, positions);
  DifferentiateVoxels<TEdge>(plan, positions, 0, count, derivative);
}

/** From dI/dX to g dI/dX, in place. */
FFDP_VOXEL_INLINE void
MultiplyByGradient(const float * __restrict g, int count, SamplerVectors & vectors)
{
  float * __restrict dx = vectors.value[0];
  float * __restrict dy = vectors.value[1];
  float * __restrict dz = vectors.value[2];
  FFDP_SIMD
  for (int k = 0; k < count; ++k)
  {
    dx[k] *= g[k];
    dy[k] *= g[k];
    dz[k] *= g[k];
  }
}

/** From g dI/dX to S^T g dI/dX. */
FFDP_VOXEL_INLINE void
MultiplyByTransposedS(const float *          S,
                      int                    count,
                      const SamplerVectors & vectors,
                      float * __restrict toX,
                      float * __restrict toY,
                      float * __restrict toZ)
{
  const float * __restrict dx = vectors.value[0];
  const float * __restrict dy = vectors.value[1];
  const float * __restrict dz = vectors.value[2];
  const float s0 = S[0], s1 = S[1], s2 = S[2], s3 = S[3], s4 = S[4], s5 = S[5], s6 = S[6], s7 = S[7], s8 = S[8];
  FFDP_SIMD
  for (int k = 0; k < count; ++k)
  {
    const float x = dx[k], y = dy[k], z = dz[k];
    toX[k] = AddThreeProducts(s0, x, s3, y, s6, z);
    toY[k] = AddThreeProducts(s1, x, s4, y, s7, z);
    toZ[k] = AddThreeProducts(s2, x, s5, y, s8, z);
  }
}

/** Stores or adds S^T g dI/dX of a block that begins at x. */
FFDP_VOXEL_INLINE void
StoreWarpGradient(const float *           S,
                  int                     count,
                  std::int64_t            x,
                  const SamplerVectors &  vectors,
                  const WarpGradientRow & to,
                  bool                    accumulate)
{
  if (to.stride == 1 && to.floats[0] && to.floats[2] && !accumulate)
  {
    MultiplyByTransposedS(S, count, vectors, to.floats[0] + x, to.floats[1] + x, to.floats[2] + x);
    return;
  }
  SamplerVectors product;
  MultiplyByTransposedS(S, count, vectors, product.value[0], product.value[1], product.value[2]);
  StoreVectors(product, count, x, to, accumulate);
}

/** One row of SampleBackward(); `mapGradient` may be null. */
template <bool TEdge>
void
SampleBackwardRow(const SamplerPlan &     plan,
                  const WarpRow &         u,
                  std::int64_t            width,
                  std::int64_t            y,
                  std::int64_t            z,
                  const float *           g,
                  const WarpGradientRow & warpGradient,
                  double *                mapGradient)
{
  SamplerVectors copy;
  SamplerVectors vectors;
  MapSumsOfRow   sums{};
  for (std::int64_t x = 0; x < width; x += SamplerBlock)
  {
    const int count = int(width - x < SamplerBlock ? width - x : SamplerBlock);
    DifferentiateBlock<TEdge>(plan, StartBlock(plan, u, x, y, z, count, copy), count, vectors);
    MultiplyByGradient(g + x, count, vectors);
    if (mapGradient)
    {
      AddMapSums(vectors, count, x, sums);
    }
    if (warpGradient.stride > 0)
    {
      StoreWarpGradient(plan.map.S, count, x, vectors, warpGradient, plan.accumulate);
    }
  }
  if (mapGradient)
  {
    AddRowToMapGradient(sums, y, z, mapGradient);
  }
}

/** One row of SampleDerivative(). */
template <bool TEdge>
void
SampleDerivativeRow(const SamplerPlan &     plan,
                    const WarpRow &         u,
                    std::int64_t            width,
                    std::int64_t            y,
                    std::int64_t            z,
                    const WarpGradientRow & derivative)
{
  SamplerVectors copy;
  SamplerVectors vectors;
  for (std::int64_t x = 0; x < width; x += SamplerBlock)
  {
    const int count = int(width - x < SamplerBlock ? width - x : SamplerBlock);
    DifferentiateBlock<TEdge>(plan, StartBlock(plan, u, x, y, z, count, copy), count, vectors);
    StoreVectors(vectors, count, x, derivative, plan.accumulate);
  }
}

/** One row of FinishSampleBackward(). */
inline void
FinishBackwardRow(const float *           S,
                  std::int64_t            width,
                  std::int64_t            y,
                  std::int64_t            z,
                  const float *           g,
                  const WarpGradientRow & derivative,
                  double *                mapGradient)
{
  SamplerVectors vectors;
  MapSumsOfRow   sums{};
  for (std::int64_t x = 0; x < width; x += SamplerBlock)
  {
    const int count = int(width - x < SamplerBlock ? width - x : SamplerBlock);
    for (int c = 0; c < 3; ++c)
    {
      const float * from = derivative.floats[c] + x * derivative.stride;
      for (int k = 0; k < count; ++k)
      {
        vectors.value[c][k] = from[k * derivative.stride];
      }
    }
    MultiplyByGradient(g + x, count, vectors);
    if (mapGradient)
    {
      AddMapSums(vectors, count, x, sums);
    }
    StoreWarpGradient(S, count, x, vectors, derivative, false);
  }
  if (mapGradient)
  {
    AddRowToMapGradient(sums, y, z, mapGradient);
  }
}

} // namespace FFDP_ISA
} // namespace ffdp
