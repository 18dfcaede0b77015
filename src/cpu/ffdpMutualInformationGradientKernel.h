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
/** The gradient of mutual information for the intensities of one image. Kernel file: see ffdpForEachInstructionSet.h.
 *
 * `active` is the image that the gradient is for, `other` is the other one. The factor -1 / (samples * binWidth) is in
 * the table. */
namespace ffdp
{
namespace FFDP_ISA
{

/** Writes what the block holds; 0 for voxels not to keep. */
static inline void
WriteParzenBlock(const ParzenBlock & block, const float * __restrict values, int count, float * __restrict gradient)
{
  FFDP_SIMD
  for (int i = 0; i < count; ++i)
  {
    gradient[i] = block.keep[i] ? values[i] : 0.0f;
  }
}

#if FFDP_ISA_AVX2
/** Four neighboring table entries for each of eight voxels, as four vectors of eight. */
static inline void
LoadRows(const float * row, const std::int32_t * offset, __m256 * entry)
{
  for (int k = 0; k < 4; ++k)
  {
    const __m128 low = _mm_loadu_ps(row + offset[k]);
    const __m128 high = _mm_loadu_ps(row + offset[k + 4]);
    entry[k] = _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
  }
  TransposeHalves(entry[0], entry[1], entry[2], entry[3]);
}
#endif

/** sum over c of w_c(other) * sum over r of v_r(active) * table[row + r][column + c], for 3 rows and 4 columns; the
 * table holds differences along the rows. */
static inline void
GatherBSpline(const GradientTask & task, ParzenBlock & block, int count, float * values)
{
  const float *      table = task.table;
  const std::int64_t stride = task.stride;
#if FFDP_ISA_AVX2
  PadParzenBlock(block, count, 8);
  for (int i = 0; i < count; i += 8)
  {
    __m256 column[4];
    __m256 v[3];
    QuadraticBSplineWeights(_mm256_load_ps(block.first + i), v[0], v[1], v[2]);
    for (int r = 0; r < 3; ++r)
    {
      __m256 entry[4];
      LoadRows(table + r * stride, block.offset + i, entry);
      for (int c = 0; c < 4; ++c)
      {
        column[c] = r == 0 ? v[r] * entry[c] : column[c] + v[r] * entry[c];
      }
    }
    __m256 w[4];
    CubicBSplineWeights(_mm256_load_ps(block.second + i), w[0], w[1], w[2], w[3]);
    const __m256 left = w[0] * column[0] + w[1] * column[1];
    const __m256 right = w[2] * column[2] + w[3] * column[3];
    _mm256_store_ps(values + i, left + right);
  }
#else
  for (int i = 0; i < count; ++i)
  {
    values[i] = BSplineTableGradient(table + block.offset[i], stride, block.first[i], block.second[i]);
  }
#endif
}

/** Eight columns of a sum of rows, each times a weight; the weights are those of one sample of a GaussianBlock. */
static inline void
SumRows(const float * corner, std::int64_t stride, const float * weights, int rows, float * sums)
{
#if FFDP_ISA_AVX2
  __m256 total = _mm256_setzero_ps();
  for (int r = 0; r < rows; ++r)
  {
    total += _mm256_set1_ps(weights[r * GaussianBlock::Size]) * _mm256_loadu_ps(corner + r * stride);
  }
  _mm256_store_ps(sums, total);
#else
  for (int c = 0; c < 8; ++c)
  {
    sums[c] = 0.0f;
  }
  for (int r = 0; r < rows; ++r)
  {
    for (int c = 0; c < 8; ++c)
    {
      sums[c] += weights[r * GaussianBlock::Size] * corner[r * stride + c];
    }
  }
#endif
}

/** sum over c of w'_c(active) * sum over r of w_r(other) * table[row + r][column + c], for window.taps rows and
 * columns. */
static inline void
GatherGaussian(const GradientTask & task, ParzenBlock & block, int count, float * values)
{
  constexpr int          maxTaps = GaussianWindow::MaxTaps;
  const GaussianWindow & window = task.setup.window;
  const int              taps = window.taps;
  const int              paddedTaps = task.setup.PaddedTaps();
  GaussianBlock          activeWeights;
  GaussianBlock          otherWeights;
  PadParzenBlock(block, count, GaussianBlock::Size);
  for (int i = 0; i < count; ++i)
  {
    const int k = i % GaussianBlock::Size;
    if (k == 0)
    {
      PrepareGaussianBlock(window, paddedTaps, block.firstBase + i, block.first + i, activeWeights);
      PrepareGaussianBlock(window, paddedTaps, block.secondBase + i, block.second + i, otherWeights);
    }
    alignas(32) float column[maxTaps];
    for (int c = 0; c < paddedTaps; c += 8)
    {
      SumRows(task.table + block.offset[i] + c, task.stride, otherWeights.weight[0] + k, taps, column + c);
    }
    float mean = 0.0f;
    for (int c = 0; c < taps; ++c)
    {
      mean += float(c) * activeWeights.weight[c][k];
    }
    float sum = 0.0f;
    for (int c = 0; c < taps; ++c)
    {
      sum += GaussianTapDerivative(window, c, activeWeights.weight[c][k], mean) * column[c];
    }
    values[i] = sum;
  }
}

static inline void
GatherHard(const GradientTask & task, const ParzenBlock & block, int count, float * __restrict values)
{
  const float * __restrict table = task.table;
  FFDP_SIMD
  for (int i = 0; i < count; ++i)
  {
    values[i] = table[block.offset[i]];
  }
}

/** sum over r of v_r(moving) * table[fixed bin][first moving bin + r]; the table holds differences. */
static inline void
GatherMattes(const GradientTask & task, ParzenBlock & block, int count, float * __restrict values)
{
  const float * __restrict table = task.table;
#if FFDP_ISA_AVX2
  PadParzenBlock(block, count, 8);
  for (int i = 0; i < count; i += 8)
  {
    __m256 v[3];
    __m256 entry[4];
    QuadraticBSplineWeights(_mm256_load_ps(block.second + i), v[0], v[1], v[2]);
    LoadRows(table, block.offset + i, entry);
    _mm256_store_ps(values + i, v[0] * entry[0] + v[1] * entry[1] + v[2] * entry[2]);
  }
#else
  for (int i = 0; i < count; ++i)
  {
    values[i] = MattesTableGradient(table + block.offset[i], block.second[i]);
  }
#endif
}

/** One piece of the gradient. */
template <MutualInformationKind Kind>
void
WriteGradient(const GradientTask & task,
              const float *        active,
              const float *        other,
              const std::uint8_t * mask,
              std::int64_t         count,
              float *              gradient)
{
  constexpr bool fractions = Kind != MutualInformationKind::Approximate;
  constexpr bool bases = Kind == MutualInformationKind::Gaussian;
  for (std::int64_t begin = 0; begin < count; begin += ParzenBlock::Size)
  {
    ParzenBlock          block;
    alignas(64) float    values[ParzenBlock::Size];
    const int            size = count - begin < ParzenBlock::Size ? int(count - begin) : ParzenBlock::Size;
    const std::uint8_t * maskBegin = mask ? mask + begin : nullptr;
    if (Kind == MutualInformationKind::Mattes)
    {
      PrepareMattesBlock(task.setup, other + begin, active + begin, maskBegin, size, block);
      GatherMattes(task, block, size, values);
    }
    else
    {
      PrepareParzenBlock<fractions, bases, true>(task.active,
                                                 task.other,
                                                 task.activeStride,
                                                 task.otherStride,
                                                 active + begin,
                                                 other + begin,
                                                 maskBegin,
                                                 size,
                                                 block);
      if (Kind == MutualInformationKind::BSpline)
      {
        GatherBSpline(task, block, size, values);
      }
      else if (Kind == MutualInformationKind::Gaussian)
      {
        GatherGaussian(task, block, size, values);
      }
      else
      {
        GatherHard(task, block, size, values);
      }
    }
    WriteParzenBlock(block, values, size, gradient + begin);
  }
}

} // namespace FFDP_ISA
} // namespace ffdp
