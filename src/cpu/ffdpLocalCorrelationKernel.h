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
/** The sweep of local correlation over one piece, compiled once per instruction set.
 *
 * Planes are taken in pairs, and so are rows (see ffdpWindowSumsKernel.h):
 *
 *   stage 1   image rows --z--> products summed over planes --y--> summed over rows --x--> terms of a window
 *   stage 2   fields of terms --z--> --y--> --x--> exact gradient
 *
 * With the ANTs gradient stage 1 writes the gradient and nothing is kept from plane to plane. For the
 * exact gradient stage 1 runs a radius ahead, on the piece widened by the radius, into a ring of planes.
 * What lies outside the volume is read from constant rows that add nothing to a sum.
 */
namespace ffdp
{
namespace FFDP_ISA
{

class CorrelationSweep
{
public:
  CorrelationSweep(const CorrelationTask & task, const CorrelationPiece & piece)
    : m_Task(task)
    , m_Piece(piece)
    , m_Layout(task, piece.x1 - piece.x0, piece.y1 - piece.y0)
    , m_Quantities(task.WindowsAreMasked() ? 6 : 5)
    , m_Fields(task.Fields())
    , m_GroupZ(task.radius[2] > 0 ? 2 : 1)
    , m_GroupY(task.radius[1] > 0 ? 2 : 1)
  {
    const Extent & size = task.fixed.domain;
    const int *    reach = task.radius;
    const bool     widen = task.exact;
    m_X0 = Max(0, piece.x0 - (widen ? reach[0] : 0));
    m_X1 = Min(size.x, piece.x1 + (widen ? reach[0] : 0));
    m_Y0 = Max(0, piece.y0 - (widen ? reach[1] : 0));
    m_Y1 = Min(size.y, piece.y1 + (widen ? reach[1] : 0));
    m_Z0 = Max(0, piece.z0 - (widen ? reach[2] : 0));
    m_Z1 = Min(size.z, piece.z1 + (widen ? reach[2] : 0));
    m_NextImagePlane = Max(0, m_Z0 - reach[2]);
    // Only what lies outside the volume must be zero, and it is never written: once is enough.
    for (std::int64_t i = 0; i < m_Layout.total; ++i)
    {
      piece.scratch[i] = 0.0f;
    }
  }

  void
  Run()
  {
    const std::int64_t first = m_Z0 / m_GroupZ * m_GroupZ;
    if (!m_Task.exact)
    {
      for (std::int64_t z = first; z < m_Z1; z += m_GroupZ)
      {
        this->ComputeTerms(z);
      }
      return;
    }
    std::int64_t ready = first;
    for (std::int64_t z = m_Piece.z0 / m_GroupZ * m_GroupZ; z < m_Piece.z1; z += m_GroupZ)
    {
      for (; ready < Min(m_Z1, z + m_GroupZ + m_Task.radius[2]); ready += m_GroupZ)
      {
        this->ComputeTerms(ready);
      }
      this->ComputeExactGradient(z);
    }
  }

private:
  static std::int64_t
  Max(std::int64_t a, std::int64_t b)
  {
    return a > b ? a : b;
  }
  static std::int64_t
  Min(std::int64_t a, std::int64_t b)
  {
    return a < b ? a : b;
  }

  /** As many as a row of all channels has. */
  float *
  Zeros() const
  {
    return m_Piece.scratch + m_Layout.constantRows;
  }

  /** Row y of plane z of the fixed (0) or moving (1) image in the ring of image planes, at column ImageX0(). */
  float *
  ImageRow(int image, std::int64_t y, std::int64_t z) const
  {
    const std::int64_t slot = z % PairLength(m_Task.radius[2]);
    const std::int64_t row = y - (m_Y0 - m_Task.radius[1]);
    return m_Piece.scratch + m_Layout.images + ((slot * 2 + image) * m_Layout.imageRows + row) * m_Layout.pitch;
  }

  /** Columns of the images that windows reach. */
  std::int64_t
  ImageX0() const
  {
    return Max(0, m_X0 - m_Task.radius[0]);
  }
  std::int64_t
  ImageX1() const
  {
    return Min(m_Task.fixed.domain.x, m_X1 + m_Task.radius[0]);
  }

