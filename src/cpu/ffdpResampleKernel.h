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
// Cells inside the image, from float to float: the inner loop of ffdpResample.cxx, compiled once per instruction set.
// See ffdpForEachInstructionSet.h.
namespace ffdp
{
namespace FFDP_ISA
{

/** Voxels of the block that starts at column x. Returns how many were not done; done[k] tells which were. */
inline int
ResampleFloatBlock(const FloatPlan & plan,
                   const WarpRow &   u,
                   std::int64_t      x,
                   std::int64_t      y,
                   std::int64_t      z,
                   int               count,
                   float *           values,
                   bool *            done)
{
  SamplerVectors   copy;
  SamplerPositions positions;
  BlockStart       start = StartBlock(plan.sampler, u, x, y, z, count, copy);
  for (int c = 0; c < 3; ++c)
  {
    start.index[c] -= plan.box.first[c]; // whole voxels: the fraction does not depend on the box of the image
  }
  int left = 0;
#if FFDP_ISA_AVX2
  if (plan.sampler.planesInReach > 0)
  {
    SamplerCells      cells;
    const PlaneWindow window = PlaceWindow(plan.sampler, start);
    if (plan.sampler.map.plain)
    {
      LocateCells<true>(plan.sampler, start, window, count, positions, cells);
    }
    else
    {
      LocateCells<false>(plan.sampler, start, window, count, positions, cells);
    }
    for (int k = 0; k < count; k += 8)
    {
      const int end = count - k < 8 ? count : k + 8;
      if (!cells.inside[k / 8])
      {
        for (int i = k; i < end; ++i)
        {
          done[i] = ResampleInFloat(plan.sampler.image, plan.box, PositionAt(positions, i), values + i);
          left += !done[i];
        }
        continue;
      }
      CellCorners corners;
      LoadCorners(plan.sampler.image, window, cells.offset + k, corners);
      const __m256 fx = _mm256_load_ps(positions.fraction[0] + k);
      const __m256 fy = _mm256_load_ps(positions.fraction[1] + k);
      const __m256 fz = _mm256_load_ps(positions.fraction[2] + k);
      __m256       plane[2];
      for (int side = 0; side < 2; ++side)
      {
        const __m256 * a = corners.a + 2 * side;
        const __m256 * b = corners.b + 2 * side;
        const __m256   row0 = MultiplyAdd(a[0], fx, _mm256_sub_ps(b[0], a[0]));
        const __m256   row1 = MultiplyAdd(a[1], fx, _mm256_sub_ps(b[1], a[1]));
        plane[side] = MultiplyAdd(row0, fy, _mm256_sub_ps(row1, row0));
      }
      const __m256 value = MultiplyAdd(plane[0], fz, _mm256_sub_ps(plane[1], plane[0]));
      const __m256 finite = _mm256_cmp_ps(_mm256_sub_ps(value, value), _mm256_setzero_ps(), _CMP_EQ_OQ);
      const int    mask = _mm256_movemask_ps(finite);
      _mm256_store_ps(values + k, value);
      if (mask == 0xff)
      {
        for (int i = 0; i < 8; ++i) // beyond the end of a row, too: done has room for it
        {
          done[k + i] = true;
        }
        continue;
      }
      for (int i = k; i < end; ++i)
      {
        done[i] = (mask >> (i - k)) & 1;
        left += !done[i];
      }
    }
    return left;
  }
#endif
  LocateBlock(plan.sampler.map, start, count, positions);
  for (int k = 0; k < count; ++k)
  {
    done[k] = ResampleInFloat(plan.sampler.image, plan.box, PositionAt(positions, k), values + k);
    left += !done[k];
  }
  return left;
}

} // namespace FFDP_ISA
} // namespace ffdp
