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
/** Sums over windows of rows and columns, two neighboring windows at a time.
 *
 * The windows of rows 0 .. 2r and 1 .. 2r+1 share the rows 1 .. 2r. These are added up once, and the first
 * or the last row is added to them: half the additions of two direct sums, and still no sum that slides,
 * so a result depends on its own window and on which of the two it is (callers pair by the parity of the
 * row's or plane's index in the whole volume).
 */
namespace ffdp
{
namespace FFDP_ISA
{

/** Calls with the radius as a constant where loops over a box are worth unrolling, otherwise with -1. */
template <typename TCall>
FFDP_VOXEL_INLINE void
WithRadius(int radius, const float * taps, const TCall & call)
{
  switch (taps ? -1 : radius)
  {
    case 1:
      return call(std::integral_constant<int, 1>{});
    case 2:
      return call(std::integral_constant<int, 2>{});
    case 3:
      return call(std::integral_constant<int, 3>{});
    case 4:
      return call(std::integral_constant<int, 4>{});
    default:
      return call(std::integral_constant<int, -1>{});
  }
}

/** taps[0] get(0) + taps[1] get(1) + ... */
template <typename T, typename TGet>
FFDP_VOXEL_INLINE T
WeightedSum(int length, const float * taps, const TGet & get)
{
  T sum = get(0) * taps[0];
  for (int j = 1; j < length; ++j)
  {
    sum = sum + get(j) * taps[j];
  }
  return sum;
}

/** first = sum of rows[0 .. 2r], second = sum of rows[1 .. 2r+1]; either may be null. rows has 2r+2 entries.
 * Taps weight the rows; null stands for a box. */
inline void
PairSums(int radius, const float * taps, const float * const * rows, std::int64_t count, float * first, float * second)
{
  if (taps)
  {
    ForRow(count, [&](auto type, std::int64_t x) FFDP_INLINE_LAMBDA {
      using T = decltype(type);
      const auto lower = [&](int j) FFDP_INLINE_LAMBDA { return LoadAs<T>(rows[j] + x); };
      const auto upper = [&](int j) FFDP_INLINE_LAMBDA { return LoadAs<T>(rows[j + 1] + x); };
      if (first)
      {
        Store(WeightedSum<T>(2 * radius + 1, taps, lower), first + x);
      }
      if (second)
      {
        Store(WeightedSum<T>(2 * radius + 1, taps, upper), second + x);
      }
    });
    return;
  }
  WithRadius(radius, taps, [&](auto knownRadius) FFDP_INLINE_LAMBDA {
    const int last = 2 * (knownRadius.value >= 0 ? knownRadius.value : radius) + 1;
    ForRow(count, [&](auto type, std::int64_t x) FFDP_INLINE_LAMBDA {
      using T = decltype(type);
      T shared = T{};
      if (last > 1) // then the number of shared rows is even
      {
        shared = LoadAs<T>(rows[1] + x) + LoadAs<T>(rows[2] + x);
        for (int j = 3; j < last; j += 2)
        {
          shared = shared + (LoadAs<T>(rows[j] + x) + LoadAs<T>(rows[j + 1] + x));
        }
      }
      if (first)
      {
        Store(shared + LoadAs<T>(rows[0] + x), first + x);
      }
      if (second)
      {
        Store(shared + LoadAs<T>(rows[last] + x), second + x);
      }
    });
  });
}

/** Rows of the two images (and of the mask, or null) at one y and 2r+2 successive planes. */
struct ImageRows
{
  const float ** fixed;
  const float ** moving;
  const float ** mask;
  float          fixedShift;
  float          movingShift;
};

/** Sums over planes of f, m, f*f, m*m, f*m (and of the mask), f and m being intensities minus their shift. */
template <typename T, bool VMasked>
struct ProductSums
{
  T f, m, ff, mm, fm, weight;

  FFDP_VOXEL_INLINE void
  Read(const ImageRows & rows, int plane, std::int64_t x)
  {
    f = LoadAs<T>(rows.fixed[plane] + x) - rows.fixedShift;
    m = LoadAs<T>(rows.moving[plane] + x) - rows.movingShift;
    if (VMasked)
    {
      weight = T{} + 1.0f;
      KeepMasked(rows.mask[plane] + x, f);
      KeepMasked(rows.mask[plane] + x, m);
      KeepMasked(rows.mask[plane] + x, weight);
    }
    ff = f * f;
    mm = m * m;
    fm = f * m;
  }

  FFDP_VOXEL_INLINE void
  Add(const ProductSums & other)
  {
    f = f + other.f;
    m = m + other.m;
    ff = ff + other.ff;
    mm = mm + other.mm;
    fm = fm + other.fm;
    if (VMasked)
    {
      weight = weight + other.weight;
    }
  }

