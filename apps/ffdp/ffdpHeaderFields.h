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
#ifndef ffdpHeaderFields_h
#define ffdpHeaderFields_h

#include "ffdpVoxelLayout.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/** Headers of text, as MetaImage and NRRD have them: keys and their values. Here is what both readers need. */

using HeaderFields = std::map<std::string, std::string>;

std::int64_t
ToNumber(const HeaderFields & header, const std::string & key, std::int64_t otherwise);

/** The bytes of a file as far as they can be a header: the first megabytes. */
std::string
ReadHeaderText(const std::string & file, const std::string & what);

/** Empty if there is no such field. */
std::string
ToText(const HeaderFields & header, const std::string & key);

/** Of the numbers in a text; 1 if there are none. `name` begins the message if they are too large or negative. */
std::uint64_t
ProductOf(const std::string & numbers, const std::string & name);

/** Unknown if the name is not among these. */
itk::IOComponentEnum
FindType(const std::map<std::string, itk::IOComponentEnum> & types, const std::string & name);

/** The bytes of a layout come after some that are skipped, or last in their file. */
void
SetOffset(VoxelLayout & layout, std::uint64_t start, std::int64_t skip, const std::string & name);

/** The names of a pattern like "slice%03d.raw 1 20 1": the number is written in decimal. first, last and step are
 * those of the header, or these. Throws CommandError for a pattern that holds anything but one such number, or has no
 * end. */
std::vector<std::string>
ExpandPattern(const std::string & pattern,
              std::int64_t        first,
              std::int64_t        last,
              std::int64_t        step,
              const std::string & name);

/** The file beside a header, unless its name is a full path. */
std::string
BesideHeader(const std::string & header, const std::string & data);

std::optional<VoxelLayout>
FindMetaVoxels(const std::string & file, const std::string & what);
std::optional<VoxelLayout>
FindNrrdVoxels(const std::string & file, const std::string & what);

#endif
