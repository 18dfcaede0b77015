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
#ifndef ffdpRawImages_h
#define ffdpRawImages_h

#include "ffdpImageFiles.h"
#include "ffdpPixels.h"

#include <string>

/** Type of numbers, values per voxel, one volume or a series of them. */
struct RawImageKind
{
  unsigned int         dimension = SpaceDimension; ///< of a volume; 2: it has one plane
  itk::SizeValueType   volumes = 1;
  double               volumeSpacing = 1; ///< along the fourth axis
  double               volumeOrigin = 0;
  itk::IOComponentEnum component = itk::IOComponentEnum::FLOAT;
  itk::IOPixelEnum     pixel = itk::IOPixelEnum::SCALAR;
  int                  components = 1;
};

/** An image as its file has it. The type is known at run time only, so that code for it is not compiled ten times. */
struct RawImage : RawImageKind
{
  FloatImage::Pointer grid;  ///< of a volume; has no voxels
  SharedBytes         bytes; ///< the values of a voxel, then x fastest

  itk::SizeValueType
  VoxelsOfVolume() const
  {
    return grid->GetLargestPossibleRegion().GetNumberOfPixels();
  }

  /** One volume. */
  ffdp::PixelView
  Volume(itk::SizeValueType volume);
};

/** What the header of a file says. */
RawImageKind
ReadRawImageKind(const std::string & file, const std::string & what, bool seriesToo);

/** Throws CommandError for what cannot be read, and for voxels that are infinite or not a number. */
RawImage
ReadRawImage(const std::string & file, const std::string & what, bool seriesToo);

/** Zeros. */
RawImage
MakeRawImage(const RawImageKind & kind, const itk::ImageBase<3> * grid);

/** Has ITK write such an image on this grid, in the format that the name stands for; it runs apart (see RunApart()).
 * Does not look at what arrived. */
void
WriteThroughLibrary(const RawImageKind &      kind,
                    const itk::ImageBase<3> * grid,
                    const void *              values,
                    const std::string &       name,
                    const std::string &       nameInMessages = "");

/** Throws CommandError unless a file of this name can be written and its format holds such an image (a .png has no
 * floats, and no more than one plane): tries it with a tiny one. */
void
RequireWritableKind(const RawImageKind & kind, const std::string & file, itk::SizeValueType planes = 2);

/** The same for an image of displacements. */
void
RequireWritableField(const std::string & file);

/** Written as a 2-D or 3-D image, or a 4-D one if there are several volumes. */
void
WriteRawImage(const RawImage & image, const std::string & file);

#endif
