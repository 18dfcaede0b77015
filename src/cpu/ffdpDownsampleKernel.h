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

/** out = sum over t of weights[t] * rows[t], added in the order of t; four rows per pass over `out`. */
inline void
SumRows(const float * const * rows,
        const float *         weights,
        std::int64_t          count,
        float * __restrict out,
        std::int64_t width)
{
  FFDP_SIMD
  for (std::int64_t x = 0; x < width; ++x)
  {
    out[x] = weights[0] * rows[0][x];
  }
  std::int64_t t = 1;
  for (; t + 4 <= count; t += 4)
  {
    const float * a = rows[t];
    const float * b = rows[t + 1];
    const float * c = rows[t + 2];
    const float * d = rows[t + 3];
    const float   wa = weights[t], wb = weights[t + 1], wc = weights[t + 2], wd = weights[t + 3];
    FFDP_SIMD
    for (std::int64_t x = 0; x < width; ++x)
    {
      out[x] = (((out[x] + wa * a[x]) + wb * b[x]) + wc * c[x]) + wd * d[x];
    }
  }
  for (; t < count; ++t)
  {
    const float * a = rows[t];
    const float   wa = weights[t];
    FFDP_SIMD
    for (std::int64_t x = 0; x < width; ++x)
    {
      out[x] = out[x] + wa * a[x];
    }
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
