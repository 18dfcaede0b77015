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
#include "ffdpSampledImage.h"

#include "ffdpCheck.h"
#include "ffdpRingSampler.h"

namespace ffdp
{
namespace
{

/** Reaching a little farther than last time is usual: a plane more is fetched at once. */
constexpr std::int64_t SparePlanes = 1;

PlaneRange
Hull(const PlaneRange & a, const PlaneRange & b)
{
  return a.first >= a.end ? b : b.first >= b.end ? a : PlaneRange{ std::min(a.first, b.first), std::max(a.end, b.end) };
}

} // namespace

SampledImage::SampledImage(Backend &                       backend,
                           Communicator &                  communicator,
                           const VolumeView<const float> & own,
                           const JoinedPlanes &            joined,
                           const SamplerParameters &       parameters)
  : m_Backend(&backend)
  , m_Communicator(&communicator)
  , m_Image(backend, communicator, own, joined)
  , m_Parameters(parameters)
{}

bool
SampledImage::NeedsRing(const Partition & owners, const std::vector<PlaneRange> & wanted)
{
  std::int64_t most = 0;
  for (int rank = 0; rank < owners.Ranks(); ++rank)
  {
    const PlaneRange own = owners.Owned(rank);
    const PlaneRange want = wanted[std::size_t(rank)];
    const PlaneRange both = Intersection(own, want);
    most = std::max(most, want.end - want.first - std::max<std::int64_t>(0, both.end - both.first));
  }
  return most > owners.ThickestSlab();
}

void
SampledImage::Prepare(const CompositeMap &              map,
                      const WarpInput &                 u,
                      const Extent &                    fixedGrid,
                      const PlaneRange &                output,
                      const std::optional<PlaneRange> & derivatives)
{
  m_Map = map;
  m_Warp = u;
  m_Output = output;
  m_FixedGrid = fixedGrid;
  if (m_Communicator->Size() == 1)
  {
    return;
  }
  const Extent & domain = m_Image.Own().domain;
  m_Reach.clear();
  if (output.first < output.end)
  {
    m_Reach =
      m_Backend->FindReachedPlanes(domain, map, u, fixedGrid, output.first, output.end - output.first, m_Parameters);
  }
  PlaneRange wanted = this->ReachOf(output.first, output.end);
  if (wanted.first < wanted.end)
  {
    wanted = { std::max<std::int64_t>(0, wanted.first - SparePlanes), std::min(domain.z, wanted.end + SparePlanes) };
  }
  m_WantedOfAll = GatherRanges(*m_Communicator, wanted);
  this->Provide(derivatives);
}

void
SampledImage::PrepareLike(const SampledImage & other)
{
  RequireSameDomain(m_Image.Own().domain, other.m_Image.Own().domain, "two images under one map");
  m_Map = other.m_Map;
  m_Warp = other.m_Warp;
  m_Output = other.m_Output;
  m_FixedGrid = other.m_FixedGrid;
  m_Reach = other.m_Reach;
  m_WantedOfAll = other.m_WantedOfAll;
  if (m_Communicator->Size() > 1)
  {
    this->Provide({});
  }
}

void
SampledImage::Provide(const std::optional<PlaneRange> & derivatives)
{
  m_FromRing = NeedsRing(Partition(m_Image.Own().domain.z, m_Communicator->Size()), m_WantedOfAll);
  if (!m_FromRing)
  {
    m_Samples = Slab();
    m_DerivativeMemory = DeviceArray<float>();
    m_Image.Extend(m_WantedOfAll, IsBetterInOnePiece(double(this->MostReachedAtOnce()), double(m_Image.Own().planes)));
    return;
  }
  m_Image.Forget();
  if (!m_Samples)
  {
    m_Samples = Slab(*m_Backend, *m_Communicator, m_FixedGrid, 1);
  }
  m_Derivatives = derivatives ? this->RoomFor(*derivatives, m_DerivativeMemory) : WarpView<float>();
  this->Bring(m_Samples.Volume(), m_Derivatives);
}

void
SampledImage::BringDerivatives(const PlaneRange & planes)
{
  if (m_FromRing)
  {
    m_Derivatives = this->RoomFor(planes, m_DerivativeMemory);
    this->Bring({}, m_Derivatives);
  }
}

void
SampledImage::Bring(const VolumeView<float> & samples, const WarpView<float> & derivatives)
{
  RingParameters parameters;
  parameters.sampler = m_Parameters;
  const std::int64_t slab = Partition(m_Image.Own().domain.z, m_Communicator->Size()).ThickestSlab();
  parameters.chunkPlanes = std::max<std::int64_t>(1, slab / RingChunksPerSlab);
  RingSampleBoth(*m_Backend, *m_Communicator, m_Image.Own(), m_Map, m_Warp, samples, derivatives, parameters);
}

WarpView<float>
SampledImage::RoomFor(const PlaneRange & planes, DeviceArray<float> & memory) const
{
  const std::int64_t count = std::max<std::int64_t>(0, planes.end - planes.first) * m_FixedGrid.x * m_FixedGrid.y;
  if (count == 0)
  {
    return {};
  }
  if (memory.Count() < 3 * count)
  {
    memory = DeviceArray<float>(); // before the larger one is there
    memory = DeviceArray<float>(*m_Backend, 3 * count);
  }
  float * const data = memory.Data();
  return WarpView<float>::Planar(
    data, data + count, data + 2 * count, m_FixedGrid, planes.first, planes.end - planes.first);
}

std::int64_t
SampledImage::MostReachedAtOnce() const
{
  std::int64_t most = 0;
  for (const PlaneRange & reach : m_Reach)
  {
    most = std::max(most, reach.end - reach.first);
  }
  return most;
}

PlaneRange
SampledImage::ReachOf(std::int64_t firstPlane, std::int64_t endPlane) const
{
  PlaneRange reach;
  for (std::int64_t plane = firstPlane; plane < endPlane; ++plane)
  {
    reach = Hull(reach, m_Reach[std::size_t(plane - m_Output.first)]);
  }
  return reach;
}

void
SampledImage::Sample(const VolumeView<float> & output)
{
  if (m_FromRing)
  {
    m_Backend->Move(output.data,
                    m_Samples.Volume().Row(0, output.firstPlane),
                    std::size_t(output.planes * output.planeStride) * sizeof(float));
    return;
  }
  SamplerParameters parameters = m_Parameters;
  const bool        isWhole = m_Communicator->Size() == 1;
  if (!isWhole && parameters.outsideValue != 0) // it would come with the plane 0 of the image, which may not be here
  {
    this->SampleOutside(output);
    parameters.outsideValue = 0;
    parameters.accumulate = true;
  }
  const PlaneRange reach = isWhole ? PlaneRange() : this->ReachOf(output.firstPlane, output.EndPlane());
  m_Backend->Sample(m_Image.View(reach), m_Map, m_Warp, output, parameters);
}

void
SampledImage::SampleOutside(const VolumeView<float> & output)
{
  const VolumeView<const float> noPlanes(output.data, m_Image.Own().domain, 0, 0);
  m_Backend->Sample(noPlanes, m_Map, m_Warp, output, m_Parameters);
}

std::vector<MapGradient>
SampledImage::SampleBackward(const VolumeView<const float> & outputGradient,
                             const WarpView<float> &         warpGradient,
                             bool                            mapGradient,
                             bool                            accumulate)
{
  if (m_FromRing)
  {
    return this->FinishFromRing(outputGradient, warpGradient, mapGradient, accumulate);
  }
  SamplerParameters parameters = m_Parameters;
  parameters.accumulate = accumulate;
  const PlaneRange reach =
    m_Communicator->Size() == 1 ? PlaneRange() : this->ReachOf(outputGradient.firstPlane, outputGradient.EndPlane());
  return m_Backend->SampleBackward(
    m_Image.View(reach), m_Map, m_Warp, outputGradient, warpGradient, mapGradient, parameters);
}

std::vector<MapGradient>
SampledImage::FinishFromRing(const VolumeView<const float> & outputGradient,
                             const WarpView<float> &         warpGradient,
                             bool                            mapGradient,
                             bool                            accumulate)
{
  // What is kept must stay as it is: the planes may be asked for again.
  const std::int64_t count = outputGradient.planes * outputGradient.planeStride;
  WarpView<float>    gradient = warpGradient;
  if (!warpGradient || accumulate)
  {
    gradient = this->RoomFor({ outputGradient.firstPlane, outputGradient.EndPlane() }, m_Scratch);
  }
  for (int c = 0; c < 3; ++c)
  {
    m_Backend->Move(gradient.component[c],
                    m_Derivatives.Component(c).Row(0, outputGradient.firstPlane),
                    std::size_t(count) * sizeof(float));
  }
  auto planes = m_Backend->FinishSampleBackward(m_Map, outputGradient, gradient, mapGradient);
  for (int c = 0; c < 3 && accumulate; ++c)
  {
    m_Backend->Add(warpGradient.Component(c), gradient.Component(c));
  }
  return planes;
}

} // namespace ffdp
