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
/** Sums over windows of rows and columns, several neighboring windows at a time.
 *
 * The windows that start at rows 0, 1, 2 and 3 share the rows 3 .. 2r. These are added up once; what is left of
 * each window is a few rows on either side, and these are shared as well: 11 additions for four windows of
 * seven rows instead of 24. Two windows share the rows 1 .. 2r likewise. No sum slides, so a result depends on
 * its own window and on its place in the group; callers group by the index in the whole volume.
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
    case 3:
      return call(std::integral_constant<int, 3>{});
#ifndef __SANITIZE_ADDRESS__ // compiling these with every access checked takes many minutes
    case 1:
      return call(std::integral_constant<int, 1>{});
    case 2:
      return call(std::integral_constant<int, 2>{});
    case 4:
      return call(std::integral_constant<int, 4>{});
#endif
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

/** rows[first] + ... + rows[last - 1], the number of rows being even. */
template <typename T>
FFDP_VOXEL_INLINE T
SumOfRows(const float * const * rows, int first, int last, std::int64_t x)
{
  T sum = LoadAs<T>(rows[first] + x) + LoadAs<T>(rows[first + 1] + x);
  for (int j = first + 2; j < last; j += 2)
  {
    sum = sum + (LoadAs<T>(rows[j] + x) + LoadAs<T>(rows[j + 1] + x));
  }
  return sum;
}

/** Four windows of a box; VAll: all of them are wanted, which saves asking. */
template <bool VAll, int VRadius>
inline void
FourBoxSums(int                   radius,
            const float * const * rows,
            std::int64_t          count,
            const bool *          wanted,
            std::int64_t          pitch,
            float *               to)
{
  const int end = 2 * (VRadius >= 0 ? VRadius : radius) + 1; // of the first window
  ForRow(count, [&](auto type, std::int64_t x) FFDP_INLINE_LAMBDA {
    using T = decltype(type);
    const T shared = SumOfRows<T>(rows, 3, end, x);
    const T below2 = shared + LoadAs<T>(rows[2] + x);
    const T below1 = below2 + LoadAs<T>(rows[1] + x);
    const T above1 = LoadAs<T>(rows[end] + x);
    const T above2 = above1 + LoadAs<T>(rows[end + 1] + x);
    if (VAll || wanted[0])
    {
      Store(below1 + LoadAs<T>(rows[0] + x), to + x);
    }
    if (VAll || wanted[1])
    {
      Store(below1 + above1, to + pitch + x);
    }
    if (VAll || wanted[2])
    {
      Store(below2 + above2, to + 2 * pitch + x);
    }
    if (VAll || wanted[3])
    {
      Store(shared + (above2 + LoadAs<T>(rows[end + 2] + x)), to + 3 * pitch + x);
    }
  });
}

/** For k < group (1, 2 or 4): to + k * pitch = sum of rows[k .. k + 2r], unless !wanted[k]. A group of 4 needs a
 * radius of 2, a group of 2 one of 1. Taps weight the rows; null stands for a box. */
inline void
GroupSums(int                   group,
          int                   radius,
          const float *         taps,
          const float * const * rows,
          std::int64_t          count,
          const bool *          wanted,
          std::int64_t          pitch,
          float *               to)
{
  if (taps || group == 1)
  {
    const float one = 1;
    for (int k = 0; k < group; ++k)
    {
      if (wanted[k])
      {
        ForRow(count, [&](auto type, std::int64_t x) FFDP_INLINE_LAMBDA {
          using T = decltype(type);
          const auto row = [&](int j) FFDP_INLINE_LAMBDA { return LoadAs<T>(rows[j + k] + x); };
          Store(WeightedSum<T>(2 * radius + 1, taps ? taps : &one, row), to + k * pitch + x);
        });
      }
    }
    return;
  }
  WithRadius(radius, taps, [&](auto knownRadius) FFDP_INLINE_LAMBDA {
    constexpr int Radius = decltype(knownRadius)::value;
    if (group == 2)
    {
      const int end = 2 * (Radius >= 0 ? Radius : radius) + 1; // of the first window
      ForRow(count, [&](auto type, std::int64_t x) FFDP_INLINE_LAMBDA {
        using T = decltype(type);
        const T shared = SumOfRows<T>(rows, 1, end, x);
        if (wanted[0])
        {
          Store(shared + LoadAs<T>(rows[0] + x), to + x);
        }
        if (wanted[1])
        {
          Store(shared + LoadAs<T>(rows[end] + x), to + pitch + x);
        }
      });
    }
    else if (wanted[0] && wanted[1] && wanted[2] && wanted[3])
    {
      FourBoxSums<true, Radius>(radius, rows, count, wanted, pitch, to);
    }
    else
    {
      FourBoxSums<false, Radius>(radius, rows, count, wanted, pitch, to);
    }
  });
}

/** Rows of the two images (and of the mask) at one y and successive planes. Those of the moving image and of
 * the mask lie at a fixed distance from those of the fixed image. */
struct ImageRows
{
  const float ** fixed;
  std::int64_t   movingOffset;
  std::int64_t   maskOffset;
  bool           masked;
  float          fixedShift;
  float          movingShift;
};

/** Sums over planes of f, m, f*f, m*m, f*m (and of the mask), f and m being a shift minus the intensity: this way
 * round it is one instruction, and only the two means change sign. */
template <typename T, bool VMasked>
struct ProductSums
{
  T f, m, ff, mm, fm, weight;

