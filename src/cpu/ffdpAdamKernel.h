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
// Compiled once per instruction set; see ffdpForEachInstructionSet.h.

namespace ffdp
{
namespace FFDP_ISA
{

/** Does some rows of a plane and returns the largest squared norm. In chunks of a row, whose gains and sums of squares
 * wait in the first-level cache while the components are read one after the other. */
inline float
AdamPiece(const AdamJob & job, std::int64_t z, std::int64_t firstRow, std::int64_t endRow)
{
  constexpr std::int64_t Chunk = 512;
  alignas(64) float      square[Chunk];
  alignas(64) float      squaredNorm[Chunk];
  const std::int64_t     width = job.gradient.domain.x;
  const AdamFactors      factors = job.factors;
  RowMaximum             largest(0.0f);
  for (std::int64_t y = firstRow; y < endRow; ++y)
  {
    for (std::int64_t x = 0; x < width; x += Chunk)
    {
      const std::int64_t n = width - x < Chunk ? width - x : Chunk;
      for (std::int64_t i = 0; i < n; ++i)
      {
        square[i] = 0;
        squaredNorm[i] = 0;
      }
      for (int c = 0; c < job.components; ++c)
      {
        const float * __restrict gradient = job.gradient.Row(c, y, z) + x;
        float * __restrict first = job.firstMoment.Row(c, y, z) + x;
        const float scale = factors.gradientScale[c];
        FFDP_SIMD
        for (std::int64_t i = 0; i < n; ++i)
        {
          const float g = scale * gradient[i];
          const float m = AdamFirstMoment(factors, first[i], g);
          first[i] = m;
          square[i] += g * g;
          squaredNorm[i] += m * m;
        }
      }
      float * __restrict second = job.secondMoment.Row(y, z) + x;
      FFDP_SIMD
      for (std::int64_t i = 0; i < n; ++i)
      {
        const float v = AdamSecondMoment(factors, second[i], square[i]);
        const float gain = AdamGain(factors, v);
        second[i] = v;
        squaredNorm[i] = NotANumberIsInfinite(gain * gain * squaredNorm[i]);
      }
      largest.Add(squaredNorm, n);
    }
  }
  return largest.Total();
}

} // namespace FFDP_ISA
} // namespace ffdp
