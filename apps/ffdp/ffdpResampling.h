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
#ifndef ffdpResampling_h
#define ffdpResampling_h

#include "ffdpPixels.h"
#include "ffdpTransformFiles.h"

/** An image on the grid of a reference, seen through a transform from the reference's space to the image's.
 * interpolation: linear, nearest, or label (the label with the largest weight among the eight around a point). */
FloatImage::Pointer
ResampleImage(FloatImage *        image,
              const FloatImage *  reference,
              CompositeType *     transform,
              const std::string & interpolation);

/** The same for voxels of any type: whole volumes on the two grids. Labels have one value per voxel, and the same type
 * in both. */
void
ResamplePixels(const ffdp::ConstPixelView & image,
               const itk::ImageBase<3> *    imageGrid,
               const CompositeType *        transform,
               const std::string &          interpolation,
               const ffdp::PixelView &      output,
               const itk::ImageBase<3> *    outputGrid);

#endif
