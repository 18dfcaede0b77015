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
#include "ffdpDeviceArray.h"
#include "ffdpRingReach.h"
#include "ffdpRingSampler.h"

#include <map>
#include <set>

namespace ffdp
{
namespace
{

constexpr int RingBuffers = 3; ///< of a rank: one is worked on, one arrives, one leaves

/** Planes of the image's gradient that the same ranks add to. */
struct RingPiece
{
  PlaneRange       planes;
  int              home;
  std::vector<int> visitors; ///< in the order in which their terms are added
};

std::vector<RingPiece>
CutIntoPieces(const Partition & owners, const std::vector<PlaneRange> & reached, std::int64_t chunk)
{
  std::vector<RingPiece> pieces;
  for (int home = 0; home < owners.Ranks(); ++home)
  {
    const PlaneRange       own = owners.Owned(home);
    std::set<std::int64_t> cuts;
    for (const PlaneRange & range : reached)
    {
      cuts.insert({ range.first, range.end });
    }
    std::int64_t first = own.first;
    while (first < own.end)
    {
      const auto cut = cuts.upper_bound(first);
      RingPiece  piece{ { first, std::min(first + chunk, own.end) }, home, {} };
      piece.planes.end = cut == cuts.end() ? piece.planes.end : std::min(piece.planes.end, *cut);
      for (std::size_t rank = 0; rank < reached.size(); ++rank)
      {
        if (Overlap(reached[rank], piece.planes))
        {
          piece.visitors.push_back(int(rank));
        }
      }
      first = piece.planes.end;
      pieces.push_back(std::move(piece));
    }
  }
  return pieces;
}

/** A piece comes to a rank, from another, or from nowhere if it begins here. */
struct RingVisit
{
  std::size_t piece;
  int         from;
  int         to;
  bool        adds; ///< otherwise it only comes home
};
constexpr int Nowhere = -1;

/** Who has which piece when. A rank adds to one piece per round, and holds at most RingBuffers pieces of others. While
 * a round is worked on, pieces travel for the next one; so a piece rests for a round before it travels. It comes to an
 * end: pieces only wait for ranks above, the highest of which waits for none. All ranks compute the same. */
std::vector<std::vector<RingVisit>>
PlanVisits(const std::vector<RingPiece> & pieces, int ranks, bool startsAtHome)
{
  struct State
  {
    int         place;
    std::size_t next = 0;  ///< of the visitors; their number: home
    std::size_t ready = 0; ///< the first round for which it may travel
    bool        done = false;
  };
  std::vector<State> states;
  std::size_t        open = 0;
  for (const RingPiece & piece : pieces)
  {
    states.push_back({ startsAtHome ? piece.home : Nowhere });
    states.back().done = piece.visitors.empty();
    open += states.back().done ? 0 : 1;
  }

  std::vector<std::vector<RingVisit>> rounds;
  std::vector<int>                    held(static_cast<std::size_t>(ranks), 0);
  while (open > 0)
  {
    const std::size_t      round = rounds.size();
    std::vector<RingVisit> visits;
    std::vector<bool>      busy(held.size(), false);
    std::vector<int>       left(held.size(), 0);
    for (std::size_t i = 0; i < pieces.size(); ++i)
    {
      const RingPiece & piece = pieces[i];
      State &           state = states[i];
      const bool        adds = state.next < piece.visitors.size();
      const int         to = adds ? piece.visitors[state.next] : piece.home;
      const auto        target = std::size_t(to);
      const bool        away = to != piece.home;
      if (state.done || state.ready > round || (adds && busy[target]) || (away && held[target] == RingBuffers))
      {
        continue;
      }
      visits.push_back({ i, state.place, to, adds });
      if (state.place != Nowhere && state.place != piece.home)
      {
        ++left[std::size_t(state.place)];
      }
      held[target] += away ? 1 : 0;
      busy[target] = busy[target] || adds;
      state.place = to;
      state.ready = round + 2;
      ++state.next;
      state.done = !away && state.next >= piece.visitors.size();
      open -= state.done ? 1 : 0;
    }
    for (std::size_t rank = 0; rank < held.size(); ++rank)
    {
      held[rank] -= left[rank];
    }
    rounds.push_back(std::move(visits));
  }
  return rounds;
}

/** Where the pieces are that this rank has: at home in the gradient itself, those of others in buffers. */
class RingPieces
{
public:
  RingPieces(Backend &                      backend,
             const std::vector<RingPiece> & pieces,
             int                            self,
             const VolumeView<float> &      gradient,
             std::int64_t                   chunk)
    : m_Backend(backend)
    , m_Pieces(pieces)
    , m_Self(self)
    , m_Gradient(gradient)
    , m_Voxels(chunk * gradient.domain.x * gradient.domain.y)
  {}

  VolumeView<float>
  View(std::size_t index)
  {
    const PlaneRange & planes = m_Pieces[index].planes;
    if (m_Pieces[index].home == m_Self)
    {
      return m_Gradient.Planes(planes.first, planes.end - planes.first);
    }
    auto place = m_Places.find(index);
    if (place == m_Places.end())
    {
      if (m_Free.empty())
      {
        m_Free.emplace_back(m_Backend, m_Voxels);
      }
      place = m_Places.emplace(index, std::move(m_Free.back())).first;
      m_Free.pop_back();
    }
    return VolumeView<float>(place->second.Data(), m_Gradient.domain, planes.first, planes.end - planes.first);
  }

