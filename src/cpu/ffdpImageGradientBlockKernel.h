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
// Differences and values of a block of voxels, for ffdpImageGradientKernel.h: one voxel at a time, and eight. See
// ffdpForEachInstructionSet.h.
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

/** Differences along the axes of one voxel of a block: any image, any machine. */
template <typename T>
FFDP_VOXEL_INLINE void
DifferenceVoxel(const WholeImage<T> & image, const SamplerPositions & positions, int k, SamplerVectors & difference)
{
  float d[3];
  ReadDifferencesAlongAxes(image, PositionOf(positions, k), d);
  for (int c = 0; c < 3; ++c)
  {
    difference.value[c][k] = d[c];
  }
}

/** Values of voxels [first, end) of a block, one voxel at a time. */
template <typename T>
FFDP_VOXEL_INLINE void
ReadVoxels(const WholeImage<T> & image, const SamplerPositions & positions, int first, int end, BlockValues<T> & to)
{
  for (int k = first; k < end; ++k)
  {
    const ImagePosition p = PositionOf(positions, k);
    const bool          inside = IsInsideImage(image, p);
    to.value[k] = inside ? ReadValue(image, p) : T(0);
    to.inside[k] = inside ? -1 : 0;
  }
}

#if FFDP_ISA_AVX2

/** Which of eight voxels have a weight, as bits; there is none beyond `count`. */
FFDP_VOXEL_INLINE int
FindWeights(const float * weights, int k, int count)
{
  const __m256i laneNumber = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i lanes = _mm256_cmpgt_epi32(_mm256_set1_epi32(count - k), laneNumber);
  const __m256  w = k + 8 <= count ? _mm256_loadu_ps(weights + k) : _mm256_maskload_ps(weights + k, lanes);
  return _mm256_movemask_ps(_mm256_cmp_ps(w, _mm256_setzero_ps(), _CMP_NEQ_UQ));
}

/** Four neighbors p[o] to p[o + 3] of eight offsets. */
FFDP_VOXEL_INLINE void
LoadFourNeighbors(const float * p, const std::int32_t * o, __m256 & before, __m256 & a, __m256 & b, __m256 & after)
{
  const __m256 row04 = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + o[0])), _mm_loadu_ps(p + o[4]), 1);
  const __m256 row15 = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + o[1])), _mm_loadu_ps(p + o[5]), 1);
  const __m256 row26 = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + o[2])), _mm_loadu_ps(p + o[6]), 1);
  const __m256 row37 = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + o[3])), _mm_loadu_ps(p + o[7]), 1);
  const __m256 low01 = _mm256_unpacklo_ps(row04, row15), high01 = _mm256_unpackhi_ps(row04, row15);
  const __m256 low23 = _mm256_unpacklo_ps(row26, row37), high23 = _mm256_unpackhi_ps(row26, row37);
  before = _mm256_shuffle_ps(low01, low23, 0x44);
  a = _mm256_shuffle_ps(low01, low23, 0xee);
  b = _mm256_shuffle_ps(high01, high23, 0x44);
  after = _mm256_shuffle_ps(high01, high23, 0xee);
}

/** Fractions of eight positions along one axis, and how a difference over one voxel is weighed there. */
struct LaneAxis
{
  __m256 fraction;
  __m256 side;  ///< fraction - 0.5
  __m256 inner; ///< 1 - |side|
};

FFDP_VOXEL_INLINE LaneAxis
LoadAxis(const float * fraction)
{
  const __m256 f = _mm256_load_ps(fraction);
  const __m256 side = _mm256_sub_ps(f, _mm256_set1_ps(0.5f));
  return { f, side, _mm256_sub_ps(_mm256_set1_ps(1.0f), _mm256_andnot_ps(_mm256_set1_ps(-0.0f), side)) };
}

/** DifferenceOverOneVoxel() for eight voxels. */
FFDP_VOXEL_INLINE __m256
DifferenceOfLanes(__m256 v0, __m256 v1, __m256 outer, const LaneAxis & axis)
{
  const __m256 nearer = _mm256_blendv_ps(v1, v0, axis.side); // by its sign
  return MultiplyAdd(_mm256_mul_ps(axis.inner, _mm256_sub_ps(v1, v0)), axis.side, _mm256_sub_ps(outer, nearer));
}

/** InterpolateBetween() for eight voxels. */
FFDP_VOXEL_INLINE __m256
BetweenLanes(__m256 v0, __m256 v1, __m256 fraction)
{
  return MultiplyAdd(v0, fraction, _mm256_sub_ps(v1, v0));
}

