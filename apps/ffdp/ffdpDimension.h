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
#ifndef ffdpDimension_h
#define ffdpDimension_h

#include <string>

struct ImageHeader;

/** Whether files are of two or three dimensions. In memory everything has three: a 2-D image is a volume with one
 * plane, and a transform of the plane is one of space that leaves z alone. So what is written has to be told, and what
 * is read has to fit. */
constexpr unsigned int PlaneDimension = 2;
constexpr unsigned int SpaceDimension = 3;

/** A file and its dimension. */
struct DimensionedFile
{
  std::string  name;          ///< as messages say it, like "fixed image 'a.nii.gz'"
  unsigned int dimension = 0; ///< 2 or 3; 0: fits both, like the identity

  /** The dimension of what is made of it: 3 unless it is of the plane. */
  unsigned int
  Dimension() const
  {
    return dimension == PlaneDimension ? PlaneDimension : SpaceDimension;
  }
};

/** Of an image as its header says; one plane along a third axis makes three. A series is of three dimensions. */
unsigned int
DimensionOf(const ImageHeader & header);

/** Of an image. `what` names it in messages, like "fixed image". */
DimensionedFile
ReadDimension(const std::string & file, const std::string & what);

/** Of a displacement field: the number of values per voxel, as NIfTI does not tell a plane from one plane in space. */
DimensionedFile
ReadFieldDimension(const std::string & file);

/** Throws CommandError, with the names of both, if one is of two dimensions and the other of three. */
void
RequireOneDimension(const DimensionedFile & file, const DimensionedFile & other);

#endif