  FFDP_VOXEL_INLINE void
  Scale(float factor)
  {
    f = f * factor;
    m = m * factor;
    ff = ff * factor;
    mm = mm * factor;
    fm = fm * factor;
    if (VMasked)
    {
      weight = weight * factor;
    }
  }

  FFDP_VOXEL_INLINE void
  Write(float * to, std::int64_t pitch) const
  {
    Store(f, to);
    Store(m, to + pitch);
    Store(ff, to + 2 * pitch);
    Store(mm, to + 3 * pitch);
    Store(fm, to + 4 * pitch);
    if (VMasked)
    {
      Store(weight, to + 5 * pitch);
    }
  }
};

template <bool VMasked>
FFDP_VOXEL_INLINE void
PairProductSumsWeighted(int               radius,
                        const float *     taps,
                        const ImageRows & rows,
                        std::int64_t      count,
                        std::int64_t      pitch,
                        float *           first,
                        float *           second)
{
  for (int upper = 0; upper < 2; ++upper)
  {
    float * to = upper ? second : first;
    if (to)
    {
      ForRow(count, [&](auto type, std::int64_t x) FFDP_INLINE_LAMBDA {
        ProductSums<decltype(type), VMasked> sums, term;
        sums.Read(rows, upper, x);
        sums.Scale(taps[0]);
        for (int j = 1; j <= 2 * radius; ++j)
        {
          term.Read(rows, j + upper, x);
          term.Scale(taps[j]);
          sums.Add(term);
        }
        sums.Write(to + x, pitch);
      });
    }
  }
}

template <int VRadius, bool VMasked>
FFDP_VOXEL_INLINE void
PairProductSumsBox(int               radius,
                   const ImageRows & rows,
                   std::int64_t      count,
                   std::int64_t      pitch,
                   float *           first,
                   float *           second)
{
  const int last = 2 * (VRadius >= 0 ? VRadius : radius) + 1;
  ForRow(count, [&](auto type, std::int64_t x) FFDP_INLINE_LAMBDA {
    ProductSums<decltype(type), VMasked> shared = {}, term;
    if (last > 1)
    {
      shared.Read(rows, 1, x);
      for (int j = 2; j < last; ++j)
      {
        term.Read(rows, j, x);
        shared.Add(term);
      }
    }
    if (first)
    {
      term.Read(rows, 0, x);
      term.Add(shared);
      term.Write(first + x, pitch);
    }
    if (second)
    {
      term.Read(rows, last, x);
      term.Add(shared);
      term.Write(second + x, pitch);
    }
  });
}

/** As PairSums, of the five products (six with a mask) of the image rows. Each product goes to a row of its own,
 * a pitch after the one before. */
inline void
PairProductSums(int               radius,
                const float *     taps,
                const ImageRows & rows,
                std::int64_t      count,
                std::int64_t      pitch,
                float *           first,
                float *           second)
{
  const auto withMask = [&](auto masked) FFDP_INLINE_LAMBDA {
    constexpr bool Masked = decltype(masked)::value;
    if (taps)
    {
      PairProductSumsWeighted<Masked>(radius, taps, rows, count, pitch, first, second);
      return;
    }
    WithRadius(radius, taps, [&](auto knownRadius) FFDP_INLINE_LAMBDA {
      PairProductSumsBox<decltype(knownRadius)::value, Masked>(radius, rows, count, pitch, first, second);
    });
  };
  if (rows.mask)
  {
    withMask(std::true_type{});
  }
  else
  {
    withMask(std::false_type{});
  }
}

/** The sums along a row over the windows that start at columns 2 i and 2 i + 1, of a row kept as its even and
 * its odd columns: again all but two of the values are shared. */
template <int VRadius, typename T>
FFDP_VOXEL_INLINE void
ColumnPairSums(int           radius,
               const float * taps,
               const float * even,
               const float * odd,
               std::int64_t  i,
               T &           first,
               T &           second)
{
  const int r = VRadius >= 0 ? VRadius : radius;
  if (taps)
  {
    const auto column = [&](int j) FFDP_INLINE_LAMBDA { return LoadAs<T>((j % 2 ? odd : even) + i + j / 2); };
    first = WeightedSum<T>(2 * r + 1, taps, column);
    second = WeightedSum<T>(2 * r + 1, taps, [&](int j) FFDP_INLINE_LAMBDA { return column(j + 1); });
    return;
  }
  T shared = T{};
  if (r > 0)
  {
    shared = LoadAs<T>(odd + i) + LoadAs<T>(even + i + 1);
    for (int j = 1; j < r; ++j)
    {
      shared = shared + (LoadAs<T>(odd + i + j) + LoadAs<T>(even + i + j + 1));
    }
  }
  first = shared + LoadAs<T>(even + i);
  second = shared + LoadAs<T>(odd + i + r);
}

} // namespace FFDP_ISA
} // namespace ffdp