/** Values between neighbors p[o] and p[o + 1] of eight offsets. */
FFDP_VOXEL_INLINE __m256
LoadBetween(const float * p, const std::int32_t * o, __m256 fraction)
{
  __m256 a, b;
  LoadNeighbors(p, o, a, b);
  return BetweenLanes(a, b, fraction);
}

/** Cells of a block that have a neighbor on each side in the window. Others are moved to where they have. */
struct RoomyCells
{
  alignas(32) std::int32_t offset[SamplerBlock];  ///< of the cell
  alignas(32) std::int32_t besideY[SamplerBlock]; ///< of the row beside it that differences along y need
  alignas(32) std::int32_t besideZ[SamplerBlock]; ///< of the plane beside it that differences along z need
  int unmoved[SamplerBlock / 8];                  ///< as bits
};

/** Positions of a block and its cells; the window has four voxels along each axis. */
template <bool TPlain>
FFDP_VOXEL_INLINE void
LocateRoomyCells(const SamplerPlan & plan,
                 const BlockStart &  start,
                 const PlaneWindow & window,
                 int                 count,
                 SamplerPositions &  positions,
                 RoomyCells &        cells)
{
  const ImagePlanes & image = plan.image;
  const __m256i       laneNumber = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const std::int32_t  first[3] = { 1, 1, window.first + 1 };
  const std::int32_t  last[3] = { image.size[0] - 3, image.size[1] - 3, window.end - 3 };
  const auto          rowStride = std::int32_t(image.rowStride), planeStride = std::int32_t(image.planeStride);
  for (int k = 0; k < count; k += 8)
  {
    __m256        u[3];
    __m256i       at[3];
    const __m256i lanes = _mm256_cmpgt_epi32(_mm256_set1_epi32(count - k), laneNumber);
    for (int c = 0; c < 3; ++c)
    {
      u[c] = k + 8 <= count ? _mm256_loadu_ps(start.u[c] + k) : _mm256_maskload_ps(start.u[c] + k, lanes);
    }
    const LanePositions p = LocateLanes<TPlain>(plan.map, start, k, u[0], u[1], u[2]);
    __m256i             unmoved = _mm256_set1_epi32(-1);
    for (int c = 0; c < 3; ++c)
    {
      at[c] = ClampLanes(p.index[c], first[c], last[c]);
      unmoved = _mm256_and_si256(unmoved, _mm256_cmpeq_epi32(at[c], p.index[c]));
      _mm256_store_si256(reinterpret_cast<__m256i *>(positions.index[c] + k), p.index[c]);
      _mm256_store_ps(positions.fraction[c] + k, p.fraction[c]);
    }
    cells.unmoved[k / 8] = _mm256_movemask_ps(_mm256_castsi256_ps(unmoved));
    const __m256i offset = OffsetsOf(image, window, at[0], at[1], at[2]);
    const __m256  half = _mm256_set1_ps(0.5f);
    const __m256i belowY = _mm256_castps_si256(_mm256_cmp_ps(p.fraction[1], half, _CMP_LT_OQ));
    const __m256i belowZ = _mm256_castps_si256(_mm256_cmp_ps(p.fraction[2], half, _CMP_LT_OQ));
    const __m256i besideY = _mm256_blendv_epi8(_mm256_set1_epi32(2 * rowStride), _mm256_set1_epi32(-rowStride), belowY);
    const __m256i besideZ =
      _mm256_blendv_epi8(_mm256_set1_epi32(2 * planeStride), _mm256_set1_epi32(-planeStride), belowZ);
    _mm256_store_si256(reinterpret_cast<__m256i *>(cells.offset + k), offset);
    _mm256_store_si256(reinterpret_cast<__m256i *>(cells.besideY + k), _mm256_add_epi32(offset, besideY));
    _mm256_store_si256(reinterpret_cast<__m256i *>(cells.besideZ + k), _mm256_add_epi32(offset, besideZ));
  }
}

/** What one plane gives to the differences of eight voxels. */
struct PlaneOfLanes
{
  __m256 stepX;
  __m256 stepY;
  __m256 value;
};

