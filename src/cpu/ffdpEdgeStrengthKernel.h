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
// Compiled once per instruction set; see ffdpForEachInstructionSet.h.

namespace ffdp
{
namespace FFDP_ISA
{

/** Columns that are worked on at a time: their sums stay in the first-level cache. */
constexpr std::int64_t EdgeColumns = 256;

/** A part of a row with EdgeWindowRadius more voxels on either side; beyond the volume as at its border. */
inline void
CopyWithNeighbors(const float * row, std::int64_t width, std::int64_t first, std::int64_t count, float * __restrict to)
{
  for (std::int64_t k = -EdgeWindowRadius; k < count + EdgeWindowRadius; ++k)
  {
    const std::int64_t x = first + k;
    to[k + EdgeWindowRadius] = row[x < 0 ? 0 : x < width ? x : width - 1];
  }
}

struct EdgeBlock
{
  alignas(64) float own[EdgeColumns];
  alignas(64) float neighbors[EdgeColumns + 2 * EdgeWindowRadius];
  alignas(64) float difference[EdgeColumns];
  alignas(64) float square[EdgeColumns];
  alignas(64) float slope[3][EdgeColumns];
};

inline void
AddRowToEdges(EdgeBlock & block, std::int64_t count, int dy, int dz)
{
  const float * __restrict own = block.own;
  float * __restrict difference = block.difference;
  float * __restrict square = block.square;
  for (int dx = 0; dx <= 2 * EdgeWindowRadius; ++dx)
  {
    const float * __restrict neighbor = block.neighbors + dx;
    FFDP_SIMD
    for (std::int64_t k = 0; k < count; ++k)
    {
      AddToEdgeWindow(own[k], neighbor[k], difference[k], square[k]);
    }
  }
  if (dy >= -1 && dy <= 1 && dz >= -1 && dz <= 1)
  {
    const float * __restrict middle = block.neighbors + EdgeWindowRadius;
    float * __restrict sx = block.slope[0];
    float * __restrict sy = block.slope[1];
    float * __restrict sz = block.slope[2];
    FFDP_SIMD
    for (std::int64_t k = 0; k < count; ++k)
    {
      AddToEdgeSlopes(dy, dz, middle[k - 1], middle[k], middle[k + 1], sx[k], sy[k], sz[k]);
    }
  }
}

/** Columns [first, first + count) of a row. */
inline void
EdgesOfBlock(const EdgeStrengthJob & job, std::int64_t first, std::int64_t count, std::int64_t y, std::int64_t z)
{
  const Extent & domain = job.image.domain;
  const auto     inside = [](std::int64_t i, std::int64_t size) { return i < 0 ? 0 : i < size ? i : size - 1; };
  EdgeBlock      block{};
  std::copy_n(job.image.Row(y, z) + first, count, block.own);
  for (int dz = -EdgeWindowRadius; dz <= EdgeWindowRadius; ++dz)
  {
    for (int dy = -EdgeWindowRadius; dy <= EdgeWindowRadius; ++dy)
    {
      const float * row = job.image.Row(inside(y + dy, domain.y), inside(z + dz, domain.z));
      CopyWithNeighbors(row, domain.x, first, count, block.neighbors);
      AddRowToEdges(block, count, dy, dz);
    }
  }
  float * __restrict to = job.edges.Row(y, z) + first;
  FFDP_SIMD
  for (std::int64_t k = 0; k < count; ++k)
  {
    to[k] = FinishEdge(
      block.difference[k], block.square[k], block.slope[0][k], block.slope[1][k], block.slope[2][k], job.noise);
  }
}

inline void
EdgeStrengthPiece(const EdgeStrengthJob & job, std::int64_t z, std::int64_t firstRow, std::int64_t endRow)
{
  const std::int64_t width = job.image.domain.x;
  for (std::int64_t y = firstRow; y < endRow; ++y)
  {
    for (std::int64_t x = 0; x < width; x += EdgeColumns)
    {
      EdgesOfBlock(job, x, width - x < EdgeColumns ? width - x : EdgeColumns, y, z);
    }
  }
}

} // namespace FFDP_ISA
} // namespace ffdp
