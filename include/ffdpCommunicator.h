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
#ifndef ffdpCommunicator_h
#define ffdpCommunicator_h

#include "FFDPExport.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ffdp
{

/** A piece of memory to send from or to receive into; what is sent is only read. */
struct MemoryBlock
{
  void *      data = nullptr;
  std::size_t bytes = 0;
};

/** What one rank sends to another at a time: blocks of any size, one after the other. */
struct Message
{
  int                      rank = 0; ///< to, or from
  std::vector<MemoryBlock> blocks;
};

/** Messages that are under way. The memory of their blocks must live, and what is sent must not change, until Wait()
 * returns. Destroyed without Wait(), as an exception does, it gives the messages up after a moment: what other ranks
 * have not taken or sent by then may still be read or written, so a rank that fails alone is to end its process. */
class FFDP_EXPORT PendingTransfer
{
public:
  virtual ~PendingTransfer() = default;

  virtual void
  Wait() = 0;
};

/** The processes that solve one problem together. Every call is made by all of them, in the same order. */
class FFDP_EXPORT Communicator
{
public:
  virtual ~Communicator() = default;

  virtual int
  Rank() const = 0;
  virtual int
  Size() const = 0;

  /** The largest of each value over the ranks, on all ranks; not a number where one of them is. */
  virtual void
  Maximum(double * values, std::size_t count) = 0;

  /** Sums of integers, which no order of addition changes. */
  virtual void
  Sum(std::int64_t * values, std::size_t count) = 0;

  /** The values of all ranks one after the other, on all ranks: sums per plane come together in plane order. */
  virtual std::vector<double>
  Gather(const std::vector<double> & own) = 0;

  /** Starts to send and to receive, at most one message to and one from each other rank. Messages between two ranks
   * match in the order of the calls; sender and receiver cut the same number of bytes into the same blocks. */
  virtual std::unique_ptr<PendingTransfer>
  Start(const std::vector<Message> & sends, const std::vector<Message> & receives) = 0;

  /** False only to show what halos are for: planes beyond a rank's own are then not exchanged. */
  virtual bool
  ExchangesHalos() const
  {
    return true;
  }

  /** Bytes that this rank has sent in messages so far (not in the small collective calls). */
  virtual std::uint64_t
  SentBytes() const = 0;
};

/** One process by itself: the case of one rank. */
FFDP_EXPORT std::unique_ptr<Communicator>
            MakeSelfCommunicator();

} // namespace ffdp

#endif
