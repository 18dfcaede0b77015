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
// Compiled once per instruction set, see ffdpForEachInstructionSet.h.
namespace ffdp
{
namespace FFDP_ISA
{

/** Voxels that are located together before they are interpolated; a multiple of 16. */
constexpr int WarpBlock = 64;

/** Where the voxels of a block fall, and the weights of the rows of corners. */
struct WarpCells
{
  int   x[WarpBlock]; ///< lower corner in the padded plane
  int   y[WarpBlock];
  int   z[WarpBlock];         ///< lower plane in the window
  float weight[4][WarpBlock]; ///< of (y, z), (y + 1, z), (y, z + 1), (y + 1, z + 1)
  float upperX[WarpBlock];    ///< weight of x + 1
};

/** The largest value that is finite; order does not matter for a maximum. */
inline float
LargestFinite(const float * values, int count, float largest)
{
  constexpr int lanes = 16;
  float         lane[lanes];
  for (int k = 0; k < lanes; ++k)
  {
    lane[k] = largest;
  }
  for (int i = 0; i < count; i += lanes)
  {
    FFDP_SIMD
    for (int k = 0; k < lanes; ++k)
    {
      const float value = FiniteOrZero(values[i + k]);
      lane[k] = value > lane[k] ? value : lane[k];
    }
  }
  for (int k = 0; k < lanes; ++k)
  {
    largest = lane[k] > largest ? lane[k] : largest;
  }
  return largest;
}

/** Locate `count` voxels from (firstX, y), a multiple of 16: those beyond the row end up at its last voxel. Returns the
 * largest finite |step v_z| or `largest`. */
inline float
LocateBlock(const WarpPlane & plane,
            std::int64_t      firstX,
            std::int64_t      y,
            int               count,
            const float (*v)[WarpBlock],
            float       largest,
            WarpCells & cells)
{
  // In voxels, how far beyond the last voxel on either side a position is still distinguished.
  const int       margin = plane.edge ? 0 : 1;
  const int       ownY = int(y);
  const int       ownZ = int(plane.z);
  const AxisRange xs = RangeAround(int(firstX), int(plane.domain.x), margin);
  const AxisRange ys = RangeAround(ownY, int(plane.domain.y), margin);
  const AxisRange zs = RangeAround(ownZ, int(plane.domain.z), margin);
  const int       reach = int(plane.reach);
  const float     bound = plane.boundAlongZ;
  const float     step = plane.step;
  float           alongZ[WarpBlock];
  FFDP_SIMD
  for (int i = 0; i < count; ++i)
  {
    const AxisRange own{ xs.low - float(i), xs.high - float(i), xs.first - i, xs.last - i };
    const float     dz = step * v[2][i];
    const WarpCell  cell = LocateInWarp(step * v[0][i], step * v[1][i], dz, bound, own, ys, zs);
    alongZ[i] = MagnitudeOf(dz);
    cells.x[i] = int(firstX) + 1 + i + cell.x;
    cells.y[i] = ownY + 1 + cell.y;
    cells.z[i] = reach + cell.z;
    cells.weight[0][i] = cell.weight00;
    cells.weight[1][i] = cell.weight10;
    cells.weight[2][i] = cell.weight01;
    cells.weight[3][i] = cell.weight11;
    cells.upperX[i] = cell.upperX;
  }
  return LargestFinite(alongZ, count, largest);
}

/** One voxel: along y and z for both ends along x at once (they are neighbors in memory), then along x. */
#if FFDP_ISA_AVX2
inline __m128
InterpolateVoxel(const WarpPlane & plane, std::int64_t rowStride, const WarpCells & cells, int i)
{
  const std::int64_t offset = cells.y[i] * rowStride + std::int64_t(cells.x[i]) * WarpPlane::PackedFloats;
  const float *      lower = plane.packed[cells.z[i]] + offset;
  const float *      upper = plane.packed[cells.z[i] + 1] + offset;
  __m256             ends = _mm256_mul_ps(_mm256_loadu_ps(lower), _mm256_broadcast_ss(&cells.weight[0][i]));
  ends =
    _mm256_add_ps(ends, _mm256_mul_ps(_mm256_loadu_ps(lower + rowStride), _mm256_broadcast_ss(&cells.weight[1][i])));
  ends = _mm256_add_ps(ends, _mm256_mul_ps(_mm256_loadu_ps(upper), _mm256_broadcast_ss(&cells.weight[2][i])));
  ends =
    _mm256_add_ps(ends, _mm256_mul_ps(_mm256_loadu_ps(upper + rowStride), _mm256_broadcast_ss(&cells.weight[3][i])));
  const __m128 upperX = _mm_broadcast_ss(&cells.upperX[i]);
  const __m128 lowerX = _mm_sub_ps(_mm_set1_ps(1.0f), upperX);
  return _mm_add_ps(_mm_mul_ps(_mm256_castps256_ps128(ends), lowerX),
                    _mm_mul_ps(_mm256_extractf128_ps(ends, 1), upperX));
}

inline void
InterpolateBlock(const WarpPlane & plane, int count, const WarpCells & cells, float (*sample)[WarpBlock])
{
  const std::int64_t rowStride = plane.PackedRowStride();
  for (int i = 0; i < count; i += 4)
  {
    __m128 x = InterpolateVoxel(plane, rowStride, cells, i);
    __m128 y = InterpolateVoxel(plane, rowStride, cells, i + 1);
    __m128 z = InterpolateVoxel(plane, rowStride, cells, i + 2);
    __m128 unused = InterpolateVoxel(plane, rowStride, cells, i + 3);
    _MM_TRANSPOSE4_PS(x, y, z, unused); // four voxels become three components
    _mm_storeu_ps(sample[0] + i, x);
    _mm_storeu_ps(sample[1] + i, y);
    _mm_storeu_ps(sample[2] + i, z);
  }
}
#else
inline void
InterpolateBlock(const WarpPlane & plane, int count, const WarpCells & cells, float (*sample)[WarpBlock])
{
  const std::int64_t rowStride = plane.PackedRowStride();
  for (int i = 0; i < count; ++i)
  {
    const std::int64_t offset = cells.y[i] * rowStride + std::int64_t(cells.x[i]) * WarpPlane::PackedFloats;
    const float *      lower = plane.packed[cells.z[i]] + offset;
    const float *      upper = plane.packed[cells.z[i] + 1] + offset;
    WarpCell           cell{};
    cell.weight00 = cells.weight[0][i];
    cell.weight10 = cells.weight[1][i];
    cell.weight01 = cells.weight[2][i];
    cell.weight11 = cells.weight[3][i];
    cell.upperX = cells.upperX[i];
    float ends[8];
    FFDP_SIMD
    for (int k = 0; k < 8; ++k)
    {
      ends[k] = WeighRows(cell, lower[k], lower[rowStride + k], upper[k], upper[rowStride + k]);
    }
    for (int c = 0; c < 3; ++c)
    {
      sample[c][i] = WeighEnds(cell, ends[c], ends[4 + c]);
    }
  }
}
#endif

/** Some voxels of a row, and what u is where they are displaced to. */
struct WarpBlockSamples
{
  float v[3][WarpBlock];
  float sample[3][WarpBlock];
};

/** `count` voxels from (firstX, y). */
inline void
SampleBlock(const WarpPlane &  plane,
            std::int64_t       firstX,
            std::int64_t       y,
            int                count,
            WarpRowsResult &   result,
            WarpBlockSamples & block)
{
  const int filled = (count + 15) / 16 * 16; // beyond the row stand voxels that do not move
  for (int c = 0; c < 3; ++c)
  {
    const float * row = plane.v[c] + y * plane.vRowStride + firstX;
    FFDP_SIMD
    for (int i = 0; i < count; ++i)
    {
      block.v[c][i] = row[i];
    }
    for (int i = count; i < filled; ++i)
    {
      block.v[c][i] = 0;
    }
  }
  WarpCells cells;
  result.largestAlongZ = LocateBlock(plane, firstX, y, filled, block.v, result.largestAlongZ, cells);
  InterpolateBlock(plane, filled, cells, block.sample);
}

/** Rows [firstRow, endRow) of a plane of a WarpSweep. */
template <bool TResidual>
inline void
WarpRows(const WarpPlane & plane, WarpRowsResult & result)
{
  const float      keep = plane.keep;
  const float      gain = plane.gain;
  WarpBlockSamples block;
  const auto &     v = block.v;
  const auto &     sample = block.sample;
  for (std::int64_t y = plane.firstRow; y < plane.endRow; ++y)
  {
    for (std::int64_t firstX = 0; firstX < plane.domain.x; firstX += WarpBlock)
    {
      const int count = plane.domain.x - firstX < WarpBlock ? int(plane.domain.x - firstX) : WarpBlock;
      SampleBlock(plane, firstX, y, count, result, block);
      for (int c = 0; c < 3; ++c)
      {
        float * __restrict out = plane.output[c] + y * plane.outputRowStride + firstX;
        FFDP_SIMD
        for (int i = 0; i < count; ++i)
        {
          out[i] = keep * v[c][i] + gain * sample[c][i];
        }
      }
      if (TResidual)
      {
        float residual[WarpBlock] = {};
        FFDP_SIMD
        for (int i = 0; i < count; ++i)
        {
          residual[i] = SquaredResidual(v[0][i], v[1][i], v[2][i], sample[0][i], sample[1][i], sample[2][i]);
        }
        result.residual = LargestFinite(residual, WarpBlock, result.residual);
      }
    }
  }
}

/** The same for the error map of a WarpSweep. */
inline void
ErrorRows(const WarpPlane & plane, WarpRowsResult & result)
{
  const AxisRange zs = RangeInside(int(plane.z), int(plane.domain.z), plane.margin);
  const float     step = plane.step;
  const Extent    blocks{ (plane.domain.x + BlockMarks::Width - 1) / BlockMarks::Width, 1, 1 };
  static_assert(WarpBlock == BlockMarks::Width, "a block of a row is marked or not");
  WarpBlockSamples block;
  const auto &     v = block.v;
  const auto &     sample = block.sample;
  for (std::int64_t y = plane.firstRow; y < plane.endRow; ++y)
  {
    const AxisRange ys = RangeInside(int(y), int(plane.domain.y), plane.margin);
    for (std::int64_t firstX = 0; firstX < plane.domain.x; firstX += WarpBlock)
    {
      const int count = plane.domain.x - firstX < WarpBlock ? int(plane.domain.x - firstX) : WarpBlock;
      float * __restrict out = plane.error + y * plane.errorRowStride + firstX;
      if (plane.marks && plane.marks[BlockOfVoxel(firstX, y, 0, blocks)] == 0) // those of this plane
      {
        for (int i = 0; i < count; ++i)
        {
          out[i] = 0.0f;
        }
        continue;
      }
      SampleBlock(plane, firstX, y, count, result, block);
      const AxisRange xs = RangeInside(int(firstX), int(plane.domain.x), plane.margin);
      float           squared[WarpBlock] = {};
      FFDP_SIMD
      for (int i = 0; i < count; ++i)
      {
        const AxisRange own{ xs.low - float(i), xs.high - float(i), 0, 0 };
        const bool      counts =
          StaysInside(step * v[0][i], own) & StaysInside(step * v[1][i], ys) & StaysInside(step * v[2][i], zs);
        const float residual =
          FiniteOrZero(SquaredResidual(v[0][i], v[1][i], v[2][i], sample[0][i], sample[1][i], sample[2][i]));
        squared[i] = counts ? residual : 0.0f;
      }
      result.residual = LargestFinite(squared, WarpBlock, result.residual);
      FFDP_SIMD
      for (int i = 0; i < count; ++i)
      {
        out[i] = -std::sqrt(squared[i]);
      }
    }
  }
}

/** Old plane of u into its packed form; `out` has (width + 2) (height + 2) voxels. */
inline void
PackWarpPlane(const float * const * components,
              std::int64_t          rowStride,
              std::int64_t          width,
              std::int64_t          height,
              float *               out)
{
  const std::int64_t packedRow = WarpPlane::PackedFloats * (width + 2);
  for (std::int64_t i = 0; i < packedRow; ++i)
  {
    out[i] = 0;
    out[(height + 1) * packedRow + i] = 0;
  }
  for (std::int64_t y = 0; y < height; ++y)
  {
    const float * __restrict x = components[0] + y * rowStride;
    const float * __restrict yy = components[1] + y * rowStride;
    const float * __restrict z = components[2] + y * rowStride;
    float * __restrict row = out + (y + 1) * packedRow;
    for (int k = 0; k < WarpPlane::PackedFloats; ++k)
    {
      row[k] = 0;
      row[packedRow - 1 - k] = 0;
    }
    row += WarpPlane::PackedFloats;
    std::int64_t i = 0;
#if FFDP_ISA_AVX2
    for (; i + 4 <= width; i += 4)
    {
      __m128 voxel0 = _mm_loadu_ps(x + i);
      __m128 voxel1 = _mm_loadu_ps(yy + i);
      __m128 voxel2 = _mm_loadu_ps(z + i);
      __m128 voxel3 = _mm_setzero_ps();
      _MM_TRANSPOSE4_PS(voxel0, voxel1, voxel2, voxel3); // three components and zeros become four voxels
      _mm_storeu_ps(row + 4 * i, voxel0);
      _mm_storeu_ps(row + 4 * i + 4, voxel1);
      _mm_storeu_ps(row + 4 * i + 8, voxel2);
      _mm_storeu_ps(row + 4 * i + 12, voxel3);
    }
#endif
    for (; i < width; ++i)
    {
      row[4 * i] = x[i];
      row[4 * i + 1] = yy[i];
      row[4 * i + 2] = z[i];
      row[4 * i + 3] = 0;
    }
  }
}

/** The largest finite magnitude of a row of one component. */
inline float
ReachOfComponent(const float * row, std::int64_t width, float largest)
{
  for (std::int64_t first = 0; first < width; first += WarpBlock)
  {
    const int count = width - first < WarpBlock ? int(width - first) : WarpBlock;
    float     magnitude[WarpBlock] = {};
    FFDP_SIMD
    for (int i = 0; i < count; ++i)
    {
      magnitude[i] = MagnitudeOf(row[first + i]);
    }
    largest = LargestFinite(magnitude, (count + 15) / 16 * 16, largest);
  }
  return largest;
}

} // namespace FFDP_ISA
} // namespace ffdp
