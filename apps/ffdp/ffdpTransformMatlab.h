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
#ifndef ffdpTransformMatlab_h
#define ffdpTransformMatlab_h

#include "ffdpStoredTransform.h"

/** Reads a .mat file of transforms as ITK, ANTs, c3d and greedy write it: MATLAB's format 4, in which each transform is
 * a vector with the type as its name and the parameters as its values, and another one named "fixed". Numbers are
 * doubles or floats, in either byte order. Throws CommandError for a file that ends within a transform, and for
 * whatever else is not of this form. */
std::vector<StoredTransform>
ReadTransformMatlab(const std::string & file);

#endif
