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
#include "ffdpMpiCommunicator.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>

namespace ffdp
{
namespace
{

void
Check(int code, const char * call)
{
  if (code != MPI_SUCCESS)
  {
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int  length = 0;
    MPI_Error_string(code, text, &length);
    throw std::runtime_error(std::string("ffdp: ") + call + " failed: " + text);
  }
}

bool
IsInUse()
{
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized && !finalized;
}

std::uint64_t
BytesOf(const Message & message)
{
  std::uint64_t bytes = 0;
  for (const MemoryBlock & block : message.blocks)
  {
    bytes += block.bytes;
  }
  return bytes;
}

/** A type that is freed when it goes out of scope; messages that use it go on. */
class Datatype
{
public:
  Datatype() = default;
  Datatype(const Datatype &) = delete;
  Datatype &
  operator=(const Datatype &) = delete;
  ~Datatype()
  {
    if (m_Type != MPI_DATATYPE_NULL)
    {
      MPI_Type_free(&m_Type);
    }
  }
  MPI_Datatype *
  Address()
  {
    return &m_Type;
  }
  MPI_Datatype
  Get() const
  {
    return m_Type;
  }

private:
  MPI_Datatype m_Type = MPI_DATATYPE_NULL;
};

/** All blocks of a message as one type, with absolute addresses. MPI counts in int: what is longer than that is counted
 * in pieces of 2^30 bytes. */
void
MakeBlocksType(const Message & message, Datatype & blocks)
{
  constexpr std::size_t Piece = std::size_t(1) << 30;
  Datatype              piece;
  Check(MPI_Type_contiguous(int(Piece), MPI_BYTE, piece.Address()), "MPI_Type_contiguous");

  std::vector<int>          counts;
  std::vector<MPI_Aint>     addresses;
  std::vector<MPI_Datatype> types;
  const auto                add = [&](char * data, std::size_t count, MPI_Datatype type) {
    MPI_Aint address = 0;
    Check(MPI_Get_address(data, &address), "MPI_Get_address");
    counts.push_back(int(count));
    addresses.push_back(address);
    types.push_back(type);
  };
  for (const MemoryBlock & block : message.blocks)
  {
    char * const      data = static_cast<char *>(block.data);
    const std::size_t pieces = block.bytes / Piece, rest = block.bytes % Piece;
    if (pieces > 0)
    {
      add(data, pieces, piece.Get());
    }
    if (rest > 0)
    {
      add(data + pieces * Piece, rest, MPI_BYTE);
    }
  }
  Check(MPI_Type_create_struct(int(counts.size()), counts.data(), addresses.data(), types.data(), blocks.Address()),
        "MPI_Type_create_struct");
  Check(MPI_Type_commit(blocks.Address()), "MPI_Type_commit");
}

class MpiTransfer : public PendingTransfer
{
public:
  MpiTransfer() = default;
  MpiTransfer(const MpiTransfer &) = delete;
  MpiTransfer &
  operator=(const MpiTransfer &) = delete;

  ~MpiTransfer() override
  {
    if (m_Requests.empty() || !IsInUse() || this->CompletesSoon())
    {
      return;
    }
    for (std::size_t i = 0; i < m_Requests.size(); ++i)
    {
      if (m_Requests[i] != MPI_REQUEST_NULL)
      {
        if (i < m_Expected.size())
        {
          MPI_Cancel(&m_Requests[i]);
        }
        MPI_Request_free(&m_Requests[i]);
      }
    }
  }

  /** Receives come before sends. */
  void
  Receive(const Message & message, int tag, MPI_Comm comm)
  {
    Datatype blocks;
    MakeBlocksType(message, blocks);
    MPI_Request request = MPI_REQUEST_NULL;
    Check(MPI_Irecv(MPI_BOTTOM, 1, blocks.Get(), message.rank, tag, comm, &request), "MPI_Irecv");
    m_Requests.push_back(request);
    m_Expected.push_back(BytesOf(message));
  }
  void
  Send(const Message & message, int tag, MPI_Comm comm)
  {
    Datatype blocks;
    MakeBlocksType(message, blocks);
    MPI_Request request = MPI_REQUEST_NULL;
    Check(MPI_Isend(MPI_BOTTOM, 1, blocks.Get(), message.rank, tag, comm, &request), "MPI_Isend");
    m_Requests.push_back(request);
  }

