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

template <bool VMasked>
MeanSquaresPartial
MeanSquaresPiece(const MeanSquaresJob & job, std::int64_t z, std::int64_t firstRow, std::int64_t endRow)
{
  constexpr std::int64_t Chunk = 1024;
  alignas(64) float      difference[Chunk];
  const std::int64_t     width = job.moving.domain.x;
  const float            scale = job.gradientScale;
  RowSum                 sum;
  std::int64_t           count = VMasked ? 0 : width * (endRow - firstRow);
  for (std::int64_t y = firstRow; y < endRow; ++y)
  {
    const float *        moving = job.moving.Row(y, z);
    const float *        fixed = job.fixed.Row(y, z);
    const std::uint8_t * mask = VMasked ? job.mask.Row(y, z) : nullptr;
    float *              movingGradient = job.movingGradient ? job.movingGradient.Row(y, z) : nullptr;
    float *              fixedGradient = job.fixedGradient ? job.fixedGradient.Row(y, z) : nullptr;
    for (std::int64_t x = 0; x < width; x += Chunk)
    {
      const std::int64_t n = width - x < Chunk ? width - x : Chunk;
      FFDP_SIMD
      for (std::int64_t i = 0; i < n; ++i)
      {
        difference[i] = MeanSquaresDifference(moving[x + i], fixed[x + i], !VMasked || mask[x + i] != 0);
      }
      if (VMasked)
      {
        std::int32_t inside = 0;
        for (std::int64_t i = 0; i < n; ++i)
        {
          inside += mask[x + i] != 0 ? 1 : 0;
        }
        count += inside;
      }
      if (movingGradient)
      {
        FFDP_SIMD
        for (std::int64_t i = 0; i < n; ++i)
        {
          movingGradient[x + i] = MeanSquaresGradient(difference[i], scale);
        }
      }
      if (fixedGradient)
      {
        FFDP_SIMD
        for (std::int64_t i = 0; i < n; ++i)
        {
          fixedGradient[x + i] = MeanSquaresGradient(difference[i], -scale);
        }
      }
      AddSquares(sum, difference, n);
    }
  }
  return MeanSquaresPartial{ sum.Total(), count };
}

} // namespace FFDP_ISA
} // namespace ffdp
