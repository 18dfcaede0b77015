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
#ifndef ffdpFileCompleteness_h
#define ffdpFileCompleteness_h

#include <cstdint>
#include <string>

struct ImageHeader;
struct VoxelLayout;

/** Throws CommandError for a file whose voxels are not all there: a NIfTI file, a MetaImage or a NRRD that was cut off,
 * whose data files are missing or too short, or that is compressed and broken; any other file in gzip that is broken.
 * ITK reads what there is, and leaves the rest of the image as it was; it does not compare checksums. A compressed file
 * is unzipped once more for this. `what` names the file in the message. */
void
RequireComplete(const std::string & file, const std::string & what, const ImageHeader & header);

/** The same for a file whose voxels were found, except for one in gzip, which takes as long as to read it. */
void
RequirePlainBytes(const VoxelLayout & layout, const std::string & what);

/** What RequireComplete() throws for a file with fewer bytes than it needs. */
[[noreturn]] void
ThrowCutOff(const std::string & file, const std::string & what, std::uint64_t there, std::uint64_t needed);

/** RequireComplete(), and throws for a NIfTI file of floats with one that is infinite or not a number: ITK would read
 * it as 0. */
void
RequireSoundVoxels(const std::string & file, const std::string & what, const ImageHeader & header);

#endif
