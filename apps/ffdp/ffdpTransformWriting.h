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
#ifndef ffdpTransformWriting_h
#define ffdpTransformWriting_h

#include "ffdpTransformFiles.h"

/** Files of transforms. Each is read back, or checked by the library that writes it, before it gets its name. Of the
 * two dimensions, 2 writes transforms of the plane: what they do to x and y (see ffdpDimension.h). */

/** Throws CommandError unless a file of transforms of this name can be written. */
void
RequireWritableTransform(const std::string & file);

/** An itk::AffineTransform with its center at 0: ANTs' 0GenericAffine.mat, or what the ending of the name says. */
void
WriteLinear(const ffdp::AffineMap & map, const std::string & file, unsigned int dimension = SpaceDimension);

/** Throws CommandError unless a file of this name can hold the transform: only .h5 takes what is not linear. */
void
RequireHolds(const CompositeType * transform, const std::string & file);

/** A .h5 file with all transforms, or one affine transform for any other ending. */
void
WriteTransforms(const CompositeType * transform, const std::string & file, unsigned int dimension = SpaceDimension);

#endif
