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
 * Planes and rows are taken in groups, columns in pairs (see ffdpWindowSumsKernel.h):
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
  static constexpr int MaximumGroup = 4;

  /** Sums rows over y, a group of windows at a time, and hands the result over row by row.
   *
   * fill(y, to) writes row y of every channel, channel c a pitch after channel c - 1; each plane of a group has
   * `channels` of them, and the planes [firstPlane, endPlane) are in use. finish(y, plane, sums) gets the sums of a
   * plane over the windows centered at row y of [y0, y1). Planes go one by one, so that their sums are still in the
   * first level cache there. The ring keeps the rows; each stage has its own, because their zero columns differ. */
  template <typename TFill, typename TFinish>
  void
  SweepRows(float *         ring,
            std::int64_t    y0,
            std::int64_t    y1,
            int             channels,
            int             firstPlane,
            int             endPlane,
            const TFill &   fill,
            const TFinish & finish)
  {
    const int          r = m_Task.radius[1];
    const int          ringRows = GroupLength(r);
    const std::int64_t planePitch = channels * m_Layout.pitch; // channels lie side by side: one long row
    const std::int64_t fillY0 = Max(0, y0 - r);
    const std::int64_t fillY1 = Min(m_Task.fixed.domain.y, y1 + r);
    const std::int64_t rowPitch = m_Layout.channels * m_Layout.pitch;
    float *            sums = m_Piece.scratch + m_Layout.rowSums;
    const float **     rows = this->RowPointers(0);

    std::int64_t next = fillY0;
    std::int64_t slot = 0; // of `next` in the ring; counted along, because a division per row shows
    for (std::int64_t y = y0 / m_GroupY * m_GroupY; y < y1; y += m_GroupY)
    {
      for (; next < Min(fillY1, y + m_GroupY + r); ++next)
      {
        fill(next, ring + slot * rowPitch);
        slot = slot + 1 < ringRows ? slot + 1 : 0;
      }
      bool wanted[MaximumGroup];
      for (int k = 0; k < m_GroupY; ++k)
      {
        wanted[k] = y + k >= y0 && y + k < y1;
      }
      std::int64_t from = slot - (next - (y - r));
      from += from < 0 ? ringRows : 0;
      for (int j = 0; j < ringRows; ++j)
      {
        const std::int64_t at = y - r + j;
        const bool         inside = at >= fillY0 && at < next;
        rows[j] = (inside ? ring + from * rowPitch : this->Zeros()) + firstPlane * planePitch;
        from = from + 1 < ringRows ? from + 1 : 0;
      }
      for (int plane = firstPlane; plane < endPlane; ++plane)
      {
        GroupSums(m_GroupY, r, m_Task.taps[1], rows, planePitch, wanted, planePitch, sums);
        for (int k = 0; k < m_GroupY; ++k)
        {
          if (wanted[k])
          {
            finish(y + k, plane, sums + k * planePitch);
          }
        }
        for (int j = 0; j < ringRows; ++j)
        {
          rows[j] += planePitch;
        }
      }
    }
  }

  /** Stage 1 for the group of planes that starts at z. */
  void
  ComputeTerms(std::int64_t z)
  {
    const int first = int(Max(0, m_Z0 - z)); // planes of the group that are needed
    const int end = int(Min(m_GroupZ, m_Z1 - z));
    const int r = m_Task.radius[2];
    const int length = GroupLength(r);

    ImageRows rows;
    rows.fixed = this->RowPointers(1);
    rows.movingOffset = m_Layout.imagePitch;
    rows.maskOffset = 2 * m_Layout.imagePitch;
    rows.masked = m_Task.WindowsAreMasked();
    rows.fixedShift = this->Shift(m_Task.fixed, z);
    rows.movingShift = this->Shift(m_Task.moving, z);
    float * const outside = this->OutsideRow(0);
    for (std::int64_t i = 0; i < m_Layout.pitch; ++i)
    {
      outside[i] = rows.fixedShift;
      outside[i + rows.movingOffset] = rows.movingShift;
    }
    this->ReadImages(Min(m_Task.fixed.domain.z, z + end + r));

    // Even columns, then odd ones; those that the volume has.
    const std::int64_t columnBegin[2] = { (this->FirstColumn() + 1) / 2, this->FirstColumn() / 2 };
    const std::int64_t columnEnd[2] = { (this->EndColumn() + 1) / 2, this->EndColumn() / 2 };

    const float ** planes = this->RowPointers(2);
    for (int j = 0; j < length; ++j)
    {
      const std::int64_t plane = z - r + j;
      const bool         needed = j >= first && j < end + 2 * r;
      const bool         inside = needed && plane >= 0 && plane < m_Task.fixed.domain.z;
      planes[j] = inside ? this->ImageRow(0, m_Y0, plane) : nullptr;
    }
    const auto fill = [&](std::int64_t y, float * to) {
      for (int odd = 0; odd < 2; ++odd)
      {
        const std::int64_t at = columnBegin[odd] + odd * m_Layout.half;
        for (int j = 0; j < length; ++j)
        {
          rows.fixed[j] = planes[j] ? planes[j] + (y - m_Y0) * m_Layout.pitch + at : outside;
        }
        GroupProductSums(m_GroupZ, r, m_Task.taps[2], rows, columnEnd[odd] - columnBegin[odd], m_Layout.pitch, to + at);
      }
    };
    const auto finish = [&](std::int64_t y, int plane, const float * sums) {
      this->FinishTerms(y, z + plane, sums, rows.fixedShift, rows.movingShift);
    };
    for (RowSum & sum : m_PlaneSums)
    {
      sum = RowSum();
    }
    this->SweepRows(m_Piece.scratch + m_Layout.productRing, m_Y0, m_Y1, m_Quantities, first, end, fill, finish);
    for (std::int64_t plane = Max(m_Piece.z0, z); plane < Min(m_Piece.z1, z + m_GroupZ); ++plane)
    {
      m_Piece.sums[(plane - m_Piece.z0) * m_Piece.stride] = m_PlaneSums[plane - z].Total();
    }
  }

  /** The sum over x, and what a window gives, for one row. */
  void
  FinishTerms(std::int64_t y, std::int64_t z, const float * sums, float fixedShift, float movingShift)
  {
    const LocalCorrelationOutputs & outputs = m_Task.outputs;

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
    // The value is first summed over the few rows of a group, in floats, from one row of the scratch to the other and
    // back: adding up every row in doubles takes a few percent of an evaluation.
    const bool    counts = y >= m_Piece.y0 && y < m_Piece.y1 && z >= m_Piece.z0 && z < m_Piece.z1;
    const bool    firstOfGroup = !counts || y == m_Piece.y0 || y % m_GroupY == 0;
    float * const correlationRows = m_Piece.scratch + m_Layout.correlationRows;
    row.correlationBefore = firstOfGroup ? this->Zeros() : correlationRows + (y + 1) % 2 * m_Layout.pitch;
    row.correlation = correlationRows + y % 2 * m_Layout.pitch;
    row.map = m_Task.outputs.map ? correlationRows + 2 * m_Layout.pitch : nullptr;
    // Of the planes that ReadImages() copies next, which keep in step with those that are finished: asking for a few
    // lines at a time, between computations, does not fill the queue of misses.
    const std::int64_t nextPlane = m_NextImagePlane + z % m_GroupZ;
    if (nextPlane < m_LastImagePlane)
    {
      row.nextFixed = m_Task.fixed.Row(y, nextPlane) + m_Piece.x0;
      row.nextMoving = m_Task.moving.Row(y, nextPlane) + m_Piece.x0;
    }
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
      row.movingGradient = outputs.movingGradient ? this->GradientRow(outputs.movingGradient, 0, y, z) : nullptr;
      row.fixedGradient = outputs.fixedGradient ? this->GradientRow(outputs.fixedGradient, 1, y, z) : nullptr;
    }
    const TermsUse use = m_Task.exact ? TermsUse::ExactGradient : row.fixed ? TermsUse::AntsGradient : TermsUse::Value;
    ComputeTermsRow(
      row, use, m_Task.WindowsAreMasked(), m_Task.radius[0], m_Task.taps[0], m_Task.constants, m_Task.gradientScale);

    if (counts)
    {
      this->Account(y, z, row);
      this->CopyOut(row.movingGradient, outputs.movingGradient, y, z);
      this->CopyOut(row.fixedGradient, outputs.fixedGradient, y, z);
    }
  }

  /** Where a row of a gradient is computed. Columns come in pairs: if the last one has a partner, straight in the
   * output, so that writing to memory goes on while the row is computed; otherwise in a row of the scratch. */
  float *
  GradientRow(const VolumeView<float> & output, int which, std::int64_t y, std::int64_t z) const
  {
    return (m_Piece.x1 - m_Piece.x0) % 2 == 0 ? output.Row(y, z) + m_Piece.x0
                                              : m_Piece.scratch + m_Layout.gradientRow + which * m_Layout.pitch;
  }

  /** Writes a row of a gradient to its output, if it was asked for and is not there already. */
  void
  CopyOut(const float * merged, const VolumeView<float> & output, std::int64_t y, std::int64_t z) const
  {
    float * to = merged ? output.Row(y, z) + m_Piece.x0 : nullptr;
    if (merged != to)
    {
      ForRow(m_Piece.x1 - m_Piece.x0,
             [&](auto type, std::int64_t x) FFDP_INLINE_LAMBDA { Store(LoadAs<decltype(type)>(merged + x), to + x); });
    }
  }

  /** Adds a group of rows of the piece to the value once it is complete, and copies a row to the map. */
  void
  Account(std::int64_t y, std::int64_t z, const TermsRow & row)
  {
    const std::int64_t first = m_Piece.x0 - m_X0;
    const std::int64_t end = m_Piece.x1 - m_X0;
    if (y + 1 == m_Piece.y1 || (y + 1) % m_GroupY == 0)
    {
      RowSum & sum = m_PlaneSums[z % m_GroupZ];
      sum.Add(row.correlation + (first + 1) / 2, (end + 1) / 2 - (first + 1) / 2);
      sum.Add(row.correlation + m_Layout.half + first / 2, end / 2 - first / 2);
    }
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
    m_Piece.counts[(z - m_Piece.z0) * m_Piece.stride] += count;
    if (row.map)
    {
      float * to = m_Task.outputs.map.Row(y, z) + m_X0;
      for (std::int64_t j = first; j < end; ++j)
      {
        to[j] = row.map[this->Split(j)];
      }
    }
  }

  /** Stage 2 for the group of planes that starts at z. */
  void
  ComputeExactGradient(std::int64_t z)
  {
    const int first = int(Max(0, m_Piece.z0 - z)); // planes of the group that are needed
    const int end = int(Min(m_GroupZ, m_Piece.z1 - z));
    const int r = m_Task.radius[2];
    const int length = GroupLength(r);
    bool      wanted[MaximumGroup];
    for (int k = 0; k < m_GroupZ; ++k)
    {
      wanted[k] = k >= first && k < end;
    }
    const float ** rows = this->RowPointers(1);
    const float ** planes = this->RowPointers(2);
    for (int j = 0; j < length; ++j)
    {
      const std::int64_t at = z - r + j;
      planes[j] = at >= m_Z0 && at < m_Z1 ? this->FieldRow(0, m_Piece.y0, at) : nullptr;
    }

    const auto fill = [&](std::int64_t y, float * to) {
      for (int f = 0; f < m_Fields; ++f)
      {
        const std::int64_t at = (f * m_Layout.fieldRows + y - m_Piece.y0) * m_Layout.pitch;
        for (int j = 0; j < length; ++j)
        {
          rows[j] = planes[j] ? planes[j] + at : this->Zeros();
        }
        GroupSums(m_GroupZ,
                  r,
                  m_Task.taps[2],
                  rows,
                  m_Layout.pitch,
                  wanted,
                  m_Fields * m_Layout.pitch,
                  to + f * m_Layout.pitch);
      }
    };
    const auto finish = [&](std::int64_t y, int plane, const float * sums) {
      this->FinishGradient(y, z + plane, sums);
    };
    this->SweepRows(m_Piece.scratch + m_Layout.fieldRing, m_Piece.y0, m_Piece.y1, m_Fields, first, end, fill, finish);
  }

  /** The sum over x, and the gradients, for one row. */
  void
  FinishGradient(std::int64_t y, std::int64_t z, const float * sums) const
  {
    const LocalCorrelationOutputs & outputs = m_Task.outputs;
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
    if (outputs.movingGradient)
    {
      row.gradient = this->GradientRow(outputs.movingGradient, 0, y, z);
      row.other = this->ImageRow(0, y, z);
      row.own = this->ImageRow(1, y, z);
      ComputeExactRow(row, m_Task.radius[0], m_Task.taps[0], m_Task.gradientScale);
      this->CopyOut(row.gradient, outputs.movingGradient, y, z);
      row.ownFields += 2 * m_Layout.pitch;
    }
    if (outputs.fixedGradient)
    {
      row.gradient = this->GradientRow(outputs.fixedGradient, 0, y, z);
      row.other = this->ImageRow(1, y, z);
      row.own = this->ImageRow(0, y, z);
      ComputeExactRow(row, m_Task.radius[0], m_Task.taps[0], m_Task.gradientScale);
      this->CopyOut(row.gradient, outputs.fixedGradient, y, z);
    }
  }

  RowSum m_PlaneSums[MaximumGroup]; ///< of the group of planes that is worked on, over the rows of the piece
};

inline void
SweepCorrelationPiece(const CorrelationTask & task, const CorrelationPiece & piece)
{
  CorrelationSweep(task, piece).Run();
}

} // namespace FFDP_ISA
} // namespace ffdp