  /** The piece is with another rank now. */
  void
  Release(std::size_t index)
  {
    const auto place = m_Places.find(index);
    if (place != m_Places.end())
    {
      m_Free.push_back(std::move(place->second));
      m_Places.erase(place);
    }
  }

private:
  Backend &                                 m_Backend;
  const std::vector<RingPiece> &            m_Pieces;
  const int                                 m_Self;
  const VolumeView<float>                   m_Gradient;
  const std::int64_t                        m_Voxels;
  std::map<std::size_t, DeviceArray<float>> m_Places;
  std::vector<DeviceArray<float>>           m_Free;
};

/** Starts what travels for a round: one message to a rank, however many pieces go there. */
std::unique_ptr<PendingTransfer>
StartVisits(Communicator & communicator, const std::vector<RingVisit> & visits, RingPieces & pieces)
{
  std::map<int, Message> sends, receives;
  const auto             add = [&](std::map<int, Message> & messages, int rank, std::size_t piece) {
    Message & message = messages[rank];
    message.rank = rank;
    message.blocks.push_back(BlockOf(pieces.View(piece)));
  };
  for (const RingVisit & visit : visits)
  {
    if (visit.from != Nowhere && visit.from != visit.to)
    {
      if (visit.from == communicator.Rank())
      {
        add(sends, visit.to, visit.piece);
      }
      if (visit.to == communicator.Rank())
      {
        add(receives, visit.from, visit.piece);
      }
    }
  }
  const auto list = [](const std::map<int, Message> & messages) {
    std::vector<Message> all;
    for (const auto & message : messages)
    {
      all.push_back(message.second);
    }
    return all;
  };
  return communicator.Start(list(sends), list(receives));
}

void
FillZero(Backend & backend, const VolumeView<float> & view)
{
  backend.FillZero(view.data, BlockOf(view).bytes);
}

} // namespace

void
RingSampleAdjoint(Backend &                       backend,
                  Communicator &                  communicator,
                  const VolumeView<const float> & outputGradient,
                  const CompositeMap &            map,
                  const WarpInput &               u,
                  const VolumeView<float> &       imageGradient,
                  const RingParameters &          parameters)
{
  if (communicator.Size() == 1) // all planes are at hand: nothing to find out
  {
    backend.SampleAdjoint(outputGradient, map, u, imageGradient, parameters.sampler);
    return;
  }
  const Extent &    imageSize = imageGradient.domain;
  const RingReach   reach = FindRingReach(backend,
                                        communicator,
                                        imageSize,
                                        map,
                                        u,
                                        outputGradient.domain,
                                        { outputGradient.firstPlane, outputGradient.EndPlane() },
                                        parameters);
  const int         self = communicator.Rank();
  const Partition   owners(imageSize.z, communicator.Size());
  SamplerParameters adding = parameters.sampler;
  adding.accumulate = true;

  const std::int64_t           chunk = RingChunk(owners, RingBuffers, parameters);
  const std::vector<RingPiece> pieces = CutIntoPieces(owners, reach.ranks, chunk);
  const auto                   rounds = PlanVisits(pieces, communicator.Size(), parameters.sampler.accumulate);
  RingPieces                   held(backend, pieces, self, imageGradient, chunk);
  for (std::size_t i = 0; i < pieces.size() && !parameters.sampler.accumulate; ++i)
  {
    if (pieces[i].home == self && pieces[i].visitors.empty())
    {
      FillZero(backend, held.View(i));
    }
  }

  const auto addTerms = [&](const RingVisit & visit) {
    const VolumeView<float> view = held.View(visit.piece);
    if (visit.from == Nowhere)
    {
      FillZero(backend, view);
    }
    PlaneRange terms{ outputGradient.EndPlane(), outputGradient.firstPlane };
    for (std::size_t i = 0; i < reach.planes.size(); ++i)
    {
      if (Overlap(reach.planes[i], pieces[visit.piece].planes))
      {
        const std::int64_t z = outputGradient.firstPlane + std::int64_t(i);
        terms = { std::min(terms.first, z), z + 1 };
      }
    }
    if (!IsEmpty(terms))
    {
      backend.SampleAdjoint(outputGradient.Planes(terms.first, terms.end - terms.first), map, u, view, adding);
    }
  };

  std::unique_ptr<PendingTransfer> arriving = rounds.empty() ? nullptr : StartVisits(communicator, rounds[0], held);
  for (std::size_t round = 0; round < rounds.size(); ++round)
  {
    arriving->Wait();
    for (const RingVisit & visit : rounds[round])
    {
      if (visit.from == self && visit.to != self)
      {
        held.Release(visit.piece);
      }
    }
    arriving = round + 1 < rounds.size() ? StartVisits(communicator, rounds[round + 1], held) : nullptr;
    for (const RingVisit & visit : rounds[round])
    {
      if (visit.to == self && visit.adds)
      {
        addTerms(visit);
      }
    }
  }
}

} // namespace ffdp
