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
#ifndef ffdpHdf5TransformReading_h
#define ffdpHdf5TransformReading_h

#include "ffdpStoredTransform.h"

/** Reads a file of transforms as itk::HDF5TransformIO writes it: in /TransformGroup, one group for each, with the names
 * 0, 1, 2... HDF5 runs in a process of its own, and hands over nothing but names and numbers. Throws CommandError. */
std::vector<StoredTransform>
ReadHdf5Transforms(const std::string & file);

/** The same without parameters: their values are null. */
std::vector<StoredTransform>
DescribeHdf5Transforms(const std::string & file);

/** Types of the transforms in a file, like "AffineTransform_double_3_3"; none if it cannot be read. */
std::vector<std::string>
ListHdf5Transforms(const std::string & file);

#endif
