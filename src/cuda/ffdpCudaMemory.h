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
#ifndef ffdpCudaMemory_h
#define ffdpCudaMemory_h

#include <algorithm>
#include <cstddef>
#include <cstdint>

/** How much work goes to a device at a time, which is what its primitives take memory for. Nothing of CUDA, so that
 * what estimates the memory of a run reckons with the numbers that the run goes by. */
namespace ffdp
{
namespace cuda
{

/** Backend::FewVoxels(): a launch takes microseconds, in which a GPU reads megabytes. */
constexpr std::int64_t FewVoxels = 1 << 21;

/** What the planes of a group may take: enough to fill a device, so that small volumes are done at once. */
constexpr std::size_t DefaultGroupBytes = std::size_t(64) << 20;

inline std::int64_t
PlanesPerGroup(std::int64_t planes, std::int64_t bytesPerPlane, std::size_t groupBytes)
{
  return std::max<std::int64_t>(1, std::min(planes, std::int64_t(groupBytes) / bytesPerPlane));
}

/** The voxels that a block of the march of local correlation reads in a plane; its windows take a radius of them on
 * each side. A thread has two of them above each other. */
constexpr int MarchColumns = 32;
constexpr int MarchRows = 20;
constexpr int MarchWarps = MarchRows / 2;

/** The voxels that a block of its other kernels finishes in a plane, and the threads that do. */
constexpr int WindowTileWidth = 32;
constexpr int WindowTileHeight = 16;
constexpr int WindowTileThreads = 256;

/** What a block is given of shared memory by every device without asking for more. */
constexpr std::int64_t SharedLimit = 48 * 1024;

/** Which kernels of local correlation do windows of these radii, and the tiles that they cut a plane into. */
struct CorrelationTiles
{
  bool         march; ///< box windows of radius 1 to 4 along all axes; otherwise the kernels for any window
  int          width; ///< voxels that a block finishes in a plane
  int          height;
  int          partials; ///< of a tile: warps that finish voxels
  std::int64_t inRow;
  std::int64_t count; ///< of a plane

  CorrelationTiles(const int (&radius)[3], bool boxWindow, std::int64_t columns, std::int64_t rows)
    : march(boxWindow && radius[0] >= 1 && radius[0] <= 4 && radius[1] == radius[0] && radius[2] == radius[0])
    , width(march ? MarchColumns - 2 * radius[0] : WindowTileWidth)
    , height(march ? MarchRows - 2 * radius[0] : WindowTileHeight)
    , partials(march ? MarchWarps - radius[0] : WindowTileThreads / 32)
    , inRow((columns + width - 1) / width)
    , count(inRow * ((rows + height - 1) / height))
  {}
};

/** Floats in which a block of the kernels for any window sums so many quantities: the tile widened by the radius, and
 * its sums over rows. */
inline std::int64_t
WindowTileFloats(const int (&radius)[3], int quantities)
{
  const std::int64_t width = WindowTileWidth + 2 * radius[0];
  return quantities * width * (2 * WindowTileHeight + 2 * radius[1]);
}

inline bool
FitsSharedMemory(std::int64_t floats)
{
  return floats * std::int64_t(sizeof(float)) <= SharedLimit;
}

/** Sums over the window of a voxel: those of both images, of their squares and of their product, and of the mask. */
constexpr int
CorrelationQuantities(bool maskedWindows)
{
  return maskedWindows ? 6 : 5;
}

/** How many planes go through the kernels of local correlation at a time. No result depends on it. */
struct CorrelationBatches
{
  std::int64_t planes;         ///< of a batch
  std::int64_t planesPerBlock; ///< that a block marches through
  std::int64_t most;           ///< planes of terms that a batch computes, or that its gradient looks at

  CorrelationBatches(int multiprocessors, std::int64_t tiles, std::int64_t radius, bool exact, std::int64_t owned)
  {
    const std::int64_t shortest = 2 * (radius + 1); // a march reads 2 r planes before its first
    const std::int64_t marches = (2 * multiprocessors + tiles - 1) / tiles;
    const std::int64_t window = exact ? 2 * shortest : 64;
    planes = std::min(owned, std::max(window, marches * shortest));
    planesPerBlock = std::max(shortest, (planes + marches - 1) / marches);
    most = planes + (exact ? 2 * radius : 0);
  }
};

/** What an evaluation of local correlation allocates, in elements. */
struct CorrelationBuffers
{
  std::int64_t shifts;   ///< two floats each
  std::int64_t partials; ///< doubles
  std::int64_t fields;   ///< floats
  std::int64_t scratch;  ///< floats: of windows that do not fit into shared memory, for each multiprocessor

  CorrelationBuffers(const CorrelationTiles &   tiles,
                     const CorrelationBatches & batches,
                     int                        fieldsPerVoxel,
                     std::int64_t               planeVoxels,
                     std::int64_t               tileFloats,
                     int                        multiprocessors)
    : shifts(batches.most * tiles.count)
    , partials(shifts * tiles.partials)
    , fields(fieldsPerVoxel * batches.most * planeVoxels)
    , scratch(tiles.march || FitsSharedMemory(tileFloats) ? 0 : multiprocessors * tileFloats)
  {}

  /** As many floats take the same memory. */
  std::int64_t
  Floats() const
  {
    return 2 * shifts + 2 * partials + fields + scratch;
  }
};

} // namespace cuda
} // namespace ffdp

#endif