  FFDP_VOXEL_INLINE void
  Read(const ImageRows & rows, int plane, std::int64_t x)
  {
    const float * row = rows.fixed[plane] + x;
    f = rows.fixedShift - LoadAs<T>(row);
    m = rows.movingShift - LoadAs<T>(row + rows.movingOffset);
    if (VMasked)
    {
      weight = T{} + 1.0f;
      KeepMasked(row + rows.maskOffset, f);
      KeepMasked(row + rows.maskOffset, m);
      KeepMasked(row + rows.maskOffset, weight);
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

  /** Adds these sums to those written there. */
  FFDP_VOXEL_INLINE void
  AddTo(float * to, std::int64_t pitch) const
  {
    Store(LoadAs<T>(to) + f, to);
    Store(LoadAs<T>(to + pitch) + m, to + pitch);
    Store(LoadAs<T>(to + 2 * pitch) + ff, to + 2 * pitch);
    Store(LoadAs<T>(to + 3 * pitch) + mm, to + 3 * pitch);
    Store(LoadAs<T>(to + 4 * pitch) + fm, to + 4 * pitch);
    if (VMasked)
    {
      Store(LoadAs<T>(to + 5 * pitch) + weight, to + 5 * pitch);
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
inline void
GroupProductSumsWeighted(int               group,
                         int               radius,
                         const float *     taps,
                         const ImageRows & rows,
                         std::int64_t      count,
                         std::int64_t      pitch,
                         float *           to)
{
  constexpr int Quantities = VMasked ? 6 : 5;
  const float   one = 1;
  for (int k = 0; k < group; ++k)
  {
    ForRow(count, [&](auto type, std::int64_t x) FFDP_INLINE_LAMBDA {
      ProductSums<decltype(type), VMasked> sums, term;
      sums.Read(rows, k, x);
      sums.Scale(taps ? taps[0] : one);
      for (int j = 1; j <= 2 * radius; ++j)
      {
        term.Read(rows, j + k, x);
        term.Scale(taps ? taps[j] : one);
        sums.Add(term);
      }
      sums.Write(to + k * Quantities * pitch + x, pitch);
    });
  }
}

template <int VRadius, bool VMasked>
inline void
GroupProductSumsBox(int               group,
                    int               radius,
                    const ImageRows & rowsInMemory,
                    std::int64_t      count,
                    std::int64_t      pitch,
                    float *           to)
{
  const ImageRows        rows = rowsInMemory; // a copy that no store can change
  constexpr std::int64_t Quantities = VMasked ? 6 : 5;
  const int              end = 2 * (VRadius >= 0 ? VRadius : radius) + 1;
  const std::int64_t     next = Quantities * pitch; // from a plane of the group to the one above
  ForRow(
    count,
    [&](auto type, std::int64_t x) FFDP_INLINE_LAMBDA {
      using Sums = ProductSums<decltype(type), VMasked>;
      const int firstShared = group == 4 ? 3 : 1;
      Sums      shared, term;
      shared.Read(rows, firstShared, x);
      for (int j = firstShared + 1; j < end; ++j)
      {
        term.Read(rows, j, x);
        shared.Add(term);
      }
      if (group == 2)
      {
        term.Read(rows, 0, x);
        term.Add(shared);
        term.Write(to + x, pitch);
        term.Read(rows, end, x);
        term.Add(shared);
        term.Write(to + next + x, pitch);
        return;
      }
      // Downward: the planes that the first three windows add below; upward: those above. The middle windows add
      // both, and are kept where they go in the meantime: there are not registers enough.
      Sums below = shared;
      for (int k = 2; k >= 0; --k)
      {
        term.Read(rows, k, x);
        below.Add(term);
        below.Write(to + k * next + x, pitch);
      }
      Sums above;
      above.Read(rows, end, x);
      above.AddTo(to + next + x, pitch);
      term.Read(rows, end + 1, x);
      above.Add(term);
      above.AddTo(to + 2 * next + x, pitch);
      term.Read(rows, end + 2, x);
      above.Add(term);
      above.Add(shared);
      above.Write(to + 3 * next + x, pitch);
    },
    to);
}

/** As GroupSums, of the five products (six with a mask) of the image rows. Each product goes to a row of its own, a
 * pitch after the one before; the products of the next plane of the group follow. */
inline void
GroupProductSums(int               group,
                 int               radius,
                 const float *     taps,
                 const ImageRows & rows,
                 std::int64_t      count,
                 std::int64_t      pitch,
                 float *           to)
{
  const auto withMask = [&](auto masked) FFDP_INLINE_LAMBDA {
    constexpr bool Masked = decltype(masked)::value;
    if (taps || group == 1)
    {
      GroupProductSumsWeighted<Masked>(group, radius, taps, rows, count, pitch, to);
      return;
    }
    WithRadius(radius, taps, [&](auto knownRadius) FFDP_INLINE_LAMBDA {
      GroupProductSumsBox<decltype(knownRadius)::value, Masked>(group, radius, rows, count, pitch, to);
    });
  };
  if (rows.masked)
  {
    withMask(std::true_type{});
  }
  else
  {
    withMask(std::false_type{});
  }
}

/** odd[0] + even[1], and so on up to odd[VCount - 1] + even[VCount]. */
template <int VCount, typename T>
FFDP_VOXEL_INLINE T
SharedColumns(const Neighbors<T> & even, const Neighbors<T> & odd)
{
  const T last = odd.template At<VCount - 1>() + even.template At<VCount>();
  if constexpr (VCount > 1)
  {
    return SharedColumns<VCount - 1>(even, odd) + last;
  }
  else
  {
    return last;
  }
}

/** The sums along a row over the windows that start at columns 2 i and 2 i + 1, of a row kept as its even and
 * its odd columns: all but two of the values are shared. */
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
  if constexpr (VRadius > 0)
  {
    const Neighbors<T> evens(even + i), odds(odd + i);
    const T            shared = SharedColumns<VRadius>(evens, odds);
    first = shared + evens.template At<0>();
    second = shared + odds.template At<VRadius>();
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
