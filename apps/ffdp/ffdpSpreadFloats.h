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
#ifndef ffdpSpreadFloats_h
#define ffdpSpreadFloats_h

#include "ffdpCommunicator.h"
#include "ffdpVolume.h"

#include <functional>
#include <string>

/** The floats of a file: volumes of the same size, one after the other, of which each rank has the planes that it owns
 * (see ffdp::Partition). */
struct SpreadFloats
{
  ffdp::Extent domain;
  int          volumes = 1;

  /** Gives `count` values of a volume, from voxel `first` on, counted from the first voxel that this rank owns. Called
   * on many threads. */
  std::function<void(int volume, std::int64_t first, std::int64_t count, float * to)> fill;
};

/** Write a header and the floats to a file; all ranks make the call, and all throw CommandError if one cannot write.
 * The header is that of rank 0. Memory: some 40 MB. */

/** As one gzip stream: rank 0 gets the values of the others in the order of the file and compresses them; the next are
 * under way meanwhile. */
void
WriteZipped(ffdp::Communicator & communicator,
            const std::string &  header,
            const SpreadFloats & floats,
            const std::string &  file);

/** As they are: each rank writes its planes where they belong, to a file that all of them see. */
void
WriteInPlace(ffdp::Communicator & communicator,
             const std::string &  header,
             const SpreadFloats & floats,
             const std::string &  file);

#endif
