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
namespace ffdp
{
namespace FFDP_ISA
{

inline void
KeepInside(const std::uint8_t * __restrict mask, std::int64_t n, std::uint8_t * __restrict valid)
{
  FFDP_SIMD
  for (std::int64_t i = 0; i < n; ++i)
  {
    valid[i] = mask[i] != 0 ? valid[i] : std::uint8_t(0);
  }
}

/** valid[i] = 1 where both values are numbers and every mask given is not 0. Returns how many are. */
inline std::int64_t
FindValidInRow(const float * __restrict fixed,
               const float * __restrict moving,
               const std::uint8_t * __restrict fixedMask,
               const std::uint8_t * __restrict movingMask,
               std::int64_t n,
               std::uint8_t * __restrict valid)
{
  FFDP_SIMD
  for (std::int64_t i = 0; i < n; ++i)
  {
    valid[i] = std::uint8_t((fixed[i] == fixed[i]) & (moving[i] == moving[i]));
  }
  if (fixedMask)
  {
    KeepInside(fixedMask, n, valid);
  }
  if (movingMask)
  {
    KeepInside(movingMask, n, valid);
  }
  std::int64_t count = 0;
  for (std::int64_t begin = 0; begin < n; begin += 128)
  {
    const std::int64_t end = n - begin < 128 ? n : begin + 128;
    std::uint8_t       part = 0;
    for (std::int64_t i = begin; i < end; ++i)
    {
      part = std::uint8_t(part + valid[i]);
    }
    count += part;
  }
  return count;
}

/** Widens [range[0], range[1]] to the finite values of a row where the mask, if given, is not 0. */
template <bool VMasked>
void
WidenRange(const float * __restrict values, const std::uint8_t * __restrict mask, std::int64_t n, float * range)
{
  constexpr int     Lanes = 16;
  alignas(64) float low[Lanes];
  alignas(64) float high[Lanes];
  for (int k = 0; k < Lanes; ++k)
  {
    low[k] = range[0];
    high[k] = range[1];
  }
  for (std::int64_t i = 0; i < n; i += Lanes)
  {
    const int count = int(n - i < Lanes ? n - i : Lanes);
    FFDP_SIMD
    for (int k = 0; k < count; ++k)
    {
      const float value = values[i + k];
      const bool  counts = (value - value == 0) & (!VMasked || mask[i + k] != 0);
      low[k] = counts & (value < low[k]) ? value : low[k];
      high[k] = counts & (value > high[k]) ? value : high[k];
    }
  }
  for (int k = 0; k < Lanes; ++k)
  {
    range[0] = low[k] < range[0] ? low[k] : range[0];
    range[1] = high[k] > range[1] ? high[k] : range[1];
  }
}

/** Values in [lowest, low) become low, values in (high, highest] become high. */
inline void
PullIntoRange(float * __restrict values, std::int64_t n, float lowest, float low, float high, float highest)
{
  FFDP_SIMD
  for (std::int64_t i = 0; i < n; ++i)
  {
    const float value = values[i];
    const bool  justBelow = (value < low) & (value >= lowest);
    const bool  justAbove = (value > high) & (value <= highest);
    values[i] = justBelow ? low : justAbove ? high : value;
  }
}

} // namespace FFDP_ISA
} // namespace ffdp
