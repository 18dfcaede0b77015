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

#include <algorithm>
#include <cmath>

namespace ffdp
{

CompositiveWarp::CompositiveWarp(Backend &                     backend,
                                 Communicator &                communicator,
                                 const Extent &                domain,
                                 const std::array<double, 3> & spacing,
                                 const DeformationParameters & parameters,
                                 DeviceArray<float>            start,
                                 DeviceArray<float>            opposite,
                                 bool                          withOpposite)
  : m_Backend(backend)
  , m_Communicator(communicator)
  , m_Parameters(parameters)
  , m_Domain(domain)
  , m_WarpMemory(this->StartOrZero(std::move(start)))
  , m_OppositeMemory(withOpposite ? this->StartOrZero(std::move(opposite)) : DeviceArray<float>())
  , m_MomentMemory(backend, 6 * domain.Voxels())
{
  m_Warp = WarpView<float>::Planar(m_WarpMemory.Data(), domain);
  m_Opposite = withOpposite ? WarpView<float>::Planar(m_OppositeMemory.Data(), domain) : WarpView<float>();
  m_First = WarpView<float>::Planar(m_MomentMemory.Data(), domain);
  m_Second = WarpView<float>::Planar(m_MomentMemory.Data() + 3 * domain.Voxels(), domain);
  m_MomentMemory.FillZero();

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
  std::copy(m_Parameters.axisWeight, m_Parameters.axisWeight + 3, m_Adam.axisScale);
}

DeviceArray<float>
CompositiveWarp::StartOrZero(DeviceArray<float> start) const
{
  const std::int64_t count = 3 * m_Domain.Voxels();
  if (!start.Data())
  {
    start = DeviceArray<float>(m_Backend, count);
    start.FillZero();
  }
  Require(start.Count() == count, "a warp to start from has another size than the level");
  return start;
}

void
CompositiveWarp::ForgetMoments()
{
  m_MomentMemory = DeviceArray<float>();
}

DeviceArray<float>
CompositiveWarp::Release()
{
  return std::move(m_WarpMemory);
}

DeviceArray<float>
CompositiveWarp::ReleaseOpposite()
{
  return std::move(m_OppositeMemory);
}

void
CompositiveWarp::SetGradientScale(double largest)
{
  m_Adam.gradientScale = AdamGradientScale(largest);
}

void
CompositiveWarp::Begin()
{
  m_Adam.step = ++m_Steps;
  m_Norm = 0;
}

void
CompositiveWarp::Take(const WarpView<float> & gradient)
{
  m_Norm = std::max(m_Norm, m_Backend.AdamStep(gradient, m_First, m_Second, m_Adam));
}

void
CompositiveWarp::Finish()
{
  m_Communicator.Maximum(&m_Norm, 1);
  Require(std::isfinite(m_Norm), "the gradient is not finite: does an image hold NaN or infinite values?");

  const double scale = AdamStepScale(m_Norm, m_Parameters.learningRate);
  m_LargestStep = scale * m_Norm;
  this->Move(m_Warp, scale);
  if (m_Opposite)
  {
    this->Move(m_Opposite, -scale);
  }
}

void
CompositiveWarp::Move(const WarpView<float> & warp, double scale)
{
  AdamCompositionParameters composition;
  composition.largestDirection = m_Norm;
  for (int c = 0; c < 3; ++c)
  {
    composition.stepScale[c] = scale * m_Parameters.axisWeight[c] / m_AxisScale[c];
  }
  m_Backend.ComposeAdamStep(warp, 0, m_Domain.z, m_First, m_Second, m_Adam, composition);

  GaussianParameters smoothing;
  std::copy(m_Parameters.warpSigma, m_Parameters.warpSigma + 3, smoothing.sigma);
  m_Backend.SmoothGaussian(warp, 0, m_Domain.z, smoothing);
}

void
CompositiveWarp::Exchange(StateArchive & archive)
{
  archive.Exchange(m_Adam.gradientScale);
  archive.Exchange(m_Steps);
  archive.ExchangeDevice(m_Backend, m_WarpMemory.Data(), m_WarpMemory.Count());
  archive.ExchangeDevice(m_Backend, m_OppositeMemory.Data(), m_OppositeMemory.Count());
  archive.ExchangeDevice(m_Backend, m_MomentMemory.Data(), m_MomentMemory.Count());
}

} // namespace ffdp
