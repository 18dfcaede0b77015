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
#include "ffdpCompositiveWarp.h"

#include "ffdpCheck.h"

#include <algorithm>
#include <cmath>

namespace ffdp
{

CompositiveWarp::CompositiveWarp(Backend &                     backend,
                                 Communicator &                communicator,
                                 const Extent &                domain,
                                 const std::array<double, 3> & spacing,
                                 const DeformationParameters & parameters,
                                 Slab                          start,
                                 Slab                          opposite,
                                 bool                          withOpposite)
  : m_Backend(backend)
  , m_Communicator(communicator)
  , m_Parameters(parameters)
  , m_Domain(domain)
{
  const std::int64_t size[3] = { domain.x, domain.y, domain.z };
  double             shortest = 0;
  for (int c = 0; c < 3; ++c)
  {
    shortest =
      size[c] > 1 && (shortest == 0 || spacing[std::size_t(c)] < shortest) ? spacing[std::size_t(c)] : shortest;
  }
  for (int c = 0; c < 3; ++c)
  {
    m_AxisScale[c] = shortest > 0 ? spacing[std::size_t(c)] / shortest : 1;
    m_Parameters.axisWeight[c] *= size[c] > 1 ? 1 : 0;
  }
  m_Adam.beta1 = m_Parameters.beta1;
  m_Adam.beta2 = m_Parameters.beta2;
  m_Adam.gradientScale = m_Parameters.gradientScale;
  for (int c = 0; c < 3; ++c)
  {
    m_Adam.axisScale[c] = m_Parameters.axisWeight[c] / m_AxisScale[c]; // per voxel to per length
  }

  // The largest of all directions is scaled to the learning rate; what moves along z is that at most.
  const double       farthest = 1.01 * AdamStepScale(1, parameters.learningRate) / m_AxisScale[2];
  const std::int64_t halo =
    std::max(CompositionHalo(float(farthest)), std::int64_t(GaussianRadius(parameters.warpSigma[2])));
  m_Warp.slab = this->StartOrZero(std::move(start), halo);
  m_Opposite.slab = withOpposite ? this->StartOrZero(std::move(opposite), halo) : Slab();
  m_First = Slab(backend, communicator, domain, 3);
  m_Second = Slab(backend, communicator, domain, 1);
  m_First.FillZero();
  m_Second.FillZero();
}

Slab
CompositiveWarp::StartOrZero(Slab start, std::int64_t halo) const
{
  if (!start)
  {
    start = Slab(m_Backend, m_Communicator, m_Domain, 3, halo);
    start.FillZero();
  }
  Require(start.Domain() == m_Domain, "a warp to start from has another size than the level");
  return WithHalo(m_Backend, m_Communicator, std::move(start), halo);
}

void
CompositiveWarp::RefreshHalo(MovingWarp & warp) const
{
  if (!warp.halo)
  {
    warp.halo = warp.slab.StartHalo(m_Backend, m_Communicator);
  }
  warp.halo->Wait();
  warp.halo.reset();
}

void
CompositiveWarp::FinishTransfers()
{
  for (MovingWarp * warp : { &m_Warp, &m_Opposite })
  {
    if (warp->halo)
    {
      this->RefreshHalo(*warp);
    }
  }
}

void
CompositiveWarp::ForgetMoments()
{
  m_First = Slab();
  m_Second = Slab();
}

Slab
CompositiveWarp::Release(MovingWarp & warp) const
{
  this->RefreshHalo(warp);
  return std::exchange(warp.slab, Slab());
}

Slab
CompositiveWarp::Release()
{
  return this->Release(m_Warp);
}

Slab
CompositiveWarp::ReleaseOpposite()
{
  return m_Opposite.slab ? this->Release(m_Opposite) : Slab();
}

void
CompositiveWarp::SetGradientScale(double largest)
{
  m_Adam.gradientScale = largest > 0 ? AdamGradientScale(largest) : 0.0;
}

void
CompositiveWarp::Begin()
{
  m_Adam.step = ++m_Steps;
  m_Norm = 0;
}

void
CompositiveWarp::Take(const WarpView<const float> & gradient)
{
  m_Norm = std::max(m_Norm, m_Backend.AdamStep(gradient, m_First.Warp(), m_Second.Volume(), m_Adam));
}

void
CompositiveWarp::Finish()
{
  m_Communicator.Maximum(&m_Norm, 1);
  Require(std::isfinite(m_Norm), "the gradient is not finite: does an image hold NaN or infinite values?");

  const double scale = AdamStepScale(m_Norm, m_Parameters.learningRate);
  m_LargestStep = scale * m_Norm;
  this->Move(m_Warp, scale);
  if (m_Opposite.slab)
  {
    this->Move(m_Opposite, -scale);
  }
}

void
CompositiveWarp::Move(MovingWarp & warp, double scale)
{
  AdamCompositionParameters composition;
  composition.largestDirection = m_Norm;
  for (int c = 0; c < 3; ++c)
  {
    composition.stepScale[c] = scale / m_AxisScale[c];
  }
  GaussianParameters smoothing;
  std::copy(m_Parameters.warpSigma, m_Parameters.warpSigma + 3, smoothing.sigma);

  const PlaneRange & owned = warp.slab.Owned();
  this->RefreshHalo(warp);
  if (!warp.slab.IsEmpty())
  {
    m_Backend.ComposeAdamStep(
      warp.slab.Warp(), owned.first, owned.end - owned.first, m_First.Warp(), m_Second.Volume(), m_Adam, composition);
  }
  this->RefreshHalo(warp);
  if (!warp.slab.IsEmpty())
  {
    m_Backend.SmoothGaussian(warp.slab.Warp(), owned.first, owned.end - owned.first, smoothing);
  }
  warp.halo = warp.slab.StartHalo(m_Backend, m_Communicator);
}

void
CompositiveWarp::Exchange(StateArchive & archive)
{
  archive.Exchange(m_Adam.gradientScale);
  archive.Exchange(m_Steps);
  for (const Slab * slab : { &m_Warp.slab, &m_Opposite.slab, &m_First, &m_Second })
  {
    if (*slab)
    {
      archive.Exchange(m_Backend, *slab);
    }
  }
  if (archive.IsLoading())
  {
    m_Warp.halo.reset();
    m_Opposite.halo.reset();
  }
}

} // namespace ffdp
