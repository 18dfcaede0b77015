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

constexpr float FixedPointOne = float(1 << JointHistogram::FractionBits);

/** Adds eight weights, the product of a scaled one with each of eight; returns nonzero if a count has reached 2^31. */
static inline std::uint32_t
AddRow(std::uint32_t * row, float scaledWeight, const float * weights)
{
#if FFDP_ISA_AVX2
  const __m256  products = _mm256_mul_ps(_mm256_set1_ps(scaledWeight), _mm256_load_ps(weights));
  const __m256i added = _mm256_cvttps_epi32(_mm256_add_ps(products, _mm256_set1_ps(0.5f)));
  const __m256i sum = _mm256_add_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(row)), added);
  _mm256_storeu_si256(reinterpret_cast<__m256i *>(row), sum);
  return std::uint32_t(_mm256_movemask_ps(_mm256_castsi256_ps(sum)));
#else
  std::uint32_t anyBits = 0;
  for (int k = 0; k < 8; ++k)
  {
    row[k] += ToFixedPoint(scaledWeight * weights[k]);
    anyBits |= row[k];
  }
  return anyBits >> 31;
#endif
}

/** The 16 counts of a pair of first bins begin at `offset`. */
static inline void
MoveBSplineCell(const HistogramTask & task, std::uint32_t * cell, std::uint32_t offset, const HistogramCounts & counts)
{
  const std::uint32_t cells = std::uint32_t(task.setup.bins) - 3;
  const std::int64_t  first = offset / 16 / cells * std::int64_t(task.wideStride) + offset / 16 % cells;
  MoveWindow(cell, 4, counts.wide + first, task.wideStride, 4, 4);
}

#if FFDP_ISA_AVX2
/** Cubic weights of eight samples times `scale`, sample by sample: v and v + 4 side by side. SampleAt() says where. */
static inline void
StoreSampleWeights(const float * fractions, float scale, float * weights)
{
  __m256 w[4];
  CubicBSplineWeights(_mm256_load_ps(fractions), w[0], w[1], w[2], w[3]);
  TransposeHalves(w[0], w[1], w[2], w[3]);
  for (int k = 0; k < 4; ++k)
  {
    _mm256_store_ps(weights + 8 * k, w[k] * scale);
  }
}

/** Where StoreSampleWeights() put the four weights of sample k of the block. */
static inline int
SampleAt(int k)
{
  return 4 * (k & ~7) + 8 * (k & 3) + (k & 4);
}

/** Adds the products of four scaled fixed and four moving weights; returns nonzero if a count has reached 2^31. */
static inline int
AddToCell(std::uint32_t * cell, const float * fixedWeights, const float * movingWeights)
{
  const __m256i firstTwo = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
  const __m256i lastTwo = _mm256_setr_epi32(2, 2, 2, 2, 3, 3, 3, 3);
  const __m256  half = _mm256_set1_ps(0.5f);
  auto *        rows = reinterpret_cast<__m256i *>(cell);
  const __m256  f = _mm256_broadcast_ps(reinterpret_cast<const __m128 *>(fixedWeights));
  const __m256  m = _mm256_broadcast_ps(reinterpret_cast<const __m128 *>(movingWeights));
  const __m256  top = _mm256_add_ps(_mm256_mul_ps(_mm256_permutevar_ps(f, firstTwo), m), half);
  const __m256  bottom = _mm256_add_ps(_mm256_mul_ps(_mm256_permutevar_ps(f, lastTwo), m), half);
  const __m256i topCounts = _mm256_add_epi32(_mm256_load_si256(rows), _mm256_cvttps_epi32(top));
  const __m256i bottomCounts = _mm256_add_epi32(_mm256_load_si256(rows + 1), _mm256_cvttps_epi32(bottom));
  _mm256_store_si256(rows, topCounts);
  _mm256_store_si256(rows + 1, bottomCounts);
  return _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_or_si256(topCounts, bottomCounts)));
}

/** Adds sample k of eight, whose weights begin at the pointers. */
FFDP_VOXEL_INLINE void
AddSample(const HistogramTask &   task,
          const HistogramCounts & counts,
          std::int32_t            signedOffset,
          int                     k,
          const float *           fixedWeights,
          const float *           movingWeights)
{
  const auto      offset = std::uint32_t(signedOffset);
  std::uint32_t * cell = counts.narrow[k & 3] + offset;
  if (__builtin_expect(AddToCell(cell, fixedWeights + SampleAt(k), movingWeights + SampleAt(k)), 0))
  {
    MoveBSplineCell(task, cell, offset, counts);
  }
}

