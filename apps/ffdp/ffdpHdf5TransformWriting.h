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
#ifndef ffdpHdf5TransformWriting_h
#define ffdpHdf5TransformWriting_h

#include "itkTransformBase.h"

#include <string>

/** Writes a transform of any dimension to a file, as itk::HDF5TransformIO does and reads it, but with the same bytes
 * each time: without the time that HDF5 keeps with each object, and without the name of the system. Fields are written
 * from where they are. HDF5 runs in a process of its own: once it could not write, it does not let go of the file, and
 * crashes at the end. Throws CommandError, with `name` for the file, if not all of it arrives. */
void
WriteHdf5Transform(const itk::TransformBaseTemplate<double> * transform,
                   const std::string &                        file,
                   const std::string &                        name);

#endif
