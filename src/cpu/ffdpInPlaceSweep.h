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
#ifndef ffdpInPlaceSweep_h
#define ffdpInPlaceSweep_h

#include "ffdpAlignedBuffer.h"
#include "ffdpParallel.h"
#include "ffdpVolume.h"

#include <algorithm>
#include <cstdint>

namespace ffdp
{

/** What an in-place operation works on at a time: some rows of one plane. */
struct SweepRows
{
  std::int64_t lane = 0;     ///< which of the volumes that are swept independently
  std::int64_t z = 0;        ///< the plane to overwrite
  std::int64_t firstRow = 0; ///< its rows [firstRow, endRow)
  std::int64_t endRow = 0;
  unsigned     worker = 0; ///< indexes scratch memory
};

/** Overwrites the planes [first, end) of a volume although each new plane depends on the old planes up to
 * `reach` away from it.
 *
 * What is kept of an old plane (a slot) is up to the caller: pack(lane, z, slot) writes plane z in any layout of
 * `slotFloats` numbers. There are three ways, and the one with the fewest slots is taken:
 *
 *   Chunks  The planes are cut into one chunk per thread, and each chunk marches upward with a ring of 2 reach + 1
 *           slots. Before any plane changes, each chunk fills its ring and copies the old planes above its end,
 *           which its neighbor is going to overwrite. At most (3 reach + 1) slots per thread: best for a short reach.
 *   Groups  All threads march together, some planes per thread at a time, and share a ring with 2 reach slots more
 *           than that: for a long reach.
 *   Copy    Every plane that is read is copied first, and the threads then share rows: for few planes, as of a 2-D
 *           image.
 */
class InPlaceSweep
{
public:
  InPlaceSweep(const Extent & domain,
               std::int64_t   first,
               std::int64_t   end,
               std::int64_t   reach,
               std::int64_t   slotFloats,
               std::int64_t   lanes,
               unsigned       threads)
    : m_First(first)
    , m_End(end)
    , m_Reach(reach)
    , m_Rows(domain.y)
    , m_HeldFirst(std::max<std::int64_t>(0, first - reach))
    , m_HeldEnd(std::min(domain.z, end + reach))
    , m_SlotFloats(slotFloats)
    , m_Lanes(lanes)
    , m_Threads(ResolveThreads(threads))
  {
    constexpr std::int64_t PlanesPerThread = 8; // of a group: few enough to be little, enough to share evenly
    m_Chunks = std::min<std::int64_t>(end - first, m_Threads);
    m_SlotsPerChunk = m_Chunks > 1 ? 3 * reach + 1 : 2 * reach + 1;
    m_Group = PlanesPerThread * m_Threads;
    const std::int64_t held = m_HeldEnd - m_HeldFirst;
    const std::int64_t inChunks = m_Chunks * m_SlotsPerChunk;
    const std::int64_t inGroups = m_Group + 2 * reach;
    m_Way = held <= std::min(inChunks, inGroups) ? Way::Copy : inChunks <= inGroups ? Way::Chunks : Way::Groups;
    m_SlotsPerLane = std::min({ held, inChunks, inGroups });
    m_Slots = AlignedBuffer<float>(std::size_t(lanes * slotFloats * m_SlotsPerLane));
  }

  /** The old planes around the one being overwritten. */
  class Window
  {
  public:
    Window(const InPlaceSweep & sweep, std::int64_t lane, std::int64_t chunk)
      : m_Sweep(sweep)
      , m_Lane(lane)
      , m_Chunk(chunk)
    {}

    /** Old plane z, which exists and is at most `reach` away from the current plane. */
    const float *
    operator()(std::int64_t z) const
    {
      return m_Sweep.Slot(m_Lane, m_Chunk, z);
    }

  private:
    const InPlaceSweep & m_Sweep;
    std::int64_t         m_Lane;
    std::int64_t         m_Chunk;
  };

  /** pack(lane, z, float * slot) saves old plane z; compute(const SweepRows &, const Window &) overwrites. */
  template <typename TPack, typename TCompute>
  void
  Run(const TPack & pack, const TCompute & compute) const
  {
    switch (m_Way)
    {
      case Way::Chunks:
        ParallelFor(m_Lanes * m_Chunks, m_Threads, [&](std::int64_t piece, unsigned) {
          this->SaveAroundStart(piece / m_Chunks, piece % m_Chunks, pack);
        });
        ParallelFor(m_Lanes * m_Chunks, m_Threads, [&](std::int64_t piece, unsigned worker) {
          this->March(piece / m_Chunks, piece % m_Chunks, worker, pack, compute);
        });
        break;
      case Way::Groups:
        this->MarchTogether(pack, compute);
        break;
      case Way::Copy:
        this->Save(m_HeldFirst, m_HeldEnd, pack);
        this->ComputeFromCopy(compute);
        break;
    }
  }

private:
  enum class Way
  {
    Chunks,
    Groups,
    Copy
  };

  std::int64_t
  ChunkFirst(std::int64_t chunk) const
  {
    return m_First + (m_End - m_First) * chunk / m_Chunks;
  }

  /** Where the planes end that a chunk may pack while it marches: above, its neighbor overwrites them. */
  std::int64_t
  StreamEnd(std::int64_t chunk) const
  {
    return chunk + 1 < m_Chunks ? this->ChunkFirst(chunk + 1) : m_HeldEnd;
  }

