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
#ifndef ffdpImageHeader_h
#define ffdpImageHeader_h

#include "ffdpSharedBytes.h"

#include "itkCommonEnums.h"

#include <cstdint>
#include <string>
#include <vector>

/** One axis of an image. */
struct ImageAxis
{
  std::uint64_t       size = 0;
  double              spacing = 1;
  double              origin = 0;
  std::vector<double> direction; ///< as many numbers as the image has axes
};

/** What the header of an image says, as the library that reads its format understands it. */
struct ImageHeader
{
  std::vector<ImageAxis> axes;
  itk::IOComponentEnum   component = itk::IOComponentEnum::UNKNOWNCOMPONENTTYPE;
  itk::IOPixelEnum       pixel = itk::IOPixelEnum::UNKNOWNPIXELTYPE;
  unsigned int           components = 1; ///< per voxel
  std::string            format;         ///< the name of ITK's class for it, like NiftiImageIO

  unsigned int
  Dimensions() const
  {
    return static_cast<unsigned int>(this->axes.size());
  }

  /** Along an axis; 1 along those that it does not have. */
  std::uint64_t
  Size(unsigned int axis) const
  {
    return axis < this->axes.size() ? this->axes[axis].size : 1;
  }

  /** Of all voxels; ReadHeaderApart() has found that these products are not too large. */
  std::uint64_t
  Values() const;
  std::uint64_t
  Bytes() const;
};

/** A part of an image: voxels from `first` on along each axis. */
struct ImagePart
{
  std::vector<std::uint64_t> first, size;
};

/** All voxels. */
ImagePart
WholeOf(const ImageHeader & header);

/** Has ITK read the header of a file. It runs apart (see RunApart()), as does the next function; `what` names the file
 * in messages. Throws CommandError for what cannot be read, and for sizes whose product is too large. */
ImageHeader
ReadHeaderApart(const std::string & file, const std::string & what);

/** Has ITK read voxels, as they are in memory: the values of a voxel, then x fastest. */
SharedBytes
ReadVoxelsApart(const ImageHeader & header, const std::string & file, const std::string & what, const ImagePart & part);

/** The bytes of a value of this type; 0 for one that is not known here. */
std::size_t
SizeOf(itk::IOComponentEnum component);

#endif
