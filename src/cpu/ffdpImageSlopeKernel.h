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

/** One component of a row: `before` and `after` are the neighbors along its axis. */
inline void
AddSlopeOfRow(const float * weights,
              float         factor,
              const float * before,
              const float * after,
              std::int64_t  count,
              float *       to)
{
  FFDP_SIMD
  for (std::int64_t x = 0; x < count; ++x)
  {
    to[x] = WithSlope(to[x], factor * weights[x], before[x], after[x]);
  }
}

/** The component along the row itself. */
inline void
AddSlopeAlongRow(const float * weights, float factor, const float * row, std::int64_t count, float * to)
{
  const std::int64_t last = count - 1;
  AddSlopeOfRow(weights, factor, row, row + (last > 0 ? 1 : 0), 1, to);
  if (last > 1)
  {
    AddSlopeOfRow(weights + 1, factor, row, row + 2, last - 1, to + 1);
  }
  if (last > 0)
  {
    AddSlopeOfRow(weights + last, factor, row + last - 1, row + last, 1, to + last);
  }
}

void
AddImageSlopePiece(const ImageSlopeJob & job, std::int64_t z, std::int64_t firstRow, std::int64_t endRow)
{
  const Extent &     domain = job.image.domain;
  const std::int64_t below = z > 0 ? z - 1 : z, above = z + 1 < domain.z ? z + 1 : z;
  for (std::int64_t y = firstRow; y < endRow; ++y)
  {
    const float * const weights = job.weights.Row(y, z);
    const float * const back = job.image.Row(y > 0 ? y - 1 : y, z);
    const float * const front = job.image.Row(y + 1 < domain.y ? y + 1 : y, z);
    AddSlopeAlongRow(weights, job.factor, job.image.Row(y, z), domain.x, job.gradient.Row(0, y, z));
    AddSlopeOfRow(weights, job.factor, back, front, domain.x, job.gradient.Row(1, y, z));
    AddSlopeOfRow(
      weights, job.factor, job.image.Row(y, below), job.image.Row(y, above), domain.x, job.gradient.Row(2, y, z));
  }
}

} // namespace FFDP_ISA
} // namespace ffdp
