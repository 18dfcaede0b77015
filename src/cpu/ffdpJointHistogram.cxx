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
#include "ffdpAlignedBuffer.h"
#include "ffdpCheck.h"
#include "ffdpMutualInformation.h"
#include "ffdpMutualInformationDetail.h"
#include "ffdpParallel.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace ffdp
{
namespace
{

/** How the counts of a thread are laid out. */
struct HistogramTask
{
  ParzenSetup  setup;
  std::int32_t wideStride = 0; ///< 64-bit counts from a fixed bin to the next
  std::size_t  wideCounts = 0; ///< 64-bit counts of a thread
  std::size_t  copyStride = 0; ///< 32-bit counts of a copy
  int          copies = 1;
};

/** The counts of a thread; the pointers to copies repeat if there are fewer than four. */
struct HistogramCounts
{
  std::uint32_t * narrow[4];
  std::int64_t *  wide;
};

} // namespace
} // namespace ffdp

#define FFDP_KERNEL_FILE "ffdpParzenBlockKernel.h"
#include "ffdpForEachInstructionSet.h"
#define FFDP_KERNEL_FILE "ffdpJointHistogramKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{
namespace
{

constexpr std::size_t  MaxCopyBytes = 256 * 1024;
constexpr std::int64_t MaxHardSamples = std::int64_t(1) << 31; ///< that 32-bit counts may hold

HistogramTask
MakeHistogramTask(const MutualInformationParameters & parameters)
{
  HistogramTask task;
  task.setup = MakeParzenSetup(parameters);
  const auto bins = std::size_t(parameters.bins);
  task.wideStride = parameters.bins;
  task.wideCounts = bins * bins;
  switch (parameters.kind)
  {
    case MutualInformationKind::BSpline:
      task.copyStride = (bins - 3) * (bins - 3) * 16;
      break;
    case MutualInformationKind::Gaussian:
      task.wideStride = task.setup.PaddedStride();
      task.wideCounts = std::size_t(task.wideStride) * task.setup.PaddedRows();
      task.copyStride = task.wideCounts;
      break;
    case MutualInformationKind::Approximate:
      task.copyStride = bins * bins + 1; // and what is no sample
      break;
    case MutualInformationKind::Mattes:
      task.copyStride = bins * bins * 4;
      break;
  }
  task.copyStride = (task.copyStride + 15) / 16 * 16; // whole cache lines
  while (task.copies < 4 && 2 * task.copies * task.copyStride * sizeof(std::uint32_t) <= MaxCopyBytes)
  {
    task.copies *= 2;
  }
  return task;
}

/** Moves all 32-bit counts of a thread to its 64-bit ones. */
void
MoveAll(MutualInformationKind kind, const HistogramTask & task, const HistogramCounts & counts)
{
  const std::int64_t bins = task.setup.bins;
  for (int copy = 0; copy < task.copies; ++copy)
  {
    std::uint32_t * narrow = counts.narrow[copy];
    switch (kind)
    {
      case MutualInformationKind::BSpline:
        for (std::int64_t a = 0; a < bins - 3; ++a)
          for (std::int64_t b = 0; b < bins - 3; ++b)
            for (std::int64_t k = 0; k < 16; ++k)
            {
              counts.wide[(a + k / 4) * bins + b + k % 4] += narrow[(a * (bins - 3) + b) * 16 + k];
            }
        break;
      case MutualInformationKind::Gaussian:
        for (std::size_t k = 0; k < task.wideCounts; ++k)
        {
          counts.wide[k] += narrow[k];
        }
        break;
      case MutualInformationKind::Approximate:
        for (std::size_t k = 0; k < task.wideCounts; ++k)
        {
          counts.wide[k] += std::int64_t(narrow[k]) << JointHistogram::FractionBits;
        }
        break;
      case MutualInformationKind::Mattes:
        for (std::int64_t k = 0; k + 3 < bins * bins; ++k)
          for (std::int64_t b = 0; b < 4; ++b)
          {
            counts.wide[k + b] += narrow[4 * k + b];
          }
        break;
    }
    std::memset(narrow, 0, task.copyStride * sizeof(std::uint32_t));
  }
}

/** Everything that threads count into. */
class ThreadHistograms
{
public:
  ThreadHistograms(MutualInformationKind kind, const HistogramTask & task, unsigned workers)
    : m_Kind(kind)
    , m_Task(task)
    , m_Narrow(task.copyStride * task.copies * workers)
    , m_Wide(task.wideCounts * workers)
    , m_Samples(workers, -1)
    , m_Pending(workers, 0)
  {}

  HistogramCounts
  Counts(unsigned worker) const
  {
    HistogramCounts counts;
    for (int k = 0; k < 4; ++k)
    {
      counts.narrow[k] =
        m_Narrow.Data() + (std::size_t(worker) * m_Task.copies + k % m_Task.copies) * m_Task.copyStride;
    }
    counts.wide = m_Wide.Data() + worker * m_Task.wideCounts;
    return counts;
  }

