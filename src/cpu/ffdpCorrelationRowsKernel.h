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
/** What local correlation does with one row, once its sums over planes and rows are there: the sum over
 * columns, the terms of each window, the gradient. Rows are kept as their even columns followed, `half` floats
 * later, by their odd ones (CorrelationScratch). */
namespace ffdp
{
namespace FFDP_ISA
{

/** One row of window terms. Addresses are of the first even column; what is not asked for is null. */
struct TermsRow
{
  std::int64_t  width; ///< columns
  std::int64_t  half;
  std::int64_t  pitch;
  const float * sums;     ///< of the first quantity, a radius further left; the next is a pitch further
  const float * inverseX; ///< 1 / weights of a window along x; 0 outside the volume
  float         inverseYZ;
  float         fixedShift, movingShift;
  const float * correlationBefore; ///< sums of the correlations of the rows before
  float *       correlation;       ///< those, and the ones of this row
  float *       map = nullptr;     ///< the correlations of this row

  // Rows of the images that will be read next, from the first column of the piece; to be fetched in the meantime.
  const float * nextFixed = nullptr;
  const float * nextMoving = nullptr;

  // As far left as `sums`:
  const float * mask = nullptr;
  const float * fixed = nullptr;
  const float * moving = nullptr;

  // For the ANTs gradient, merged: even and odd columns in turn.
  float * movingGradient = nullptr;
  float * fixedGradient = nullptr;

