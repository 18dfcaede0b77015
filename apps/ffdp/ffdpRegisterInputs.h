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
#ifndef ffdpRegisterInputs_h
#define ffdpRegisterInputs_h

#include "ffdpDimension.h"
#include "ffdpImageFiles.h"
#include "ffdpRegisterOptions.h"

/** The images, masks and the start of a registration, read and checked, and what keeps them in memory: the planes that
 * this rank owns. */
struct RegisterInputs
{
  DimensionedFile                  file;          ///< the fixed image of the first pair: outputs have its dimension
  FloatImage::Pointer              fixed, moving; ///< of the first pair
  std::vector<ffdp::ImagePair>     pairs;
  ffdp::RegistrationStart          start;
  std::vector<FloatImage::Pointer> others; ///< images of other pairs, and masks
  std::vector<float>               startWarp;
};

struct MaskNames
{
  std::string fixed, moving; ///< empty: none
};

/** The files of masks, however they were named. */
MaskNames
FindMasks(const RegisterOptions & options);

/** Throws CommandError, from what headers say, if an image, a mask or the warp of the start is of two dimensions and
 * another of three. */
void
RequireOneDimension(const RegisterOptions & options, const std::vector<ImageNames> & pairs);

/** Throws CommandError, from what headers say, unless masks lie on the grids of their images. */
void
RequireMasksOnGrids(const RegisterOptions & options, const ImageNames & images);

/** From what headers say: throws CommandError if one image of a pair is smaller than a voxel of the other, and returns
 * a warning if it is smaller by far; then a header is likely to be wrong about units. A start from a file may scale, so
 * that anything goes. */
std::string
CompareSizes(const RegisterOptions & options, const std::vector<ImageNames> & pairs);

/** All ranks make the call. */
RegisterInputs
ReadRegisterInputs(const RegisterOptions &         options,
                   const std::vector<ImageNames> & pairs,
                   ffdp::Communicator &            communicator);

#endif
