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

/** The determinants of the voxels [begin, end) of a row of `width` voxels. */
template <bool VLeastOneSided>
inline void
JacobianChunk(const JacobianRows & rows,
              std::int64_t         begin,
              std::int64_t         end,
              std::int64_t         width,
              float * __restrict out)
{
  const JacobianRows local = rows;
  const std::int64_t first = begin > 0 ? begin : 1;
  const std::int64_t last = end < width ? end : width - 1;
  FFDP_SIMD
  for (std::int64_t x = first; x < last; ++x)
  {
    out[x - begin] = JacobianOfVoxel<VLeastOneSided>(local, x - 1, x, x + 1);
  }
  if (begin == 0)
  {
    out[0] = JacobianOfVoxel<VLeastOneSided>(local, 0, 0, width > 1 ? 1 : 0);
  }
  if (end == width && width > 1)
  {
    out[width - 1 - begin] = JacobianOfVoxel<VLeastOneSided>(local, width - 2, width - 1, width - 1);
  }
}

/** Some rows of one plane: writes their determinants and gathers their statistics. */
template <bool VMasked, bool VLeastOneSided>
JacobianPartial
JacobianPiece(const JacobianJob & job, std::int64_t z, std::int64_t firstRow, std::int64_t endRow)
{
  constexpr std::int64_t Chunk = 1024;
  alignas(64) float      determinant[Chunk];
  alignas(64) float      lowest[Chunk];
  const std::int64_t     width = job.warp.domain.x;
  JacobianPartial        partial;
  RowSum                 sum;
  const float            excluded = partial.minimum;
  RowMinimum             smallest(excluded);
  for (std::int64_t y = firstRow; y < endRow; ++y)
  {
    const JacobianRows   rows = JacobianRowsAt(job.warp, job.zeros, y, z);
    const std::uint8_t * mask = VMasked ? job.mask.Row(y, z) : nullptr;
    float *              out = job.determinant ? job.determinant.Row(y, z) : nullptr;
    const std::int64_t   chunk = job.marks ? BlockMarks::Width : Chunk;
    for (std::int64_t x = 0; x < width; x += chunk)
    {
      const std::int64_t n = width - x < chunk ? width - x : chunk;
      if (job.marks && !job.marks->At(x, y, z))
      {
        for (std::int64_t i = 0; out && i < n; ++i)
        {
          out[x + i] = 1.0f;
        }
        continue;
      }
      JacobianChunk<VLeastOneSided>(rows, x, x + n, width, determinant);
      for (std::int64_t i = 0; out && i < n; ++i)
      {
        out[x + i] = determinant[i];
      }
      FFDP_SIMD
      for (std::int64_t i = 0; i < n; ++i)
      {
        const bool  counts = !VMasked || mask[x + i] != 0;
        const float value = determinant[i];
        lowest[i] = counts ? -NotANumberIsInfinite(-value) : excluded;
        determinant[i] = counts ? value : 0.0f;
      }
      std::int32_t inside = 0;
      for (std::int64_t i = 0; i < n; ++i)
      {
        inside += !VMasked || mask[x + i] != 0 ? 1 : 0;
      }
      std::int32_t notPositive = 0;
      for (std::int64_t i = 0; i < n; ++i)
      {
        notPositive += lowest[i] > 0 ? 0 : 1; // what is excluded is infinite
      }
      partial.count += inside;
      partial.notPositive += notPositive;
      smallest.Add(lowest, n);
      sum.Add(determinant, n);
    }
  }
  partial.sum = sum.Total();
  partial.minimum = smallest.Total();
  return partial;
}

} // namespace FFDP_ISA
} // namespace ffdp
