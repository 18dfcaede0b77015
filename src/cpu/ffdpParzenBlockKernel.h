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
/** What the loops of the joint histogram and of its gradient share: positions among the bins, a block of voxels
 * at a time, in plain loops that the compiler vectorizes. Kernel file: see ffdpForEachInstructionSet.h. */
namespace ffdp
{
namespace FFDP_ISA
{

/** Some voxels, few enough to stay in the first cache. */
struct ParzenBlock
{
  static constexpr int Size = 256;

  alignas(64) std::int32_t offset[Size];     ///< firstBase * firstStride + secondBase * secondStride
  alignas(64) float first[Size];             ///< fraction of the position in the first image
  alignas(64) float second[Size];            ///< fraction of the position in the second image
  alignas(64) std::int32_t firstBase[Size];  ///< of Gaussian only
  alignas(64) std::int32_t secondBase[Size]; ///< of Gaussian only
  alignas(64) std::int32_t keep[Size]; ///< 1 where the voxel is a sample (and inside the first range, if asked), else 0
};

/** Fills offset and keep, and fractions and bases if asked; returns the number of voxels to keep.
 * InsideOnly: keep nothing whose first value is outside its range, as its gradient is 0. */
template <bool Fractions, bool Bases, bool InsideOnly>
static inline int
PrepareParzenBlock(const ParzenBinning & firstBinning,
                   const ParzenBinning & secondBinning,
                   std::int32_t          firstStride,
                   std::int32_t          secondStride,
                   const float * __restrict first,
                   const float * __restrict second,
                   const std::uint8_t * __restrict mask,
                   int count,
                   ParzenBlock & __restrict block)
{
  const ParzenBinning firstBins = firstBinning;
  const ParzenBinning secondBins = secondBinning;
  std::int32_t        kept = 0;
#if defined(__GNUC__) || defined(__clang__)
#  pragma omp simd reduction(+ : kept)
#endif
  for (int i = 0; i < count; ++i)
  {
    const float        f = first[i];
    const float        s = second[i];
    const float        firstPosition = ParzenPosition(firstBins, f);
    const float        secondPosition = ParzenPosition(secondBins, s);
    const std::int32_t firstBase = ParzenBase(firstBins, firstPosition);
    const std::int32_t secondBase = ParzenBase(secondBins, secondPosition);
    const bool usable = InsideOnly ? (f >= firstBins.low) & (f <= firstBins.high) & (s == s) : (f == f) & (s == s);
    block.offset[i] = firstBase * firstStride + secondBase * secondStride;
    if (Fractions)
    {
      block.first[i] = firstPosition - float(firstBase);
      block.second[i] = secondPosition - float(secondBase);
    }
    if (Bases)
    {
      block.firstBase[i] = firstBase;
      block.secondBase[i] = secondBase;
    }
    block.keep[i] = usable ? 1 : 0;
    kept += block.keep[i];
  }
  if (mask)
  {
    kept = 0;
#if defined(__GNUC__) || defined(__clang__)
#  pragma omp simd reduction(+ : kept)
#endif
    for (int i = 0; i < count; ++i)
    {
      block.keep[i] = mask[i] != 0 ? block.keep[i] : 0;
      kept += block.keep[i];
    }
  }
  return kept;
}

/** The same for Mattes: the fixed bin and the first moving bin, the fraction of the moving position. Not kept: a moving
 * value outside its range. */
static inline int
PrepareMattesBlock(const ParzenSetup & setup,
                   const float * __restrict fixed,
                   const float * __restrict moving,
                   const std::uint8_t * __restrict mask,
                   int count,
                   ParzenBlock & __restrict block)
{
  const MattesBinning fixedBins = setup.mattesFixed;
  const MattesBinning movingBins = setup.mattesMoving;
  const std::int32_t  stride = setup.bins;
  FFDP_SIMD
  for (int i = 0; i < count; ++i)
  {
    const double       f = fixed[i];
    const double       m = moving[i];
    const double       position = MattesPosition(movingBins, m);
    const std::int32_t bin = MattesBin(movingBins, position);
    block.offset[i] = MattesBin(fixedBins, MattesPosition(fixedBins, f)) * stride + bin - 1;
    block.first[i] = 0;
    block.second[i] = float(position - bin);
    const bool usable = (m >= movingBins.low) & (m <= movingBins.high) & (f == f);
    block.keep[i] = usable ? 1 : 0;
  }
  std::int32_t kept = 0;
  for (int i = 0; i < count; ++i)
  {
    block.keep[i] = !mask || mask[i] != 0 ? block.keep[i] : 0;
    kept += block.keep[i];
  }
  return kept;
}

/** Moves the voxels to keep to the front; their order does not matter to a histogram. */
template <bool Bases>
static inline void
CompactParzenBlock(ParzenBlock & block, int count)
{
  int kept = 0;
  for (int i = 0; i < count; ++i)
  {
    block.offset[kept] = block.offset[i];
    block.first[kept] = block.first[i];
    block.second[kept] = block.second[i];
    if (Bases)
    {
      block.firstBase[kept] = block.firstBase[i];
      block.secondBase[kept] = block.secondBase[i];
    }
    kept += block.keep[i];
  }
}

/** Fills up to a multiple of `multiple` with a harmless voxel, so that vectors need no tail. */
static inline void
PadParzenBlock(ParzenBlock & block, int count, int multiple)
{
  for (int i = count; i % multiple != 0; ++i)
  {
    block.offset[i] = 0;
    block.first[i] = 0;
    block.second[i] = 0;
    block.firstBase[i] = 0;
    block.secondBase[i] = 0;
  }
}

/** Gaussian weights of some samples, tap by tap. */
struct GaussianBlock
{
  static constexpr int Size = 64;

