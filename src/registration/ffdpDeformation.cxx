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
#include "ffdpDeformation.h"

#include <cmath>

namespace ffdp
{

Deformation::Deformation(Backend &      backend,
                         Communicator & communicator,
                         const Extent & domain,
                         const double (&spacing)[3],
                         const DeformationParameters & parameters,
                         std::int64_t                  planesAtATime)
  : m_Backend(backend)
  , m_Communicator(communicator)
  , m_Parameters(parameters)
  , m_PlanesAtATime(planesAtATime)
  , m_Domain(domain)
  , m_WarpMemory(backend, 3 * domain.Voxels())
  , m_MomentMemory(backend, 6 * domain.Voxels())
{
  const std::int64_t n = domain.Voxels();
  m_Warp = WarpView<float>::Planar(m_WarpMemory.Data(), domain);
  m_First = WarpView<float>::Planar(m_MomentMemory.Data(), domain);
  m_Second = WarpView<float>::Planar(m_MomentMemory.Data() + 3 * n, domain);
  m_WarpMemory.FillZero();
  m_MomentMemory.FillZero();

  const std::int64_t size[3] = { domain.x, domain.y, domain.z };
  double             shortest = 0;
  for (int c = 0; c < 3; ++c)
  {
    shortest = size[c] > 1 && (shortest == 0 || spacing[c] < shortest) ? spacing[c] : shortest;
  }
  for (int c = 0; c < 3; ++c)
  {
    m_AxisScale[c] = shortest > 0 ? spacing[c] / shortest : 1;
    m_Parameters.axisWeight[c] *= size[c] > 1 ? 1 : 0;
  }
  const std::int64_t reach = GaussianRadius(parameters.gradientSigma);
  m_Raw = PlaneWindow<float>(backend, domain, 3, planesAtATime + 2 * reach);
  m_Smoothed = PlaneWindow<float>(backend, domain, 3, planesAtATime + 2 * reach);
}

void
Deformation::ForgetMoments()
{
  m_MomentMemory = DeviceArray<float>();
  m_Raw = PlaneWindow<float>();
  m_Smoothed = PlaneWindow<float>();
}

void
Deformation::Upsample(const WarpView<const float> & coarse, const GridMap & map)
{
  m_Backend.UpsampleWarp(coarse, m_Warp, map);
}

template <typename TUse>
double
Deformation::SweepGradient(Loss & loss, const AffineMap & physical, const TUse & use)
{
  GaussianParameters smoothing;
  std::fill(smoothing.sigma, smoothing.sigma + 3, m_Parameters.gradientSigma);
  const std::int64_t reach = GaussianRadius(m_Parameters.gradientSigma);

  loss.Begin(physical, m_Warp);
  m_Raw.Restart(0);
  for (std::int64_t first = 0; first < m_Domain.z; first += m_PlanesAtATime)
  {
    const std::int64_t end = std::min(m_Domain.z, first + m_PlanesAtATime);
    m_Raw.Keep(std::max<std::int64_t>(0, first - reach));
    const std::int64_t needed = std::min(m_Domain.z, end + reach);
    while (m_Raw.End() < needed)
    {
      const std::int64_t from = m_Raw.End();
      const std::int64_t to = std::min(needed, from + m_PlanesAtATime);
      m_Raw.Grow(to);
      loss.WarpGradient(from, to, m_Raw.Warp().Planes(from, to - from));
    }
    m_Smoothed.Restart(m_Raw.First());
    m_Smoothed.Grow(m_Raw.End());
    for (int c = 0; c < 3; ++c)
    {
      const VolumeView<float> raw = m_Raw.Volume(c);
      m_Backend.Move(m_Smoothed.Volume(c).data, raw.data, std::size_t(raw.planes * raw.planeStride) * sizeof(float));
    }
    m_Backend.SmoothGaussian(m_Smoothed.Warp(), first, end - first, smoothing);
    use(m_Smoothed.Warp().Planes(first, end - first));
  }
  return loss.Value();
}

double
Deformation::Step(Loss & loss, const AffineMap & physical)
{
  if (m_Steps == 0) // the moments are in units of the first gradient, see AdamGradientScale()
  {
    double largest = 0;
    this->SweepGradient(loss, physical, [&](const WarpView<float> & gradient) {
      const WarpSize size = m_Backend.MeasureWarp(gradient, { 1, 1, 1 });
      largest = std::max({ largest, size.largest[0], size.largest[1], size.largest[2] });
    });
    m_Communicator.Maximum(&largest, 1);
    m_Adam.gradientScale = AdamGradientScale(largest);
    m_Adam.beta1 = m_Parameters.beta1;
    m_Adam.beta2 = m_Parameters.beta2;
    std::copy(m_Parameters.axisWeight, m_Parameters.axisWeight + 3, m_Adam.axisScale);
  }
  m_Adam.step = ++m_Steps;
  double       norm = 0;
  const double value = this->SweepGradient(loss, physical, [&](const WarpView<float> & gradient) {
    norm = std::max(norm, m_Backend.AdamStep(gradient, m_First, m_Second, m_Adam));
  });
  m_Communicator.Maximum(&norm, 1);
  Require(std::isfinite(norm), "the gradient is not finite: does an image hold NaN or infinite values?");

  const double              scale = AdamStepScale(norm, m_Parameters.learningRate);
  AdamCompositionParameters composition;
  composition.largestDirection = norm;
  for (int c = 0; c < 3; ++c)
  {
    composition.stepScale[c] = scale * m_Parameters.axisWeight[c] / m_AxisScale[c];
  }
  m_LargestStep = scale * norm;
  m_Backend.ComposeAdamStep(m_Warp, 0, m_Domain.z, m_First, m_Second, m_Adam, composition);

  if (m_Parameters.warpSigma > 0)
  {
    GaussianParameters smoothing;
    std::fill(smoothing.sigma, smoothing.sigma + 3, m_Parameters.warpSigma);
    m_Backend.SmoothGaussian(m_Warp, 0, m_Domain.z, smoothing);
  }
  return value;
}

} // namespace ffdp
