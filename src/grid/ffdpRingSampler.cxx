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
#include "ffdpRingSampler.h"

#include "ffdpCheck.h"
#include "ffdpDeviceArray.h"
#include "ffdpRingReach.h"

namespace ffdp
{
namespace
{

/** The results of this rank, to which planes of the image are added in any order: a voxel is the sum of two planes at
 * most, and zeros change no bit of it. */
class RingOutput
{
public:
  RingOutput(Backend &                       backend,
             const Extent &                  imageSize,
             const CompositeMap &            map,
             const WarpInput &               u,
             const VolumeView<float> &       output,
             const WarpView<float> &         derivative,
             const SamplerParameters &       parameters,
             const std::vector<PlaneRange> & reached)
    : m_Backend(backend)
    , m_ImageSize(imageSize)
    , m_Map(map)
    , m_U(u)
    , m_Output(output)
    , m_Derivative(derivative)
    , m_Parameters(parameters)
    , m_Reached(reached)
    , m_First(output ? output.firstPlane : derivative.firstPlane)
    , m_Begun(reached.size(), false)
  {
    if (parameters.border == Border::Edge && parameters.outsideValue != 0)
    {
      this->Begin(); // what is outside gets its value here, once, whoever holds plane 0
      m_Parameters.outsideValue = 0;
    }
  }

  /** Adds what some planes of the image contribute. */
  void
  Add(const VolumeView<const float> & image)
  {
    const PlaneRange held{ image.firstPlane, image.EndPlane() };
    this->ForEachRun([&](std::size_t i) { return Overlap(m_Reached[i], held); }, image);
  }

  /** Gives output planes that no plane of the image has contributed to what they have without: nothing, or outside. */
  void
  Begin()
  {
    const float * const anyMemory = m_Output ? m_Output.data : m_Derivative.component[0];
    this->ForEachRun([&](std::size_t i) { return !m_Begun[i]; }, VolumeView<const float>(anyMemory, m_ImageSize, 0, 0));
  }

private:
  /** Samples runs of output planes that are chosen, and that are all begun or all not. */
  template <typename TChosen>
  void
  ForEachRun(const TChosen & chosen, const VolumeView<const float> & image)
  {
    for (std::size_t first = 0, end; first < m_Reached.size(); first = end)
    {
      end = first + 1;
      if (chosen(first))
      {
        const bool begun = m_Begun[first];
        while (end < m_Reached.size() && m_Begun[end] == begun && chosen(end))
        {
          ++end;
        }
        this->Sample(image, first, end - first, begun);
        std::fill(m_Begun.begin() + std::ptrdiff_t(first), m_Begun.begin() + std::ptrdiff_t(end), true);
      }
    }
  }

  void
  Sample(const VolumeView<const float> & image, std::size_t first, std::size_t count, bool accumulate)
  {
    const std::int64_t plane = m_First + std::int64_t(first), planes = std::int64_t(count);
    SamplerParameters  parameters = m_Parameters;
    parameters.accumulate = accumulate;
    if (m_Output)
    {
      m_Backend.Sample(image, m_Map, m_U, m_Output.Planes(plane, planes), parameters);
    }
    const PlaneRange both =
      Intersection({ plane, plane + planes }, { m_Derivative.firstPlane, m_Derivative.EndPlane() });
    if (m_Derivative && !IsEmpty(both))
    {
      m_Backend.SampleDerivative(image, m_Map, m_U, m_Derivative.Planes(both.first, both.end - both.first), parameters);
    }
  }