  float *
  Slot(std::int64_t lane, std::int64_t chunk, std::int64_t z) const
  {
    std::int64_t slot = (z - m_HeldFirst) % m_SlotsPerLane; // of a ring that is shared, or of the copy
    if (m_Way == Way::Chunks)
    {
      const std::int64_t ring = 2 * m_Reach + 1;
      const std::int64_t streamEnd = this->StreamEnd(chunk);
      slot = chunk * m_SlotsPerChunk + (z < streamEnd ? z % ring : ring + z - streamEnd);
    }
    return m_Slots.Data() + (lane * m_SlotsPerLane + slot) * m_SlotFloats;
  }

  /** Packs planes for all threads. */
  template <typename TPack>
  void
  Save(std::int64_t first, std::int64_t end, const TPack & pack) const
  {
    const std::int64_t planes = std::max<std::int64_t>(0, end - first);
    ParallelFor(m_Lanes * planes, m_Threads, [&](std::int64_t piece, unsigned) {
      const std::int64_t lane = piece / planes;
      const std::int64_t z = first + piece % planes;
      pack(lane, z, this->Slot(lane, 0, z));
    });
  }

  template <typename TPack>
  void
  SaveAroundStart(std::int64_t lane, std::int64_t chunk, const TPack & pack) const
  {
    const std::int64_t first = this->ChunkFirst(chunk);
    const std::int64_t streamEnd = this->StreamEnd(chunk);
    for (std::int64_t z = std::max(m_HeldFirst, first - m_Reach); z < std::min(first + m_Reach, streamEnd); ++z)
    {
      pack(lane, z, this->Slot(lane, chunk, z));
    }
    for (std::int64_t z = streamEnd; z < std::min(m_HeldEnd, streamEnd + m_Reach); ++z)
    {
      pack(lane, z, this->Slot(lane, chunk, z));
    }
  }

  template <typename TPack, typename TCompute>
  void
  March(std::int64_t lane, std::int64_t chunk, unsigned worker, const TPack & pack, const TCompute & compute) const
  {
    const Window       window(*this, lane, chunk);
    const std::int64_t streamEnd = this->StreamEnd(chunk);
    const std::int64_t end = std::min(m_End, streamEnd);
    for (std::int64_t z = this->ChunkFirst(chunk); z < end; ++z)
    {
      if (z + m_Reach < streamEnd)
      {
        pack(lane, z + m_Reach, this->Slot(lane, chunk, z + m_Reach));
      }
      compute(SweepRows{ lane, z, 0, m_Rows, worker }, window);
    }
  }

  template <typename TPack, typename TCompute>
  void
  MarchTogether(const TPack & pack, const TCompute & compute) const
  {
    std::int64_t saved = m_HeldFirst;
    for (std::int64_t first = m_First; first < m_End; first += m_Group)
    {
      const std::int64_t planes = std::min(m_Group, m_End - first);
      const std::int64_t needed = std::min(m_HeldEnd, first + planes + m_Reach);
      this->Save(saved, needed, pack);
      saved = needed;
      ParallelFor(m_Lanes * planes, m_Threads, [&](std::int64_t piece, unsigned worker) {
        const std::int64_t lane = piece / planes;
        compute(SweepRows{ lane, first + piece % planes, 0, m_Rows, worker }, Window(*this, lane, 0));
      });
    }
  }

  template <typename TCompute>
  void
  ComputeFromCopy(const TCompute & compute) const
  {
    constexpr std::int64_t fewestRows = 16; // fewer are not worth handing out
    const std::int64_t     planes = m_Lanes * (m_End - m_First);
    const std::int64_t     wanted = m_Threads > 1 ? (4 * m_Threads + planes - 1) / planes : 1;
    const std::int64_t     cuts = std::max<std::int64_t>(1, std::min(wanted, m_Rows / fewestRows));
    ParallelFor(planes * cuts, m_Threads, [&](std::int64_t piece, unsigned worker) {
      const std::int64_t plane = piece / cuts;
      const std::int64_t cut = piece % cuts;
      SweepRows          rows;
      rows.lane = plane / (m_End - m_First);
      rows.z = m_First + plane % (m_End - m_First);
      rows.firstRow = m_Rows * cut / cuts;
      rows.endRow = m_Rows * (cut + 1) / cuts;
      rows.worker = worker;
      compute(rows, Window(*this, rows.lane, 0));
    });
  }

  std::int64_t         m_First;
  std::int64_t         m_End;
  std::int64_t         m_Reach;
  std::int64_t         m_Rows;
  std::int64_t         m_HeldFirst; ///< planes that exist within reach of those that change
  std::int64_t         m_HeldEnd;
  std::int64_t         m_SlotFloats;
  std::int64_t         m_Lanes;
  unsigned             m_Threads;
  std::int64_t         m_Chunks = 1;
  std::int64_t         m_SlotsPerChunk = 1;
  std::int64_t         m_Group = 1; ///< planes that threads go through together
  std::int64_t         m_SlotsPerLane = 1;
  Way                  m_Way = Way::Chunks;
  AlignedBuffer<float> m_Slots;
};

} // namespace ffdp

#endif
