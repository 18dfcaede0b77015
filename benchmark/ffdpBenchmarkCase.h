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
#ifndef ffdpBenchmarkCase_h
#define ffdpBenchmarkCase_h

#include "ffdpVolume.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ffdp
{
namespace benchmark
{

/** Something to time. It owns the data that it works on. */
using Work = std::function<void()>;

/** Makes the data for a volume of some size; not timed. */
using MakeWork = std::function<Work(const Extent & size, unsigned threads)>;

/** An ITK class that does the same job as a primitive. */
struct ItkCounterpart
{
  std::string  name;     ///< of the class, without itk::
  std::int64_t mostSize; ///< it is timed on volumes of at most this size, because it may be slow
  MakeWork     make;
  int          repetitions = 2; ///< the best counts
};

struct BenchmarkCase
{
  std::string            name;
  double                 bytesPerVoxel; ///< compulsory traffic: what must be read and written once
  MakeWork               make;
  const ItkCounterpart * itk = nullptr; ///< null: ITK has none
  MakeWork               comparable;    ///< ours for all of ITK's job, where that is more than the primitive alone
};

/** Every primitive, in the order of the table. */
std::vector<BenchmarkCase>
PrimitiveCases();

/** Our ITK classes, each against the one that it replaces. */
std::vector<BenchmarkCase>
FusedClassCases();

/** What ITK has for a primitive. */
const ItkCounterpart &
ItkNeighborhoodCorrelation();
const ItkCounterpart &
ItkMattes();
const ItkCounterpart &
ItkMeanSquares();
const ItkCounterpart &
ItkResample();
const ItkCounterpart &
ItkRecursiveGaussian();
const ItkCounterpart &
ItkCompose();
const ItkCounterpart &
ItkDiscreteGaussianAndShrink();

} // namespace benchmark
} // namespace ffdp

#endif
