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
#ifndef ffdpLabelScores_h
#define ffdpLabelScores_h

#include "ffdpLabelMaps.h"

/** How well two label maps on one grid agree. Label 0 is background and is left out. */

struct LabelScore
{
  std::int64_t label = 0;
  std::int64_t fixedVoxels = 0;
  std::int64_t movedVoxels = 0;
  std::int64_t commonVoxels = 0;
  /** The paper's cumulative HD90 in mm: the mean of the smallest 90 % of the distances between the surfaces, of both
   * directions the larger. NaN where a map does not have the label. */
  double hd90 = 0;

  double
  Dice() const
  {
    return 2 * double(commonVoxels) / double(fixedVoxels + movedVoxels);
  }
};

struct LabelScores
{
  std::vector<LabelScore> labels; ///< of either map, ascending

  // over the labels that the fixed map has
  int    count = 0;
  double meanDice = 0;
  double inverseVolumeWeightedDice = 0; ///< weights 1 / fixedVoxels
  // of these, over the labels that the moved map has, too
  int    hd90Count = 0;
  double meanHd90 = 0; ///< mm; NaN if there is no such label
};

/** The mean of the smallest 90 % of the distances, rounded down, at least one of them. */
double
MeanOfNearest90Percent(std::vector<double> distances);

/** The maps must have the same size; spacing is that of the fixed one. withSurfaces: HD90, too, which takes longer. */
LabelScores
CompareLabelMaps(LabelMap & fixed, LabelMap & moved, bool withSurfaces);

#endif
