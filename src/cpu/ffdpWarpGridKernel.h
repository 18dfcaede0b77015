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

/** One row of the fine warp. `line` holds one more value than a coarse row. */
inline void
UpsampleRow(const UpsampleJob & job, std::int64_t y, std::int64_t z, float * __restrict line)
{
  const std::int64_t    coarseWidth = job.coarse.domain.x;
  const std::int64_t    width = job.fine.domain.x;
  const UpsamplePlace & alongY = job.y[y];
  const UpsamplePlace & alongZ = job.z[z - job.fine.firstPlane];
  for (int c = 0; c < job.components; ++c)
  {
    const float * a = job.coarse.Row(c, alongY.lower, alongZ.lower);
    const float * b = job.coarse.Row(c, alongY.upper, alongZ.lower);
    const float * p = job.coarse.Row(c, alongY.lower, alongZ.upper);
    const float * q = job.coarse.Row(c, alongY.upper, alongZ.upper);
    const float   fractionY = alongY.fraction;
    const float   fractionZ = alongZ.fraction;
    FFDP_SIMD
    for (std::int64_t x = 0; x < coarseWidth; ++x)
    {
      line[x] = InterpolateBetween(
        InterpolateBetween(a[x], p[x], fractionZ), InterpolateBetween(b[x], q[x], fractionZ), fractionY);
    }
    line[coarseWidth] = line[coarseWidth - 1];

    float * __restrict fine = job.fine.Row(c, y, z);
    const std::int32_t * lower = job.lowerX;
    const float *        fraction = job.fractionX;
    const float          scale = job.scale[c];
    FFDP_SIMD
    for (std::int64_t x = 0; x < width; ++x)
    {
      fine[x] = scale * InterpolateBetween(line[lower[x]], line[lower[x] + 1], fraction[x]);
    }
  }
}

/** The largest squared norm and absolute components of some rows. */
inline MeasurePartial
MeasurePiece(const MeasureJob & job, std::int64_t z, std::int64_t firstRow, std::int64_t endRow)
{
  constexpr std::int64_t Chunk = 1024;
  alignas(64) float      squaredNorm[Chunk];
  alignas(64) float      magnitude[Chunk];
  alignas(64) float      bad[Chunk];
  const std::int64_t     width = job.warp.domain.x;
  RowMaximum             notFinite(0.0f);
  RowMaximum             norm(0.0f);
  RowMaximum             largest[3] = { RowMaximum(0.0f), RowMaximum(0.0f), RowMaximum(0.0f) };
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
        const float * values = job.warp.Row(c, y, z) + x;
        const float   weight = job.axisWeight[c];
        FFDP_SIMD
        for (std::int64_t i = 0; i < n; ++i)
        {
          const float v = values[i];
          magnitude[i] = FiniteMagnitude(v);
          squaredNorm[i] += WeightedSquare(v, weight);
          bad[i] = v - v == 0.0f ? 0.0f : 1.0f;
        }
        largest[c].Add(magnitude, n);
        notFinite.Add(bad, n);
      }
      FFDP_SIMD
      for (std::int64_t i = 0; i < n; ++i)
      {
        squaredNorm[i] = squaredNorm[i] - squaredNorm[i] == 0.0f ? squaredNorm[i] : 0.0f;
      }
      norm.Add(squaredNorm, n);
    }
  }
  return MeasurePartial{ norm.Total(),
                         { largest[0].Total(), largest[1].Total(), largest[2].Total() },
                         notFinite.Total() == 0.0f };
}

} // namespace FFDP_ISA
} // namespace ffdp
