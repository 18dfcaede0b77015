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
#ifndef ffdpImageFiles_h
#define ffdpImageFiles_h

#include "ffdpDimension.h"
#include "ffdpImageHeader.h"
#include "ffdpOutputFiles.h"

#include "ffdpRegistration.h"

#include "itkImage.h"
#include "itkVector.h"

#include <cstdint>
#include <string>
#include <vector>

using FloatImage = itk::Image<float, 3>;
using FieldImage = itk::Image<itk::Vector<float, 3>, 3>;
using LabelImage = itk::Image<std::int16_t, 3>;

/** The message of an exception of ITK as one line. */
std::string
OneLine(const itk::ExceptionObject & error);

/** What the header of an image says. Throws CommandError unless it is one of two or three dimensions with sound
 * spacing; seriesToo: or of four. `what` names it in messages, like "fixed image". */
ImageHeader
ReadImageHeader(const std::string & file, const std::string & what, bool seriesToo = false);

/** The same without what the command line and the metadata of microscopes say of its spacing: for a file of our own,
 * which need not hold it. */
ImageHeader
ReadStoredHeader(const std::string & file, const std::string & what, bool seriesToo = false);

/** An image without voxels, with the first three axes of a file. */
FloatImage::Pointer
GridOf(const ImageHeader & header, const std::string & file, const std::string & what);

/** An image without voxels, with the grid of a file (of the first volume, if it is a series). */
FloatImage::Pointer
ReadGrid(const std::string & file, const std::string & what);

/** Same size and place, up to a thousandth. */
bool
AreOnOneGrid(const itk::ImageBase<3> * a, const itk::ImageBase<3> * b);

/** dimension 2: of one plane, written as an image of two dimensions, here and below. */
void
WriteImage(const FloatImage * image, const std::string & file, unsigned int dimension = SpaceDimension);
void
WriteField(const FieldImage * field, const std::string & file, unsigned int dimension = SpaceDimension);
void
WriteLabels(const LabelImage * labels, const std::string & file);

/** ITK's writers do not notice that a disk is full: throws itk::ExceptionObject unless an image that was just written
 * is there as a whole. */
void
RequireWritten(const std::string & file);

/** Of the planes that this rank owns; all ranks make the call. The file is a .nii or a .nii.gz. */
void
WriteImage(const FloatImage *   image,
           const std::string &  file,
           ffdp::Communicator & communicator,
           unsigned int         dimension = SpaceDimension);

/** Displacements in voxels of a grid (three planar volumes of the planes that this rank owns) as a field in mm,
 * likewise. */
void
WriteWarp(const std::vector<float> & warp,
          const FloatImage *         grid,
          const std::string &        file,
          ffdp::Communicator &       communicator,
          unsigned int               dimension = SpaceDimension);

bool
EndsWith(const std::string & text, const std::string & end);

/** Throws unless an image can be written to this file: its ending must be that of a format. */
void
RequireWritableImage(const std::string & file);

/** Voxels in place, no copy: the image must live as long as the view. The planes that are in memory may be a part of
 * the image. */
ffdp::PlacedImage
PlaceImage(const FloatImage * image);

#endif
