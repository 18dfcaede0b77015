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
#ifndef ffdpTransformText_h
#define ffdpTransformText_h

#include "ffdpStoredTransform.h"

/** Reads a text file of transforms (.txt, .tfm) as ITK writes it:
 *
 *     #Insight Transform File V1.0
 *     #Transform 0
 *     Transform: AffineTransform_double_3_3
 *     Parameters: 1 0 0 0 1 0 0 0 1 0 0 0
 *     FixedParameters: 0 0 0
 *
 * Throws CommandError for a transform without one of its lines, and for whatever else is not of this form. ITK's own
 * reader takes what there is, and leaves the rest as it is in an identity. */
std::vector<StoredTransform>
ReadTransformText(const std::string & file);

#endif