/** Adds `count` samples. A pair of first bins owns 16 counts, one cache line, so that a store never overlaps a part of
 * an earlier one. */
static inline void
ScatterBSpline(const HistogramTask & task, const HistogramCounts & counts, ParzenBlock & block, int count)
{
  alignas(32) float fixedWeights[ParzenBlock::Size * 4];
  alignas(32) float movingWeights[ParzenBlock::Size * 4];
  PadParzenBlock(block, count, 8);
  for (int i = 0; i < count; i += 8)
  {
    StoreSampleWeights(block.first + i, FixedPointOne, fixedWeights + 4 * i);
    StoreSampleWeights(block.second + i, 1.0f, movingWeights + 4 * i);
  }
  int i = 0;
  for (; i + 8 <= count; i += 8)
  {
    AddSample(task, counts, block.offset[i], 0, fixedWeights + 4 * i, movingWeights + 4 * i);
    AddSample(task, counts, block.offset[i + 1], 1, fixedWeights + 4 * i, movingWeights + 4 * i);
    AddSample(task, counts, block.offset[i + 2], 2, fixedWeights + 4 * i, movingWeights + 4 * i);
    AddSample(task, counts, block.offset[i + 3], 3, fixedWeights + 4 * i, movingWeights + 4 * i);
    AddSample(task, counts, block.offset[i + 4], 4, fixedWeights + 4 * i, movingWeights + 4 * i);
    AddSample(task, counts, block.offset[i + 5], 5, fixedWeights + 4 * i, movingWeights + 4 * i);
    AddSample(task, counts, block.offset[i + 6], 6, fixedWeights + 4 * i, movingWeights + 4 * i);
    AddSample(task, counts, block.offset[i + 7], 7, fixedWeights + 4 * i, movingWeights + 4 * i);
  }
  for (int k = 0; i + k < count; ++k)
  {
    AddSample(task, counts, block.offset[i + k], k, fixedWeights + 4 * i, movingWeights + 4 * i);
  }
}

/** The same for Mattes, whose pair of fixed bin and first moving bin owns 4 counts. */
static inline void
ScatterMattes(const HistogramTask & task, const HistogramCounts & counts, ParzenBlock & block, int count)
{
  alignas(32) float weights[ParzenBlock::Size * 4];
  PadParzenBlock(block, count, 8);
  for (int i = 0; i < count; i += 8)
  {
    StoreSampleWeights(block.second + i, FixedPointOne, weights + 4 * i);
  }
  const __m128 half = _mm_set1_ps(0.5f);
  for (int i = 0; i < count; ++i)
  {
    const auto      offset = std::uint32_t(block.offset[i]);
    std::uint32_t * cell = counts.narrow[i & 3] + 4 * std::size_t(offset);
    auto *          row = reinterpret_cast<__m128i *>(cell);
    const __m128i   added = _mm_cvttps_epi32(_mm_add_ps(_mm_load_ps(weights + SampleAt(i)), half));
    const __m128i   sum = _mm_add_epi32(_mm_load_si128(row), added);
    _mm_store_si128(row, sum);
    if (__builtin_expect(_mm_movemask_ps(_mm_castsi128_ps(sum)), 0))
    {
      MoveWindow(cell, 4, counts.wide + offset, task.wideStride, 1, 4);
    }
  }
}

#else

static inline void
ScatterBSpline(const HistogramTask & task, const HistogramCounts & counts, ParzenBlock & block, int count)
{
  for (int i = 0; i < count; ++i)
  {
    float w[4];
    float v[4];
    CubicBSplineWeights(block.first[i], w[0], w[1], w[2], w[3]);
    CubicBSplineWeights(block.second[i], v[0], v[1], v[2], v[3]);
    const auto offset = std::uint32_t(block.offset[i]);
    std::uint32_t * cell = counts.narrow[i & 3] + offset;
    std::uint32_t anyBits = 0;
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
      MoveBSplineCell(task, cell, offset, counts);
    }
  }
}

