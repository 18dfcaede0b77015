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

/** The statistics of at most StatisticsRun voxels of a row: their mean, then the deviations from it. */
template <bool VMasked>
Statistics
RunStatistics(const float * values, const std::uint8_t * mask, std::int64_t n)
{
  alignas(64) float kept[StatisticsRun];   // 0 where a voxel does not count
  alignas(64) float weight[StatisticsRun]; // 1 or 0
  alignas(64) float lowest[StatisticsRun]; // negated values, -infinity where a voxel does not count
  alignas(64) float highest[StatisticsRun];
  Statistics        result;
  const float       excluded = result.maximum;
  std::int32_t      count = 0;
  std::int32_t      inside = 0;
  for (std::int64_t i = 0; i < n; ++i)
  {
    const bool selected = !VMasked || mask[i] != 0;
    const bool counts = IsFinite(values[i]) && selected;
    kept[i] = counts ? values[i] : 0.0f;
    weight[i] = counts ? 1.0f : 0.0f;
    lowest[i] = counts ? -values[i] : excluded;
    highest[i] = counts ? values[i] : excluded;
    count += counts ? 1 : 0;
    inside += selected ? 1 : 0;
  }
  result.count = count;
  result.notFinite = inside - count;
  if (count == 0)
  {
    return result;
  }

  RowMaximum minimum(excluded);
  RowMaximum maximum(excluded);
  RowSum     sum;
  RowSum     squares;
  minimum.Add(lowest, n);
  maximum.Add(highest, n);
  sum.Add(kept, n);
  result.minimum = -minimum.Total();
  result.maximum = maximum.Total();
  result.mean = sum.Total() / double(count);
  AddSquaredDeviations(squares, kept, weight, n, result.mean);
  result.squares = squares.Total();
  return result;
}

/** The slot of each of n voxels, then one increment each. Two histograms take turns, because voxels next to
 * each other often share a bin and an increment would wait for the one before. */
template <bool VMasked>
void
CountRun(const HistogramBins & bins,
         const float *         values,
         const std::uint8_t *  mask,
         std::int64_t          n,
         std::int64_t *        counts,
         std::int64_t *        otherCounts)
{
  alignas(64) std::int32_t slot[StatisticsRun];
  const HistogramBins      local = bins;
  FFDP_SIMD
  for (std::int64_t i = 0; i < n; ++i)
  {
    slot[i] = HistogramSlot(local, values[i], !VMasked || mask[i] != 0);
  }
  std::int64_t i = 0;
  for (; i + 2 <= n; i += 2)
  {
    ++counts[slot[i]];
    ++otherCounts[slot[i + 1]];
  }
  if (i < n)
  {
    ++counts[slot[i]];
  }
}

} // namespace FFDP_ISA
} // namespace ffdp
