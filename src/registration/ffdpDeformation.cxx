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

#include <algorithm>

namespace ffdp
{

Deformation::Deformation(Backend &                        backend,
                         Communicator &                   communicator,
                         const DeformationParameters &    parameters,
                         std::int64_t                     planesAtATime,
                         std::unique_ptr<CompositiveWarp> warp)
  : m_Backend(backend)
  , m_Communicator(communicator)
  , m_Parameters(parameters)
  , m_PlanesAtATime(planesAtATime)
  , m_Warp(std::move(warp))
  , m_Domain(m_Warp->Warp().domain)
{
  const std::int64_t capacity = planesAtATime + 2 * GaussianRadius(parameters.gradientSigma[2]);
  m_Raw = PlaneWindow<float>(backend, m_Domain, 3, capacity);
  m_Smoothed = PlaneWindow<float>(backend, m_Domain, 3, capacity);
}

void
Deformation::GrowGradient(Loss & loss, std::int64_t first, std::int64_t end)
{
  const std::int64_t reach = GaussianRadius(m_Parameters.gradientSigma[2]);
  m_Raw.Keep(std::max<std::int64_t>(0, first - reach));
  const std::int64_t needed = std::min(m_Domain.z, end + reach);
  while (m_Raw.End() < needed)
  {
    const std::int64_t from = m_Raw.End();
    const std::int64_t to = std::min(needed, from + m_PlanesAtATime);
    m_Raw.Grow(to);
    loss.WarpGradient(from, to, m_Raw.Warp().Planes(from, to - from));
  }
}

WarpView<float>
Deformation::SmoothGradient(std::int64_t first, std::int64_t end)
{
  GaussianParameters smoothing;
  std::copy(m_Parameters.gradientSigma, m_Parameters.gradientSigma + 3, smoothing.sigma);
  m_Smoothed.Restart(m_Raw.First());
  m_Smoothed.Grow(m_Raw.End());
  for (int c = 0; c < 3; ++c)
  {
    const VolumeView<float> raw = m_Raw.Volume(c);
    m_Backend.Move(m_Smoothed.Volume(c).data, raw.data, std::size_t(raw.planes * raw.planeStride) * sizeof(float));
  }
  m_Backend.SmoothGaussian(m_Smoothed.Warp(), first, end - first, smoothing);
  return m_Smoothed.Warp().Planes(first, end - first);
}

template <typename TUse>
double
Deformation::SweepGradient(Loss & loss, const AffineMap & physical, const TUse & use)
{
  loss.Begin(physical, m_Warp->Warp(), m_Warp->Opposite());
  m_Raw.Restart(0);
  for (std::int64_t first = 0; first < m_Domain.z; first += m_PlanesAtATime)
  {
    const std::int64_t end = std::min(m_Domain.z, first + m_PlanesAtATime);
    this->GrowGradient(loss, first, end);
    use(this->SmoothGradient(first, end));
  }
  return loss.Value();
}

double
Deformation::Step(Loss & loss, const AffineMap & physical)
{
  if (m_Warp->IsFirstStep())
  {
    double largest = 0;
    this->SweepGradient(loss, physical, [&](const WarpView<float> & gradient) {
      const WarpSize size = m_Backend.MeasureWarp(gradient, { 1, 1, 1 });
      largest = std::max({ largest, size.largest[0], size.largest[1], size.largest[2] });
    });
    m_Communicator.Maximum(&largest, 1);
    m_Warp->SetGradientScale(largest);
  }
  m_Warp->Begin();
  const double value =
    this->SweepGradient(loss, physical, [&](const WarpView<float> & gradient) { m_Warp->Take(gradient); });
  m_Warp->Finish();
  return value;
}

} // namespace ffdp