  alignas(64) float weight[GaussianWindow::MaxTaps][Size];

  /** The first `taps` weights of sample i side by side. */
  void
  CopySample(int i, int taps, float * weights) const
  {
    for (int j = 0; j < taps; ++j)
    {
      weights[j] = weight[j][i];
    }
  }
};

/** One tap of all samples: adds its weights to the sums, and takes the powers one further. */
static inline void
AddGaussianTap(const GaussianWindow & window,
               std::int32_t           tap,
               const std::int32_t * __restrict base,
               const float * __restrict factor,
               float * __restrict power,
               float * __restrict sum,
               float * __restrict weight)
{
  const std::int32_t toBin = tap - window.taps / 2;
  FFDP_SIMD
  for (int i = 0; i < GaussianBlock::Size; ++i)
  {
    const float tapWeight = GaussianTapWeight(window, tap, base[i] + toBin, power[i]);
    weight[i] = tapWeight;
    sum[i] += tapWeight;
    power[i] *= factor[i];
  }
}

/** Normalized weights of GaussianBlock::Size positions (whatever lies behind the last sample), and zeros up to
 * paddedTaps. */
static inline void
PrepareGaussianBlock(const GaussianWindow & window,
                     int                    paddedTaps,
                     const std::int32_t *   base,
                     const float *          fraction,
                     GaussianBlock &        block)
{
  constexpr int     size = GaussianBlock::Size;
  alignas(64) float factor[size];
  alignas(64) float inverse[size];
  alignas(64) float power[size];
  alignas(64) float inversePower[size];
  alignas(64) float sum[size];
  FFDP_SIMD
  for (int i = 0; i < size; ++i)
  {
    factor[i] = SmallExponential((fraction[i] - 0.5f) * window.inverseVariance);
    inverse[i] = 1.0f / factor[i];
    power[i] = 1.0f;
    inversePower[i] = inverse[i];
    sum[i] = 0.0f;
  }
  for (int tap = window.taps / 2; tap < window.taps; ++tap)
  {
    AddGaussianTap(window, tap, base, factor, power, sum, block.weight[tap]);
  }
  for (int tap = window.taps / 2 - 1; tap >= 0; --tap)
  {
    AddGaussianTap(window, tap, base, inverse, inversePower, sum, block.weight[tap]);
  }
  FFDP_SIMD
  for (int i = 0; i < size; ++i)
  {
    sum[i] = 1.0f / sum[i];
  }
  for (int tap = 0; tap < paddedTaps; ++tap)
  {
    FFDP_SIMD
    for (int i = 0; i < size; ++i)
    {
      block.weight[tap][i] = tap < window.taps ? block.weight[tap][i] * sum[i] : 0.0f;
    }
  }
}

#if FFDP_ISA_AVX2
/** Transposes the 4x4 floats in both halves: a register per voxel (v and v + 4) to a register per column. */
static inline void
TransposeHalves(__m256 & a, __m256 & b, __m256 & c, __m256 & d)
{
  const __m256 ab01 = _mm256_unpacklo_ps(a, b);
  const __m256 ab23 = _mm256_unpackhi_ps(a, b);
  const __m256 cd01 = _mm256_unpacklo_ps(c, d);
  const __m256 cd23 = _mm256_unpackhi_ps(c, d);
  a = _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(ab01), _mm256_castps_pd(cd01)));
  b = _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(ab01), _mm256_castps_pd(cd01)));
  c = _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(ab23), _mm256_castps_pd(cd23)));
  d = _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(ab23), _mm256_castps_pd(cd23)));
}
#endif

} // namespace FFDP_ISA
} // namespace ffdp
