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
#ifndef ffdpReportCharts_h
#define ffdpReportCharts_h

#include "ffdpJacobianMap.h"
#include "ffdpRunLog.h"

/** Drawings of the report, as SVG elements. They take their colors from the classes of the page. */

/** The loss of a stage over its iterations, level after level. */
std::string
DrawConvergence(const std::vector<IterationRecord> & iterations, int stage);

/** The range of determinants that nearly all voxels are in: 1/range to range. */
double
ChooseJacobianRange(const JacobianMap & map);

/** The histogram of determinants over the bar of their colors. */
std::string
DrawJacobianHistogram(const JacobianMap & map, double range);

/** Lines of the fixed grid where the warp takes them, in pixels of a plane. */
std::string
DrawGrid(const SlicePlane & plane, const WarpSlice & warp);

#endif
