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
/** The piece of the volume that a sweep of local correlation works on: which rows, columns and planes windows
 * need, and the scratch memory that holds them (CorrelationScratch). */
namespace ffdp
{
namespace FFDP_ISA
{

class CorrelationTile
{
protected:
  CorrelationTile(const CorrelationTask & task, const CorrelationPiece & piece)
    : m_Task(task)
    , m_Piece(piece)
    , m_Layout(task, piece.x1 - piece.x0, piece.y1 - piece.y0)
    , m_Quantities(task.WindowsAreMasked() ? 6 : 5)
    , m_Fields(task.Fields())
    , m_GroupZ(WindowGroup(task.radius[2]))
    , m_GroupY(WindowGroup(task.radius[1]))
  {
    const Extent &     size = task.fixed.domain;
    const std::int64_t widen = task.exact ? 1 : 0;
    m_X0 = piece.x0 - widen * task.radius[0];
    m_Width = piece.x1 + widen * task.radius[0] - m_X0;
    m_Y0 = Max(0, piece.y0 - widen * task.radius[1]);
    m_Y1 = Min(size.y, piece.y1 + widen * task.radius[1]);
    m_Z0 = Max(0, piece.z0 - widen * task.radius[2]);
    m_Z1 = Min(size.z, piece.z1 + widen * task.radius[2]);
    m_NextImagePlane = Max(0, m_Z0 - task.radius[2]);
    m_LastImagePlane = Min(size.z, m_Z1 + task.radius[2]);
    // What lies outside the volume must be zero, and it is never written: once is enough. Of images, by far the largest
    // part, nothing is read where nothing was written, but for the row that stands for a mask outside the volume, and
    // for the partner of the last column if it has none, for a value that is not used.
    this->Clear(0, m_Layout.images);
    this->Clear(m_Layout.fields, m_Layout.total);
    if (m_Width % 2)
    {
      this->Clear(m_Layout.images, m_Layout.fields);
    }
    else if (task.mask)
    {
      this->Clear(m_Layout.fields - m_Layout.pitch, m_Layout.fields);
    }
    float * inverse = piece.scratch + m_Layout.inverseX;
    for (std::int64_t j = 0; j < m_Width; ++j)
    {
      if (m_X0 + j >= 0 && m_X0 + j < size.x)
      {
        inverse[this->Split(j)] = task.inverseWeight[0][m_X0 + j];
      }
    }
  }

  void
  Clear(std::int64_t begin, std::int64_t end) const
  {
    for (std::int64_t i = begin; i < end; ++i)
    {
      m_Piece.scratch[i] = 0.0f;
    }
  }

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

  /** Where a column is in a row that is kept as even and odd columns. */
  std::int64_t
  Split(std::int64_t column) const
  {
    return column / 2 + (column % 2) * m_Layout.half;
  }

  /** Room for the addresses of a group of windows of rows or planes. */
  const float **
  RowPointers(int which) const
  {
    return m_Piece.rows + which * GroupLength(int(Max(m_Task.radius[1], m_Task.radius[2])));
  }

  /** As many as a row of all channels has. */
  const float *
  Zeros() const
  {
    return m_Piece.scratch + m_Layout.zeros;
  }

  /** Row y of plane z of the fixed (0) or moving (1) image or of the mask (2) in the ring of image planes. Its
   * column 0 is a radius left of m_X0. */
  float *
  ImageRow(int image, std::int64_t y, std::int64_t z) const
  {
    const std::int64_t slot = z % m_Layout.imagePlanes;
    const std::int64_t row = y - (m_Y0 - m_Task.radius[1]);
    return m_Piece.scratch + m_Layout.images + image * m_Layout.imagePitch +
           (slot * m_Layout.imageRows + row) * m_Layout.pitch;
  }

  /** A row that stands for those outside the volume: it holds the value that adds nothing to a sum. */
  float *
  OutsideRow(int image) const
  {
    return m_Piece.scratch + m_Layout.images + (image + 1) * m_Layout.imagePitch - m_Layout.pitch;
  }

