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

/** Adds VTaps rows to `out` in their order, or begins with them. */
template <int VTaps, bool VBegin>
static inline void
AddRows(const float * const * rows, const float * weights, float * __restrict out, std::int64_t width)
{
  const float * row[VTaps];
  float         weight[VTaps];
  for (int t = 0; t < VTaps; ++t)
  {
    row[t] = rows[t];
    weight[t] = weights[t];
  }
  FFDP_SIMD
  for (std::int64_t x = 0; x < width; ++x)
  {
    float sum = VBegin ? weight[0] * row[0][x] : out[x] + weight[0] * row[0][x];
    for (int t = 1; t < VTaps; ++t)
    {
      sum = sum + weight[t] * row[t][x];
    }
    out[x] = sum;
  }
}

/** out = sum over t of weights[t] * rows[t], added in the order of t. The usual number of taps, that of a
 * factor of 2, takes one pass over `out`. */
static inline void
SumRows(const float * const * rows, const float * weights, std::int64_t count, float * out, std::int64_t width)
{
  std::int64_t t = count >= 6 ? 6 : 1;
  if (count >= 6)
  {
    AddRows<6, true>(rows, weights, out, width);
  }
  else
  {
    AddRows<1, true>(rows, weights, out, width);
  }
  for (; t + 4 <= count; t += 4)
  {
    AddRows<4, false>(rows + t, weights + t, out, width);
  }
  for (; t < count; ++t)
  {
    AddRows<1, false>(rows + t, weights + t, out, width);
  }
}

/** A coarse row from a row that is already summed along z and y. All have the same number of taps here, some
 * of weight 0, so that a vector of coarse voxels goes through its taps together. */
inline void
SumAlongRow(const DownsampleColumns & columns, const float * line, float * __restrict out, std::int64_t width)
{
  const std::int32_t * first = columns.first;
  for (std::int64_t t = 0; t < columns.taps; ++t)
  {
    const float * weights = columns.weights + t * width;
    FFDP_SIMD
    for (std::int64_t x = 0; x < width; ++x)
    {
      out[x] = (t > 0 ? out[x] : 0.0f) + weights[x] * line[first[x] + t];
    }
  }
}

/** Some rows of one coarse plane. Fine rows are first summed along z, each once, into a ring of rows; a
 * coarse row is a sum of those along y, and then of its own taps along x. */
inline void
DownsampleRows(const DownsampleJob &     job,
               std::int64_t              z,
               std::int64_t              firstRow,
               std::int64_t              endRow,
               const DownsampleScratch & scratch)
{
  const std::int64_t width = job.fine.domain.x;
  const std::int64_t ringRows = job.y.taps;
  const std::int64_t plane = z - job.coarse.firstPlane;
  float *            line = scratch.rows + ringRows * width;
  std::int64_t       done = 0; // fine rows below this are summed along z
  for (std::int64_t y = firstRow; y < endRow; ++y)
  {
    const std::int64_t low = job.y.first[y];
    const std::int64_t end = low + job.y.count[y];
    for (done = done > low ? done : low; done < end; ++done)
    {
      for (std::int64_t t = 0; t < job.z.count[plane]; ++t)
      {
        scratch.pointers[t] = job.fine.Row(done, job.z.first[plane] + t);
      }
      SumRows(scratch.pointers,
              job.z.weights + plane * job.z.taps,
              job.z.count[plane],
              scratch.rows + done % ringRows * width,
              width);
    }
    for (std::int64_t row = low; row < end; ++row)
    {
      scratch.pointers[row - low] = scratch.rows + row % ringRows * width;
    }
    SumRows(scratch.pointers, job.y.weights + y * job.y.taps, end - low, line, width);
    SumAlongRow(job.x, line, job.coarse.Row(y, z), job.coarse.domain.x);
  }
}

} // namespace FFDP_ISA
} // namespace ffdp
