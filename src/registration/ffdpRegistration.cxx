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
#include "ffdpRegistration.h"

#include "ffdpConvergence.h"
#include "ffdpDeformation.h"
#include "ffdpLevels.h"
#include "ffdpLinearOptimizer.h"
#include "ffdpMoments.h"

#include <chrono>
#include <cmath>

namespace ffdp
{
namespace
{

using Kind = RegistrationStage::Kind;

const char *
NameOf(Kind kind)
{
  switch (kind)
  {
    case Kind::Moments:
      return "moments";
    case Kind::Rigid:
      return "rigid";
    case Kind::Similarity:
      return "similarity";
    case Kind::Affine:
      return "affine";
    case Kind::Greedy:
      return "greedy";
    case Kind::SyN:
      return "SyN";
  }
  return "";
}

double
Now()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/** One run of Register(). */
class Run
{
public:
  Run(Backend &                                                 backend,
      Communicator &                                            communicator,
      const std::vector<ImagePair> &                            pairs,
      const RegistrationStart &                                 start,
      const std::vector<RegistrationStage> &                    stages,
      const std::function<bool(const RegistrationProgress &)> & observer)
    : m_Backend(backend)
    , m_Communicator(communicator)
    , m_Pairs(pairs)
    , m_Stages(stages)
    , m_Observer(observer)
  {
    Require(!pairs.empty(), "there are no images to register");
    Require(!stages.empty(), "there is no stage to run");
    m_Result.affine = start.affine;
    Require(!start.warp, "a warp to start from is not there yet");
    for (const RegistrationStage & stage : stages)
    {
      Require(stage.kind != Kind::SyN, "SyN is not there yet");
      m_Plans.push_back(PlanLevels(stage, this->FixedSize(), m_Result.notes));
      for (const PlannedLevel & level : m_Plans.back())
      {
        m_AllWork += stage.kind == Kind::Moments ? 0.0 : double(level.size.Voxels()) * level.iterations;
      }
    }
  }

  RegistrationResult
  Finish()
  {
    for (std::size_t i = 0; i < m_Stages.size(); ++i)
    {
      m_Progress = RegistrationProgress();
      m_Progress.stage = int(i);
      m_Progress.stageName = NameOf(m_Stages[i].kind);
      m_Progress.levels = int(m_Plans[i].size());
      if (m_Stages[i].kind != Kind::Greedy)
      {
        Require(!m_Deformation, "a linear stage cannot follow a deformable one");
      }
      if (m_Stages[i].kind == Kind::Moments)
      {
        m_Result.affine = FindStart(m_Backend, m_Communicator, m_Pairs, m_Stages[i], m_Result.affine);
      }
      else if (m_Stages[i].kind == Kind::Greedy)
      {
        this->Deform(m_Stages[i], m_Plans[i]);
      }
      else
      {
        this->Align(m_Stages[i], m_Plans[i]);
      }
    }
    this->KeepWarp();
    return std::move(m_Result);
  }

private:
  const Extent &
  FixedSize() const
  {
    return m_Pairs.front().fixed.voxels.domain;
  }

  void
  BeginLevel(std::size_t index, const PlannedLevel & level)
  {
    m_Progress.level = int(index);
    m_Progress.levelSize = level.size;
    m_Progress.iterations = level.iterations;
    m_LevelStart = Now();
    m_LevelWork = m_DoneWork;
    m_Result.levels.push_back({ m_Progress.stage, m_Progress.stageName, level.size, 0, 0, 0, 0 });
  }

  void
  Report(int iteration, double value, double step)
  {
    LevelReport & report = m_Result.levels.back();
    report.iterations = iteration;
    report.firstValue = iteration == 1 ? value : report.firstValue;
    report.lastValue = value;
    m_DoneWork += double(m_Progress.levelSize.Voxels());
    m_Progress.iteration = iteration;
    m_Progress.value = value;
    m_Progress.step = step;
    m_Progress.fraction = m_AllWork > 0 ? std::min(1.0, m_DoneWork / m_AllWork) : 1.0;
    if (m_Observer && !m_Observer(m_Progress))
    {
      throw RegistrationAborted();
    }
  }

