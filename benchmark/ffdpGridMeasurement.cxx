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
#include "ffdpGridMeasurement.h"

#include "ffdpAllocationMeter.h"
#include "ffdpGridPhantom.h"
#include "ffdpRingSampler.h"
#include "ffdpStopwatch.h"

#include "ffdpAdam.h"
#include "ffdpComposition.h"
#include "ffdpGaussian.h"
#include "ffdpLocalCorrelation.h"
#include "ffdpParallel.h"
#include "ffdpPartition.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

namespace ffdp
{
namespace benchmark
{
namespace
{

using Kind = RegistrationStage::Kind;

/** A line of /proc/self/status, in bytes. */
double
ReadProcessStatus(const std::string & name)
{
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
  {
    if (line.compare(0, name.size() + 1, name + ":") == 0)
    {
      return 1024 * std::stod(line.substr(name.size() + 1));
    }
  }
  throw std::runtime_error("/proc/self/status does not tell " + name);
}

/** Peaks of memory since it was made. */
class MemoryPeak
{
public:
  MemoryPeak()
    : m_AllocatedBefore(test::BytesInUse())
    , m_ResidentBefore(ReadProcessStatus("VmRSS"))
  {
    test::ResetPeak();
    std::ofstream("/proc/self/clear_refs") << "5"; // forgets the peak of the time before
  }
  double
  Allocated() const
  {
    return double(test::PeakBytes() - m_AllocatedBefore);
  }
  double
  Resident() const
  {
    return ReadProcessStatus("VmHWM") - m_ResidentBefore;
  }

private:
  std::size_t m_AllocatedBefore;
  double      m_ResidentBefore;
};

/** Notes time and bytes from one iteration to the next at the finest level. */
class IterationObserver
{
public:
  explicit IterationObserver(const Communicator & communicator)
    : m_Communicator(communicator)
  {}

  void
  operator()(const RegistrationProgress & progress)
  {
    const double sent = double(m_Communicator.SentBytes()) - m_SentBefore;
    m_SentBefore += sent;
    if (progress.level + 1 == progress.levels)
    {
      if (progress.iteration == 1)
      {
        m_First = sent;
        m_Stopwatch = Stopwatch();
      }
      else
      {
        m_Others += sent;
        m_Seconds = m_Stopwatch.Seconds();
        m_Count = progress.iteration - 1;
      }
    }
    m_Loss = progress.value;
  }

