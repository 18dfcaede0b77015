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
/** Adds samples to the joint histogram of one thread. Kernel file: see ffdpForEachInstructionSet.h.
 *
 * A thread first counts in 32-bit `narrow` windows; when a count reaches 2^31 its window is moved to the 64-bit `wide`
 * histogram. A sample adds less than 2^26 to a count, so nothing overflows unseen. Samples take turns among `copies`
 * sets of windows: neighbors often fall into the same bins, and would wait for each other's stores. */
namespace ffdp
{
namespace FFDP_ISA
{

/** Moves a window of counts. Not inlined: it is rare. */
#if defined(__GNUC__) || defined(__clang__)
__attribute__((noinline))
#endif
static void
MoveWindow(std::uint32_t * narrow, int narrowStride, std::int64_t * wide, int wideStride, int rows, int columns)
{
  for (int r = 0; r < rows; ++r)
  {
    for (int c = 0; c < columns; ++c)
    {
      wide[r * wideStride + c] += narrow[r * narrowStride + c];
      narrow[r * narrowStride + c] = 0;
    }
  }
}

/** The fixed-point value of a weight that was multiplied by 2^FractionBits. */
static inline std::uint32_t
ToFixedPoint(float scaledWeight)
{
  return std::uint32_t(std::int32_t(scaledWeight + 0.5f));
}

constexpr float FixedPointOne = float(1 << JointHistogram::FractionBits);

static inline void
MoveBSplineCell(const HistogramTask & task, std::uint32_t * cell, std::int32_t offset, const HistogramCounts & counts)
{
  const std::int32_t cells = task.setup.bins - 3;
  std::int64_t *     wide = counts.wide + std::int64_t(offset / cells) * task.wideStride + offset % cells;
  MoveWindow(cell, 4, wide, task.wideStride, 4, 4);
}

/** Adds `count` samples, whose weights the block still has to get. A pair of first bins owns 16 counts of its own,
 * one cache line, so that a store never overlaps a part of an earlier one. */
static inline void
ScatterBSpline(const HistogramTask & task, const HistogramCounts & counts, ParzenBlock & block, int count)
{
#if FFDP_ISA_AVX2
  PadParzenBlock(block, count);
  // Weights per sample: samples v and v + 4 of each eight side by side.
  alignas(32) float fixedWeights[ParzenBlock::Size * 4];
  alignas(32) float movingWeights[ParzenBlock::Size * 4];
  for (int i = 0; i < count; i += 8)
  {
    __m256 w[4];
    CubicBSplineWeights(_mm256_load_ps(block.first + i), w[0], w[1], w[2], w[3]);
    TransposeHalves(w[0], w[1], w[2], w[3]);
    __m256 v[4];
    CubicBSplineWeights(_mm256_load_ps(block.second + i), v[0], v[1], v[2], v[3]);
    TransposeHalves(v[0], v[1], v[2], v[3]);
    for (int k = 0; k < 4; ++k)
    {
      _mm256_store_ps(fixedWeights + 4 * i + 8 * k, w[k] * FixedPointOne);
      _mm256_store_ps(movingWeights + 4 * i + 8 * k, v[k]);
    }
  }
  const __m256i firstTwo = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
  const __m256i lastTwo = _mm256_setr_epi32(2, 2, 2, 2, 3, 3, 3, 3);
  const __m256  half = _mm256_set1_ps(0.5f);
  for (int i = 0; i < count; ++i)
  {
    const int       at = 4 * (i & ~7) + 8 * (i & 3) + (i & 4);
    std::uint32_t * cell = counts.narrow[i & 3] + 16 * std::int64_t(block.offset[i]);
    auto *          rows = reinterpret_cast<__m256i *>(cell);
    const __m256    fixedWeight = _mm256_broadcast_ps(reinterpret_cast<const __m128 *>(fixedWeights + at));
    const __m256    movingWeight = _mm256_broadcast_ps(reinterpret_cast<const __m128 *>(movingWeights + at));
    const __m256    top = _mm256_add_ps(_mm256_mul_ps(_mm256_permutevar_ps(fixedWeight, firstTwo), movingWeight), half);
    const __m256  bottom = _mm256_add_ps(_mm256_mul_ps(_mm256_permutevar_ps(fixedWeight, lastTwo), movingWeight), half);
    const __m256i topCounts = _mm256_add_epi32(_mm256_load_si256(rows), _mm256_cvttps_epi32(top));
    const __m256i bottomCounts = _mm256_add_epi32(_mm256_load_si256(rows + 1), _mm256_cvttps_epi32(bottom));
    _mm256_store_si256(rows, topCounts);
    _mm256_store_si256(rows + 1, bottomCounts);
    if (__builtin_expect(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_or_si256(topCounts, bottomCounts))), 0))
    {
      MoveBSplineCell(task, cell, block.offset[i], counts);
    }
  }
#else
  for (int i = 0; i < count; ++i)
  {
    float w[4];
    float v[4];
    CubicBSplineWeights(block.first[i], w[0], w[1], w[2], w[3]);
    CubicBSplineWeights(block.second[i], v[0], v[1], v[2], v[3]);
    std::uint32_t * cell = counts.narrow[i & 3] + 16 * std::int64_t(block.offset[i]);
    std::uint32_t   anyBits = 0;
    for (int a = 0; a < 4; ++a)
    {
      const float scaled = w[a] * FixedPointOne;
      for (int b = 0; b < 4; ++b)
      {
        cell[4 * a + b] += ToFixedPoint(scaled * v[b]);
        anyBits |= cell[4 * a + b];
      }
    }
    if (anyBits >> 31)
    {
      MoveBSplineCell(task, cell, block.offset[i], counts);
    }
  }
#endif
}

