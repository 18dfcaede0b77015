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
#ifndef ffdpFields_h
#define ffdpFields_h

#include "ffdpTransformFiles.h"

/** Displacement fields as ITK has them (vectors in mm) and as the primitives have them (planar, in voxels). */

/** What a field does to space. */
struct FieldMeasure
{
  std::int64_t voxels = 0;
  std::int64_t notPositive = 0; ///< voxels whose Jacobian determinant is not above 0: folds
  double       smallestJacobian = 0;
  double       meanJacobian = 0;
  double       largestJacobian = 0;
  double       meanDisplacement = 0; ///< mm
  double       largestDisplacement = 0;
};

/** The field in voxels of its own grid: three planar volumes. */
std::vector<float>
ToVoxels(const FieldImage * field);

/** Determinants of the map x + u(x) of a field, by central differences. `map` may be null; it is allocated here. */
FieldMeasure
MeasureField(const FieldImage * field, FloatImage * map = nullptr);

/** What a transform does to the points of a grid, as displacements in mm. */
FieldImage::Pointer
SampleTransform(const CompositeType * transform, const itk::ImageBase<3> * grid);

struct InvertedField
{
  FieldImage::Pointer field;
  double              residual = 0; ///< the largest error, in voxels
  std::int64_t        folds = 0;    ///< of what was inverted; there is no inverse there
};

/** The inverse of a field, on its own grid. Beyond its border a field goes on as it is there. */
InvertedField
InvertField(const FieldImage * field);

#endif