  void
  Wait() override
  {
    std::vector<MPI_Status> statuses(m_Requests.size());
    const int               code = MPI_Waitall(int(m_Requests.size()), m_Requests.data(), statuses.data());
    if (code == MPI_ERR_IN_STATUS)
    {
      for (const MPI_Status & status : statuses)
      {
        Check(status.MPI_ERROR == MPI_ERR_PENDING ? MPI_SUCCESS : status.MPI_ERROR, "MPI_Waitall");
      }
    }
    Check(code, "MPI_Waitall");
    m_Requests.clear();
    for (std::size_t i = 0; i < m_Expected.size(); ++i)
    {
      // A message that is too long is an error of MPI's; one that is too short is not.
      MPI_Count received = 0;
      Check(MPI_Get_elements_x(&statuses[i], MPI_BYTE, &received), "MPI_Get_elements_x");
      if (std::uint64_t(received) != m_Expected[i])
      {
        throw std::runtime_error("ffdp: " + std::to_string(m_Expected[i]) + " bytes were expected from rank " +
                                 std::to_string(statuses[i].MPI_SOURCE) + ", and " + std::to_string(received) +
                                 " came");
      }
    }
    m_Expected.clear();
  }

private:
  /** Where all ranks give up for one reason, what is under way still arrives, and memory is safe to be freed. A rank
   * that fails alone cannot wait for the others. */
  bool
  CompletesSoon()
  {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::seconds(1);
    int        complete = 0;
    int        code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && !complete && Clock::now() < end)
    {
      code = MPI_Testall(int(m_Requests.size()), m_Requests.data(), &complete, MPI_STATUSES_IGNORE);
      std::this_thread::yield();
    }
    return code == MPI_SUCCESS && complete;
  }

  std::vector<MPI_Request>   m_Requests; ///< of the receives, then of the sends
  std::vector<std::uint64_t> m_Expected; ///< bytes, of the receives
};

/** The larger one, or not a number if one of them is: MPI_MAX would give ranks different results then. */
extern "C" void
ffdpLargerOfDoubles(void * in, void * inout, int * count, MPI_Datatype *)
{
  const double * const a = static_cast<const double *>(in);
  double * const       b = static_cast<double *>(inout);
  for (int i = 0; i < *count; ++i)
  {
    b[i] = std::isnan(a[i]) || a[i] > b[i] ? a[i] : b[i];
  }
}

class MpiCommunicator : public Communicator
{
public:
  explicit MpiCommunicator(MPI_Comm comm)
  {
    Check(MPI_Comm_dup(comm, &m_Comm), "MPI_Comm_dup");
    try
    {
      Check(MPI_Comm_set_errhandler(m_Comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
      Check(MPI_Comm_rank(m_Comm, &m_Rank), "MPI_Comm_rank");
      Check(MPI_Comm_size(m_Comm, &m_Size), "MPI_Comm_size");
      Check(MPI_Op_create(ffdpLargerOfDoubles, 1, &m_Larger), "MPI_Op_create");
      int * largestTag = nullptr;
      int   known = 0;
      Check(MPI_Comm_get_attr(m_Comm, MPI_TAG_UB, &largestTag, &known), "MPI_Comm_get_attr");
      m_Tags = known ? std::uint64_t(*largestTag) + 1 : SafeTags;
    }
    catch (...)
    {
      this->Free();
      throw;
    }
  }
  MpiCommunicator(const MpiCommunicator &) = delete;
  MpiCommunicator &
  operator=(const MpiCommunicator &) = delete;
  ~MpiCommunicator() override
  {
    if (IsInUse())
    {
      this->Free();
    }
  }

  int
  Rank() const override
  {
    return m_Rank;
  }
  int
  Size() const override
  {
    return m_Size;
  }

  void
  Maximum(double * values, std::size_t count) override
  {
    this->Reduce(values, count, MPI_DOUBLE, m_Larger);
  }
  void
  Sum(std::int64_t * values, std::size_t count) override
  {
    this->Reduce(values, count, MPI_INT64_T, MPI_SUM);
  }

  std::vector<double>
  Gather(const std::vector<double> & own) override
  {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(m_Size));
    const std::int64_t        ownCount = std::int64_t(own.size());
    Check(MPI_Allgather(&ownCount, 1, MPI_INT64_T, counts.data(), 1, MPI_INT64_T, m_Comm), "MPI_Allgather");
    const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t(0));
    if (total > std::numeric_limits<int>::max())
    {
      throw std::runtime_error("ffdp: " + std::to_string(total) + " numbers are more than can be gathered");
    }
    std::vector<int>    lengths(counts.begin(), counts.end()), begins(counts.size());
    std::vector<double> all(static_cast<std::size_t>(total));
    for (std::size_t i = 1; i < begins.size(); ++i)
    {
      begins[i] = begins[i - 1] + lengths[i - 1];
    }
    Check(MPI_Allgatherv(
            own.data(), int(ownCount), MPI_DOUBLE, all.data(), lengths.data(), begins.data(), MPI_DOUBLE, m_Comm),
          "MPI_Allgatherv");
    return all;
  }