  void
  Tell(GridMeasurement & measurement) const
  {
    measurement.sentFirst = m_First;
    measurement.sentPerIteration = m_Others / m_Count;
    measurement.secondsPerIteration = m_Seconds / m_Count;
    measurement.loss = m_Loss;
  }

private:
  const Communicator & m_Communicator;
  Stopwatch            m_Stopwatch;
  double               m_SentBefore = 0;
  double               m_First = 0;
  double               m_Others = 0;
  double               m_Seconds = 0;
  int                  m_Count = 1;
  double               m_Loss = 0;
};

RegistrationStage
MakeStage(const GridBenchmarkOptions & options)
{
  RegistrationStage stage;
  stage.kind = options.stage;
  stage.metrics[0].kind = options.stage == Kind::Affine ? RegistrationMetric::Kind::MutualInformation
                                                        : RegistrationMetric::Kind::LocalCorrelation;
  stage.iterations.assign(stage.shrinkFactors.size(), options.iterations);
  stage.tolerance = -1; // as many iterations as asked for, whatever they bring
  return stage;
}

/** Planes that the transform moves a voxel by, along z, at most. */
double
PlanesMoved(Communicator & communicator, const RegistrationResult & result, const Extent & size)
{
  double            bend = 0;
  const std::size_t count = result.warp.size() / 3;
  for (std::size_t i = 2 * count; i < result.warp.size(); ++i)
  {
    bend = std::max(bend, double(std::abs(result.warp[i])));
  }
  communicator.Maximum(&bend, 1);
  double shift = 0;
  for (int corner = 0; corner < 8; ++corner)
  {
    const std::array<double, 3> point{ { corner & 1 ? double(size.x - 1) : 0.0,
                                         corner & 2 ? double(size.y - 1) : 0.0,
                                         corner & 4 ? double(size.z - 1) : 0.0 } };
    shift = std::max(shift, std::abs(result.affine(point)[2] - point[2]));
  }
  return std::ceil(bend + shift);
}

/** Planes that a rank with two neighbors sends in an iteration, at most: 2 (k + 2) of each moving image, if it reaches
 * farther than before, and twice the halo of each volume that neighbors read. See Documentation/GridParallel.md. */
double
BoundInPlanes(const RegistrationStage & stage, double planesMoved)
{
  const double movingImages = stage.kind == Kind::SyN ? 2 : 1;
  double       planes = movingImages * 2 * (planesMoved + 2);
  if (stage.kind == Kind::Affine)
  {
    return planes;
  }
  LocalCorrelationParameters correlation;
  correlation.radius = { { stage.metrics[0].radius, stage.metrics[0].radius, stage.metrics[0].radius } };
  const double windows = double(LocalCorrelationHalo(correlation, true));
  const double gradient = 3 * double(GaussianRadius(stage.gradientSigma));
  const double step = AdamStepScale(1, stage.learningRate);
  const double warp = 3 * double(std::max(CompositionHalo(float(step)), GaussianRadius(stage.warpSigma)));
  // A warp is exchanged before it is smoothed, and before it is composed.
  planes += 2 * (movingImages * windows + gradient + movingImages * 2 * warp);
  return planes;
}

void
MeasureRing(Communicator &               communicator,
            Backend &                    backend,
            const GridBenchmarkOptions & options,
            const Extent &               size,
            const PlaneRange &           own,
            const std::vector<float> &   moving,
            GridMeasurement &            measurement)
{
  const std::int64_t       planes = own.end - own.first;
  const std::vector<float> warp = GridPhantom(size, options.reach).Warp(own);
  std::vector<float>       moved(moving.size());
  const float * const      u = warp.data();
  const std::size_t        count = moving.size();
  for (const bool full : { false, true })
  {
    RingParameters parameters;
    parameters.full = full;
    const std::uint64_t before = communicator.SentBytes();
    RingSample(backend,
               communicator,
               VolumeView<const float>(moving.data(), size, own.first, planes),
               CompositeMap{},
               WarpView<const float>::Planar(u, u + count, u + 2 * count, size, own.first, planes),
               VolumeView<float>(moved.data(), size, own.first, planes),
               parameters);
    (full ? measurement.fullRingSent : measurement.ringSent) = double(communicator.SentBytes() - before);
  }
}

} // namespace

const std::vector<GridMeasurementField> &
GridMeasurementFields()
{
  static const std::vector<GridMeasurementField> fields = {
    { "ranks", &GridMeasurement::ranks },
    { "size_x", &GridMeasurement::sizeX },
    { "size_y", &GridMeasurement::sizeY },
    { "size_z", &GridMeasurement::sizeZ },
    { "planes_per_rank", &GridMeasurement::planesPerRank },
    { "allocated_bytes", &GridMeasurement::allocatedBytes },
    { "resident_bytes", &GridMeasurement::residentBytes },
    { "seconds_per_iteration", &GridMeasurement::secondsPerIteration },
    { "sent_bytes_first_iteration", &GridMeasurement::sentFirst },
    { "sent_bytes_per_iteration", &GridMeasurement::sentPerIteration },
    { "sent_bytes_bound", &GridMeasurement::sentBound },
    { "ring_bytes", &GridMeasurement::ringSent },
    { "ring_bytes_bound", &GridMeasurement::ringBound },
    { "full_ring_bytes", &GridMeasurement::fullRingSent },
    { "plane_bytes", &GridMeasurement::planeBytes },
    { "loss", &GridMeasurement::loss },
  };
  return fields;
}

GridMeasurement
MeasureRanks(Communicator & communicator, const GridBenchmarkOptions & options)
{
  const Extent     size = options.WholeSize(communicator.Size());
  const PlaneRange own = Partition(size.z, communicator.Size()).Owned(communicator.Rank());
  const auto       backend = MakeCpuBackend(options.threads);
  ParallelFor(options.threads, options.threads, [](std::int64_t, unsigned) {}); // the pool is not part of the work

  GridMeasurement measurement;
  measurement.ranks = communicator.Size();
  measurement.sizeX = double(size.x);
  measurement.sizeY = double(size.y);
  measurement.sizeZ = double(size.z);
  measurement.planesPerRank = double(own.end - own.first);
  measurement.planeBytes = double(size.x * size.y) * sizeof(float);

  const MemoryPeak         memory;
  const GridPhantom        phantom(size, options.reach);
  const std::vector<float> fixed = phantom.Fixed(own), moving = phantom.Moving(own);
  ImagePair                pair;
  pair.fixed.voxels = VolumeView<const float>(fixed.data(), size, own.first, own.end - own.first);
  pair.moving.voxels = VolumeView<const float>(moving.data(), size, own.first, own.end - own.first);

  const RegistrationStage stage = MakeStage(options);
  IterationObserver       iterations(communicator);
  double                  planesMoved = 0;
  {
    const RegistrationResult result =
      Register(*backend, communicator, { pair }, {}, { stage }, [&](const RegistrationProgress & progress) {
        iterations(progress);
        return true;
      });
    planesMoved = PlanesMoved(communicator, result, size);
  }
  measurement.allocatedBytes = memory.Allocated();
  measurement.residentBytes = memory.Resident();
  iterations.Tell(measurement);
  measurement.sentBound = measurement.planeBytes * BoundInPlanes(stage, planesMoved);
  measurement.ringBound = measurement.planeBytes * 2 * (options.reach + 1);
  MeasureRing(communicator, *backend, options, size, own, moving, measurement);

  for (const GridMeasurementField & field : GridMeasurementFields())
  {
    communicator.Maximum(&(measurement.*field.value), 1);
  }
  return measurement;
}

} // namespace benchmark
} // namespace ffdp
