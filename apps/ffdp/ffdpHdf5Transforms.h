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
#ifndef ffdpHdf5Transforms_h
#define ffdpHdf5Transforms_h

#include "itkTransformBase.h"

#include <string>
#include <vector>

/** Writes a transform of any dimension to the very name that is given, as itk::HDF5TransformIO does and reads it, but
 * with the same bytes each time: without the time that HDF5 keeps with each object, and without the name of the system.
 * Fields are written from where they are. Throws itk::ExceptionObject if not all of it arrives. */
void
WriteHdf5Transform(const itk::TransformBaseTemplate<double> * transform, const std::string & file);

/** How many parameters the transforms in a file have in all, from its tables, without reading them; 0 for a file that
 * cannot be read, which its reader refuses. */
double
CountHdf5Parameters(const std::string & file);

/** Types of the transforms in a file, like "AffineTransform_double_3_3"; none if it holds no transforms. */
std::vector<std::string>
ListHdf5Transforms(const std::string & file);

#endif