  /** Called by the worker before it counts `count` voxels: clears its counts the first time, and makes room in those of
   * Approximate, which the loops do not watch. */
  void
  Prepare(unsigned worker, std::int64_t count)
  {
    const HistogramCounts counts = Counts(worker);
    if (m_Samples[worker] < 0)
    {
      std::memset(counts.narrow[0], 0, m_Task.copyStride * m_Task.copies * sizeof(std::uint32_t));
      std::memset(counts.wide, 0, m_Task.wideCounts * sizeof(std::int64_t));
      m_Samples[worker] = 0;
    }
    m_Pending[worker] += count;
    if (m_Kind == MutualInformationKind::Approximate && m_Pending[worker] > MaxHardSamples)
    {
      MoveAll(m_Kind, m_Task, counts);
      m_Pending[worker] = count;
    }
  }

  void
  AddSamples(unsigned worker, std::int64_t samples)
  {
    m_Samples[worker] += samples;
  }

  /** Adds what all workers counted. */
  void
  AddTo(JointHistogram & histogram, unsigned threads) const
  {
    const auto workers = std::int64_t(m_Samples.size());
    ParallelFor(workers, threads, [&](std::int64_t worker, unsigned) {
      if (m_Samples[std::size_t(worker)] >= 0)
      {
        MoveAll(m_Kind, m_Task, Counts(unsigned(worker)));
      }
    });
    const std::int64_t bins = m_Task.setup.bins;
    const std::int64_t padding = m_Kind == MutualInformationKind::Gaussian ? m_Task.setup.window.taps / 2 : 0;
    for (std::int64_t worker = 0; worker < workers; ++worker)
    {
      if (m_Samples[std::size_t(worker)] < 0)
      {
        continue;
      }
      const std::int64_t * wide = Counts(unsigned(worker)).wide + padding * (m_Task.wideStride + 1);
      for (std::int64_t a = 0; a < bins; ++a)
      {
        for (std::int64_t b = 0; b < bins; ++b)
        {
          histogram.counts[std::size_t(a * bins + b)] += wide[a * m_Task.wideStride + b];
        }
      }
      histogram.samples += m_Samples[std::size_t(worker)];
    }
  }

private:
  MutualInformationKind        m_Kind;
  const HistogramTask &        m_Task;
  AlignedBuffer<std::uint32_t> m_Narrow;
  AlignedBuffer<std::int64_t>  m_Wide;
  std::vector<std::int64_t>    m_Samples; ///< -1 until the worker has begun
  std::vector<std::int64_t>    m_Pending;
};

auto
SelectHistogramKernel(MutualInformationKind kind)
{
  switch (kind)
  {
    case MutualInformationKind::Gaussian:
      return FFDP_SELECT_KERNEL(AddSmoothSamples<true>);
    case MutualInformationKind::Approximate:
      return FFDP_SELECT_KERNEL(AddHardSamples);
    case MutualInformationKind::Mattes:
      return FFDP_SELECT_KERNEL(AddMattesSamples);
    case MutualInformationKind::BSpline:
      break;
  }
  return FFDP_SELECT_KERNEL(AddSmoothSamples<false>);
}

bool
SameParameters(const MutualInformationParameters & a, const MutualInformationParameters & b)
{
  return a.kind == b.kind && a.bins == b.bins && a.sigma == b.sigma && a.fixedRange.low == b.fixedRange.low &&
         a.fixedRange.high == b.fixedRange.high && a.movingRange.low == b.movingRange.low &&
         a.movingRange.high == b.movingRange.high;
}

} // namespace

JointHistogram::JointHistogram(const MutualInformationParameters & p)
  : parameters(p)
{
  MakeParzenSetup(p); // checks
  counts.assign(std::size_t(p.bins) * std::size_t(p.bins), 0);
}

JointHistogram &
JointHistogram::operator+=(const JointHistogram & other)
{
  Require(SameParameters(parameters, other.parameters) && counts.size() == other.counts.size(),
          "joint histograms of different parameters cannot be added");
  for (std::size_t k = 0; k < counts.size(); ++k)
  {
    counts[k] += other.counts[k];
  }
  samples += other.samples;
  return *this;
}

JointHistogram
ComputeJointHistogram(const MutualInformationParameters &    parameters,
                      const VolumeView<const float> &        fixed,
                      const VolumeView<const float> &        moving,
                      const VolumeView<const std::uint8_t> & mask,
                      unsigned                               threads)
{
  JointHistogram      histogram(parameters);
  const HistogramTask task = MakeHistogramTask(parameters);
  RequireHistogramImages(fixed, moving, mask);

  const bool      dense = IsDense(fixed) && IsDense(moving) && IsDense(mask);
  const VoxelRuns runs(moving.domain, moving.firstPlane, moving.planes, dense);
  const auto      workers = unsigned(std::min<std::int64_t>(runs.Pieces(), ResolveThreads(threads)));

  ThreadHistograms histograms(parameters.kind, task, workers);
  const auto       kernel = SelectHistogramKernel(parameters.kind);
  ParallelFor(runs.Pieces(), threads, [&](std::int64_t piece, unsigned worker) {
    const std::int64_t length = runs.Length(piece);
    histograms.Prepare(worker, length);
    const std::int64_t samples = kernel(task,
                                        histograms.Counts(worker),
                                        runs.Begin(fixed, piece),
                                        runs.Begin(moving, piece),
                                        runs.Begin(mask, piece),
                                        length);
    histograms.AddSamples(worker, samples);
  });
  histograms.AddTo(histogram, threads);
  return histogram;
}

} // namespace ffdp