  /** Copies planes of both images into the ring, up to but without `end`. Summing over planes straight from
   * the images would read a dozen addresses that often differ by a power of two: they would push each other
   * out of the cache. */
  void
  ReadImages(std::int64_t end)
  {
    const std::int64_t y0 = Max(0, m_Y0 - m_Task.radius[1]);
    const std::int64_t y1 = Min(m_Task.fixed.domain.y, m_Y1 + m_Task.radius[1]);
    const std::int64_t x0 = this->ImageX0();
    const std::int64_t width = this->ImageX1() - x0;
    for (; m_NextImagePlane < end; ++m_NextImagePlane)
    {
      for (std::int64_t y = y0; y < y1; ++y)
      {
        CopyRow(m_Task.fixed.Row(y, m_NextImagePlane) + x0, width, this->ImageRow(0, y, m_NextImagePlane));
        CopyRow(m_Task.moving.Row(y, m_NextImagePlane) + x0, width, this->ImageRow(1, y, m_NextImagePlane));
      }
    }
  }

  FFDP_VOXEL_INLINE static void
  CopyRow(const float * from, std::int64_t count, float * to)
  {
    ForRow(count,
           [&](auto type, std::int64_t x) FFDP_INLINE_LAMBDA { Store(LoadAs<decltype(type)>(from + x), to + x); });
  }

  /** Field f of plane z, row y, at column m_Piece.x0 - radius. */
  float *
  FieldRow(int f, std::int64_t y, std::int64_t z) const
  {
    const std::int64_t slot = z % m_Layout.fieldPlanes;
    const std::int64_t row = y - (m_Piece.y0 - m_Task.radius[1]);
    return m_Piece.scratch + m_Layout.fields + ((slot * m_Fields + f) * m_Layout.fieldRows + row) * m_Layout.pitch;
  }

  /** A value near those of the tile in plane z; any would be right, this one keeps sums small. */
  float
  Shift(const VolumeView<const float> & image, std::int64_t z) const
  {
    double       sum = 0;
    std::int64_t count = 0;
    for (std::int64_t y = m_Piece.y0; y < m_Piece.y1; y += 4)
    {
      RowSum row;
      row.Add(image.Row(y, z) + m_Piece.x0, m_Piece.x1 - m_Piece.x0);
      sum += row.Total();
      count += m_Piece.x1 - m_Piece.x0;
    }
    const auto mean = float(sum / double(count));
    return mean - mean == 0.0f ? mean : 0.0f; // not finite: NaN stays where it is
  }

  /** Sums rows over y, two windows at a time, and hands the result over row by row.
   *
   * fill(y, to) writes row y of every channel, channel c a pitch after channel c - 1; finish(y, sums) gets the
   * sums over the windows centered at row y of [y0, y1) in the same form. Channels [firstChannel, endChannel)
   * are in use. */
  template <typename TFill, typename TFinish>
  void
  SweepRows(std::int64_t    y0,
            std::int64_t    y1,
            int             firstChannel,
            int             endChannel,
            const TFill &   fill,
            const TFinish & finish)
  {
    const int          r = m_Task.radius[1];
    const int          ringRows = PairLength(r);
    const std::int64_t pitch = m_Layout.pitch;
    const std::int64_t fillY0 = Max(0, y0 - r);
    const std::int64_t fillY1 = Min(m_Task.fixed.domain.y, y1 + r);
    const std::int64_t rowPitch = CorrelationScratch::Channels * pitch;
    const std::int64_t used = firstChannel * pitch; // channels lie side by side: one long row
    float *            ring = m_Piece.scratch + m_Layout.rowRing;
    float *            sums = m_Piece.scratch + m_Layout.rowSums;
    const float **     rows = m_Piece.rows;

    std::int64_t next = fillY0;
    for (std::int64_t y = y0 / m_GroupY * m_GroupY; y < y1; y += m_GroupY)
    {
      for (; next < Min(fillY1, y + m_GroupY + r); ++next)
      {
        fill(next, ring + (next % ringRows) * rowPitch);
      }
      const bool wanted[2] = { y >= y0, m_GroupY == 2 && y + 1 < y1 };
      for (int j = 0; j < ringRows; ++j)
      {
        const std::int64_t at = y - r + j;
        rows[j] = at >= fillY0 && at < next ? ring + (at % ringRows) * rowPitch + used : this->Zeros();
      }
      PairSums(r,
               m_Task.taps[1],
               rows,
               (endChannel - firstChannel) * pitch,
               wanted[0] ? sums + used : nullptr,
               wanted[1] ? sums + rowPitch + used : nullptr);
      for (int k = 0; k < 2; ++k)
      {
        if (wanted[k])
        {
          finish(y + k, sums + k * rowPitch);
        }
      }
    }
  }

