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

#include "ffdpCheckpoint.h"
#include "ffdpDeviceImages.h"
#include "ffdpEdgePairs.h"
#include "ffdpFinalWarp.h"
#include "ffdpPlaneTurn.h"
#include "ffdpRegistrationEstimate.h"
#include "ffdpRunInput.h"
#include "ffdpRunProgress.h"
#include "ffdpScratchScope.h"
#include "ffdpStageList.h"
#include "ffdpStageRunner.h"
#include "ffdpStartSearch.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace ffdp
{
namespace
{

using Kind = RegistrationStage::Kind;

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
      const std::function<bool(const RegistrationProgress &)> & observer,
      const RegistrationCheckpoint &                            checkpoint)
    : m_Backend(backend)
    , m_Communicator(communicator)
    , m_Pairs(pairs)
    , m_Edges(stages, pairs.size())
    , m_StagesOfImages(m_Edges.OfImages(stages))
    , m_Stages(stages)
    , m_Progress(observer)
    , m_Checkpoint(
        communicator,
        checkpoint,
        checkpoint.directory.empty() || pairs.empty() ? 0 : FingerprintOf(backend, communicator, pairs, start, stages))
  {
    Require(!pairs.empty(), "there are no images to register");
    Require(!stages.empty(), "there is no stage to run");
    RequireOwnPlanes(communicator, pairs);
    const auto isSyN = [](const RegistrationStage & stage) { return stage.kind == Kind::SyN; };
    m_Fields =
      FindFieldsOfView(backend, communicator, pairs, std::any_of(stages.begin(), stages.end(), isSyN), m_Result.notes);
    m_Alignment.affine = start.affine;
    for (const RegistrationStage & stage : stages)
    {
      m_Plans.push_back(stage.kind == Kind::Moments
                          ? std::vector<PlannedLevel>{ PlanSearch(stage, pairs.front().fixed) }
                          : PlanLevels(stage, pairs.front().fixed, m_Result.notes));
      for (const PlannedLevel & level : m_Plans.back())
      {
        m_Progress.Expect(WorkOf(stage, level));
      }
    }
    if (start.warp.IsGiven())
    {
      m_Alignment.warp = TakeWarp(backend, communicator, start.warp, this->FixedSize());
    }
    if (start.warp.IsGiven() || std::any_of(stages.begin(), stages.end(), IsDeformable))
    {
      m_Progress.Expect(this->WorkOfEnd());
    }
  }

  RegistrationResult
  Finish()
  {
    if (m_Checkpoint.Exists())
    {
      m_Checkpoint.Load([this](StateArchive & archive) { this->Exchange(archive); });
    }
    for (; m_Stage < m_Stages.size(); ++m_Stage)
    {
      if (!m_Runner) // otherwise the checkpoint was made in the middle of this stage
      {
        m_Level = 0;
        this->RequireStart();
        this->BeginStage();
      }
      if (m_Runner)
      {
        this->RunLevels();
      }
    }
    m_Edges.Release();
    if (m_Checkpoint.IsKept() && !m_End)
    {
      this->SaveIfPossible();
    }
    m_Result.affine = m_Alignment.affine;
    if (m_Alignment.warp || m_End)
    {
      this->EndWithWarp();
    }
    else // a warp may bring together what a map alone does not
    {
      RequireOverlap(
        m_Pairs,
        m_Alignment.affine,
        "the images do not overlap where the last stage ended: it went astray; take shorter steps, or another start");
    }
    return std::move(m_Result);
  }

private:
  const Extent &
  FixedSize() const
  {
    return m_Pairs.front().fixed.voxels.domain;
  }

  /** Voxels that are gone through at a level, or about as much. */
  static double
  WorkOf(const RegistrationStage & stage, const PlannedLevel & level)
  {
    const double voxels = double(level.size.Voxels()) * level.iterations;
    return stage.kind == Kind::Moments ? voxels * RotationsPerStep : voxels;
  }

  double
  WorkOfEnd() const
  {
    return double(this->FixedSize().Voxels()) * FinalWarp::Work;
  }

  const PlannedLevel &
  Planned() const
  {
    return m_Plans[m_Stage][m_Level];
  }

  /** If images do not overlap where a stage starts. */
  std::string
  ComplaintAboutStart() const
  {
    const std::string text =
      std::string("the images do not overlap where the stage ") + NameOf(m_Stages[m_Stage].kind) + " starts: ";
    if (m_Stage == 0)
    {
      return text + "begin with moments, or with a transform that brings them together";
    }
    const Kind before = m_Stages[m_Stage - 1].kind;
    return text + (before == Kind::Moments ? "moments did not bring them together, so begin with a transform that does"
                                           : std::string(NameOf(before)) + " went astray: take shorter steps");
  }

  /** Not asked in the middle of a stage that a checkpoint brought: it had begun. */
  void
  RequireStart() const
  {
    if (m_Stages[m_Stage].kind != Kind::Moments && !m_Alignment.warp) // a warp may bring together what a map does not
    {
      RequireOverlap(m_Pairs, m_Alignment.affine, this->ComplaintAboutStart());
    }
  }

  /** Moments are done at once; other stages get a runner. */
  void
  BeginStage()
  {
    const RegistrationStage & stage = m_StagesOfImages[m_Stage];
    m_Progress.EnterStage(int(m_Stage), NameOf(stage.kind), int(m_Plans[m_Stage].size()));
    m_Runner.reset();
    switch (stage.kind)
    {
      case Kind::Moments:
        this->SearchStart();
        break;
      case Kind::Rigid:
      case Kind::Similarity:
      case Kind::Affine:
        m_Runner = MakeLinearStage(m_Backend, m_Communicator, m_Pairs.front().fixed, stage, m_Alignment);
        break;
      case Kind::Greedy:
      case Kind::SyN:
        if (m_Alignment.warp && m_Alignment.warp.Domain().Voxels() > m_Plans[m_Stage].front().size.Voxels())
        {
          m_Result.notes.push_back("a deformable stage starts coarser than the warp that it starts from: what is finer "
                                   "than its first level is found anew");
        }
        m_Runner = MakeDeformableStage(m_Backend, m_Communicator, stage, m_Alignment);
        break;
    }
  }

  /** A checkpoint knows this stage as one that has not begun. */
  void
  SearchStart()
  {
    this->TellLevel();
    LevelReport level = m_Progress.MakeReport();
    m_LevelStart = Now();
    const auto report = [&](double value) {
      AddIteration(level, value);
      if (this->IsStopped(m_Progress.Tell(level.iterations, value, 0)))
      {
        this->SaveAndStop();
      }
    };
    m_Alignment.affine =
      FindStart(m_Backend, m_Communicator, m_Pairs, m_Fields, m_Stages[m_Stage], m_Alignment, report);
    level.seconds = Now() - m_LevelStart;
    m_Result.levels.push_back(level);
    m_Progress.EndLevel();
  }

  static void
  AddIteration(LevelReport & report, double value)
  {
    report.firstValue = report.iterations++ == 0 ? value : report.firstValue;
    report.lastValue = value;
  }

  void
  RunLevels()
  {
    for (; m_Level < m_Plans[m_Stage].size(); ++m_Level)
    {
      if (!m_Images) // otherwise the checkpoint was made in the middle of this level
      {
        this->BeginLevel();
      }
      this->Iterate();
      this->EndLevel();
    }
    m_Runner->Leave();
    m_Runner.reset();
  }

  void
  TellLevel()
  {
    const PlannedLevel & level = this->Planned();
    m_Progress.EnterLevel(int(m_Level), level.size, level.iterations, WorkOf(m_Stages[m_Stage], level));
  }

  void
  EnterLevel()
  {
    this->TellLevel();
    const bool edges = ComparesEdges(m_Stages[m_Stage]);
    if (edges)
    {
      m_Edges.Provide(m_Backend, m_Communicator, m_Pairs, m_Fields);
    }
    m_Images = std::make_unique<Level>(m_Backend,
                                       m_Communicator,
                                       edges ? m_Edges.Pairs() : m_Pairs,
                                       edges ? m_Edges.Fields() : m_Fields,
                                       this->Planned().size,
                                       this->Planned().smoothing);
    m_Runner->Enter(*m_Images);
  }

  void
  BeginLevel()
  {
    m_LevelStart = Now();
    m_Converged = false;
    this->EnterLevel();
    m_Result.levels.push_back(m_Progress.MakeReport());
  }

  /** Observers see the warp and its inverse come as one more stage. */
  void
  EndWithWarp()
  {
    m_Progress.EnterEnd(int(m_Stages.size()), "inverse");
    m_Progress.EnterLevel(0, this->FixedSize(), FinalWarp::MostSteps + 1, this->WorkOfEnd());
    const auto report = [this] {
      const int  steps = m_End->Steps();
      const bool goOn = m_Progress.TellEnd(steps, m_Result.inverseResidual, std::pow(FinalWarp::WorkLeft, steps));
      this->SaveOrStop(m_Checkpoint.IsDue(), !goOn);
    };
    if (!m_End) // otherwise the checkpoint was made in the middle of this
    {
      m_End.emplace(m_Backend, m_Communicator, this->FixedSize(), m_Result);
      m_End->Begin(std::exchange(m_Alignment.warp, Slab()));
      report();
    }
    {
      const ScratchScope scratch; // dozens of sweeps follow, all of the same size
      while (!m_End->IsDone())
      {
        m_End->Step();
        report();
      }
    }
    const int steps = m_End->Steps();
    m_End->Leave();
    m_Progress.TellEnd(steps + 1, m_Result.inverseResidual, 0);
  }

  /** From the iteration after those that are done, to the end of the level. */
  void
  Iterate()
  {
    while (!m_Converged && m_Result.levels.back().iterations < this->Planned().iterations)
    {
      const bool goOn = this->Report(m_Runner->Iterate());
      this->SaveOrStop(m_Checkpoint.IsDue(), !goOn);
    }
  }

  /** Returns whether the observer wants to go on. */
  bool
  Report(const StageRunner::Iteration & done)
  {
    LevelReport & report = m_Result.levels.back();
    AddIteration(report, done.value);
    m_Converged = done.converged;
    return m_Progress.Tell(report.iterations, done.value, done.step);
  }

  /** Whether a rank wants to stop. All ranks ask, and get the same answer. */
  bool
  IsStopped(bool goOn)
  {
    double stop = goOn ? 0 : 1;
    m_Communicator.Maximum(&stop, 1);
    return stop > 0;
  }

  /** What one rank wants is done by all. */
  void
  SaveOrStop(bool save, bool stop)
  {
    double wishes[2] = { save ? 1.0 : 0.0, stop ? 1.0 : 0.0 };
    m_Communicator.Maximum(wishes, 2);
    if (wishes[1] > 0)
    {
      this->SaveAndStop();
    }
    if (m_Checkpoint.IsKept() && wishes[0] > 0)
    {
      this->SaveIfPossible();
    }
  }

  [[noreturn]] void
  SaveAndStop()
  {
    const std::string failure = m_Checkpoint.IsKept() ? this->Save() : std::string();
    if (m_Runner)
    {
      m_Runner->FinishTransfers();
    }
    if (!failure.empty())
    {
      throw std::runtime_error("stopped, but the state could not be saved: " + failure);
    }
    throw RegistrationAborted();
  }

  void
  EndLevel()
  {
    LevelReport & report = m_Result.levels.back();
    report.lastValue = m_Runner->EndLevel().value_or(report.lastValue);
    report.seconds = Now() - m_LevelStart;
    m_Progress.EndLevel();
    m_Images.reset();
  }

  /** Returns why it cannot be saved, or nothing. */
  std::string
  Save()
  {
    if (m_Images)
    {
      m_Result.levels.back().seconds = Now() - m_LevelStart;
    }
    return m_Checkpoint.Save([this](StateArchive & archive) { this->Exchange(archive); });
  }

  /** A disk that is full does not end the work of hours: the run goes on without being saved, and says so, once. */
  void
  SaveIfPossible()
  {
    const std::string failure = this->Save();
    if (!failure.empty() && !m_ToldOfFailure)
    {
      m_Result.notes.push_back("the state could not be saved (" + failure + "); the run went on");
      m_ToldOfFailure = true;
    }
  }

  /** What there is to save, in the middle of a level, before a search for a start, after the last stage, or while the
   * warp and its inverse are brought together. */
  void
  Exchange(StateArchive & archive)
  {
    archive.Exchange(m_Stage);
    archive.Exchange(m_Level);
    archive.Exchange(m_Alignment.affine);
    this->ExchangeWarp(archive);
    archive.Exchange(m_Converged);
    m_Progress.Exchange(archive);
    archive.Exchange(m_Result.levels);
    archive.Exchange(m_Result.notes);
    if (archive.IsLoading())
    {
      for (LevelReport & report : m_Result.levels)
      {
        report.stageName = NameOf(m_Stages.at(std::size_t(report.stage)).kind);
      }
      this->EnterResumedLevel();
    }
    if (m_Runner)
    {
      m_Runner->Exchange(archive);
    }
    this->ExchangeEnd(archive);
  }

  void
  ExchangeEnd(StateArchive & archive)
  {
    bool begun = m_End.has_value();
    archive.Exchange(begun);
    if (begun && archive.IsLoading())
    {
      m_End.emplace(m_Backend, m_Communicator, this->FixedSize(), m_Result);
    }
    if (begun)
    {
      m_End->Exchange(archive);
    }
  }

  void
  ExchangeWarp(StateArchive & archive)
  {
    bool   held = bool(m_Alignment.warp);
    Extent size = held ? m_Alignment.warp.Domain() : Extent();
    archive.Exchange(held);
    archive.Exchange(size);
    if (archive.IsLoading())
    {
      const Extent & full = this->FixedSize();
      Require(size.x > 0 && size.y > 0 && size.z > 0 && size.x <= full.x && size.y <= full.y && size.z <= full.z,
              "a checkpoint holds a warp of an impossible size");
      m_Alignment.warp = held ? Slab(m_Backend, m_Communicator, size, 3) : Slab();
    }
    if (held)
    {
      archive.Exchange(m_Backend, m_Alignment.warp);
    }
  }

  void
  EnterResumedLevel()
  {
    const std::string note = "went on from the checkpoint";
    if (std::find(m_Result.notes.begin(), m_Result.notes.end(), note) == m_Result.notes.end())
    {
      m_Result.notes.push_back(note);
    }
    if (m_Stage < m_Stages.size() && m_Stages[m_Stage].kind != Kind::Moments)
    {
      this->BeginStage();
      this->EnterLevel();
      m_LevelStart = Now() - m_Result.levels.back().seconds;
    }
  }

  Backend &                              m_Backend;
  Communicator &                         m_Communicator;
  const std::vector<ImagePair> &         m_Pairs;
  std::vector<FieldOfView>               m_Fields; ///< of the pairs
  EdgePairs                              m_Edges;
  const std::vector<RegistrationStage>   m_StagesOfImages; ///< and of edges as such
  const std::vector<RegistrationStage> & m_Stages;
  RunProgress                            m_Progress;
  Checkpoint                             m_Checkpoint;
  bool                                   m_ToldOfFailure = false;
  std::vector<std::vector<PlannedLevel>> m_Plans;
  Alignment                              m_Alignment;
  std::unique_ptr<Level>                 m_Images; ///< of the level that is at work
  std::unique_ptr<StageRunner>           m_Runner; ///< of the stage that is at work
  std::optional<FinalWarp>               m_End;    ///< once all stages are done
  std::size_t                            m_Stage = 0;
  std::size_t                            m_Level = 0;
  RegistrationResult                     m_Result;
  bool                                   m_Converged = false; ///< at this level
  double                                 m_LevelStart = 0;
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
  const DeviceImages images(backend, pairs);
  const PlaneTurn    turn = pairs.empty() ? PlaneTurn() : PlaneTurn(pairs.front().fixed);
  const auto         turned = turn.Apply(images.Pairs());
  RegistrationStart  turnedStart = start;
  turnedStart.affine = turn.Apply(start.affine);
  RegistrationResult result = Run(backend, communicator, turned, turnedStart, stages, observer, checkpoint).Finish();
  result.affine = turn.Undo(result.affine);
  return result;
}

} // namespace ffdp
