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
#ifndef ffdpLabelMaps_h
#define ffdpLabelMaps_h

#include "itkImage.h"

#include <cstdint>
#include <string>
#include <vector>

/** Numbers of labels by their place in a list: two bytes per voxel, however large the labels are. */
struct LabelMap
{
  using ImageType = itk::Image<std::uint16_t, 3>;

  ImageType::Pointer        image;  ///< each voxel is a place in `labels`
  std::vector<std::int64_t> labels; ///< ascending
};

/** Reads a map of whole numbers, of any type of voxels, with at most 65536 different ones.
 * Throws CommandError for what ReadImage() refuses, and for voxels that are not whole numbers. */
LabelMap
ReadLabelMap(const std::string & file, const std::string & what);

/** Gives two maps one list of labels. */
void
ShareLabels(LabelMap & a, LabelMap & b);

#endif