  /** Stage 1 for the planes z and, if planes come in pairs, z + 1. */
  void
  ComputeTerms(std::int64_t z)
  {
    const bool wanted[2] = { z >= m_Z0 && z < m_Z1, m_GroupZ == 2 && z + 1 >= m_Z0 && z + 1 < m_Z1 };
    const int  r = m_Task.radius[2];
    const int  length = PairLength(r);

    ImageRows rows;
    rows.fixed = m_Piece.rows + length;
    rows.moving = m_Piece.rows + 2 * length;
    rows.mask = m_Task.WindowsAreMasked() ? m_Piece.maskRows : nullptr;
    rows.fixedShift = this->Shift(m_Task.fixed, z);
    rows.movingShift = this->Shift(m_Task.moving, z);
    float * fixedFill = this->Zeros() + CorrelationScratch::Channels * m_Layout.pitch;
    float * movingFill = fixedFill + m_Layout.pitch;
    for (std::int64_t i = 0; i < m_Layout.pitch; ++i)
    {
      fixedFill[i] = rows.fixedShift;
      movingFill[i] = rows.movingShift;
    }
    const auto * maskFill = reinterpret_cast<const std::uint8_t *>(this->Zeros());

    this->ReadImages(Min(m_Task.fixed.domain.z, z + r + (wanted[1] ? 2 : 1)));
    const std::int64_t begin = this->ImageX0();
    const std::int64_t end = this->ImageX1();
    const std::int64_t offset = begin - (m_X0 - m_Task.radius[0]); // a row of sums starts a radius left of m_X0

    const auto fill = [&](std::int64_t y, float * to) {
      for (int j = 0; j < length; ++j)
      {
        const std::int64_t at = z - r + j;
        const bool         needed = (j > 0 || wanted[0]) && (j + 1 < length || wanted[1]);
        const bool         inside = needed && at >= 0 && at < m_Task.fixed.domain.z;
        rows.fixed[j] = inside ? this->ImageRow(0, y, at) : fixedFill;
        rows.moving[j] = inside ? this->ImageRow(1, y, at) : movingFill;
        if (rows.mask)
        {
          rows.mask[j] = inside ? m_Task.mask.Row(y, at) + begin : maskFill;
        }
      }
      PairProductSums(r,
                      m_Task.taps[2],
                      rows,
                      end - begin,
                      m_Layout.pitch,
                      wanted[0] ? to + offset : nullptr,
                      wanted[1] ? to + m_Quantities * m_Layout.pitch + offset : nullptr);
    };
    const auto finish = [&](std::int64_t y, const float * sums) {
      for (int k = 0; k < 2; ++k)
      {
        if (wanted[k])
        {
          this->FinishTerms(y, z + k, sums + k * m_Quantities * m_Layout.pitch, rows.fixedShift, rows.movingShift);
        }
      }
    };
    this->SweepRows(m_Y0, m_Y1, wanted[0] ? 0 : m_Quantities, (wanted[1] ? 2 : 1) * m_Quantities, fill, finish);
  }

