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
#ifndef ffdpLandmarks_h
#define ffdpLandmarks_h

#include "ffdpPointFiles.h"
#include "ffdpTransformFiles.h"

/** Distances between corresponding points, in mm. */
struct LandmarkErrors
{
  std::vector<double> errors; ///< one per point, in the order of the files
  double              mean = 0;
  double              median = 0;
  double              largest = 0;
};

/** A point where transforms take it. Those of the plane leave z alone, whatever it is. Throws CommandError if
 * coordinates become infinite. */
std::array<double, 3>
MovePoint(const TransformList & transforms, std::array<double, 3> point);

/** Throws CommandError if points are of two dimensions and transforms of three. The reverse is allowed, as ANTs' tables
 * have a z for points of the plane, too. `points` names them, like "file of points 'a.csv'". */
void
RequireFits(const TransformList & transforms, const PointTable & table, const std::string & points);

/** Moves the fixed points by the transforms, from the fixed to the moving space, and compares them with the moving
 * ones, row by row; there are as many. */
LandmarkErrors
CompareLandmarks(const PointTable & fixed, const PointTable & moving, const TransformList & transforms);

#endif
