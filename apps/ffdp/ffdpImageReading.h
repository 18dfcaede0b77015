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
#ifndef ffdpImageReading_h
#define ffdpImageReading_h

#include "ffdpImageFiles.h"

#include "ffdpCommunicator.h"

/** Images of floats from files. All ranks make these calls, and each gets the planes that it owns (see
 * ffdp::Partition): the largest possible region of an image is that of its file, the buffered region its own. Without a
 * communicator: all planes.
 *
 * Where something is wrong with a file, all ranks throw the same CommandError; so they do where ranks see different
 * files. `what` names a file in messages, like "fixed image". */

/** Reads an image of two or three dimensions (2-D: one plane). Throws for a file that is missing, broken, no image, not
 * scalar, or has voxels that are not finite. */
FloatImage::Pointer
ReadImage(const std::string & file, const std::string & what, ffdp::Communicator & communicator);
FloatImage::Pointer
ReadImage(const std::string & file, const std::string & what);

/** ReadImage(), and refuses an image without contrast: nothing can be aligned with it. */
FloatImage::Pointer
ReadImageWithContrast(const std::string & file, const std::string & what, ffdp::Communicator & communicator);
FloatImage::Pointer
ReadImageWithContrast(const std::string & file, const std::string & what);

/** A mask for an image: 1 where the file is not 0. It must have the grid of that image. */
FloatImage::Pointer
ReadMask(const std::string &  file,
         const std::string &  what,
         const FloatImage *   image,
         ffdp::Communicator & communicator);
FloatImage::Pointer
ReadMask(const std::string & file, const std::string & what, const FloatImage * image);

/** Displacements in mm; of a field of two dimensions those along z are 0. */
FieldImage::Pointer
ReadField(const std::string & file, ffdp::Communicator & communicator);
FieldImage::Pointer
ReadField(const std::string & file);

#endif
