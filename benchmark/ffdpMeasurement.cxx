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
#include "ffdpMeasurement.h"

#include "ffdpAllocationMeter.h"
#include "ffdpStopwatch.h"

#include <algorithm>
#include <limits>

namespace ffdp
{
namespace benchmark
{
namespace
{
constexpr double nanosecondsPerSecond = 1e9;

double
NanosecondsPerVoxel(double seconds, double voxels)
{
  return nanosecondsPerSecond * seconds / voxels;
}
} // namespace

double
BestSeconds(const Work & work, int repetitions)
{
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repetitions; ++i)
  {
    const Stopwatch stopwatch;
    work();
    best = std::min(best, stopwatch.Seconds());
  }
  return best;
}

PrimitiveTimer::PrimitiveTimer(const BenchmarkCase & benchmarkCase,
                               const Extent &        size,
                               unsigned              threads,
                               Triad &               triad)
  : m_Voxels(double(size.Voxels()))
  , m_BytesPerVoxel(benchmarkCase.bytesPerVoxel)
  , m_Triad(triad)
  , m_Work(benchmarkCase.make(size, threads))
  , m_ExtraBytes(double(test::MeasurePeakAllocation(m_Work))) // the first run, which touches all memory
  , m_BestSeconds(std::numeric_limits<double>::infinity())
  , m_BestTriad(triad.Measure())
{}

double
PrimitiveTimer::TakeTurn()
{
  const double seconds = BestSeconds(m_Work, 1);
  m_BestSeconds = std::min(m_BestSeconds, seconds);
  m_BestTriad = std::min(m_BestTriad, m_Triad.Measure());
  return seconds;
}

PrimitiveMeasurement
PrimitiveTimer::Finish()
{
  PrimitiveMeasurement measurement;
  measurement.nanosecondsPerVoxel = NanosecondsPerVoxel(m_BestSeconds, m_Voxels);
  measurement.triadMultiple = m_BestSeconds / (m_BytesPerVoxel * m_Voxels * m_BestTriad);
  measurement.triadGigabytesPerSecond = 1 / (m_BestTriad * nanosecondsPerSecond);
  measurement.extraBytes = m_ExtraBytes;
  return measurement;
}

ItkMeasurement
ItkTimer::Measure(const BenchmarkCase & benchmarkCase, std::int64_t size, unsigned threads)
{
  constexpr int ourRepetitions = 12;

  const ItkCounterpart & itk = *benchmarkCase.itk;
  ItkMeasurement         measurement;
  measurement.size = std::min(size, itk.mostSize);
  const Extent extent{ measurement.size, measurement.size, measurement.size };
  const auto   voxels = double(extent.Voxels());

  auto known = m_NanosecondsPerVoxel.find(&itk);
  if (known == m_NanosecondsPerVoxel.end())
  {
    const double seconds = BestSeconds(itk.make(extent, threads), itk.repetitions);
    known = m_NanosecondsPerVoxel.emplace(&itk, NanosecondsPerVoxel(seconds, voxels)).first;
  }
  measurement.itkNanosecondsPerVoxel = known->second;

  const MakeWork & ours = benchmarkCase.comparable ? benchmarkCase.comparable : benchmarkCase.make;
  measurement.ourNanosecondsPerVoxel = NanosecondsPerVoxel(BestSeconds(ours(extent, threads), ourRepetitions), voxels);
  return measurement;
}

} // namespace benchmark
} // namespace ffdp
