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
#ifndef ffdpRowPieces_h
#define ffdpRowPieces_h

#include "ffdpVolume.h"

#include <cstdint>

namespace ffdp
{

/** Cuts planes into pieces of work of some rows each, so that an image of one plane also keeps several
 * threads busy. Where a piece begins depends on the row's index in the whole volume only, and pieces are
 * numbered plane after plane: partial results added in the order of pieces do not depend on threads or slabs. */
struct RowPieces
{
  static constexpr std::int64_t RowsPerPiece = 32;

  std::int64_t rows = 0;
  std::int64_t firstPlane = 0;
  std::int64_t planes = 0;

  FFDP_HOST_DEVICE std::int64_t
                   PerPlane() const
  {
    return (rows + RowsPerPiece - 1) / RowsPerPiece;
  }
  FFDP_HOST_DEVICE std::int64_t
                   Count() const
  {
    return PerPlane() * planes;
  }
  FFDP_HOST_DEVICE std::int64_t
                   Plane(std::int64_t piece) const
  {
    return firstPlane + piece / PerPlane();
  }
  FFDP_HOST_DEVICE std::int64_t
                   FirstRow(std::int64_t piece) const
  {
    return piece % PerPlane() * RowsPerPiece;
  }
  FFDP_HOST_DEVICE std::int64_t
                   EndRow(std::int64_t piece) const
  {
    const std::int64_t end = FirstRow(piece) + RowsPerPiece;
    return end < rows ? end : rows;
  }
};

} // namespace ffdp

#endif
