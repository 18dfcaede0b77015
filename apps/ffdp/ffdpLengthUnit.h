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
#ifndef ffdpLengthUnit_h
#define ffdpLengthUnit_h

#include <string>

/** Millimeters in a unit of length, as in "um", "micron", "nm" or "mm", in UTF-8 (or the one byte of Latin-1 for the
 * sign of micro); 0 if it is not known. */
double
MillimetersOf(const std::string & unit);

/** Whether a unit says that lengths are not known: "pixel", "reference frame" (of OME), nothing. */
bool
IsNoLength(const std::string & unit);

#endif