  // For the exact gradient.
  float *      gamma = nullptr;
  float *      movingFields = nullptr; ///< gamma_moving, and a fieldPitch later the field that is added
  float *      fixedFields = nullptr;
  std::int64_t fieldPitch = 0;
};

/** Where the center of the window that starts at column 2 i (or 2 i + 1 if odd) is, relative to i. */
FFDP_VOXEL_INLINE std::int64_t
                  CenterOffset(int radius, bool odd, std::int64_t half)
{
  const int column = radius + (odd ? 1 : 0);
  return column / 2 + (column % 2 ? half : 0);
}

/** What the terms of a row are for. */
enum class TermsUse
{
  Value,
  AntsGradient,
  ExactGradient
};

template <typename T>
FFDP_VOXEL_INLINE void
StoreFields(const T & gamma, const T & perOwn, const T & meanOwn, const T & meanOther, float * to, std::int64_t pitch)
{
  const CorrelationFields<T> fields = ComputeCorrelationFields<T>(gamma, perOwn, meanOwn, meanOther);
  Store(fields.gammaOwn, to);
  Store(fields.constant, to + pitch);
}

/** Stores what the windows of the columns at `at` give, their centers being at `center`; the ANTs gradients,
 * unscaled, are left to the caller, who merges even and odd columns. */
template <TermsUse VUse, bool VMasked, typename T>
FFDP_VOXEL_INLINE void
UseTerms(const TermsRow & row, CorrelationTerms<T> & terms, std::int64_t at, std::int64_t center, T & moving, T & fixed)
{
  if (VMasked)
  {
    KeepMasked(row.mask + center, terms.correlation);
    KeepMasked(row.mask + center, terms.gamma);
  }
  Store(LoadAs<T>(row.correlationBefore + at) + terms.correlation, row.correlation + at);
  if (row.map)
  {
    Store(terms.correlation, row.map + at);
  }
  if (VUse == TermsUse::ExactGradient)
  {
    const T fixedMean = row.fixedShift - terms.fixedMean;
    const T movingMean = row.movingShift - terms.movingMean;
    Store(terms.gamma, row.gamma + at);
    if (row.movingFields)
    {
      StoreFields(terms.gamma, terms.perMoving, movingMean, fixedMean, row.movingFields + at, row.fieldPitch);
    }
    if (row.fixedFields)
    {
      StoreFields(terms.gamma, terms.perFixed, fixedMean, movingMean, row.fixedFields + at, row.fieldPitch);
    }
  }
  if (VUse == TermsUse::AntsGradient)
  {
    T f = (row.fixedShift - LoadAs<T>(row.fixed + center)) - terms.fixedMean; // minus (F - mean)
    T m = (row.movingShift - LoadAs<T>(row.moving + center)) - terms.movingMean;
    if (VMasked) // an intensity that is not a number must not show outside the mask
    {
      KeepMasked(row.mask + center, f);
      KeepMasked(row.mask + center, m);
    }
    AntsCorrelationGradient<T>(terms.gamma, terms.perMoving, m, f, moving);
    AntsCorrelationGradient<T>(terms.gamma, terms.perFixed, f, m, fixed);
  }
}

/** ComputeCorrelationTerms() of many windows. What the division gives in flat ones is not used. */
template <typename T>
FFDP_VOXEL_INLINE CorrelationTerms<T>
TermsOfWindows(const CorrelationSums<T> & sums, const T & inverseWeight, const CorrelationConstants & constants)
{
  const CorrelationWindow<T> window = ComputeCorrelationWindow<T>(sums, inverseWeight, constants);
  const auto textured = IsGreater(window.squaresF, window.flatF) & IsGreater(window.squaresM, window.flatM);
  const T    ratio = Choose(textured, window.A / window.g, T{});
  T          correlation = window.A * ratio;
  T          slope = ratio;
  if (constants.power > 1)
  {
    const auto                 counts = IsGreater(correlation, T{} + SmallestRaisedCorrelation);
    const RaisedCorrelation<T> raised = RaiseCorrelation<T>(Choose(counts, correlation, T{}), constants.power);
    correlation = raised.value;
    slope = ratio * raised.derivative;
  }
  return FinishCorrelationTerms<T>(window, ratio, Choose(textured, correlation, T{} + constants.flatValue), slope);
}

/** 1 / weight where windows count at all and have a weight, otherwise 0. */
template <typename T>
FFDP_VOXEL_INLINE T
InverseOfWeight(const T & weight, const T & inverseWithoutMask)
{
  const T    one = T{} + 1.0f;
  const auto positive = IsGreater(weight, T{});
  return Choose(positive & IsGreater(inverseWithoutMask, T{}), one / Choose(positive, weight, one), T{});
}

/** The sums over columns, and what each window gives; VMasked: the row has a mask. */
template <int VRadius, bool VMasked, TermsUse VUse>
inline void
TermsOfRow(const TermsRow &             rowInMemory,
           bool                         maskedWindows,
           int                          radius,
           const float *                taps,
           const CorrelationConstants & inMemory,
           float                        scale)
{
  const TermsRow             row = rowInMemory; // copies that no store can change
  const CorrelationConstants constants = inMemory;
  const float * const        boxOrTaps = VRadius >= 0 ? nullptr : taps;
  const std::int64_t         evenCenter = CenterOffset(radius, false, row.half);
  const std::int64_t         oddCenter = CenterOffset(radius, true, row.half);

  ForRow((row.width + 1) / 2, [&](auto type, std::int64_t i) FFDP_INLINE_LAMBDA {
    using T = decltype(type);
    if (row.nextFixed)
    {
      constexpr int LineFloats = 16;
      for (int k = 0; k < 2 * Lanes; k += LineFloats)
      {
        PrefetchLine(row.nextFixed + 2 * i + k);
        PrefetchLine(row.nextMoving + 2 * i + k);
      }
    }
    CorrelationSums<T> even, odd;
    const auto         sum = [&](int quantity, T & first, T & second) FFDP_INLINE_LAMBDA {
      const float * from = row.sums + quantity * row.pitch;
      ColumnPairSums<VRadius>(radius, boxOrTaps, from, from + row.half, i, first, second);
    };
    sum(0, even.f, odd.f);
    sum(1, even.m, odd.m);
    sum(2, even.ff, odd.ff);
    sum(3, even.mm, odd.mm);
    sum(4, even.fm, odd.fm);
    T evenInverse = LoadAs<T>(row.inverseX + i) * row.inverseYZ;
    T oddInverse = LoadAs<T>(row.inverseX + row.half + i) * row.inverseYZ;
    if (VMasked && maskedWindows)
    {
      T evenWeight, oddWeight;
      sum(5, evenWeight, oddWeight);
      evenInverse = InverseOfWeight(evenWeight, evenInverse);
      oddInverse = InverseOfWeight(oddWeight, oddInverse);
    }
    T                   evenMoving, evenFixed, oddMoving, oddFixed;
    CorrelationTerms<T> evenTerms = TermsOfWindows<T>(even, evenInverse, constants);
    UseTerms<VUse, VMasked>(row, evenTerms, i, i + evenCenter, evenMoving, evenFixed);
    CorrelationTerms<T> oddTerms = TermsOfWindows<T>(odd, oddInverse, constants);
    UseTerms<VUse, VMasked>(row, oddTerms, i + row.half, i + oddCenter, oddMoving, oddFixed);
    if (VUse == TermsUse::AntsGradient)
    {
      if (row.movingGradient)
      {
        StoreMerged(evenMoving * scale, oddMoving * scale, row.movingGradient + 2 * i);
      }
      if (row.fixedGradient)
      {
        StoreMerged(evenFixed * scale, oddFixed * scale, row.fixedGradient + 2 * i);
      }
    }
  });
}

inline void
ComputeTermsRow(const TermsRow &             row,
                TermsUse                     use,
                bool                         maskedWindows,
                int                          radius,
                const float *                taps,
                const CorrelationConstants & constants,
                float                        scale)
{
  WithRadius(radius, taps, [&](auto knownRadius) FFDP_INLINE_LAMBDA {
    constexpr int Radius = decltype(knownRadius)::value;
    const auto    withUse = [&](auto knownUse) FFDP_INLINE_LAMBDA {
      constexpr TermsUse Use = decltype(knownUse)::value;
      if (row.mask)
      {
        TermsOfRow<Radius, true, Use>(row, maskedWindows, radius, taps, constants, scale);
      }
      else
      {
        TermsOfRow<Radius, false, Use>(row, false, radius, taps, constants, scale);
      }
    };
    switch (use)
    {
      case TermsUse::Value:
        return withUse(std::integral_constant<TermsUse, TermsUse::Value>{});
      case TermsUse::AntsGradient:
        return withUse(std::integral_constant<TermsUse, TermsUse::AntsGradient>{});
      case TermsUse::ExactGradient:
        return withUse(std::integral_constant<TermsUse, TermsUse::ExactGradient>{});
    }
  });
}

/** One row of the exact gradient for one image: `own` is that image. */
struct ExactRow
{
  std::int64_t  width; ///< columns
  std::int64_t  half;
  const float * other; ///< intensities, split, at the first even column of the piece's first pair of columns
  const float * own;
  const float * mask;                  ///< or null
  std::int64_t  evenCenter, oddCenter; ///< of the columns 2 i and 2 i + 1 in other, own and mask
  const float * gamma;                 ///< sums over planes and rows, a radius further left
  const float * ownFields;
  std::int64_t  fieldPitch;
  float *       gradient; ///< merged
};

inline void
ComputeExactRow(const ExactRow & row, int radius, const float * taps, float scale)
{
  WithRadius(radius, taps, [&](auto knownRadius) FFDP_INLINE_LAMBDA {
    constexpr int       Radius = decltype(knownRadius)::value;
    const float * const boxOrTaps = Radius >= 0 ? nullptr : taps;
    ForRow((row.width + 1) / 2, [&](auto type, std::int64_t i) FFDP_INLINE_LAMBDA {
      using T = decltype(type);
      T          toOther[2], toOwn[2], constant[2];
      const auto sum = [&](const float * from, T * sums) FFDP_INLINE_LAMBDA {
        ColumnPairSums<Radius>(radius, boxOrTaps, from, from + row.half, i, sums[0], sums[1]);
      };
      sum(row.gamma, toOther);
      sum(row.ownFields, toOwn);
      sum(row.ownFields + row.fieldPitch, constant);
      const auto gradient = [&](int k, std::int64_t center) FFDP_INLINE_LAMBDA {
        const T other = LoadAs<T>(row.other + center);
        const T own = LoadAs<T>(row.own + center);
        T       value;
        ExactCorrelationGradient<T>(other, own, toOther[k], { toOwn[k], constant[k] }, scale, value);
        if (row.mask)
        {
          KeepMasked(row.mask + center, value);
        }
        return value;
      };
      StoreMerged(gradient(0, i + row.evenCenter), gradient(1, i + row.oddCenter), row.gradient + 2 * i);
    });
  });
}

} // namespace FFDP_ISA
} // namespace ffdp
