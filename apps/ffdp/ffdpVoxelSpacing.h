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
#ifndef ffdpVoxelSpacing_h
#define ffdpVoxelSpacing_h

#include <string>

struct ImageHeader;

/** Replaces the spacing in mm that ITK found in a header:
 *
 * - by what the command line gives for the file (see ffdpGivenSpacing.h);
 * - of a TIFF by what OME or ImageJ wrote into it, with its units;
 * - of a picture (TIFF, JPEG, BMP, PNG) of two dimensions by 1 where it says a number of dots per inch that programs
 *   write without a measurement, with a note.
 *
 * Throws CommandError, or UsageError about an option, for a TIFF with several channels, time points or images, which
 * ITK stacks as if they were planes of a volume; for a stack whose planes have an unknown distance; and for sizes that
 * make no sense. `what` names the file in messages. */
void
SettleSpacing(ImageHeader & header, const std::string & file, const std::string & what);

#endif
