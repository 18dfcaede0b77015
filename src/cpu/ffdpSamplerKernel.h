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
// Inner loops of ffdpSampler.cxx, compiled once per instruction set: see ffdpForEachInstructionSet.h.
namespace ffdp
{
namespace FFDP_ISA
{

/** Values of a block, one voxel at a time: any image, any machine. */
template <bool TEdge>
FFDP_VOXEL_INLINE void
InterpolateVoxels(const SamplerPlan &      plan,
                  const SamplerPositions & positions,
                  int                      first,
                  int                      end,
                  float * __restrict values)
{
  for (int k = first; k < end; ++k)
  {
    values[k] = InterpolateAt<TEdge>(plan.image, PositionAt(positions, k), plan.outside);
  }
}

#if FFDP_ISA_AVX2
/** Bilinear value in the plane of rows `first` and first + 1 of the corners. */
FFDP_VOXEL_INLINE __m256
PlaneValues(const CellCorners & c, int first, __m256 fx, __m256 fy)
{
  const __m256 row0 = MultiplyAdd(c.a[first], fx, _mm256_sub_ps(c.b[first], c.a[first]));
  const __m256 row1 = MultiplyAdd(c.a[first + 1], fx, _mm256_sub_ps(c.b[first + 1], c.a[first + 1]));
  return MultiplyAdd(row0, fy, _mm256_sub_ps(row1, row0));
}
#endif

/** Values of a block by linear interpolation. */
template <bool TEdge>
FFDP_VOXEL_INLINE void
InterpolateBlock(const SamplerPlan & plan, const BlockStart & start, int count, float * __restrict values)
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
      __m256      valid = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
      if (cells.inside[k / 8])
      {
        LoadCorners(plan.image, window, cells.offset + k, corners);
      }
      else if (cells.outside[k / 8] && (!TEdge || plan.outside == 0))
      {
        _mm256_storeu_ps(values + k, _mm256_setzero_ps());
        continue;
      }
      else if (window.complete)
      {
        valid = LoadBorderCorners<TEdge>(plan.image, window, positions, k, corners);
      }
      else
      {
        InterpolateVoxels<TEdge>(plan, positions, k, k + 8, values);
        continue;
      }
      const __m256 fx = _mm256_load_ps(positions.fraction[0] + k);
      const __m256 fy = _mm256_load_ps(positions.fraction[1] + k);
      const __m256 fz = _mm256_load_ps(positions.fraction[2] + k);
      const __m256 value = AddPlanesOfLanes(PlaneValues(corners, 0, fx, fy), PlaneValues(corners, 2, fx, fy), fz);
      _mm256_storeu_ps(values + k, TEdge ? _mm256_blendv_ps(_mm256_set1_ps(plan.outside), value, valid) : value);
    }
    return;
  }
#endif
  LocateBlock(plan.map, start, count, positions);
  InterpolateVoxels<TEdge>(plan, positions, 0, count, values);
}

/** Values of a block by the nearest voxel. */
template <bool TEdge>
FFDP_VOXEL_INLINE void
PickNearest(const SamplerPlan & plan, const BlockStart & start, int count, float * __restrict values)
{
  SamplerPositions positions;
  LocateBlock(plan.map, start, count, positions);
  const ImagePlanes & image = plan.image;
  for (int c = 0; c < 3; ++c)
  {
    std::int32_t * __restrict index = positions.index[c];
    const float * __restrict fraction = positions.fraction[c];
    const std::int32_t size = image.size[c];
    FFDP_SIMD
    for (int k = 0; k < count; ++k)
    {
      index[k] = NearestVoxelOnAxis<TEdge>(index[k], fraction[k], size);
    }
  }
  for (int k = 0; k < count; ++k)
  {
    values[k] = ReadNearest(image, positions.index[0][k], positions.index[1][k], positions.index[2][k], plan.outside);
  }
}

/** One row of the output. */
template <bool TEdge, bool TNearest>
void
SampleRow(const SamplerPlan & plan, const WarpRow & u, std::int64_t width, std::int64_t y, std::int64_t z, float * out)
{
  SamplerVectors    copy;
  alignas(64) float values[SamplerBlock];
  for (std::int64_t x = 0; x < width; x += SamplerBlock)
  {
    const int        count = int(width - x < SamplerBlock ? width - x : SamplerBlock);
    const BlockStart start = StartBlock(plan, u, x, y, z, count, copy);
    // eight values at a time go straight to the output where they fit
    float * const to = plan.accumulate || count % 8 != 0 ? values : out + x;
    if (TNearest)
    {
      PickNearest<TEdge>(plan, start, count, to);
    }
    else
    {
      InterpolateBlock<TEdge>(plan, start, count, to);
    }
    for (int k = 0; plan.accumulate && k < count; ++k)
    {
      out[x + k] += values[k];
    }
    for (int k = 0; !plan.accumulate && to == values && k < count; ++k)
    {
      out[x + k] = values[k];
    }
  }
}

/** The lowest and highest plane that a row may reach with a weight, before the border rule. */
inline void
FindReachOfRow(const SamplerPlan & plan,
               const WarpRow &     u,
               std::int64_t        width,
               std::int64_t        y,
               std::int64_t        z,
               std::int32_t *      reach)
{
  SamplerVectors   copy;
  SamplerPositions positions;
  for (std::int64_t x = 0; x < width; x += SamplerBlock)
  {
    const int count = int(width - x < SamplerBlock ? width - x : SamplerBlock);
    LocateBlock(plan.map, StartBlock(plan, u, x, y, z, count, copy), count, positions);
    const std::int32_t * __restrict index = positions.index[2];
    std::int32_t lowest = reach[0];
    std::int32_t highest = reach[1];
    for (int k = 0; k < count; ++k)
    {
      // a cell below or above the whole image reaches nothing
      const bool         near = (index[k] >= -1) & (index[k] < plan.image.size[2]);
      const std::int32_t low = near ? index[k] : lowest;
      const std::int32_t high = near ? index[k] + 1 : highest;
      lowest = low < lowest ? low : lowest;
      highest = high > highest ? high : highest;
    }
    reach[0] = lowest;
    reach[1] = highest;
  }
}

} // namespace FFDP_ISA
} // namespace ffdp
