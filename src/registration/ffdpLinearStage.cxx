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
#include "ffdpConvergence.h"
#include "ffdpCurvature.h"
#include "ffdpLinearOptimizer.h"
#include "ffdpPlaneTurn.h"
#include "ffdpStageRunner.h"

#include <algorithm>
#include <cmath>

namespace ffdp
{
namespace
{

constexpr int    Patience = 4;     // iterations of Adam without a lower loss, before Newton's method takes over
constexpr double LeastStep = 0.01; // of the first; a level ends when steps would be shorter

/** Rigid, similarity or affine. At each level, Adam takes long steps as long as the loss falls: it passes over small
 * bumps. Then, from the lowest loss that was seen, Newton's method with what all these steps have told about the
 * curvature finds the minimum: Adam would circle around it at the distance of a step. A level leaves the map with the
 * lowest loss. */
class LinearStage : public StageRunner
{
public:
  LinearStage(Backend &                 backend,
              Communicator &            communicator,
              const PlacedImage &       fixed,
              const RegistrationStage & stage,
              Alignment &               alignment)
    : m_Backend(backend)
    , m_Communicator(communicator)
    , m_Stage(stage)
    , m_Alignment(alignment)
    , m_Optimizer(stage.kind, fixed, alignment.affine, IsPlane(fixed.voxels.domain))
    , m_Convergence(stage.tolerance, stage.window)
  {}

  void
  Enter(const Level & level) override
  {
    const PlaneRange owned = Partition(level.Size().z, m_Communicator.Size()).Owned(m_Communicator.Rank());
    m_AtATime = PlanesAtATime(m_Backend.FewVoxels(), level.Size(), owned.end - owned.first);
    m_Loss = std::make_unique<Loss>(m_Backend, m_Communicator, level.Pairs(), m_Stage.metrics, m_AtATime);
    m_Warp = m_Alignment.warp ? Regrid(m_Backend, m_Communicator, m_Alignment.warp, level.Size()) : Slab();
    m_Voxel = VoxelEdge(level.Fixed());
    m_Convergence = Convergence(m_Stage.tolerance, m_Stage.window);
    m_Curvature = Curvature();
    m_State = State();
    m_State.length = m_Stage.learningRate;
    m_Step.clear();
    m_Optimizer.Restart();
  }

  Iteration
  Iterate() override
  {
    Iteration                   done{ 0, m_State.length, false };
    MapGradient                 mapGradient{};
    const std::optional<double> value = this->Evaluate(&mapGradient);
    if (value)
    {
      done.value = *value;
      Require(m_State.waited >= 0 || std::isfinite(done.value),
              "the loss is not finite: does an image hold NaN or infinite values?");
      done.converged = this->Judge(done.value, m_Optimizer.ProjectGradient(mapGradient));
    }
    else
    {
      done.value = m_State.lowest;
      done.converged = this->StepBack();
    }
    done.converged = m_Stage.tolerance >= 0 && (done.converged || (m_State.isNewton && this->IsShort(m_Step)));
    if (!done.converged)
    {
      m_Optimizer.Move(m_Step);
    }
    m_State.isCompared = done.converged;
    return done;
  }

  std::optional<double>
  EndLevel() override
  {
    const bool hasBegun = m_State.waited >= 0; // not so at a level without iterations
    if (!m_State.isCompared)                   // the last step
    {
      if (const std::optional<double> value = this->Evaluate(nullptr))
      {
        this->KeepIfLower(*value, m_BestGradient);
      }
    }
    if (hasBegun)
    {
      m_Optimizer.ReturnTo(m_State.best);
    }
    m_Loss.reset();
    m_Warp = Slab();
    return hasBegun ? std::optional<double>(m_State.lowest) : std::nullopt;
  }

  void
  Leave() override
  {}

  void
  Exchange(StateArchive & archive) override
  {
    m_Optimizer.Exchange(archive);
    m_Convergence.Exchange(archive);
    m_Curvature.Exchange(archive);
    archive.Exchange(m_State);
    archive.Exchange(m_BestGradient);
    archive.Exchange(m_Gradient);
    archive.Exchange(m_Step);
  }

private:
  /** What a level knows beside the optimizer. */
  struct State
  {
    double                 length = 0; ///< of a step, in voxels
    bool                   isNewton = false;
    double                 lowest = 0;        ///< loss
    LinearOptimizer::Place best;              ///< where it was
    double                 expected = 0;      ///< a loss below this is one that falls
    int                    waited = -1;       ///< iterations since there was one; -1 before the first
    bool                   isCompared = true; ///< whether the loss where the optimizer is was compared with the lowest
  };

