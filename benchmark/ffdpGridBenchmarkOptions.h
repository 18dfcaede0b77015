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
#ifndef ffdpGridBenchmarkOptions_h
#define ffdpGridBenchmarkOptions_h

#include "ffdpRegistration.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace ffdp
{
namespace benchmark
{

/** What the command line selects. */
struct GridBenchmarkOptions
{
  bool                    weak = true; ///< the volume grows with the ranks; otherwise they share it
  Extent                  size;        ///< of the part of a rank (weak), or of the whole
  std::vector<int>        ranks = { 1, 2, 4, 8 };
  int                     iterations = 10; ///< of each level
  int                     reach = 3;       ///< voxels, of the warp that is looked for
  unsigned                threads = 1;     ///< of a rank
  RegistrationStage::Kind stage = RegistrationStage::Kind::Greedy;
  std::string             jsonFile; ///< empty: no file
  bool                    forLauncher = false;
  bool                    help = false;

  /** The volume that some ranks register. */
  Extent
  WholeSize(int numberOfRanks) const
  {
    return weak ? Extent{ size.x, size.y, size.z * numberOfRanks } : size;
  }
};

/** Throws std::invalid_argument with a sentence about what is wrong. */
GridBenchmarkOptions
ParseGridOptions(int argc, const char * const * argv);

/** The options with which one process of `mpirun` does its part. */
std::string
ArgumentsOfRank(const GridBenchmarkOptions & options);

void
PrintGridHelp(std::ostream & out);

} // namespace benchmark
} // namespace ffdp

#endif
