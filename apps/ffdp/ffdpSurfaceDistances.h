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
#ifndef ffdpSurfaceDistances_h
#define ffdpSurfaceDistances_h

#include <array>
#include <cstdint>
#include <vector>

/** Voxels of a grid, as offsets from its first, ascending. */
using VoxelList = std::vector<std::int64_t>;

struct VoxelGrid
{
  std::array<std::int64_t, 3> size;
  std::array<double, 3>       spacing; ///< mm
};

/** For each voxel of `from`, the distance in mm between its center and that of the nearest voxel of `to`, exact.
 *
 * Planes x = constant of the distance map of `to` are made one after the other: the distance along x to the nearest
 * voxel of each row, then the lower envelopes of parabolas along y and along z, over the box around both lists. Time
 * grows with the voxels of this box, memory with one plane of it per thread. */
std::vector<double>
DistancesToNearest(const VoxelList & from, const VoxelList & to, const VoxelGrid & grid);

#endif