  void
  EndLevel(const PlannedLevel & level)
  {
    m_Result.levels.back().seconds = Now() - m_LevelStart;
    m_DoneWork = m_LevelWork + double(level.size.Voxels()) * level.iterations;
  }

  void
  Align(const RegistrationStage & stage, const std::vector<PlannedLevel> & plan)
  {
    constexpr double LeastStep = 0.02; // of the first; a level ends when the loss is flat and steps are this short
    LinearOptimizer  optimizer(stage.kind, m_Pairs.front().fixed, m_Result.affine, this->FixedSize().z == 1);
    for (std::size_t i = 0; i < plan.size(); ++i)
    {
      this->BeginLevel(i, plan[i]);
      const Level                 level(m_Backend, m_Pairs, plan[i].size);
      const std::int64_t          planes = PlanesAtATime(level.Size());
      Loss                        loss(m_Backend, m_Communicator, level.Pairs(), stage.metrics, planes);
      const std::array<double, 3> spacing = SpacingOf(level.Fixed().indexToPhysical);
      const double                voxel = std::cbrt(spacing[0] * spacing[1] * spacing[2]);
      Convergence                 convergence(stage.tolerance, stage.window);
      double                      step = stage.learningRate;
      optimizer.Restart();
      for (int iteration = 1; iteration <= plan[i].iterations; ++iteration)
      {
        loss.Begin(optimizer.Map(), {});
        for (std::int64_t first = 0; first < level.Size().z; first += planes)
        {
          loss.AddMapGradient(first, std::min(level.Size().z, first + planes));
        }
        optimizer.Step(loss.PhysicalMapGradient(), step * voxel);
        m_Result.affine = optimizer.Map();
        this->Report(iteration, loss.Value(), step);
        // Adam circles around a minimum at the distance of a step: shorter steps go on from there.
        if (convergence.Add(loss.Value()))
        {
          step *= 0.5;
          convergence.ClearWindow();
          if (step < LeastStep * stage.learningRate)
          {
            break;
          }
        }
      }
      this->EndLevel(plan[i]);
    }
  }

  void
  Deform(const RegistrationStage & stage, const std::vector<PlannedLevel> & plan)
  {
    DeformationParameters parameters;
    parameters.learningRate = stage.learningRate;
    parameters.gradientSigma = stage.gradientSigma;
    parameters.warpSigma = stage.warpSigma;
    std::copy(stage.axisWeight, stage.axisWeight + 3, parameters.axisWeight);
    for (std::size_t i = 0; i < plan.size(); ++i)
    {
      this->BeginLevel(i, plan[i]);
      const Level                 level(m_Backend, m_Pairs, plan[i].size);
      const std::int64_t          planes = PlanesAtATime(level.Size());
      const std::array<double, 3> s = SpacingOf(level.Fixed().indexToPhysical);
      this->MoveWarp(level.Size(), { s[0], s[1], s[2] }, parameters, planes);
      Loss        loss(m_Backend, m_Communicator, level.Pairs(), stage.metrics, planes);
      Convergence convergence(stage.tolerance, stage.window);
      for (int iteration = 1; iteration <= plan[i].iterations; ++iteration)
      {
        const double value = m_Deformation->Step(loss, m_Result.affine);
        this->Report(iteration, value, m_Deformation->LargestStep());
        if (convergence.Add(value))
        {
          break;
        }
      }
      this->EndLevel(plan[i]);
    }
  }

  /** Brings the warp, if there is one, to the grid of a level. */
  void
  MoveWarp(const Extent & size,
           const double (&spacing)[3],
           const DeformationParameters & parameters,
           std::int64_t                  planes)
  {
    if (m_Deformation)
    {
      m_Deformation->ForgetMoments();
    }
    auto next = std::make_unique<Deformation>(m_Backend, m_Communicator, size, spacing, parameters, planes);
    if (m_Deformation)
    {
      const WarpView<float> coarse = m_Deformation->Warp();
      next->Upsample(coarse, GridMap::Centered(size, coarse.domain));
    }
    m_Deformation = std::move(next);
  }

