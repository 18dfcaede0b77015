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

/** A row of an image, and of its mask if there is one. */
struct SlopeRow
{
  const float *        image;
  const std::uint8_t * mask;

  SlopeRow
  From(std::int64_t x) const
  {
    return { image + x, mask ? mask + x : nullptr };
  }
};

inline SlopeRow
RowOf(const ImageSlopeJob & job, std::int64_t y, std::int64_t z)
{
  return { job.image.Row(y, z), job.mask ? job.mask.Row(y, z) : nullptr };
}

/** One component of a row: `before` and `after` are the neighbors along its axis. */
template <bool VMasked>
inline void
AddSlopeOfRow(const float *    weights,
              float            factor,
              const SlopeRow & before,
              const SlopeRow & own,
              const SlopeRow & after,
              std::int64_t     count,
              float *          to)
{
  FFDP_SIMD
  for (std::int64_t x = 0; x < count; ++x)
  {
    const float low = VMasked ? NeighborInMask(before.image[x], before.mask[x], own.image[x]) : before.image[x];
    const float high = VMasked ? NeighborInMask(after.image[x], after.mask[x], own.image[x]) : after.image[x];
    to[x] = WithSlope(to[x], factor * weights[x], low, high);
  }
}

/** The component along the row itself. */
template <bool VMasked>
inline void
AddSlopeAlongRow(const float * weights, float factor, const SlopeRow & row, std::int64_t count, float * to)
{
  const std::int64_t last = count - 1;
  AddSlopeOfRow<VMasked>(weights, factor, row, row, row.From(last > 0 ? 1 : 0), 1, to);
  if (last > 1)
  {
    AddSlopeOfRow<VMasked>(weights + 1, factor, row, row.From(1), row.From(2), last - 1, to + 1);
  }
  if (last > 0)
  {
    AddSlopeOfRow<VMasked>(weights + last, factor, row.From(last - 1), row.From(last), row.From(last), 1, to + last);
  }
}

template <bool VMasked>
void
AddImageSlopePiece(const ImageSlopeJob & job, std::int64_t z, std::int64_t firstRow, std::int64_t endRow)
{
  const Extent &     domain = job.image.domain;
  const std::int64_t below = z > 0 ? z - 1 : z, above = z + 1 < domain.z ? z + 1 : z;
  for (std::int64_t y = firstRow; y < endRow; ++y)
  {
    const std::int64_t  back = y > 0 ? y - 1 : y, front = y + 1 < domain.y ? y + 1 : y;
    const float * const weights = job.weights.Row(y, z);
    const SlopeRow      own = RowOf(job, y, z);
    AddSlopeAlongRow<VMasked>(weights, job.factor, own, domain.x, job.gradient.Row(0, y, z));
    AddSlopeOfRow<VMasked>(
      weights, job.factor, RowOf(job, back, z), own, RowOf(job, front, z), domain.x, job.gradient.Row(1, y, z));
    AddSlopeOfRow<VMasked>(
      weights, job.factor, RowOf(job, y, below), own, RowOf(job, y, above), domain.x, job.gradient.Row(2, y, z));
  }
}

} // namespace FFDP_ISA
} // namespace ffdp