  std::unique_ptr<PendingTransfer>
  Start(const std::vector<Message> & sends, const std::vector<Message> & receives) override
  {
    // All ranks count the calls, so a receive that was given up cannot take what belongs to a later one.
    const int tag = int(m_Calls++ % m_Tags);
    auto      transfer = std::make_unique<MpiTransfer>();
    for (const Message & message : receives)
    {
      transfer->Receive(message, tag, m_Comm);
    }
    for (const Message & message : sends)
    {
      transfer->Send(message, tag, m_Comm);
      m_SentBytes += BytesOf(message);
    }
    return transfer;
  }

  std::uint64_t
  SentBytes() const override
  {
    return m_SentBytes;
  }

private:
  static constexpr std::uint64_t SafeTags = 32768; ///< what the standard promises

  template <typename T>
  void
  Reduce(T * values, std::size_t count, MPI_Datatype type, MPI_Op operation) const
  {
    constexpr std::size_t Most = std::size_t(1) << 30;
    for (std::size_t first = 0; first < count; first += Most)
    {
      const int part = int(std::min(Most, count - first));
      Check(MPI_Allreduce(MPI_IN_PLACE, values + first, part, type, operation, m_Comm), "MPI_Allreduce");
    }
  }

  void
  Free()
  {
    if (m_Larger != MPI_OP_NULL)
    {
      MPI_Op_free(&m_Larger);
    }
    MPI_Comm_free(&m_Comm);
  }

  MPI_Comm      m_Comm = MPI_COMM_NULL;
  MPI_Op        m_Larger = MPI_OP_NULL;
  int           m_Rank = 0;
  int           m_Size = 1;
  std::uint64_t m_Tags = SafeTags;
  std::uint64_t m_Calls = 0;
  std::uint64_t m_SentBytes = 0;
};

} // namespace

std::unique_ptr<Communicator>
MakeMpiCommunicator(MPI_Comm comm)
{
  if (!IsInUse())
  {
    throw std::invalid_argument("ffdp: MPI is not initialized; call MPI_Init_thread() before MakeMpiCommunicator()");
  }
  if (comm == MPI_COMM_NULL)
  {
    throw std::invalid_argument("ffdp: MakeMpiCommunicator() was given MPI_COMM_NULL");
  }
  return std::make_unique<MpiCommunicator>(comm);
}

} // namespace ffdp
