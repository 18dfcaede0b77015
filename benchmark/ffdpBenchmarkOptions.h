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
#ifndef ffdpBenchmarkOptions_h
#define ffdpBenchmarkOptions_h

#include <cstdint>
#include <iosfwd>
#include <regex>
#include <string>

namespace ffdp
{
namespace benchmark
{

/** What the command line selects. */
struct BenchmarkOptions
{
  std::int64_t size = 256;    ///< voxels along each axis
  unsigned     threads = 0;   ///< 0: ITK's default
  std::regex   filter{ "." }; ///< names to run; the default matches all
  std::string  jsonFile;      ///< empty: no file
  bool         help = false;
};

/** Throws std::invalid_argument with a sentence about what is wrong. */
BenchmarkOptions
ParseOptions(int argc, const char * const * argv);

void
PrintHelp(std::ostream & out);

} // namespace benchmark
} // namespace ffdp

#endif
