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

  alignas(64) std::int32_t offset[Size]; ///< firstBase * firstStride + secondBase * secondStride
  alignas(64) float first[Size];         ///< fraction of the position in the first image
  alignas(64) float second[Size];        ///< fraction of the position in the second image
  alignas(64) std::int32_t keep[Size]; ///< 1 where the voxel is a sample (and inside the first range, if asked), else 0
};

/** Fills offset and keep, and the fractions if asked; returns the number of voxels to keep.
 * InsideOnly: keep nothing whose first value is outside its range, as its gradient is 0. */
template <bool Fractions, bool InsideOnly>
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
    block.keep[i] = (m >= movingBins.low) & (m <= movingBins.high) & (f == f) ? 1 : 0;
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
static inline void
CompactParzenBlock(ParzenBlock & block, int count)
{
  int kept = 0;
  for (int i = 0; i < count; ++i)
  {
    block.offset[kept] = block.offset[i];
    block.first[kept] = block.first[i];
    block.second[kept] = block.second[i];
    kept += block.keep[i];
  }
}

/** Fills up to a multiple of 8 with a harmless voxel, so that vectors need no tail. */
static inline void
PadParzenBlock(ParzenBlock & block, int count)
{
  for (int i = count; i % 8 != 0; ++i)
  {
    block.offset[i] = 0;
    block.first[i] = 0;
    block.second[i] = 0;
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
