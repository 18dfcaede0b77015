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

/** Does some rows of a plane and returns the largest squared norm. Component after component in chunks of a
 * row: three streams at a time, and the sum of squares waits in the first-level cache. */
inline float
AdamPiece(const AdamJob & job, std::int64_t z, std::int64_t firstRow, std::int64_t endRow)
{
  constexpr std::int64_t Chunk = 1024;
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
        squaredNorm[i] = 0;
      }
      for (int c = 0; c < job.components; ++c)
      {
        float * __restrict gradient = job.gradient.Row(c, y, z) + x;
        float * __restrict first = job.firstMoment.Row(c, y, z) + x;
        float * __restrict second = job.secondMoment.Row(c, y, z) + x;
        const float weight = job.axisWeight[c];
        FFDP_SIMD
        for (std::int64_t i = 0; i < n; ++i)
        {
          float       m = first[i];
          float       v = second[i];
          const float d = AdamDirection(factors, gradient[i], m, v);
          first[i] = m;
          second[i] = v;
          gradient[i] = d;
          const float weighted = weight * d;
          squaredNorm[i] += weighted * weighted;
        }
      }
      FFDP_SIMD
      for (std::int64_t i = 0; i < n; ++i)
      {
        squaredNorm[i] = NotANumberIsInfinite(squaredNorm[i]);
      }
      largest.Add(squaredNorm, n);
    }
  }
  return largest.Total();
}

} // namespace FFDP_ISA
} // namespace ffdp