  /** Field f of plane z, row y, its column 0 at m_X0. */
  float *
  FieldRow(int f, std::int64_t y, std::int64_t z) const
  {
    const std::int64_t slot = z % m_Layout.fieldPlanes;
    const std::int64_t row = y - (m_Piece.y0 - m_Task.radius[1]);
    return m_Piece.scratch + m_Layout.fields + ((slot * m_Fields + f) * m_Layout.fieldRows + row) * m_Layout.pitch;
  }

  /** Copies planes of the images into the ring, up to but without `end`. Summing over planes straight from the
   * images would read a dozen addresses that often differ by a power of two: they would push each other out
   * of the cache. */
  void
  ReadImages(std::int64_t end)
  {
    const std::int64_t y0 = Max(0, m_Y0 - m_Task.radius[1]);
    const std::int64_t y1 = Min(m_Task.fixed.domain.y, m_Y1 + m_Task.radius[1]);
    for (; m_NextImagePlane < end; ++m_NextImagePlane)
    {
      for (std::int64_t y = y0; y < y1; ++y)
      {
        this->SplitRow(m_Task.fixed.Row(y, m_NextImagePlane), this->ImageRow(0, y, m_NextImagePlane));
        this->SplitRow(m_Task.moving.Row(y, m_NextImagePlane), this->ImageRow(1, y, m_NextImagePlane));
        if (m_Task.mask)
        {
          const std::uint8_t * mask = m_Task.mask.Row(y, m_NextImagePlane);
          float *              to = this->ImageRow(2, y, m_NextImagePlane);
          for (std::int64_t c = this->FirstColumn(); c < this->EndColumn(); ++c)
          {
            to[this->Split(c)] = mask[m_X0 - m_Task.radius[0] + c] != 0 ? 1.0f : 0.0f;
          }
        }
      }
    }
  }

  /** Columns of an image row in the ring that the volume has. */
  std::int64_t
  FirstColumn() const
  {
    return Max(0, m_Task.radius[0] - m_X0);
  }
  std::int64_t
  EndColumn() const
  {
    return Min(m_Width + 2 * m_Task.radius[0], m_Task.fixed.domain.x - (m_X0 - m_Task.radius[0]));
  }

  /** Copies what a row of the image has of the columns of the ring. */
  FFDP_VOXEL_INLINE void
  SplitRow(const float * row, float * to) const
  {
    std::int64_t       c = this->FirstColumn();
    const std::int64_t end = this->EndColumn();
    const float *      from = row + (m_X0 - m_Task.radius[0]);
    if (c % 2)
    {
      to[this->Split(c)] = from[c];
      ++c;
    }
    float * even = to + c / 2;
    float * odd = even + m_Layout.half;
    ForRow((end - c) / 2,
           [&](auto type, std::int64_t i) FFDP_INLINE_LAMBDA {
             decltype(type) a, b;
             LoadSplit(from + c + 2 * i, a, b);
             Store(a, even + i);
             Store(b, odd + i);
           },
           even);
    if ((end - c) % 2)
    {
      to[this->Split(end - 1)] = from[end - 1];
    }
  }

  /** A value near those of the tile in plane z; any would be right, this one keeps sums small. */
  float
  Shift(const VolumeView<const float> & image, std::int64_t z) const
  {
    double       sum = 0;
    std::int64_t count = 0;
    for (std::int64_t y = m_Piece.y0; y < m_Piece.y1; y += 8)
    {
      RowSum row;
      row.Add(image.Row(y, z) + m_Piece.x0, m_Piece.x1 - m_Piece.x0);
      sum += row.Total();
      count += m_Piece.x1 - m_Piece.x0;
    }
    const auto mean = float(sum / double(count));
    return mean - mean == 0.0f ? mean : 0.0f; // not finite: NaN stays where it is
  }

  const CorrelationTask &  m_Task;
  const CorrelationPiece & m_Piece;
  const CorrelationScratch m_Layout;
  const int                m_Quantities;
  const int                m_Fields;
  const int                m_GroupZ;
  const int                m_GroupY;
  std::int64_t             m_NextImagePlane, m_LastImagePlane;
  std::int64_t             m_X0, m_Width; ///< columns where terms are computed, whether the volume has them or not
  std::int64_t             m_Y0, m_Y1, m_Z0, m_Z1; ///< rows and planes where terms are computed
};

} // namespace FFDP_ISA
} // namespace ffdp