static inline void
ScatterGaussian(const HistogramTask & task, const HistogramCounts & counts, const ParzenBlock & block, int count)
{
  constexpr int          maxTaps = GaussianWindow::MaxTaps;
  const GaussianWindow & window = task.setup.window;
  const int              taps = window.taps;
  const int              paddedTaps = task.setup.PaddedTaps();
  const std::int32_t     stride = task.wideStride;
  alignas(32) float      w[maxTaps] = {};
  alignas(32) float      v[maxTaps] = {};
  for (int i = 0; i < count; ++i)
  {
    const std::int32_t fixedBase = block.offset[i] / stride;
    const std::int32_t movingBase = block.offset[i] - fixedBase * stride;
    GaussianWeights(window, fixedBase - taps / 2, block.first[i], w);
    GaussianWeights(window, movingBase - taps / 2, block.second[i], v);
    std::uint32_t * corner = counts.narrow[i & 3] + block.offset[i];
    std::uint32_t   anyBits = 0;
    for (int a = 0; a < taps; ++a)
    {
      const float     scaled = w[a] * FixedPointOne;
      std::uint32_t * row = corner + a * stride;
      for (int b = 0; b < paddedTaps; b += 8)
      {
        for (int k = b; k < b + 8; ++k)
        {
          row[k] += ToFixedPoint(scaled * v[k]);
          anyBits |= row[k];
        }
      }
    }
    if (anyBits >> 31)
    {
      MoveWindow(corner, stride, counts.wide + block.offset[i], stride, taps, paddedTaps);
    }
  }
}

