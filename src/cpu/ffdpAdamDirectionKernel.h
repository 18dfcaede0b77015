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

/** scale times the direction, for the components of a row. */
inline void
AdamDirectionsOfRow(const AdamFactors &   inMemory,
                    const float * const * firstMoments,
                    const float * __restrict second,
                    const float *   scales,
                    std::int64_t    width,
                    float * const * rows)
{
  constexpr std::int64_t Chunk = 512;
  alignas(64) float      gain[Chunk];
  const AdamFactors      factors = inMemory;
  for (std::int64_t x = 0; x < width; x += Chunk)
  {
    const std::int64_t n = width - x < Chunk ? width - x : Chunk;
    FFDP_SIMD
    for (std::int64_t i = 0; i < n; ++i)
    {
      gain[i] = AdamGain(factors, second[x + i]);
    }
    for (int c = 0; c < 3; ++c)
    {
      const float * __restrict first = firstMoments[c] + x;
      float * __restrict directions = rows[c] + x;
      const float scale = scales[c];
      FFDP_SIMD
      for (std::int64_t i = 0; i < n; ++i)
      {
        directions[i] = scale * (gain[i] * first[i]);
      }
    }
  }
}

} // namespace FFDP_ISA
} // namespace ffdp
