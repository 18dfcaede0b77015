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
#ifndef ffdpTrilinearTerms_h
#define ffdpTrilinearTerms_h

#include "ffdpVoxelInline.h"

/** Where a displaced voxel falls between its neighbors, along one axis. */
namespace ffdp
{

/** Lower neighbor, counted from the voxel itself, and weight of the upper neighbor (0 to 1). */
struct AxisCell
{
  int   lower;
  float weight;
};

/** Written for any float, NaN included (it falls to `low`): the conversion to an integer stays defined. */
FFDP_VOXEL_INLINE float
ClampDisplacement(float d, float low, float high)
{
  d = d > low ? d : low;
  return d < high ? d : high;
}

/** The cell of displacement d, limited to [low, high] (whole numbers below 2^24) and such that the lower
 * neighbor is at most `last`. Computing with displacements, not positions, keeps the weight accurate far from
 * the origin and the same for every voxel that moves the same way. */
FFDP_VOXEL_INLINE AxisCell
LocateAlongAxis(float d, float low, float high, int last)
{
  d = ClampDisplacement(d, low, high);
  const int truncated = int(d);
  const int floored = truncated - (float(truncated) > d ? 1 : 0);
  const int lower = floored < last ? floored : last;
  return AxisCell{ lower, d - float(lower) };
}

} // namespace ffdp

#endif