/** BSpline and Gaussian: returns the number of samples. */
template <bool IsGaussian>
std::int64_t
AddSmoothSamples(const HistogramTask &   task,
                 const HistogramCounts & counts,
                 const float *           fixed,
                 const float *           moving,
                 const std::uint8_t *    mask,
                 std::int64_t            count)
{
  const ParzenSetup & setup = task.setup;
  const std::int32_t  stride = IsGaussian ? task.wideStride : setup.bins - 3;
  std::int64_t        samples = 0;
  for (std::int64_t begin = 0; begin < count; begin += ParzenBlock::Size)
  {
    ParzenBlock block;
    const int   size = count - begin < ParzenBlock::Size ? int(count - begin) : ParzenBlock::Size;
    const int   kept = PrepareParzenBlock<true, false>(
      setup.fixed, setup.moving, stride, 1, fixed + begin, moving + begin, mask ? mask + begin : nullptr, size, block);
    if (kept < size)
    {
      CompactParzenBlock(block, size);
    }
    if (IsGaussian)
    {
      ScatterGaussian(task, counts, block, kept);
    }
    else
    {
      ScatterBSpline(task, counts, block, kept);
    }
    samples += kept;
  }
  return samples;
}

/** Approximate: one count per sample. What is no sample is counted behind the bins, where nobody looks. */
static inline std::int64_t
AddHardSamples(const HistogramTask &   task,
               const HistogramCounts & counts,
               const float *           fixed,
               const float *           moving,
               const std::uint8_t *    mask,
               std::int64_t            count)
{
  const ParzenSetup & setup = task.setup;
  const std::int32_t  nowhere = setup.bins * setup.bins;
  std::int64_t        samples = 0;
  for (std::int64_t begin = 0; begin < count; begin += ParzenBlock::Size)
  {
    ParzenBlock block;
    const int   size = count - begin < ParzenBlock::Size ? int(count - begin) : ParzenBlock::Size;
    const int   kept = PrepareParzenBlock<false, false>(setup.fixed,
                                                      setup.moving,
                                                      setup.bins,
                                                      1,
                                                      fixed + begin,
                                                      moving + begin,
                                                      mask ? mask + begin : nullptr,
                                                      size,
                                                      block);
    if (kept < size)
    {
      for (int i = 0; i < size; ++i)
      {
        block.offset[i] = block.keep[i] ? block.offset[i] : nowhere;
      }
    }
    int i = 0;
    for (; i + 4 <= size; i += 4)
    {
      ++counts.narrow[0][block.offset[i]];
      ++counts.narrow[1][block.offset[i + 1]];
      ++counts.narrow[2][block.offset[i + 2]];
      ++counts.narrow[3][block.offset[i + 3]];
    }
    for (; i < size; ++i)
    {
      ++counts.narrow[0][block.offset[i]];
    }
    samples += kept;
  }
  return samples;
}

/** Mattes: a pair of fixed bin and first moving bin owns 4 counts. */
static inline std::int64_t
AddMattesSamples(const HistogramTask &   task,
                 const HistogramCounts & counts,
                 const float *           fixed,
                 const float *           moving,
                 const std::uint8_t *    mask,
                 std::int64_t            count)
{
  const std::int32_t bins = task.setup.bins;
  std::int64_t       samples = 0;
  for (std::int64_t begin = 0; begin < count; begin += ParzenBlock::Size)
  {
    ParzenBlock block;
    const int   size = count - begin < ParzenBlock::Size ? int(count - begin) : ParzenBlock::Size;
    const int   kept =
      PrepareMattesBlock(task.setup, fixed + begin, moving + begin, mask ? mask + begin : nullptr, size, block);
    if (kept < size)
    {
      CompactParzenBlock(block, size);
    }
    for (int i = 0; i < kept; ++i)
    {
      float w[4];
      CubicBSplineWeights(block.second[i], w[0], w[1], w[2], w[3]);
      std::uint32_t * cell = counts.narrow[i & 3] + 4 * std::int64_t(block.offset[i]);
      for (int b = 0; b < 4; ++b)
      {
        cell[b] += ToFixedPoint(w[b] * FixedPointOne);
      }
      if ((cell[0] | cell[1] | cell[2] | cell[3]) >> 31)
      {
        MoveWindow(cell, 4, counts.wide + block.offset[i], bins, 1, 4);
      }
    }
    samples += kept;
  }
  return samples;
}

} // namespace FFDP_ISA
} // namespace ffdp
