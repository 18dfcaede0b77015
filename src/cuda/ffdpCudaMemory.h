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
 * each side. */
constexpr int MarchColumns = 32;
constexpr int MarchRows = 20;

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

} // namespace cuda
} // namespace ffdp

#endif
