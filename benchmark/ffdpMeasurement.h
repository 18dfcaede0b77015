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
#ifndef ffdpMeasurement_h
#define ffdpMeasurement_h

#include "ffdpBenchmarkCase.h"
#include "ffdpTriad.h"

#include <map>

namespace ffdp
{
namespace benchmark
{

/** Times the best of `repetitions` runs of the work, in seconds. */
double
BestSeconds(const Work & work, int repetitions);

/** A primitive on its own, and the memory bandwidth at the same time. */
struct PrimitiveMeasurement
{
  double nanosecondsPerVoxel = 0;
  double triadMultiple = 0; ///< of the time that the compulsory traffic takes at the speed of the triad
  double triadGigabytesPerSecond = 0;
  double extraBytes = 0; ///< largest allocation above inputs and outputs
};

/** A primitive against ITK's class, both on volumes of one size. */
struct ItkMeasurement
{
  std::int64_t size = 0;
  double       itkNanosecondsPerVoxel = 0;
  double       ourNanosecondsPerVoxel = 0; ///< for all of ITK's job
};

/** Takes turns with a primitive and the triad, so that both see the same machine; what else runs there can only slow
 * them down, so the best of each counts. */
class PrimitiveTimer
{
public:
  PrimitiveTimer(const BenchmarkCase & benchmarkCase, const Extent & size, unsigned threads, Triad & triad);

  /** One turn; returns the seconds of the primitive. */
  double
  TakeTurn();

  PrimitiveMeasurement
  Finish();

private:
  double  m_Voxels;
  double  m_BytesPerVoxel;
  Triad & m_Triad;
  Work    m_Work;
  double  m_ExtraBytes;
  double  m_BestSeconds;
  double  m_BestTriad;
};

/** Times ITK's classes; each only once, as several primitives have the same counterpart. */
class ItkTimer
{
public:
  ItkMeasurement
  Measure(const BenchmarkCase & benchmarkCase, std::int64_t size, unsigned threads);

private:
  std::map<const ItkCounterpart *, double> m_NanosecondsPerVoxel;
};

} // namespace benchmark
} // namespace ffdp

#endif