  /** The sum over x, and what a window gives, for one row. */
  void
  FinishTerms(std::int64_t y, std::int64_t z, const float * sums, float fixedShift, float movingShift)
  {
    TermsRow row;
    row.sums = sums;
    row.inverseX = m_Task.inverseWeight[0] + m_X0;
    row.inverseYZ = m_Task.inverseWeight[1][y] * m_Task.inverseWeight[2][z];
    row.mask = m_Task.mask ? m_Task.mask.Row(y, z) + m_X0 : nullptr;
    row.fixedShift = fixedShift;
    row.movingShift = movingShift;
    row.correlation = m_Piece.scratch + m_Layout.correlationRow;

    const bool                      owned = y >= m_Piece.y0 && y < m_Piece.y1 && z >= m_Piece.z0 && z < m_Piece.z1;
    const LocalCorrelationOutputs & outputs = m_Task.outputs;
    if (m_Task.exact)
    {
      for (int f = 0; f < m_Fields; ++f)
      {
        row.fields[f] = this->FieldRow(f, y, z) + (m_X0 - (m_Piece.x0 - m_Task.radius[0]));
      }
    }
    else if (outputs.movingGradient || outputs.fixedGradient)
    {
      row.fixed = m_Task.fixed.Row(y, z) + m_X0;
      row.moving = m_Task.moving.Row(y, z) + m_X0;
      row.movingGradient = outputs.movingGradient ? outputs.movingGradient.Row(y, z) + m_X0 : nullptr;
      row.fixedGradient = outputs.fixedGradient ? outputs.fixedGradient.Row(y, z) + m_X0 : nullptr;
    }

    WithRadius(m_Task.radius[0], m_Task.taps[0], [&](auto knownRadius) FFDP_INLINE_LAMBDA {
      constexpr int Radius = decltype(knownRadius)::value;
      if (m_Task.WindowsAreMasked())
      {
        this->TermsOfRow<Radius, true>(row);
      }
      else
      {
        this->TermsOfRow<Radius, false>(row);
      }
    });
    if (owned)
    {
      this->Account(y, z, row);
    }
  }

  /** Addresses of one row of stage 1; what is not asked for is null. All start at column m_X0. */
  struct TermsRow
  {
    const float *        sums; ///< of the first quantity, a radius left of m_X0; the next is a pitch further
    const float *        inverseX;
    float                inverseYZ;
    const std::uint8_t * mask;
    float                fixedShift, movingShift;
    float *              correlation;
    const float *        fixed = nullptr;
    const float *        moving = nullptr;
    float *              movingGradient = nullptr;
    float *              fixedGradient = nullptr;
    float *              fields[5];
  };

  template <int VRadius, bool VMasked>
  void
  TermsOfRow(const TermsRow & row) const
  {
    const CorrelationConstants constants = m_Task.constants;
    const float                scale = m_Task.gradientScale; // the weight of a window's center is 1
    const int                  r = m_Task.radius[0];
    const float *              taps = VRadius >= 0 ? nullptr : m_Task.taps[0];
    const std::int64_t         pitch = m_Layout.pitch;

    ForRow(m_X1 - m_X0, [&](auto type, std::int64_t x) FFDP_INLINE_LAMBDA {
      using T = decltype(type);
      CorrelationSums<T> sums;
      sums.f = RowWindowSum<T, VRadius>(r, taps, row.sums, x);
      sums.m = RowWindowSum<T, VRadius>(r, taps, row.sums + pitch, x);
      sums.ff = RowWindowSum<T, VRadius>(r, taps, row.sums + 2 * pitch, x);
      sums.mm = RowWindowSum<T, VRadius>(r, taps, row.sums + 3 * pitch, x);
      sums.fm = RowWindowSum<T, VRadius>(r, taps, row.sums + 4 * pitch, x);
      T inverse;
      if (VMasked)
      {
        const T weight = RowWindowSum<T, VRadius>(r, taps, row.sums + 5 * pitch, x);
        inverse = (T{} + 1.0f) / (weight > T{} ? weight : T{} + 1.0f);
      }
      else
      {
        inverse = LoadAs<T>(row.inverseX + x) * row.inverseYZ;
      }
      CorrelationTerms<T> terms = ComputeCorrelationTerms<T>(sums, inverse, constants);
      if (row.mask)
      {
        KeepMasked(row.mask + x, terms.correlation);
        KeepMasked(row.mask + x, terms.gamma);
        KeepMasked(row.mask + x, terms.gammaFixed);
        KeepMasked(row.mask + x, terms.gammaMoving);
      }
      Store(terms.correlation, row.correlation + x);
      if (m_Task.exact)
      {
        this->StoreFields(row, x, terms);
      }
      else if (row.fixed)
      {
        const T f = LoadAs<T>(row.fixed + x) - row.fixedShift - terms.fixedMean;
        const T m = LoadAs<T>(row.moving + x) - row.movingShift - terms.movingMean;
        if (row.movingGradient)
        {
          T gradient = scale * (terms.gamma * f - terms.gammaMoving * m);
          StoreGradient(row, x, gradient, row.movingGradient);
        }
        if (row.fixedGradient)
        {
          T gradient = scale * (terms.gamma * m - terms.gammaFixed * f);
          StoreGradient(row, x, gradient, row.fixedGradient);
        }
      }
    });
  }

