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
#ifndef ffdpTransformFiles_h
#define ffdpTransformFiles_h

#include "ffdpImageFiles.h"

#include "itkCompositeTransform.h"

#include <string>
#include <vector>

using CompositeType = itk::CompositeTransform<double, 3>;
using TransformType = itk::Transform<double, 3, 3>;

/** Whether the name ends as files of transforms do (.mat, .txt, .tfm, .h5, .hdf5, .xfm); others are images of fields.
 */
bool
IsTransformFile(const std::string & file);

/** Transforms as antsApplyTransforms takes them: the last one is applied first, and [FILE,1] stands for the inverse of
 * a linear one. Image files are displacement fields in mm. The result has no composites within. */
CompositeType::Pointer
ReadTransforms(const std::vector<std::string> & list);

/** Throws CommandError for what ReadTransforms() would find missing, without reading all of it. */
void
RequireTransforms(const std::vector<std::string> & list);

/** Throws CommandError unless a file of transforms of this name can be written. */
void
RequireWritableTransform(const std::string & file);

/** A linear transform from a file. */
ffdp::AffineMap
ReadLinear(const std::string & file);

/** The map of a transform that is linear. */
ffdp::AffineMap
LinearMapOf(const TransformType * transform);

/** The field of a displacement field transform; null for any other. */
FieldImage::Pointer
FieldOf(const TransformType * transform);

TransformType::Pointer
MakeTransform(const ffdp::AffineMap & map);

/** A copy: ITK's field transforms hold doubles. */
TransformType::Pointer
MakeTransform(const FieldImage * field);

/** An itk::AffineTransform with its center at 0: ANTs' 0GenericAffine.mat, or what the ending of the name says. */
void
WriteLinear(const ffdp::AffineMap & map, const std::string & file);

/** Displacements in voxels (three planar volumes) as a field in mm on the grid of an image. */
FieldImage::Pointer
MakeField(const std::vector<float> & warp, const FloatImage * grid);

/** A linear map and, if there is one, a field as one transform; fieldFirst: the field is applied before the map. */
CompositeType::Pointer
MakeComposite(const ffdp::AffineMap & map, const FieldImage * field, bool fieldFirst);

void
WriteComposite(const CompositeType * composite, const std::string & file);

/** Throws CommandError unless a file of this name can hold the transform: only .h5 takes what is not linear. */
void
RequireHolds(const CompositeType * transform, const std::string & file);

/** A .h5 file with all transforms, or one affine transform for any other ending. */
void
WriteTransforms(const CompositeType * transform, const std::string & file);

#endif
