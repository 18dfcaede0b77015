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
#ifndef ffdpLabelPainting_h
#define ffdpLabelPainting_h

#include "ffdpLabelMapSource.h"
#include "ffdpLabelTable.h"
#include "ffdpWarpChain.h"

/** Label maps to images: the recipe of the paper's faux-OASIS.
 *
 * Memory: the labels (2 bytes per voxel) and the image (4), and the window of planes of a Gaussian blur. Bytes do not
 * depend on the number of threads. */

/** The labels that a source has at the voxels of a grid, seen through a displacement field in mm (may be null) and
 * then a linear map: label(x) = source(linear(x + u(x))), x in mm. */
LabelImage::Pointer
DrawLabels(const LabelSource &       source,
           const itk::ImageBase<3> * grid,
           const FieldImage *        field,
           const ffdp::AffineMap &   linear,
           unsigned                  threads);

struct PaintParameters
{
  double        blur = 0.75; ///< sigma of the Gaussian blur, in voxels
  double        noise = 0;   ///< deviation of noise as in magnitude images of MR, after the blur
  double        bias = 0;    ///< largest relative change by a smooth field that multiplies the image
  std::uint64_t seed = 0;
  std::string   contrast; ///< images that differ in it differ in their noise
};

/** mean + deviation * noise in each voxel of a label, 0 in the background; then blur, bias and noise. Noise depends on
 * the seed, the contrast and the labels: two images with other labels have nothing in common in their noise. */
FloatImage::Pointer
PaintLabels(const LabelImage * labels, const LabelTable & table, const PaintParameters & parameters, unsigned threads);

#endif
