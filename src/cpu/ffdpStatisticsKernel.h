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

/** The voxels of a run that count: values[i], or NaN in `kept` and 0 in `summed` for those that do not. */
template <bool VMasked>
static void
SelectRun(const float *        values,
          const std::uint8_t * mask,
          std::int64_t         n,
          float *              kept,
          float *              summed,
          Statistics &         result)
{
  std::int32_t count = 0;
  std::int32_t inside = 0;
  FFDP_SIMD
  for (std::int64_t i = 0; i < n; ++i)
  {
    const bool  selected = !VMasked || mask[i] != 0;
    const float value = selected ? values[i] : NAN;
    kept[i] = IsFinite(value) ? value : NAN;
    summed[i] = IsFinite(value) ? value : 0.0f;
  }
  for (std::int64_t i = 0; i < n; ++i)
  {
    count += kept[i] == kept[i] ? 1 : 0;
  }
  for (std::int64_t i = 0; i < n; ++i)
  {
    inside += !VMasked || mask[i] != 0 ? 1 : 0;
  }
  result.count = count;
  result.notFinite = inside - count;
}

/** The statistics of at most StatisticsRun voxels of a row: their mean, then the deviations from it. */
template <bool VMasked>
static Statistics
RunStatistics(const float * values, const std::uint8_t * mask, std::int64_t n)
{
  alignas(64) float kept[StatisticsRun];
  alignas(64) float summed[StatisticsRun];
  Statistics        result;
  RowSum            sum;
  if (!VMasked)
  {
    sum.Add(values, n);
    result.count = n;
  }
  // A sum of floats in double cannot overflow: it is finite if all values are, and they need no copy then.
  if (VMasked || !(sum.Total() - sum.Total() == 0))
  {
    SelectRun<VMasked>(values, mask, n, kept, summed, result);
    sum = RowSum();
    sum.Add(summed, n);
    values = kept;
  }
  if (result.count > 0)
  {
    RowMinimum minimum(result.minimum);
    RowMaximum maximum(result.maximum);
    RowSum     squares;
    minimum.Add(values, n);
    maximum.Add(values, n);
    result.minimum = minimum.Total();
    result.maximum = maximum.Total();
    result.mean = sum.Total() / double(result.count);
    AddSquaredDeviations(squares, values, n, result.mean);
    result.squares = squares.Total();
  }
  return result;
}

/** The slot of each of n voxels, then one increment each. Two histograms take turns, because voxels next to
 * each other often share a bin and an increment would wait for the one before. */
template <bool VMasked>
static void
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