  Backend &                       m_Backend;
  const Extent                    m_ImageSize;
  const CompositeMap &            m_Map;
  const WarpInput &               m_U;
  const VolumeView<float>         m_Output;
  const WarpView<float>           m_Derivative;
  SamplerParameters               m_Parameters;
  const std::vector<PlaneRange> & m_Reached;
  const std::int64_t              m_First;
  std::vector<bool>               m_Begun; ///< holds something, to which the rest is added
};

/** A chunk that a rank gets. */
struct RingFetch
{
  int        owner;
  PlaneRange planes;
};

/** What a rank gets, one after the other: first from the rank after it, and so on around, so that no rank has to serve
 * all the others at a time. */
std::vector<RingFetch>
PlanFetches(const Partition & owners, int rank, const PlaneRange & wanted, std::int64_t chunk)
{
  std::vector<RingFetch> fetches;
  for (int step = 1; step < owners.Ranks(); ++step)
  {
    const int        owner = (rank + step) % owners.Ranks();
    const PlaneRange planes = Intersection(owners.Owned(owner), wanted);
    for (std::int64_t first = planes.first; first < planes.end; first += chunk)
    {
      fetches.push_back({ owner, { first, std::min(first + chunk, planes.end) } });
    }
  }
  return fetches;
}

} // namespace

void
RingSampleBoth(Backend &                       backend,
               Communicator &                  communicator,
               const VolumeView<const float> & ownImage,
               const CompositeMap &            map,
               const WarpInput &               u,
               const VolumeView<float> &       output,
               const WarpView<float> &         derivative,
               const RingParameters &          parameters)
{
  Require(!parameters.sampler.accumulate, "the ring sampler does not add to what its output holds");
  if (communicator.Size() == 1) // all planes are at hand: nothing to find out
  {
    if (output)
    {
      backend.Sample(ownImage, map, u, output, parameters.sampler);
    }
    if (derivative)
    {
      backend.SampleDerivative(ownImage, map, u, derivative, parameters.sampler);
    }
    return;
  }
  const Extent &   imageSize = ownImage.domain;
  const PlaneRange outputPlanes = output ? PlaneRange{ output.firstPlane, output.EndPlane() }
                                         : PlaneRange{ derivative.firstPlane, derivative.EndPlane() };
  const RingReach  reach = FindRingReach(
    backend, communicator, imageSize, map, u, output ? output.domain : derivative.domain, outputPlanes, parameters);
  const int       self = communicator.Rank();
  const Partition owners(imageSize.z, communicator.Size());

  const std::int64_t                  chunk = RingChunk(owners, 2, parameters);
  std::vector<std::vector<RingFetch>> fetches; // of all ranks: each knows what the others want of it
  std::size_t                         rounds = 0;
  for (int rank = 0; rank < communicator.Size(); ++rank)
  {
    fetches.push_back(PlanFetches(owners, rank, reach.ranks[std::size_t(rank)], chunk));
    rounds = std::max(rounds, fetches.back().size());
  }
  const std::vector<RingFetch> & own = fetches[std::size_t(self)];

  DeviceArray<float> memory[2];
  for (std::size_t round = 0; round < own.size(); ++round)
  {
    const std::int64_t voxels = (own[round].planes.end - own[round].planes.first) * imageSize.x * imageSize.y;
    if (memory[round % 2].Count() < voxels)
    {
      memory[round % 2] = DeviceArray<float>(); // released before its larger successor is allocated
      memory[round % 2] = DeviceArray<float>(backend, voxels);
    }
  }
  const auto received = [&](std::size_t round) {
    const PlaneRange & planes = own[round].planes;
    return VolumeView<float>(memory[round % 2].Data(), imageSize, planes.first, planes.end - planes.first);
  };
  const auto start = [&](std::size_t round) {
    std::vector<Message> sends, receives;
    for (int rank = 0; rank < communicator.Size(); ++rank)
    {
      const std::vector<RingFetch> & theirs = fetches[std::size_t(rank)];
      if (round < theirs.size() && theirs[round].owner == self)
      {
        const PlaneRange & planes = theirs[round].planes;
        sends.push_back({ rank, { BlockOf(ownImage.Planes(planes.first, planes.end - planes.first)) } });
      }
    }
    if (round < own.size())
    {
      receives.push_back({ own[round].owner, { BlockOf(received(round)) } });
    }
    return communicator.Start(sends, receives);
  };

  std::unique_ptr<PendingTransfer> arriving = rounds > 0 ? start(0) : nullptr;
  RingOutput result(backend, imageSize, map, u, output, derivative, parameters.sampler, reach.planes);
  if (ownImage.planes > 0)
  {
    result.Add(ownImage);
  }
  for (std::size_t round = 0; round < rounds; ++round)
  {
    std::unique_ptr<PendingTransfer> next = round + 1 < rounds ? start(round + 1) : nullptr;
    arriving->Wait();
    if (round < own.size())
    {
      result.Add(received(round));
    }
    arriving = std::move(next);
  }
  result.Begin();
}

void
RingSample(Backend &                       backend,
           Communicator &                  communicator,
           const VolumeView<const float> & ownImage,
           const CompositeMap &            map,
           const WarpInput &               u,
           const VolumeView<float> &       output,
           const RingParameters &          parameters)
{
  RingSampleBoth(backend, communicator, ownImage, map, u, output, {}, parameters);
}

void
RingSampleDerivative(Backend &                       backend,
                     Communicator &                  communicator,
                     const VolumeView<const float> & ownImage,
                     const CompositeMap &            map,
                     const WarpInput &               u,
                     const WarpView<float> &         derivative,
                     const RingParameters &          parameters)
{
  RingSampleBoth(backend, communicator, ownImage, map, u, {}, derivative, parameters);
}

} // namespace ffdp
