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
 * Planes, rows and columns are taken in pairs (see ffdpWindowSumsKernel.h):
 *
 *   stage 1   image rows --z--> products summed over planes --y--> summed over rows --x--> terms of a window
 *   stage 2   fields of terms --z--> --y--> --x--> exact gradient
 *
 * With the ANTs gradient stage 1 writes the gradient and nothing is kept from plane to plane. For the
 * exact gradient stage 1 runs a radius ahead, on the piece widened by the radius, into a ring of planes.
 * What lies outside the volume is read from constant rows that add nothing to a sum, or from columns that
 * are zero and never written.
 */
namespace ffdp
{
namespace FFDP_ISA
{

class CorrelationSweep : private CorrelationTile
{
public:
  CorrelationSweep(const CorrelationTask & task, const CorrelationPiece & piece)
    : CorrelationTile(task, piece)
  {}

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
  /** Sums rows over y, two windows at a time, and hands the result over row by row.
   *
   * fill(y, to) writes row y of every channel, channel c a pitch after channel c - 1; finish(y, sums) gets the
   * sums over the windows centered at row y of [y0, y1) in the same form. Channels [firstChannel, endChannel)
   * are in use. The ring keeps the rows; each stage has its own, because their zero columns differ. */
  template <typename TFill, typename TFinish>
  void
  SweepRows(float *         ring,
            std::int64_t    y0,
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
    rows.mask = m_Task.WindowsAreMasked() ? m_Piece.rows + 3 * length : nullptr;
    rows.fixedShift = this->Shift(m_Task.fixed, z);
    rows.movingShift = this->Shift(m_Task.moving, z);
    float * fixedFill = m_Piece.scratch + m_Layout.fixedFill;
    float * movingFill = m_Piece.scratch + m_Layout.movingFill;
    for (std::int64_t i = 0; i < m_Layout.pitch; ++i)
    {
      fixedFill[i] = rows.fixedShift;
      movingFill[i] = rows.movingShift;
    }
    this->ReadImages(Min(m_Task.fixed.domain.z, z + r + (wanted[1] ? 2 : 1)));

    // Even columns, then odd ones; those that the volume has.
    const std::int64_t begin[2] = { (this->FirstColumn() + 1) / 2, this->FirstColumn() / 2 };
    const std::int64_t end[2] = { (this->EndColumn() + 1) / 2, this->EndColumn() / 2 };

    const auto fill = [&](std::int64_t y, float * to) {
      for (int odd = 0; odd < 2; ++odd)
      {
        const std::int64_t at = begin[odd] + odd * m_Layout.half;
        for (int j = 0; j < length; ++j)
        {
          const std::int64_t plane = z - r + j;
          const bool         needed = (j > 0 || wanted[0]) && (j + 1 < length || wanted[1]);
          const bool         inside = needed && plane >= 0 && plane < m_Task.fixed.domain.z;
          rows.fixed[j] = inside ? this->ImageRow(0, y, plane) + at : fixedFill;
          rows.moving[j] = inside ? this->ImageRow(1, y, plane) + at : movingFill;
          if (rows.mask)
          {
            rows.mask[j] = inside ? this->ImageRow(2, y, plane) + at : this->Zeros();
          }
        }
        PairProductSums(r,
                        m_Task.taps[2],
                        rows,
                        end[odd] - begin[odd],
                        m_Layout.pitch,
                        wanted[0] ? to + at : nullptr,
                        wanted[1] ? to + m_Quantities * m_Layout.pitch + at : nullptr);
      }
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
    this->SweepRows(m_Piece.scratch + m_Layout.productRing,
                    m_Y0,
                    m_Y1,
                    wanted[0] ? 0 : m_Quantities,
                    (wanted[1] ? 2 : 1) * m_Quantities,
                    fill,
                    finish);
  }

  /** The sum over x, and what a window gives, for one row. */
  void
  FinishTerms(std::int64_t y, std::int64_t z, const float * sums, float fixedShift, float movingShift)
  {
    const LocalCorrelationOutputs & outputs = m_Task.outputs;
    float *                         merged = m_Piece.scratch + m_Layout.gradientRow;

    TermsRow row;
    row.width = m_Width;
    row.half = m_Layout.half;
    row.pitch = m_Layout.pitch;
    row.sums = sums;
    row.inverseX = m_Piece.scratch + m_Layout.inverseX;
    row.inverseYZ = m_Task.inverseWeight[1][y] * m_Task.inverseWeight[2][z];
    row.mask = m_Task.mask ? this->ImageRow(2, y, z) : nullptr;
    row.fixedShift = fixedShift;
    row.movingShift = movingShift;
    row.correlation = m_Piece.scratch + m_Layout.correlationRow;
    if (m_Task.exact)
    {
      row.fieldPitch = m_Layout.fieldRows * m_Layout.pitch;
      int next = 0;
      row.gamma = this->FieldRow(next++, y, z);
      if (outputs.movingGradient)
      {
        row.movingFields = this->FieldRow(next, y, z);
        next += 2;
      }
      row.fixedFields = outputs.fixedGradient ? this->FieldRow(next, y, z) : nullptr;
    }
    else if (outputs.movingGradient || outputs.fixedGradient)
    {
      row.fixed = this->ImageRow(0, y, z);
      row.moving = this->ImageRow(1, y, z);
      row.movingGradient = outputs.movingGradient ? merged : nullptr;
      row.fixedGradient = outputs.fixedGradient ? merged + m_Layout.pitch : nullptr;
    }
    ComputeTermsRow(
      row, m_Task.WindowsAreMasked(), m_Task.radius[0], m_Task.taps[0], m_Task.constants, m_Task.gradientScale);

    if (y >= m_Piece.y0 && y < m_Piece.y1 && z >= m_Piece.z0 && z < m_Piece.z1)
    {
      this->Account(y, z, row);
      this->CopyOut(row.movingGradient, outputs.movingGradient, y, z);
      this->CopyOut(row.fixedGradient, outputs.fixedGradient, y, z);
    }
  }

  /** Writes a merged row of the piece to an output, if there is one. */
  void
  CopyOut(const float * merged, const VolumeView<float> & output, std::int64_t y, std::int64_t z) const
  {
    if (merged)
    {
      float * to = output.Row(y, z) + m_Piece.x0;
      ForRow(m_Piece.x1 - m_Piece.x0,
             [&](auto type, std::int64_t x) FFDP_INLINE_LAMBDA { Store(LoadAs<decltype(type)>(merged + x), to + x); });
    }
  }

  /** Adds a row of the piece to the value, and copies it to the map. */
  void
  Account(std::int64_t y, std::int64_t z, const TermsRow & row)
  {
    const std::int64_t first = m_Piece.x0 - m_X0;
    const std::int64_t end = m_Piece.x1 - m_X0;
    RowSum             sum;
    sum.Add(row.correlation + (first + 1) / 2, (end + 1) / 2 - (first + 1) / 2);
    sum.Add(row.correlation + m_Layout.half + first / 2, end / 2 - first / 2);
    const std::int64_t at = (z - m_Piece.z0) * m_Piece.stride;
    m_Piece.sums[at] += sum.Total();
    std::int64_t count = end - first;
    if (row.mask)
    {
      const std::uint8_t * mask = m_Task.mask.Row(y, z);
      count = 0;
      for (std::int64_t x = m_Piece.x0; x < m_Piece.x1; ++x)
      {
        count += mask[x] != 0;
      }
    }
    m_Piece.counts[at] += count;
    if (m_Task.outputs.map)
    {
      float * to = m_Task.outputs.map.Row(y, z) + m_X0;
      for (std::int64_t j = first; j < end; ++j)
      {
        to[j] = row.correlation[this->Split(j)];
      }
    }
  }

  /** Stage 2 for the planes z and, if planes come in pairs, z + 1. */
  void
  ComputeExactGradient(std::int64_t z)
  {
    const bool     wanted[2] = { z >= m_Piece.z0, m_GroupZ == 2 && z + 1 < m_Piece.z1 };
    const int      r = m_Task.radius[2];
    const int      length = PairLength(r);
    const float ** planes = m_Piece.rows + length;

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
                 m_Layout.pitch,
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
    this->SweepRows(m_Piece.scratch + m_Layout.fieldRing,
                    m_Piece.y0,
                    m_Piece.y1,
                    wanted[0] ? 0 : m_Fields,
                    (wanted[1] ? 2 : 1) * m_Fields,
                    fill,
                    finish);
  }

  /** The sum over x, and the gradients, for one row. */
  void
  FinishGradient(std::int64_t y, std::int64_t z, const float * sums) const
  {
    const LocalCorrelationOutputs & outputs = m_Task.outputs;
    float *                         merged = m_Piece.scratch + m_Layout.gradientRow;
    const int                       column = 2 * m_Task.radius[0]; // of the piece's first voxel in image rows

    ExactRow row;
    row.width = m_Piece.x1 - m_Piece.x0;
    row.half = m_Layout.half;
    row.mask = m_Task.WindowsAreMasked() ? this->ImageRow(2, y, z) : nullptr;
    row.evenCenter = this->Split(column);
    row.oddCenter = this->Split(column + 1);
    row.gamma = sums;
    row.ownFields = sums + m_Layout.pitch;
    row.fieldPitch = m_Layout.pitch;
    row.gradient = merged;
    if (outputs.movingGradient)
    {
      row.other = this->ImageRow(0, y, z);
      row.own = this->ImageRow(1, y, z);
      ComputeExactRow(row, m_Task.radius[0], m_Task.taps[0], m_Task.gradientScale);
      this->CopyOut(merged, outputs.movingGradient, y, z);
      row.ownFields += 2 * m_Layout.pitch;
    }
    if (outputs.fixedGradient)
    {
      row.other = this->ImageRow(1, y, z);
      row.own = this->ImageRow(0, y, z);
      ComputeExactRow(row, m_Task.radius[0], m_Task.taps[0], m_Task.gradientScale);
      this->CopyOut(merged, outputs.fixedGradient, y, z);
    }
  }
};

inline void
SweepCorrelationPiece(const CorrelationTask & task, const CorrelationPiece & piece)
{
  CorrelationSweep(task, piece).Run();
}

} // namespace FFDP_ISA
} // namespace ffdp
