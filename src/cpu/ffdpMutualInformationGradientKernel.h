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

/** sum over c of w_c(other) * sum over r of v_r(active) * table[row + r][column + c], for 3 rows and 4 columns; the
 * table holds differences along the rows. */
static inline void
GatherBSpline(const GradientTask & task, ParzenBlock & block, int count, float * values)
{
  const float *      table = task.table;
  const std::int64_t stride = task.stride;
#if FFDP_ISA_AVX2
  PadParzenBlock(block, count);
  for (int i = 0; i < count; i += 8)
  {
    __m256 column[4];
    __m256 v[3];
    QuadraticBSplineWeights(_mm256_load_ps(block.first + i), v[0], v[1], v[2]);
    for (int r = 0; r < 3; ++r)
    {
      const float * row = table + r * stride;
      __m256        entry[4];
      for (int k = 0; k < 4; ++k)
      {
        const __m128 low = _mm_loadu_ps(row + block.offset[i + k]);
        const __m128 high = _mm_loadu_ps(row + block.offset[i + k + 4]);
        entry[k] = _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
      }
      TransposeHalves(entry[0], entry[1], entry[2], entry[3]);
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
    float v[3];
    float w[4];
    float column[4];
    QuadraticBSplineWeights(block.first[i], v[0], v[1], v[2]);
    CubicBSplineWeights(block.second[i], w[0], w[1], w[2], w[3]);
    const float * corner = table + block.offset[i];
    for (int c = 0; c < 4; ++c)
    {
      column[c] = v[0] * corner[c] + v[1] * corner[stride + c] + v[2] * corner[2 * stride + c];
    }
    values[i] = (w[0] * column[0] + w[1] * column[1]) + (w[2] * column[2] + w[3] * column[3]);
  }
#endif
}

/** sum over c of w'_c(active) * sum over r of w_r(other) * table[row + r][column + c], for window.taps rows and
 * columns. */
static inline void
GatherGaussian(const GradientTask & task, const ParzenBlock & block, int count, float * values)
{
  constexpr int          maxTaps = GaussianWindow::MaxTaps;
  const GaussianWindow & window = task.setup.window;
  const int              taps = window.taps;
  const int              paddedTaps = task.setup.PaddedTaps();
  const std::int32_t     stride = task.stride;
  alignas(32) float      w[maxTaps];
  alignas(32) float      activeWeights[maxTaps];
  alignas(32) float      derivative[maxTaps];
  for (int i = 0; i < count; ++i)
  {
    const std::int32_t otherBase = block.offset[i] / stride;
    const std::int32_t activeBase = block.offset[i] - otherBase * stride;
    GaussianWeights(window, activeBase - taps / 2, block.first[i], activeWeights);
    GaussianWeightDerivatives(window, activeWeights, derivative);
    GaussianWeights(window, otherBase - taps / 2, block.second[i], w);
    alignas(32) float column[maxTaps] = {};
    for (int r = 0; r < taps; ++r)
    {
      const float * row = task.table + block.offset[i] + r * stride;
      for (int c = 0; c < paddedTaps; c += 8)
      {
        for (int k = c; k < c + 8; ++k)
        {
          column[k] += w[r] * row[k];
        }
      }
    }
    float sum = 0.0f;
    for (int c = 0; c < taps; ++c)
    {
      sum += derivative[c] * column[c];
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
GatherMattes(const GradientTask & task, const ParzenBlock & block, int count, float * __restrict values)
{
  const float * __restrict table = task.table;
  for (int i = 0; i < count; ++i)
  {
    float v[3];
    QuadraticBSplineWeights(block.second[i], v[0], v[1], v[2]);
    const float * row = table + block.offset[i];
    values[i] = v[0] * row[0] + v[1] * row[1] + v[2] * row[2];
  }
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
      PrepareParzenBlock<fractions, true>(task.active,
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
