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
#include "ffdpScratchScope.h"
#include "ffdpStageRunner.h"

#include <algorithm>
#include <cmath>

namespace ffdp
{
namespace
{

constexpr float JoinTolerance = 1e-3f; // voxels, of the inverse that becomes a part of SyN's warp

/** The stage's metrics, with the power of correlations that suits warps where none is given. */
std::vector<RegistrationMetric>
MetricsOfWarp(const RegistrationStage & stage)
{
  std::vector<RegistrationMetric> metrics = stage.metrics;
  for (RegistrationMetric & metric : metrics)
  {
    metric.power = metric.power == 0 ? RegistrationMetric::WarpPower : metric.power;
  }
  return metrics;
}

/** Adam's memory of second moments. Windows that come to fit pull harder than before, to a power, and a short memory
 * follows; with other metrics gradients change little, and a long one is better. */
double
MemoryOfSquares(const RegistrationStage & stage)
{
  const bool windows = std::all_of(stage.metrics.begin(), stage.metrics.end(), [](const RegistrationMetric & metric) {
    return metric.kind == RegistrationMetric::Kind::LocalCorrelation;
  });
  return windows ? 0.95 : 0.99;
}

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
    const PlaneRange            owned = Partition(level.Size().z, m_Communicator.Size()).Owned(m_Communicator.Rank());
    const std::int64_t          planes = PlanesAtATime(m_Backend.FewVoxels(), level.Size(), owned.end - owned.first);
    const std::array<double, 3> spacing = SpacingOf(level.Fixed().indexToPhysical);
    DeformationParameters       parameters;
    parameters.learningRate = m_Stage.learningRate;
    parameters.beta2 = MemoryOfSquares(m_Stage);
    parameters.gradientScale = this->GradientScale(level.Size());
    for (int c = 0; c < 3; ++c)
    {
      const double unit = m_Stage.sigmasInMm ? spacing[std::size_t(c)] : 1.0;
      parameters.gradientSigma[c] = m_Stage.gradientSigma / unit;
      parameters.warpSigma[c] = m_Stage.warpSigma / unit;
      parameters.axisWeight[c] = m_Stage.axisWeight[c];
    }
    Slab fixedWarp = this->PutDown();
    m_Alignment.warp = this->At(std::move(m_Alignment.warp), level.Size());
    fixedWarp = this->At(std::move(fixedWarp), level.Size());
    auto warp = std::make_unique<CompositiveWarp>(m_Backend,
                                                  m_Communicator,
                                                  level.Size(),
                                                  spacing,
                                                  parameters,
                                                  std::exchange(m_Alignment.warp, Slab()),
                                                  std::move(fixedWarp),
                                                  m_Stage.kind == RegistrationStage::Kind::SyN);
    m_Deformation = std::make_unique<Deformation>(m_Backend, m_Communicator, parameters, planes, std::move(warp));
    m_Loss = std::make_unique<Loss>(m_Backend, m_Communicator, level.Pairs(), MetricsOfWarp(m_Stage), planes);
    m_Convergence = Convergence(m_Stage.tolerance, m_Stage.window);
  }

  Iteration
  Iterate() override
  {
    const ScratchScope scratch; // what local correlation needs for some planes serves for the next ones, too
    Iteration          done;
    done.value = m_Deformation->Step(*m_Loss, m_Alignment.affine);
    if (!(m_ScalePerVoxel > 0))
    {
      const CompositiveWarp & warp = m_Deformation->Warp();
      m_ScalePerVoxel = warp.GradientScale() / double(warp.Warp().Domain().Voxels());
    }
    done.step = m_Deformation->Warp().LargestStep();
    done.converged = m_Convergence.Add(done.value);
    return done;
  }

  void
  Leave() override
  {
    m_Loss.reset();
    Slab fixedWarp = this->PutDown();
    if (fixedWarp)
    {
      this->Join(fixedWarp);
    }
  }

  void
  FinishTransfers() override
  {
    m_Deformation->Warp().FinishTransfers();
  }

  void
  Exchange(StateArchive & archive) override
  {
    m_Deformation->Warp().Exchange(archive);
    m_Convergence.Exchange(archive);
    archive.Exchange(m_ScalePerVoxel);
  }

private:
  /** Losses are means, so gradients go with one over the number of voxels: what was found at one level, by a sweep of
   * its own, will do for all. 0 before that. */
  double
  GradientScale(const Extent & size) const
  {
    return m_ScalePerVoxel > 0 ? AdamGradientScale(1 / (m_ScalePerVoxel * double(size.Voxels()))) : 0.0;
  }

