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

#include <cmath>

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
  , m_Domain(m_Warp->Warp().Domain())
  , m_Planes(m_Warp->Warp().Owned())
  , m_Reach(GaussianRadius(parameters.gradientSigma[2]))
{
  const std::int64_t halo = communicator.Size() > 1 ? m_Reach : 0;
  m_Window = PlaneWindow<float>(backend, m_Domain, 3, std::max(planesAtATime, halo) + 2 * m_Reach);
  m_Smoothed = PlaneWindow<float>(backend, m_Domain, 3, std::max(halo, planesAtATime));
  m_Above = PlaneWindow<float>(backend, m_Domain, 3, halo);
}

namespace
{

/** Copies the planes of one window that another holds room for. */
void
CopyPlanes(Backend & backend, const PlaneWindow<float> & from, const PlaneWindow<float> & to, const PlaneRange & planes)
{
  for (int c = 0; c < 3 && planes.first < planes.end; ++c)
  {
    const VolumeView<float> part = from.Volume(c).Planes(planes.first, planes.end - planes.first);
    backend.Move(
      to.Volume(c).Row(0, planes.first), part.data, std::size_t(part.planes * part.planeStride) * sizeof(float));
  }
}

} // namespace

void
Deformation::SwapEdges(Loss & loss)
{
  m_Window.Restart(m_Planes.first);
  if (m_Communicator.Size() == 1 || m_Reach == 0)
  {
    this->BeginParts(loss);
    return;
  }
  const Partition  owners(m_Domain.z, m_Communicator.Size());
  const auto       rank = std::size_t(m_Communicator.Rank());
  const PlaneRange below = HaloBelow(owners, m_Reach)[rank];
  const PlaneRange above = HaloAbove(owners, m_Reach)[rank];
  const auto       channels = [&](const PlaneWindow<float> & to) {
    std::vector<PlaneChannel<float>> volumes;
    for (int c = 0; c < 3; ++c)
    {
      volumes.push_back({ m_Window.Volume(c), to.Volume(c) });
    }
    return volumes;
  };
  // The highest planes go up. They are made again at the end of the sweep: keeping them would take more memory.
  m_Part = this->HighestPlanes();
  m_Window.Restart(m_Part.first);
  this->GrowGradient(loss, m_Planes.end);
  m_Smoothed.Restart(below.first);
  m_Smoothed.Grow(below.end);
  StartHaloPlanes(m_Backend, m_Communicator, owners, HaloBelow(owners, m_Reach), channels(m_Smoothed))->Wait();

  // The lowest ones go down, and stay in the window, after those from below.
  m_Window.Restart(below.first);
  m_Window.Grow(below.end);
  CopyPlanes(m_Backend, m_Smoothed, m_Window, below);
  this->BeginParts(loss);
  this->EnterNextPart(loss);
  this->GrowGradient(loss, std::min(m_Planes.end, m_Planes.first + m_Reach));
  m_Above.Restart(above.first);
  m_Above.Grow(above.end);
  m_Downward = StartHaloPlanes(m_Backend, m_Communicator, owners, HaloAbove(owners, m_Reach), channels(m_Above));
}

std::int64_t
Deformation::PlanesPerPart(std::int64_t owned, std::int64_t reach)
{
  constexpr std::int64_t MostParts = 4;
  return std::max(reach, (owned + MostParts - 1) / MostParts);
}

void
Deformation::BeginParts(const Loss & loss)
{
  const std::int64_t thickest = Partition(m_Domain.z, m_Communicator.Size()).ThickestSlab();
  m_PlanesPerPart = loss.GradientsComeFromRing() ? PlanesPerPart(thickest, m_Reach) : thickest;
  m_PartsLeft = (thickest + m_PlanesPerPart - 1) / m_PlanesPerPart;
  m_Part = { m_Planes.first, m_Planes.first };
}

void
Deformation::EnterNextPart(Loss & loss)
{
  m_Part = { m_Part.end, std::min(m_Planes.end, m_Part.end + m_PlanesPerPart) };
  --m_PartsLeft;
  loss.PrepareGradients(m_Part);
}

void
Deformation::FinishSwap()
{
  if (m_Downward)
  {
    m_Downward->Wait();
    m_Downward.reset();
  }
}

void
Deformation::GrowGradient(Loss & loss, std::int64_t end)
{
  const std::int64_t ownEnd = std::min(end, m_Planes.end);
  while (m_Window.End() < ownEnd)
  {
    const std::int64_t from = m_Window.End();
    if (from == m_Part.end)
    {
      this->EnterNextPart(loss);
    }
    const std::int64_t to = std::min({ ownEnd, m_Part.end, from + m_PlanesAtATime });
    m_Window.Grow(to);
    loss.WarpGradient(from, to, m_Window.Warp().Planes(from, to - from));
  }
  if (m_Window.End() < end)
  {
    const PlaneRange above{ m_Window.End(), end };
    m_Window.Grow(end);
    CopyPlanes(m_Backend, m_Above, m_Window, above);
  }
}

template <typename TUse>
void
Deformation::UseSmoothed(std::int64_t first, std::int64_t end, const TUse & use)
{
  GaussianParameters smoothing;
  std::copy(m_Parameters.gradientSigma, m_Parameters.gradientSigma + 3, smoothing.sigma);
  m_Smoothed.Restart(first);
  m_Smoothed.Grow(end);
  m_Backend.SmoothGaussian(m_Window.Warp(), m_Smoothed.Warp(), smoothing);
  use(m_Smoothed.Warp());
}

template <typename TUse>
double
Deformation::SweepGradient(Loss & loss, const AffineMap & physical, const TUse & use)
{
  loss.Begin(physical, m_Warp->Warp().OwnedWarp(), m_Warp->OppositeView(), this->HighestPlanes());
  this->SwapEdges(loss);
  for (std::int64_t first = m_Planes.first; first < m_Planes.end; first += m_PlanesAtATime)
  {
    const std::int64_t end = std::min(m_Planes.end, first + m_PlanesAtATime);
    const std::int64_t needed = std::min(m_Domain.z, end + m_Reach);
    m_Window.Keep(std::max<std::int64_t>(0, first - m_Reach));
    if (needed > m_Planes.end)
    {
      this->FinishSwap();
    }
    this->GrowGradient(loss, needed);
    this->UseSmoothed(first, end, use);
    this->FinishSwap(); // the window moves on over what is being sent
  }
  this->FinishSwap();
  while (m_PartsLeft > 0) // which other ranks have planes of
  {
    this->EnterNextPart(loss);
  }
  return loss.Value();
}

double
Deformation::Step(Loss & loss, const AffineMap & physical)
{
  if (m_Warp->NeedsGradientScale())
  {
    double largest = 0;
    this->SweepGradient(loss, physical, [&](const WarpView<float> & gradient) {
      const WarpSize size = m_Backend.MeasureWarp(gradient, { 1, 1, 1 });
      largest = std::max({ largest, size.largest[0], size.largest[1], size.largest[2] });
    });
    m_Communicator.Maximum(&largest, 1);
    // What is less than this comes from rounding, where images are the same: steps by it would lead away, to gradients
    // that are infinite in its units.
    const double rounding = std::ldexp(loss.GradientUnit(), -20) / double(loss.Domain().Voxels());
    m_Warp->SetGradientScale(largest < rounding ? 0.0 : largest);
  }
  m_Warp->Begin();
  const double value =
    this->SweepGradient(loss, physical, [&](const WarpView<float> & gradient) { m_Warp->Take(gradient); });
  m_Warp->Finish();
  return value;
}

} // namespace ffdp