  /** An intensity that is not a number outside the mask must not show in the gradient. */
  template <typename T>
  FFDP_VOXEL_INLINE static void
  StoreGradient(const TermsRow & row, std::int64_t x, T & gradient, float * to)
  {
    if (row.mask)
    {
      KeepMasked(row.mask + x, gradient);
    }
    Store(gradient, to + x);
  }

  /** gamma, then per image its own gamma and gamma_own mean_own - gamma mean_other. */
  template <typename T>
  FFDP_VOXEL_INLINE void
  StoreFields(const TermsRow & row, std::int64_t x, const CorrelationTerms<T> & terms) const
  {
    const T fixedMean = terms.fixedMean + row.fixedShift;
    const T movingMean = terms.movingMean + row.movingShift;
    Store(terms.gamma, row.fields[0] + x);
    int next = 1;
    if (m_Task.outputs.movingGradient)
    {
      Store(terms.gammaMoving, row.fields[next++] + x);
      Store(terms.gammaMoving * movingMean - terms.gamma * fixedMean, row.fields[next++] + x);
    }
    if (m_Task.outputs.fixedGradient)
    {
      Store(terms.gammaFixed, row.fields[next++] + x);
      Store(terms.gammaFixed * fixedMean - terms.gamma * movingMean, row.fields[next++] + x);
    }
  }

  /** Adds a row of the piece to the value, and copies it to the map. */
  void
  Account(std::int64_t y, std::int64_t z, const TermsRow & row)
  {
    const std::int64_t width = m_Piece.x1 - m_Piece.x0;
    const float *      correlation = row.correlation + (m_Piece.x0 - m_X0);
    RowSum             sum;
    sum.Add(correlation, width);
    const std::int64_t at = (z - m_Piece.z0) * m_Piece.stride;
    m_Piece.sums[at] += sum.Total();
    std::int64_t count = width;
    if (row.mask)
    {
      const std::uint8_t * mask = row.mask + (m_Piece.x0 - m_X0);
      count = 0;
      for (std::int64_t x = 0; x < width; ++x)
      {
        count += mask[x] != 0;
      }
    }
    m_Piece.counts[at] += count;
    if (m_Task.outputs.map)
    {
      float * to = m_Task.outputs.map.Row(y, z) + m_Piece.x0;
      for (std::int64_t x = 0; x < width; ++x)
      {
        to[x] = correlation[x];
      }
    }
  }