  /** Takes the warp home, at the resolution of the fixed image, with its inverse. */
  void
  KeepWarp()
  {
    if (!m_Deformation)
    {
      return;
    }
    const Extent &     size = this->FixedSize();
    const std::int64_t count = 3 * size.Voxels();
    m_Deformation->ForgetMoments();
    DeviceArray<float> upsampled;
    WarpView<float>    warp = m_Deformation->Warp();
    if (warp.domain != size)
    {
      upsampled = DeviceArray<float>(m_Backend, count);
      const WarpView<float> fine = WarpView<float>::Planar(upsampled.Data(), size);
      m_Backend.UpsampleWarp(warp, fine, GridMap::Centered(size, warp.domain));
      m_Deformation.reset();
      warp = fine;
    }
    const JacobianResult jacobian = m_Backend.JacobianDeterminant(warp, 0, size.z, {});
    m_Result.smallestJacobian = jacobian.minimum;
    m_Result.folds = jacobian.notPositive;
    m_Result.warpSize = size;
    {
      const DeviceArray<float> inverse(m_Backend, count);
      m_Result.inverseResidual = this->Invert(warp, WarpView<float>::Planar(inverse.Data(), size));
      m_Result.inverseWarp.resize(std::size_t(count));
      m_Backend.CopyToHost(m_Result.inverseWarp.data(), inverse.Data(), std::size_t(count) * sizeof(float));
    }
    m_Result.warp.resize(std::size_t(count));
    m_Backend.CopyToHost(m_Result.warp.data(), warp.component[0], std::size_t(count) * sizeof(float));
  }

  /** A few cheap iterations for most voxels, then what it takes for the rest (ffdpInverse.h). */
  double
  Invert(const WarpView<float> & u, const WarpView<float> & w)
  {
    constexpr int Iterations = 5;
    m_Backend.FillZero(w.component[0], std::size_t(3 * u.domain.Voxels()) * sizeof(float));
    for (int i = 0; i < Iterations; ++i)
    {
      m_Backend.IterateInverse(u, w, InverseStepParameters{});
    }
    double residual = m_Backend.RefineInverse(u, w, InverseRefinement{});
    m_Communicator.Maximum(&residual, 1);
    return residual;
  }

  Backend &                                                 m_Backend;
  Communicator &                                            m_Communicator;
  const std::vector<ImagePair> &                            m_Pairs;
  const std::vector<RegistrationStage> &                    m_Stages;
  const std::function<bool(const RegistrationProgress &)> & m_Observer;
  std::vector<std::vector<PlannedLevel>>                    m_Plans;
  std::unique_ptr<Deformation>                              m_Deformation;
  RegistrationResult                                        m_Result;
  RegistrationProgress                                      m_Progress;
  double                                                    m_AllWork = 0;
  double                                                    m_DoneWork = 0;
  double                                                    m_LevelWork = 0;
  double                                                    m_LevelStart = 0;
};

} // namespace

RegistrationAborted::RegistrationAborted()
  : std::runtime_error("the registration was stopped")
{}
RegistrationAborted::~RegistrationAborted() = default;

RegistrationResult
Register(Backend &                                                 backend,
         Communicator &                                            communicator,
         const std::vector<ImagePair> &                            pairs,
         const RegistrationStart &                                 start,
         const std::vector<RegistrationStage> &                    stages,
         const std::function<bool(const RegistrationProgress &)> & observer,
         const RegistrationCheckpoint &                            checkpoint)
{
  Require(checkpoint.directory.empty(), "checkpoints are not there yet");
  return Run(backend, communicator, pairs, start, stages, observer).Finish();
}

void
RemoveCheckpoint(const RegistrationCheckpoint &)
{}

} // namespace ffdp