  /** Ends the optimization at a level: its warp goes to the alignment; returns that of the fixed image, if any. */
  Slab
  PutDown()
  {
    Slab fixedWarp;
    if (m_Deformation)
    {
      CompositiveWarp & warp = m_Deformation->Warp();
      warp.ForgetMoments();
      m_Alignment.warp = warp.Release();
      fixedWarp = warp.ReleaseOpposite();
      m_Deformation.reset();
    }
    return fixedWarp;
  }

  Slab
  At(Slab && warp, const Extent & size)
  {
    return !warp || warp.Domain() == size ? std::move(warp) : Regrid(m_Backend, m_Communicator, warp, size);
  }

  /** A point x of the fixed image is met at m = (id + r)^-1(x), and goes on to m + u(m): u <- v + u o (id + v) with
   * the inverse v of r. */
  void
  Join(Slab & fixedWarp)
  {
    const Slab inverse(m_Backend, m_Communicator, fixedWarp.Domain(), 3);
    inverse.FillZero();
    InvertWarp(m_Backend, m_Communicator, fixedWarp, inverse, JoinTolerance);
    fixedWarp = Slab();
    CompositionParameters composition;
    composition.boundAlongZ = BoundAlongZ(m_Backend, m_Communicator, inverse);
    m_Alignment.warp =
      WithHalo(m_Backend, m_Communicator, std::move(m_Alignment.warp), CompositionHalo(composition.boundAlongZ));
    if (!inverse.IsEmpty())
    {
      const PlaneRange & owned = inverse.Owned();
      m_Backend.ComposeWarps(
        m_Alignment.warp.Warp(), owned.first, owned.end - owned.first, inverse.Warp(), composition);
    }
    m_Alignment.warp.RefreshHalo(m_Backend, m_Communicator); // who takes the warp may need no other width
  }

  Backend &                    m_Backend;
  Communicator &               m_Communicator;
  const RegistrationStage &    m_Stage;
  Alignment &                  m_Alignment; ///< without a warp while this stage is at work on it
  Convergence                  m_Convergence;
  double                       m_ScalePerVoxel = 0; ///< of Adam's moments
  std::unique_ptr<Loss>        m_Loss;
  std::unique_ptr<Deformation> m_Deformation;
};

} // namespace

Slab
Regrid(Backend & backend, Communicator & communicator, const Slab & warp, const Extent & size)
{
  const GridMap map = GridMap::Centered(size, warp.Domain());
  Slab          regridded(backend, communicator, size, 3);
  if (communicator.Size() == 1)
  {
    backend.UpsampleWarp(warp.Warp(), regridded.Warp(), map);
    return regridded;
  }
  const PlaneRange needed =
    regridded.IsEmpty() ? PlaneRange() : UpsampleWarpPlanes(warp.Domain(), map, regridded.Owned());
  const Slab nearby =
    FetchPlanes(backend, communicator, { warp.OwnedVolume(0), warp.OwnedVolume(1), warp.OwnedVolume(2) }, needed);
  if (!regridded.IsEmpty())
  {
    backend.UpsampleWarp(nearby.Warp(), regridded.Warp(), map);
  }
  return regridded;
}

float
BoundAlongZ(Backend & backend, Communicator & communicator, const Slab & warp)
{
  double largest = warp.IsEmpty() ? 0.0 : backend.MeasureWarp(warp.OwnedWarp(), { 1, 1, 1 }).largest[2];
  communicator.Maximum(&largest, 1);
  return float(largest * 1.0001);
}

double
InvertWarp(Backend & backend, Communicator & communicator, Slab & u, const Slab & inverse, float tolerance)
{
  constexpr int         CheapIterations = 5; // enough for most voxels; the rest is refined one by one
  InverseStepParameters step;
  InverseRefinement     refinement;
  refinement.tolerance = tolerance;
  step.boundAlongZ = refinement.boundAlongZ = BoundAlongZ(backend, communicator, u);
  u = WithHalo(backend, communicator, std::move(u), CompositionHalo(step.boundAlongZ));

  double residual = 0;
  if (!u.IsEmpty())
  {
    for (int i = 0; i < CheapIterations; ++i)
    {
      backend.IterateInverse(u.Warp(), inverse.Warp(), step);
    }
    const Extent & domain = u.Domain();
    const int      everywhere = -int(std::max({ domain.x, domain.y, domain.z }));
    const Slab     error(backend, communicator, domain, 1);
    const float    largest =
      backend.InverseError(u.Warp(), inverse.Warp(), step.boundAlongZ, everywhere, error.OwnedVolume(), nullptr);
    const float refined = backend.RefineInverse(u.Warp(), inverse.Warp(), error.OwnedVolume(), refinement);
    residual = double(std::max(refined, std::min(largest, tolerance))); // what is within the tolerance is left alone
  }
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
