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
#ifndef ffdpSlices_h
#define ffdpSlices_h

#include "ffdpImageFiles.h"

#include <array>
#include <string>
#include <vector>

/** A plane of the fixed grid as one looks at it: axial with the front up, coronal and sagittal with the head up, the
 * patient's right on the left side. */
struct SlicePlane
{
  ffdp::Extent size; ///< of the grid
  std::string  title;
  std::string  left, right, top, bottom; ///< letters of the directions; none for a 2-D image
  int          normal = 2;               ///< the axis of the grid that looks at the viewer
  int          across = 0, down = 1;     ///< the axes of columns and rows
  bool         flipAcross = false, flipDown = false;
  std::int64_t position = 0; ///< along the normal
  int          width = 0, height = 0;
  double       voxelsPerColumn = 1, voxelsPerRow = 1; ///< above 1 if the image is too large to show all of it
  double       aspect = 1;                            ///< width to height in mm, or what one can still look at

  /** How many squares fit along the width if `count` of them fit along the longer side. */
  double
  SquaresAcross(double count) const;

  /** The voxel that a pixel shows. */
  std::array<std::int64_t, 3>
  VoxelAt(int column, int row) const;
};

/** Three planes through the center of the image's intensities, without those that are lines; one for a 2-D image. This
 * and what follows are calls of all ranks: each has the planes of images and warps that it owns, and all get the
 * result. */
std::vector<SlicePlane>
ChoosePlanes(const FloatImage * fixed, ffdp::Communicator & communicator);

/** The letter that each axis of a grid runs to, like LPS. */
std::string
NameOrientation(const FloatImage * image);

/** Values of the pixels of a plane, row by row; not a number where there is none. */
using Slice = std::vector<float>;

/** The components of a warp; empty slices mean that there is none. */
using WarpSlice = std::array<Slice, 3>;

Slice
CutSlice(const FloatImage * fixed, const SlicePlane & plane, ffdp::Communicator & communicator);

WarpSlice
CutSlice(const ffdp::WarpView<const float> & warp, const SlicePlane & plane, ffdp::Communicator & communicator);

/** The moving image seen through x -> map(x + warp(x)); it has no values outside. */
Slice
CutSlice(const FloatImage *      moving,
         const FloatImage *      fixed,
         const SlicePlane &      plane,
         const ffdp::AffineMap & map,
         const WarpSlice &       warp,
         ffdp::Communicator &    communicator);

/** Puts together values that one rank knows each: on the others they are 0. */
void
JoinSlice(Slice & slice, ffdp::Communicator & communicator);

#endif