static inline void
ScatterMattes(const HistogramTask & task, const HistogramCounts & counts, ParzenBlock & block, int count)
{
  for (int i = 0; i < count; ++i)
  {
    float w[4];
    CubicBSplineWeights(block.second[i], w[0], w[1], w[2], w[3]);
    std::uint32_t * cell = counts.narrow[i & 3] + 4 * std::size_t(block.offset[i]);
    for (int b = 0; b < 4; ++b)
    {
      cell[b] += ToFixedPoint(w[b] * FixedPointOne);
    }
    if ((cell[0] | cell[1] | cell[2] | cell[3]) >> 31)
    {
      MoveWindow(cell, 4, counts.wide + block.offset[i], task.wideStride, 1, 4);
    }
  }
}

#endif

static inline void
ScatterGaussian(const HistogramTask & task, const HistogramCounts & counts, ParzenBlock & block, int count)
{
  PadParzenBlock(block, count, GaussianBlock::Size);
  const std::int32_t taps = task.setup.window.taps;
  const std::int32_t paddedTaps = task.setup.PaddedTaps();
  const std::int32_t stride = task.wideStride;
  GaussianBlock      fixedWeights;
  GaussianBlock      movingWeights;
  for (int begin = 0; begin < count; begin += GaussianBlock::Size)
  {
    const int size = count - begin < GaussianBlock::Size ? count - begin : GaussianBlock::Size;
    PrepareGaussianBlock(task.setup.window, paddedTaps, block.firstBase + begin, block.first + begin, fixedWeights);
    PrepareGaussianBlock(task.setup.window, paddedTaps, block.secondBase + begin, block.second + begin, movingWeights);
    // All samples first: a vector that is loaded right after its parts were stored would wait for them.
    alignas(32) float v[GaussianBlock::Size * GaussianWindow::MaxTaps];
    for (int i = 0; i < size; ++i)
    {
      movingWeights.CopySample(i, paddedTaps, v + i * paddedTaps);
    }
    for (int i = 0; i < size; ++i)
    {
      const std::int32_t offset = block.offset[begin + i];
      std::uint32_t *    corner = counts.narrow[i & 3] + offset;
      std::uint32_t      anyBits = 0;
      for (int a = 0; a < taps; ++a)
      {
        for (int b = 0; b < paddedTaps; b += 8)
        {
          anyBits |= AddRow(corner + a * stride + b, FixedPointOne * fixedWeights.weight[a][i], v + i * paddedTaps + b);
        }
      }
      if (anyBits)
      {
        MoveWindow(corner, stride, counts.wide + offset, stride, taps, paddedTaps);
      }
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
  const std::int32_t  fixedStride = IsGaussian ? task.wideStride : 16 * (setup.bins - 3);
  const std::int32_t  movingStride = IsGaussian ? 1 : 16;
  std::int64_t        samples = 0;
  for (std::int64_t begin = 0; begin < count; begin += ParzenBlock::Size)
  {
    ParzenBlock block;
    const int   size = count - begin < ParzenBlock::Size ? int(count - begin) : ParzenBlock::Size;
    const int   kept = PrepareParzenBlock<true, IsGaussian, false>(setup.fixed,
                                                                 setup.moving,
                                                                 fixedStride,
                                                                 movingStride,
                                                                 fixed + begin,
                                                                 moving + begin,
                                                                 mask ? mask + begin : nullptr,
                                                                 size,
                                                                 block);
    if (kept < size)
    {
      CompactParzenBlock<IsGaussian>(block, size);
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
    const int   kept = PrepareParzenBlock<false, false, false>(setup.fixed,
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
  std::int64_t samples = 0;
  for (std::int64_t begin = 0; begin < count; begin += ParzenBlock::Size)
  {
    ParzenBlock block;
    const int   size = count - begin < ParzenBlock::Size ? int(count - begin) : ParzenBlock::Size;
    const int   kept =
      PrepareMattesBlock(task.setup, fixed + begin, moving + begin, mask ? mask + begin : nullptr, size, block);
    if (kept < size)
    {
      CompactParzenBlock<false>(block, size);
    }
    ScatterMattes(task, counts, block, kept);
    samples += kept;
  }
  return samples;
}

} // namespace FFDP_ISA
} // namespace ffdp