  /** The loss of the optimizer's map and, if wanted, its gradient; none where a step left nothing to compare. */
  std::optional<double>
  Evaluate(MapGradient * gradient)
  {
    try
    {
      const PlaneRange & planes = m_Loss->Planes();
      m_Loss->Begin(m_Optimizer.Map(),
                    m_Warp ? m_Warp.Warp() : WarpView<float>(),
                    {},
                    gradient ? std::optional(planes) : std::nullopt);
      for (std::int64_t first = planes.first; first < planes.end; first += m_AtATime)
      {
        const std::int64_t end = std::min(planes.end, first + m_AtATime);
        gradient ? m_Loss->AddMapGradient(first, end) : m_Loss->AddValue(first, end);
      }
      if (gradient)
      {
        *gradient = m_Loss->PhysicalMapGradient();
      }
      return m_Loss->Value();
    }
    catch (const NothingToCompare &) // on all ranks
    {
      if (m_State.waited < 0) // no step was made: so it is from the start
      {
        throw;
      }
      return {};
    }
  }

  /** Takes what a step has led to, and plans the next one. Returns whether the level has found its minimum. */
  bool
  Judge(double value, const std::vector<double> & gradient)
  {
    this->LearnFrom(gradient);
    const bool lower = this->KeepIfLower(value, gradient);
    const bool flat = m_Convergence.Add(m_State.isNewton ? m_State.lowest : value);
    bool       found = false;
    if (m_State.isNewton)
    {
      m_State.length *= lower ? 1.0 : 0.5;
      found = flat || this->IsLengthSpent();
    }
    else if (flat || m_State.waited >= Patience)
    {
      m_State.isNewton = true;
      m_Convergence.ClearWindow();
    }
    this->PlanStep(gradient);
    return found;
  }

  /** Plans a shorter step from where the loss was lowest. Returns whether there is none left. */
  bool
  StepBack()
  {
    m_State.isNewton = true;
    m_State.length *= 0.5;
    m_Convergence.ClearWindow();
    this->PlanStep(m_BestGradient);
    return this->IsLengthSpent();
  }

  bool
  IsLengthSpent() const
  {
    return m_State.length < LeastStep * m_Stage.learningRate;
  }

  void
  LearnFrom(const std::vector<double> & gradient)
  {
    if (m_Step.empty())
    {
      return;
    }
    std::vector<double> change(gradient);
    for (std::size_t k = 0; k < change.size(); ++k)
    {
      change[k] -= m_Gradient[k];
    }
    m_Curvature.Learn(m_Step, change);
  }

  /** The next step: of Adam from here, or of Newton from where the loss was lowest. */
  void
  PlanStep(const std::vector<double> & gradient)
  {
    const double length = m_State.length * m_Voxel;
    if (m_State.isNewton)
    {
      m_Optimizer.ReturnTo(m_State.best);
      m_Gradient = m_BestGradient;
      m_Step = m_Curvature.Step(m_Gradient, length);
    }
    else
    {
      m_Gradient = gradient;
      m_Step = m_Optimizer.AdamStep(m_Gradient, length);
    }
  }

  bool
  IsShort(const std::vector<double> & step) const
  {
    const double least = LeastStep * m_Stage.learningRate * m_Voxel;
    return std::all_of(step.begin(), step.end(), [least](double s) { return std::abs(s) < least; });
  }

  /** Returns whether a loss is the lowest so far. The alignment is the map that had it. */
  bool
  KeepIfLower(double value, const std::vector<double> & gradient)
  {
    const bool first = m_State.waited < 0;
    const bool lower = first || value < m_State.lowest;
    ++m_State.waited;
    if (lower)
    {
      m_State.lowest = value;
      m_State.best = m_Optimizer.CurrentPlace();
      m_BestGradient = gradient;
      m_Alignment.affine = m_Optimizer.Map();
    }
    if (first || value < m_State.expected)
    {
      m_State.waited = 0;
      m_State.expected = value - m_Convergence.LeastFall();
    }
    return lower;
  }

  Backend &                 m_Backend;
  Communicator &            m_Communicator;
  const RegistrationStage & m_Stage;
  Alignment &               m_Alignment;
  LinearOptimizer           m_Optimizer;
  Convergence               m_Convergence;
  Curvature                 m_Curvature;
  std::unique_ptr<Loss>     m_Loss;
  Slab                      m_Warp;        ///< of an earlier stage, at this level; it stays as it is
  std::int64_t              m_AtATime = 1; ///< planes
  double                    m_Voxel = 1;   ///< edge in mm
  State                     m_State;
  std::vector<double>       m_BestGradient;     ///< where the loss was lowest
  std::vector<double>       m_Gradient, m_Step; ///< the last step, and the gradient where it began
};

} // namespace

std::unique_ptr<StageRunner>
MakeLinearStage(Backend &                 backend,
                Communicator &            communicator,
                const PlacedImage &       fixed,
                const RegistrationStage & stage,
                Alignment &               alignment)
{
  return std::make_unique<LinearStage>(backend, communicator, fixed, stage, alignment);
}

} // namespace ffdp
