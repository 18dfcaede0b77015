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
#include "ffdpDeformation.h"
#include "ffdpStageRunner.h"

#include <algorithm>

namespace ffdp
{
namespace
{

/** Greedy or SyN. Between levels there is one warp for each image that moves; at the end there is one. */
class DeformableStage : public StageRunner
{
public:
  DeformableStage(Backend &                 backend,
                  Communicator &            communicator,
                  const RegistrationStage & stage,
                  Alignment &               alignment)
    : m_Backend(backend)
    , m_Communicator(communicator)
    , m_Stage(stage)
    , m_Alignment(alignment)
    , m_Convergence(stage.tolerance, stage.window)
  {}

  void
  Enter(const Level & level) override
  {
    m_Loss.reset();
    const std::int64_t          planes = PlanesAtATime(level.Size());
    const std::array<double, 3> spacing = SpacingOf(level.Fixed().indexToPhysical);
    DeformationParameters       parameters;
    parameters.learningRate = m_Stage.learningRate;
    for (int c = 0; c < 3; ++c)
    {
      const double unit = m_Stage.sigmasInMm ? spacing[std::size_t(c)] : 1.0;
      parameters.gradientSigma[c] = m_Stage.gradientSigma / unit;
      parameters.warpSigma[c] = m_Stage.warpSigma / unit;
      parameters.axisWeight[c] = m_Stage.axisWeight[c];
    }
    HeldWarp fixedWarp = this->PutDown();
    m_Alignment.warp = this->At(std::move(m_Alignment.warp), level.Size());
    fixedWarp = this->At(std::move(fixedWarp), level.Size());
    auto warp = std::make_unique<CompositiveWarp>(m_Backend,
                                                  m_Communicator,
                                                  level.Size(),
                                                  spacing,
                                                  parameters,
                                                  std::move(m_Alignment.warp.memory),
                                                  std::move(fixedWarp.memory),
                                                  m_Stage.kind == RegistrationStage::Kind::SyN);
    m_Deformation = std::make_unique<Deformation>(m_Backend, m_Communicator, parameters, planes, std::move(warp));
    m_Alignment.warp = HeldWarp();
    m_Loss = std::make_unique<Loss>(m_Backend, m_Communicator, level.Pairs(), m_Stage.metrics, planes);
    m_Convergence = Convergence(m_Stage.tolerance, m_Stage.window);
  }

  Iteration
  Iterate() override
  {
    Iteration done;
    done.value = m_Deformation->Step(*m_Loss, m_Alignment.affine);
    done.step = m_Deformation->Warp().LargestStep();
    done.converged = m_Convergence.Add(done.value);
    return done;
  }

  void
  Leave() override
  {
    m_Loss.reset();
    const HeldWarp fixedWarp = this->PutDown();
    if (fixedWarp)
    {
      this->Join(fixedWarp);
    }
  }

  void
  Exchange(StateArchive & archive) override
  {
    m_Deformation->Warp().Exchange(archive);
    m_Convergence.Exchange(archive);
  }

private:
  /** Ends the optimization at a level: its warp goes to the alignment; returns that of the fixed image, if any. */
  HeldWarp
  PutDown()
  {
    HeldWarp fixedWarp;
    if (m_Deformation)
    {
      CompositiveWarp & warp = m_Deformation->Warp();
      warp.ForgetMoments();
      m_Alignment.warp = { warp.Release(), warp.Warp().domain };
      if (warp.Opposite())
      {
        fixedWarp = { warp.ReleaseOpposite(), warp.Warp().domain };
      }
      m_Deformation.reset();
    }
    return fixedWarp;
  }

  HeldWarp
  At(HeldWarp && warp, const Extent & size)
  {
    return !warp || warp.size == size ? std::move(warp) : Regrid(m_Backend, warp, size);
  }

  /** A point x of the fixed image is met at m = (id + r)^-1(x), and goes on to m + u(m): u <- v + u o (id + v) with
   * the inverse v of r. */
  void
  Join(const HeldWarp & fixedWarp)
  {
    const WarpView<float> r = fixedWarp.View();
    const HeldWarp        inverse{ DeviceArray<float>(m_Backend, 3 * r.domain.Voxels()), r.domain };
    InvertWarpInto(m_Backend, m_Communicator, r, inverse.View());
    m_Backend.ComposeWarps(m_Alignment.warp.View(), 0, r.domain.z, inverse.View(), CompositionParameters{});
  }

  Backend &                    m_Backend;
  Communicator &               m_Communicator;
  const RegistrationStage &    m_Stage;
  Alignment &                  m_Alignment; ///< without a warp while this stage is at work on it
  Convergence                  m_Convergence;
  std::unique_ptr<Loss>        m_Loss;
  std::unique_ptr<Deformation> m_Deformation;
};

} // namespace

void
HeldWarp::Exchange(StateArchive & archive, Backend & backend)
{
  auto count = memory.Count();
  archive.Exchange(size);
  archive.Exchange(count);
  if (archive.IsLoading())
  {
    Require(count == 0 || count == 3 * size.Voxels(), "a checkpoint holds a warp of an impossible size");
    memory = count > 0 ? DeviceArray<float>(backend, count) : DeviceArray<float>();
  }
  archive.ExchangeDevice(backend, memory.Data(), count);
}

HeldWarp
Regrid(Backend & backend, const HeldWarp & warp, const Extent & size)
{
  HeldWarp regridded{ DeviceArray<float>(backend, 3 * size.Voxels()), size };
  backend.UpsampleWarp(warp.View(), regridded.View(), GridMap::Centered(size, warp.size));
  return regridded;
}

double
InvertWarpInto(Backend & backend, Communicator & communicator, const WarpView<float> & u, const WarpView<float> & w)
{
  constexpr int CheapIterations = 5; // enough for most voxels; the rest is refined one by one
  backend.FillZero(w.component[0], std::size_t(3 * u.domain.Voxels()) * sizeof(float));
  for (int i = 0; i < CheapIterations; ++i)
  {
    backend.IterateInverse(u, w, InverseStepParameters{});
  }
  double residual = backend.RefineInverse(u, w, InverseRefinement{});
  communicator.Maximum(&residual, 1);
  return residual;
}

std::unique_ptr<StageRunner>
MakeDeformableStage(Backend &                 backend,
                    Communicator &            communicator,
                    const RegistrationStage & stage,
                    Alignment &               alignment)
{
  return std::make_unique<DeformableStage>(backend, communicator, stage, alignment);
}

} // namespace ffdp
