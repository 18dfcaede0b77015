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
 * The planes are cut into one chunk per thread, and each chunk marches upward with a ring of 2 reach + 1
 * copies of old planes (slots). Before any plane changes, each chunk fills its ring and copies the old
 * planes above its end, which its neighbor is going to overwrite. What a slot holds is up to the caller:
 * pack(lane, z, slot) writes the old plane z in any layout of `slotFloats` numbers, exactly once per chunk.
 *
 * Extra memory: at most (3 reach + 1) slots per thread and lane. Where that would be more than one copy of
 * every plane that is read (many threads, few planes, or a large reach), one such copy is made and shared,
 * and the threads then share rows, not chunks: this also serves 2-D images.
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
    m_Chunks = std::min<std::int64_t>(end - first, m_Threads);
    m_SlotsPerChunk = m_Chunks > 1 ? 3 * reach + 1 : 2 * reach + 1;
    const std::int64_t held = m_HeldEnd - m_HeldFirst;
    m_Shared = m_Chunks * m_SlotsPerChunk >= held;
    m_Slots = AlignedBuffer<float>(std::size_t(lanes * slotFloats * (m_Shared ? held : m_Chunks * m_SlotsPerChunk)));
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
    if (m_Shared)
    {
      this->RunFromSharedCopy(pack, compute);
    }
    else
    {
      ParallelFor(m_Lanes * m_Chunks, m_Threads, [&](std::int64_t piece, unsigned) {
        this->SaveAroundStart(piece / m_Chunks, piece % m_Chunks, pack);
      });
      ParallelFor(m_Lanes * m_Chunks, m_Threads, [&](std::int64_t piece, unsigned worker) {
        this->March(piece / m_Chunks, piece % m_Chunks, worker, pack, compute);
      });
    }
  }

private:
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
    std::int64_t slot;
    if (m_Shared)
    {
      slot = lane * (m_HeldEnd - m_HeldFirst) + z - m_HeldFirst;
    }
    else
    {
      const std::int64_t ring = 2 * m_Reach + 1;
      const std::int64_t streamEnd = this->StreamEnd(chunk);
      slot = (lane * m_Chunks + chunk) * m_SlotsPerChunk + (z < streamEnd ? z % ring : ring + z - streamEnd);
    }
    return m_Slots.Data() + slot * m_SlotFloats;
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
  RunFromSharedCopy(const TPack & pack, const TCompute & compute) const
  {
    const std::int64_t held = m_HeldEnd - m_HeldFirst;
    ParallelFor(m_Lanes * held, m_Threads, [&](std::int64_t piece, unsigned) {
      const std::int64_t lane = piece / held;
      const std::int64_t z = m_HeldFirst + piece % held;
      pack(lane, z, this->Slot(lane, 0, z));
    });

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
  bool                 m_Shared = false;
  AlignedBuffer<float> m_Slots;
};

} // namespace ffdp

#endif
