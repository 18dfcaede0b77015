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

#include "ffdpDimension.h"
#include "ffdpImageFiles.h"

#include "itkCompositeTransform.h"

#include <string>
#include <vector>

using CompositeType = itk::CompositeTransform<double, 3>;
using TransformType = itk::Transform<double, 3, 3>;

/** Whether the name ends in .h5 or .hdf5. */
bool
IsHdf5File(const std::string & file);

/** Whether the name ends as files of transforms do (.mat, .txt, .tfm, .h5, .hdf5, .xfm); others are images of fields.
 */
bool
IsTransformFile(const std::string & file);

/** Transforms from files as one. */
struct TransformList
{
  CompositeType::Pointer transform; ///< has no composites within
  DimensionedFile        file;      ///< one of the files: they have one dimension
};

/** Throws CommandError for what ReadTransforms() would find missing, without reading all of it. */
void
RequireTransforms(const std::vector<std::string> & list);

/** Transforms as antsApplyTransforms takes them: what stands first is applied to a point first, [FILE,1] stands for the
 * inverse of a linear one, and "identity" for none. Image files are displacement fields in mm. Throws CommandError for
 * what cannot be read, and for transforms of two and of three dimensions in one list. */
TransformList
ReadTransforms(const std::vector<std::string> & list);

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

/** Displacements in voxels (three planar volumes) as a field in mm on the grid of an image. */
FieldImage::Pointer
MakeField(const std::vector<float> & warp, const FloatImage * grid);

/** A linear map and, if there is one, a field as one transform; fieldFirst: the field is applied before the map. */
CompositeType::Pointer
MakeComposite(const ffdp::AffineMap & map, const FieldImage * field, bool fieldFirst);

#endif
