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
#include "ffdpLinearOptimizer.h"
#include "ffdpStageRunner.h"

#include <cmath>

namespace ffdp
{
namespace
{

/** Rigid, similarity or affine: Adam whose steps get shorter each time the loss is flat. */
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
    , m_Optimizer(stage.kind, fixed, alignment.affine, fixed.voxels.domain.z == 1)
    , m_Convergence(stage.tolerance, stage.window)
  {}

  void
  Enter(const Level & level) override
  {
    const PlaneRange owned = Partition(level.Size().z, m_Communicator.Size()).Owned(m_Communicator.Rank());
    m_AtATime = PlanesAtATime(m_Backend.FewVoxels(), level.Size(), owned.end - owned.first);
    m_Loss = std::make_unique<Loss>(m_Backend, m_Communicator, level.Pairs(), m_Stage.metrics, m_AtATime);
    m_Warp = m_Alignment.warp ? Regrid(m_Backend, m_Communicator, m_Alignment.warp, level.Size()) : Slab();
    const std::array<double, 3> spacing = SpacingOf(level.Fixed().indexToPhysical);
    m_Voxel = std::cbrt(spacing[0] * spacing[1] * spacing[2]);
    m_Convergence = Convergence(m_Stage.tolerance, m_Stage.window);
    m_Step = m_Stage.learningRate;
    m_Optimizer.Restart();
  }

  Iteration
  Iterate() override
  {
    constexpr double LeastStep = 0.02; // of the first; a level ends when the loss is flat and steps are this short
    m_Loss->Begin(m_Optimizer.Map(), m_Warp ? m_Warp.Warp() : WarpView<float>(), {}, true);
    const PlaneRange & planes = m_Loss->Planes();
    for (std::int64_t first = planes.first; first < planes.end; first += m_AtATime)
    {
      m_Loss->AddMapGradient(first, std::min(planes.end, first + m_AtATime));
    }
    m_Optimizer.Step(m_Loss->PhysicalMapGradient(), m_Step * m_Voxel);
    m_Alignment.affine = m_Optimizer.Map();
    Iteration done{ m_Loss->Value(), m_Step, false };
    // Adam circles around a minimum at the distance of a step: shorter steps go on from there.
    if (m_Convergence.Add(done.value))
    {
      m_Step *= 0.5;
      m_Convergence.ClearWindow();
      done.converged = m_Step < LeastStep * m_Stage.learningRate;
    }
    return done;
  }

  void
  Leave() override
  {
    m_Loss.reset();
    m_Warp = Slab();
  }

  void
  Exchange(StateArchive & archive) override
  {
    m_Optimizer.Exchange(archive);
    m_Convergence.Exchange(archive);
    archive.Exchange(m_Step);
  }

private:
  Backend &                 m_Backend;
  Communicator &            m_Communicator;
  const RegistrationStage & m_Stage;
  Alignment &               m_Alignment;
  LinearOptimizer           m_Optimizer;
  Convergence               m_Convergence;
  std::unique_ptr<Loss>     m_Loss;
  Slab                      m_Warp;        ///< of an earlier stage, at this level; it stays as it is
  std::int64_t              m_AtATime = 1; ///< planes
  double                    m_Voxel = 1;   ///< edge in mm
  double                    m_Step = 0;
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
