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
#include "ffdpRunProgress.h"

#include "ffdpStartSearch.h"

namespace ffdp
{
namespace
{

/** What is gone through to compare images once, beside what the warp takes: local correlation of one pair and the
 * warp together are 1. Measured on two cores, oasis and lpba. */
double
WorkOfMetrics(const RegistrationStage & stage)
{
  double work = 0;
  for (const RegistrationMetric & metric : stage.metrics)
  {
    work += metric.kind == RegistrationMetric::Kind::LocalCorrelation    ? 0.55
            : metric.kind == RegistrationMetric::Kind::MutualInformation ? 0.4
                                                                         : 0.15;
  }
  return work;
}

} // namespace

LevelWork
WorkOf(const RegistrationStage & stage, const PlannedLevel & level)
{
  constexpr double Rotation = 0.15;   // of the voxels, for each rotation that a search tries
  constexpr double Iteration = 15000; // voxels, whatever the size: threads begin and end
  constexpr double WarpAlone = 0.45, OfBothWays = 1.45;
  const double     voxels = double(level.size.Voxels()) + Iteration;
  LevelWork        work;
  work.iterations = level.iterations;
  switch (stage.kind)
  {
    case RegistrationStage::Kind::Moments:
      work.perIteration = voxels * RotationsPerStep * Rotation;
      break;
    case RegistrationStage::Kind::Rigid:
    case RegistrationStage::Kind::Similarity:
    case RegistrationStage::Kind::Affine:
      work.setup = 0.5 * voxels;
      work.perIteration = voxels * WorkOfMetrics(stage);
      work.share = 0.4; // they mostly converge long before
      break;
    case RegistrationStage::Kind::Greedy:
    case RegistrationStage::Kind::SyN:
      work.setup = 2 * voxels;
      work.perIteration =
        voxels * (WarpAlone + WorkOfMetrics(stage)) * (stage.kind == RegistrationStage::Kind::SyN ? OfBothWays : 1);
      work.share = 0.9;
      break;
  }
  return work;
}

void
RunProgress::EnterStage(int stage, const char * name, int levels)
{
  m_Progress = RegistrationProgress();
  m_Progress.stage = stage;
  m_Progress.stageName = name;
  m_Progress.levels = levels;
}

void
RunProgress::EnterLevel(int level, const Extent & size, const LevelWork & work, double workAfter)
{
  m_Progress.level = level;
  m_Progress.levelSize = size;
  m_Progress.iterations = work.iterations;
  m_Progress.iteration = 0;
  m_Work = work;
  m_WorkAfter = workAfter;
}

LevelReport
RunProgress::MakeReport() const
{
  return { m_Progress.stage, m_Progress.stageName, m_Progress.levelSize, 0, 0, 0, 0 };
}

bool
RunProgress::Tell(int iteration, double value, double step, bool converged)
{
  m_Progress.iteration = iteration;
  const double left = converged ? 0 : m_Work.Left(iteration);
  return this->Notify(value, step, m_Work.setup + m_Work.perIteration * iteration, left);
}

void
RunProgress::EndLevel()
{
  m_WorkBefore += m_Work.setup + m_Work.perIteration * m_Progress.iteration;
  m_Work = LevelWork();
}

void
RunProgress::EnterEnd(int stage, const char * name)
{
  this->EnterStage(stage, name, 1);
  m_Progress.isEnd = true;
}

bool
RunProgress::TellEnd(int step, double value, double partLeft)
{
  m_Progress.iteration = step;
  return this->Notify(value, 0, (1 - partLeft) * m_Work.setup, partLeft * m_Work.setup);
}

bool
RunProgress::Notify(double value, double step, double workOfLevel, double workLeft)
{
  m_Progress.value = value;
  m_Progress.step = step;
  const double done = m_WorkBefore + workOfLevel, all = done + workLeft + m_WorkAfter;
  m_Progress.fraction = all > 0 ? done / all : 1.0;
  return !m_Observer || m_Observer(m_Progress);
}

} // namespace ffdp