  /** Stage 2 for the planes z and, if planes come in pairs, z + 1. */
  void
  ComputeExactGradient(std::int64_t z)
  {
    const bool         wanted[2] = { z >= m_Piece.z0, m_GroupZ == 2 && z + 1 < m_Piece.z1 };
    const int          r = m_Task.radius[2];
    const int          length = PairLength(r);
    const std::int64_t width = m_Piece.x1 - m_Piece.x0 + 2 * m_Task.radius[0];
    const float **     planes = m_Piece.rows + length;

    const auto fill = [&](std::int64_t y, float * to) {
      for (int f = 0; f < m_Fields; ++f)
      {
        for (int j = 0; j < length; ++j)
        {
          const std::int64_t at = z - r + j;
          planes[j] = at >= m_Z0 && at < m_Z1 ? this->FieldRow(f, y, at) : this->Zeros();
        }
        PairSums(r,
                 m_Task.taps[2],
                 planes,
                 width,
                 wanted[0] ? to + f * m_Layout.pitch : nullptr,
                 wanted[1] ? to + (m_Fields + f) * m_Layout.pitch : nullptr);
      }
    };
    const auto finish = [&](std::int64_t y, const float * sums) {
      for (int k = 0; k < 2; ++k)
      {
        if (wanted[k])
        {
          this->FinishGradient(y, z + k, sums + k * m_Fields * m_Layout.pitch);
        }
      }
    };
    this->SweepRows(m_Piece.y0, m_Piece.y1, wanted[0] ? 0 : m_Fields, (wanted[1] ? 2 : 1) * m_Fields, fill, finish);
  }

  void
  FinishGradient(std::int64_t y, std::int64_t z, const float * sums) const
  {
    const LocalCorrelationOutputs & outputs = m_Task.outputs;
    const float *                   fixed = m_Task.fixed.Row(y, z) + m_Piece.x0;
    const float *                   moving = m_Task.moving.Row(y, z) + m_Piece.x0;
    const std::uint8_t *            mask = m_Task.WindowsAreMasked() ? m_Task.mask.Row(y, z) + m_Piece.x0 : nullptr;
    const std::int64_t              pitch = m_Layout.pitch;
    const float *                   next = sums + pitch;
    if (outputs.movingGradient)
    {
      this->GradientOfRow(fixed, moving, mask, sums, next, outputs.movingGradient.Row(y, z) + m_Piece.x0);
      next += 2 * pitch;
    }
    if (outputs.fixedGradient)
    {
      this->GradientOfRow(moving, fixed, mask, sums, next, outputs.fixedGradient.Row(y, z) + m_Piece.x0);
    }
  }

  /** (other * W(gamma) - own * W(gamma_own)) + W(gamma_own mean_own - gamma mean_other), times the scale. */
  void
  GradientOfRow(const float *        other,
                const float *        own,
                const std::uint8_t * mask,
                const float *        gamma,
                const float *        ownFields,
                float *              gradient) const
  {
    WithRadius(m_Task.radius[0], m_Task.taps[0], [&](auto knownRadius) FFDP_INLINE_LAMBDA {
      constexpr int      Radius = decltype(knownRadius)::value;
      const int          r = m_Task.radius[0];
      const float *      taps = Radius >= 0 ? nullptr : m_Task.taps[0];
      const float        scale = m_Task.gradientScale;
      const std::int64_t pitch = m_Layout.pitch;
      ForRow(m_Piece.x1 - m_Piece.x0, [&](auto type, std::int64_t x) FFDP_INLINE_LAMBDA {
        using T = decltype(type);
        const T toOther = RowWindowSum<T, Radius>(r, taps, gamma, x);
        const T toOwn = RowWindowSum<T, Radius>(r, taps, ownFields, x);
        const T constant = RowWindowSum<T, Radius>(r, taps, ownFields + pitch, x);
        T       value = scale * ((LoadAs<T>(other + x) * toOther - LoadAs<T>(own + x) * toOwn) + constant);
        if (mask)
        {
          KeepMasked(mask + x, value);
        }
        Store(value, gradient + x);
      });
    });
  }

  const CorrelationTask &  m_Task;
  const CorrelationPiece & m_Piece;
  const CorrelationScratch m_Layout;
  const int                m_Quantities;
  const int                m_Fields;
  const int                m_GroupZ;
  const int                m_GroupY;
  std::int64_t             m_NextImagePlane;
  std::int64_t             m_X0, m_X1, m_Y0, m_Y1, m_Z0, m_Z1; ///< where terms are needed
};

inline void
SweepCorrelationPiece(const CorrelationTask & task, const CorrelationPiece & piece)
{
  CorrelationSweep(task, piece).Run();
}

} // namespace FFDP_ISA
} // namespace ffdp