FFDP_VOXEL_INLINE PlaneOfLanes
ReadPlaneOfLanes(const float *      plane,
                 std::int64_t       rowStride,
                 const RoomyCells & cells,
                 int                k,
                 const LaneAxis &   x,
                 const LaneAxis &   y)
{
  __m256 before, a, b, after;
  LoadFourNeighbors(plane - 1, cells.offset + k, before, a, b, after);
  const __m256 step0 = DifferenceOfLanes(a, b, _mm256_blendv_ps(after, before, x.side), x);
  const __m256 row0 = BetweenLanes(a, b, x.fraction);
  LoadFourNeighbors(plane + rowStride - 1, cells.offset + k, before, a, b, after);
  const __m256 step1 = DifferenceOfLanes(a, b, _mm256_blendv_ps(after, before, x.side), x);
  const __m256 row1 = BetweenLanes(a, b, x.fraction);
  const __m256 beside = LoadBetween(plane, cells.besideY + k, x.fraction);
  return { BetweenLanes(step0, step1, y.fraction),
           DifferenceOfLanes(row0, row1, beside, y),
           BetweenLanes(row0, row1, y.fraction) };
}

/** DifferencesAlongAxes() of voxels k to k + 7 of a block. */
FFDP_VOXEL_INLINE void
DifferenceLanes(const ImagePlanes &      image,
                const PlaneWindow &      window,
                const SamplerPositions & positions,
                const RoomyCells &       cells,
                int                      k,
                SamplerVectors &         difference)
{
  // Of all the rows that are read only this one is new to the cache, see LoadCorners().
  _mm_prefetch(
    reinterpret_cast<const char *>(window.data + 2 * image.planeStride + 5 * image.rowStride + cells.offset[k]),
    _MM_HINT_T0);
  const LaneAxis     x = LoadAxis(positions.fraction[0] + k);
  const LaneAxis     y = LoadAxis(positions.fraction[1] + k);
  const PlaneOfLanes lower = ReadPlaneOfLanes(window.data, image.rowStride, cells, k, x, y);
  const PlaneOfLanes upper = ReadPlaneOfLanes(window.data + image.planeStride, image.rowStride, cells, k, x, y);
  const __m256       beside0 = LoadBetween(window.data, cells.besideZ + k, x.fraction);
  const __m256       beside1 = LoadBetween(window.data + image.rowStride, cells.besideZ + k, x.fraction);
  const __m256       beside = BetweenLanes(beside0, beside1, y.fraction);
  const LaneAxis     z = LoadAxis(positions.fraction[2] + k);
  _mm256_store_ps(difference.value[0] + k, BetweenLanes(lower.stepX, upper.stepX, z.fraction));
  _mm256_store_ps(difference.value[1] + k, BetweenLanes(lower.stepY, upper.stepY, z.fraction));
  _mm256_store_ps(difference.value[2] + k, DifferenceOfLanes(lower.value, upper.value, beside, z));
}

/** Differences along the axes of a block of an image of floats: where a cell has room, eight voxels at a time. */
FFDP_VOXEL_INLINE void
DifferenceRoomyBlock(const SamplerPlan &       plan,
                     const WholeImage<float> & image,
                     const BlockStart &        start,
                     const PlaneWindow &       window,
                     const float *             weights,
                     int                       count,
                     SamplerVectors &          difference)
{
  SamplerPositions positions;
  RoomyCells       cells;
  if (plan.map.plain)
  {
    LocateRoomyCells<true>(plan, start, window, count, positions, cells);
  }
  else
  {
    LocateRoomyCells<false>(plan, start, window, count, positions, cells);
  }
  for (int k = 0; k < count; k += 8)
  {
    const int weighted = FindWeights(weights, k, count);
    if ((weighted & cells.unmoved[k / 8]) != 0)
    {
      DifferenceLanes(plan.image, window, positions, cells, k, difference);
    }
    else
    {
      for (int c = 0; c < 3; ++c)
      {
        _mm256_store_ps(difference.value[c] + k, _mm256_setzero_ps());
      }
    }
    for (int open = weighted & ~cells.unmoved[k / 8], lane = 0; open != 0; open >>= 1, ++lane)
    {
      if (open & 1)
      {
        DifferenceVoxel(image, positions, k + lane, difference);
      }
    }
  }
}

FFDP_VOXEL_INLINE void
LocateCellsOfBlock(const SamplerPlan & plan,
                   const BlockStart &  start,
                   const PlaneWindow & window,
                   int                 count,
                   SamplerPositions &  positions,
                   SamplerCells &      cells)
{
  if (plan.map.plain)
  {
    LocateCells<true>(plan, start, window, count, positions, cells);
  }
  else
  {
    LocateCells<false>(plan, start, window, count, positions, cells);
  }
}

