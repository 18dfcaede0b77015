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
#ifndef ffdpPlanarTransforms_h
#define ffdpPlanarTransforms_h

#include "ffdpTransformFiles.h"

/** Transforms of the plane and what stands for them here: transforms of space that leave z alone. */
using PlanarTransform = itk::Transform<double, 2, 2>;

/** A linear transform, a displacement field or a composite of these; null for any other. A field becomes one of a
 * single plane at z = 0. */
TransformType::Pointer
LiftTransform(const PlanarTransform * transform);

/** The reverse, for an affine transform, a displacement field or a composite of these. What they do to z is left out.
 */
PlanarTransform::Pointer
LowerTransform(const TransformType * transform);

#endif
