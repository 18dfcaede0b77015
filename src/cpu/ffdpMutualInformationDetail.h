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
#ifndef ffdpMutualInformationDetail_h
#define ffdpMutualInformationDetail_h

#include "ffdpMutualInformation.h"

#include "ffdpParzenTerms.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

/** What the three steps of mutual information share. */
namespace ffdp
{

/** Everything that the loops need to know about the bins. */
struct ParzenSetup
{
  int            bins = 0;
  ParzenBinning  fixed;
  ParzenBinning  moving;
  MattesBinning  mattesFixed;
  MattesBinning  mattesMoving;
  GaussianWindow window;

  /** Gaussian tables have window.taps bins of padding in all, and rows that end on a multiple of 8 taps. */
  std::int32_t
  PaddedTaps() const
  {
    return (window.taps + 7) / 8 * 8;
  }
  std::int32_t
  PaddedRows() const
  {
    return bins + window.taps;
  }
  std::int32_t
  PaddedStride() const
  {
    return bins + PaddedTaps();
  }
};

/** Throws std::invalid_argument if the parameters cannot be used. */
ParzenSetup
MakeParzenSetup(const MutualInformationParameters & parameters);

/** Entries of a table of the gradient step. */
std::size_t
MutualInformationTableSize(const MutualInformationParameters & parameters);

/** Voxels of views that lie side by side, cut into pieces. Nothing depends on a voxel's place, so rows and planes
 * without gaps between them are taken as one long row. */
class VoxelRuns
{
public:
  static constexpr std::int64_t MaxLength = 32768;

  /** The planes [first, first + planes) of `domain`; rows are joined if `dense`. */
  VoxelRuns(const Extent & domain, std::int64_t first, std::int64_t planes, bool dense)
    : m_First(first)
    , m_Rows(dense ? 1 : domain.y)
    , m_RowLength(dense ? domain.x * domain.y * planes : domain.x)
    , m_PiecesPerRow((m_RowLength + MaxLength - 1) / MaxLength)
    , m_Pieces(dense ? m_PiecesPerRow : planes * m_Rows * m_PiecesPerRow)
  {}

  std::int64_t
  Pieces() const
  {
    return m_Pieces;
  }

  std::int64_t
  Length(std::int64_t piece) const
  {
    return std::min(MaxLength, m_RowLength - piece % m_PiecesPerRow * MaxLength);
  }

  /** Where the piece begins in a view, or null if the view is missing. */
  template <typename T>
  T *
  Begin(const VolumeView<T> & view, std::int64_t piece) const
  {
    const std::int64_t row = piece / m_PiecesPerRow;
    return view ? view.Row(row % m_Rows, m_First + row / m_Rows) + piece % m_PiecesPerRow * MaxLength : nullptr;
  }

private:
  std::int64_t m_First;
  std::int64_t m_Rows;
  std::int64_t m_RowLength;
  std::int64_t m_PiecesPerRow;
  std::int64_t m_Pieces;
};

/** There are no gaps between the view's rows and planes; true for a missing view. */
template <typename T>
bool
IsDense(const VolumeView<T> & view)
{
  return !view || (view.rowStride == view.domain.x && view.planeStride == view.domain.x * view.domain.y);
}

} // namespace ffdp

#endif