/** InterpolateInCell() for eight cells. */
FFDP_VOXEL_INLINE __m256
InterpolateInCells(const CellCorners & corners, const SamplerPositions & positions, int k)
{
  const __m256 fx = _mm256_load_ps(positions.fraction[0] + k);
  const __m256 fy = _mm256_load_ps(positions.fraction[1] + k);
  const __m256 row0 = BetweenLanes(corners.a[0], corners.b[0], fx);
  const __m256 row1 = BetweenLanes(corners.a[1], corners.b[1], fx);
  const __m256 row2 = BetweenLanes(corners.a[2], corners.b[2], fx);
  const __m256 row3 = BetweenLanes(corners.a[3], corners.b[3], fx);
  return BetweenLanes(
    BetweenLanes(row0, row1, fy), BetweenLanes(row2, row3, fy), _mm256_load_ps(positions.fraction[2] + k));
}

/** Values of a block of an image of floats. */
FFDP_VOXEL_INLINE void
ReadBlock(const SamplerPlan &       plan,
          const WholeImage<float> & image,
          const BlockStart &        start,
          int                       count,
          BlockValues<float> &      to)
{
  SamplerPositions  positions;
  SamplerCells      cells;
  const PlaneWindow window = PlaceWindow(plan, start);
  LocateCellsOfBlock(plan, start, window, count, positions, cells);
  for (int k = 0; k < count; k += 8)
  {
    CellCorners corners;
    __m256      valid = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
    if (cells.inside[k / 8])
    {
      LoadCorners(plan.image, window, cells.offset + k, corners);
    }
    else if (window.complete)
    {
      valid = LoadBorderCorners<true>(plan.image, window, positions, k, corners);
    }
    else
    {
      ReadVoxels(image, positions, k, k + 8, to);
      continue;
    }
    _mm256_store_ps(to.value + k, InterpolateInCells(corners, positions, k));
    _mm256_store_si256(reinterpret_cast<__m256i *>(to.inside + k), _mm256_castps_si256(valid));
  }
}

/** InterpolateBetween() for four voxels. */
FFDP_VOXEL_INLINE __m256d
BetweenLanes(__m256d v0, __m256d v1, __m256d fraction)
{
  return _mm256_add_pd(v0, _mm256_mul_pd(fraction, _mm256_sub_pd(v1, v0)));
}

/** Values between neighbors p[o] and p[o + 1] of four offsets. */
FFDP_VOXEL_INLINE __m256d
LoadBetween(const double * p, const std::int32_t * o, __m256d fraction)
{
  const __m256d even = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p + o[0])), _mm_loadu_pd(p + o[2]), 1);
  const __m256d odd = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p + o[1])), _mm_loadu_pd(p + o[3]), 1);
  return BetweenLanes(_mm256_unpacklo_pd(even, odd), _mm256_unpackhi_pd(even, odd), fraction);
}

/** Values of a block of an image of doubles, all of which 32-bit offsets can reach. */
FFDP_VOXEL_INLINE void
ReadBlock(const SamplerPlan &        plan,
          const WholeImage<double> & image,
          const BlockStart &         start,
          int                        count,
          BlockValues<double> &      to)
{
  SamplerPositions  positions;
  SamplerCells      cells;
  const PlaneWindow window{ nullptr, 0, 0, image.size[2], false };
  LocateCellsOfBlock(plan, start, window, count, positions, cells);
  for (int k = 0; k < count; k += 4)
  {
    if (!cells.inside[k / 8])
    {
      ReadVoxels(image, positions, k, k + 4, to);
      continue;
    }
    const std::int32_t * o = cells.offset + k;
    const double *       upper = image.data + image.planeStride;
    const __m256d        fx = _mm256_cvtps_pd(_mm_load_ps(positions.fraction[0] + k));
    const __m256d        fy = _mm256_cvtps_pd(_mm_load_ps(positions.fraction[1] + k));
    const __m256d        fz = _mm256_cvtps_pd(_mm_load_ps(positions.fraction[2] + k));
    const __m256d        row0 = LoadBetween(image.data, o, fx);
    const __m256d        row1 = LoadBetween(image.data + image.rowStride, o, fx);
    const __m256d        row2 = LoadBetween(upper, o, fx);
    const __m256d        row3 = LoadBetween(upper + image.rowStride, o, fx);
    _mm256_store_pd(to.value + k, BetweenLanes(BetweenLanes(row0, row1, fy), BetweenLanes(row2, row3, fy), fz));
    _mm_store_si128(reinterpret_cast<__m128i *>(to.inside + k), _mm_set1_epi32(-1));
  }
}
#endif

} // namespace FFDP_ISA
} // namespace ffdp
