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
#include "ffdpSpreadFloats.h"

#include "ffdpAgreement.h"
#include "ffdpCommandError.h"
#include "ffdpGzipWriter.h"

#include "ffdpParallel.h"
#include "ffdpPartition.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <memory>
#include <unistd.h>
#include <vector>

namespace
{

/** Floats that lie side by side in the file and with one rank. */
struct Piece
{
  int          volume = 0;
  std::int64_t place = 0; ///< in the file
  std::int64_t first = 0; ///< in the planes of that rank
  std::int64_t count = 0;
};

/** What a rank has of the floats [first, end) of the file, in the order of the file. */
std::vector<Piece>
FindPieces(const SpreadFloats & floats, const ffdp::PlaneRange & owned, std::int64_t first, std::int64_t end)
{
  const std::int64_t plane = floats.domain.x * floats.domain.y, volume = floats.domain.Voxels();
  std::vector<Piece> pieces;
  for (int v = 0; v < floats.volumes; ++v)
  {
    const std::int64_t own = v * volume + owned.first * plane;
    const std::int64_t from = std::max(first, own), to = std::min(end, v * volume + owned.end * plane);
    if (from < to)
    {
      pieces.push_back({ v, from, from - own, to - from });
    }
  }
  return pieces;
}

/** Fills a buffer that begins at place `start` of the file. */
void
FillPieces(const SpreadFloats & floats, const std::vector<Piece> & pieces, float * to, std::int64_t start)
{
  constexpr std::int64_t AtOnce = 1 << 17;
  for (const Piece & piece : pieces)
  {
    float * const values = to + piece.place - start;
    ffdp::ParallelFor((piece.count + AtOnce - 1) / AtOnce, 0, [&](std::int64_t part, unsigned) {
      const std::int64_t skip = part * AtOnce;
      floats.fill(piece.volume, piece.first + skip, std::min(AtOnce, piece.count - skip), values + skip);
    });
  }
}

/** A stretch of the file on its way to rank 0. On other ranks the buffer has the same layout, with gaps. */
class Batch
{
public:
  explicit Batch(std::int64_t floats)
    : m_Buffer(std::size_t(floats))
  {}

  void
  Start(ffdp::Communicator & communicator, const SpreadFloats & floats, std::int64_t first, std::int64_t end)
  {
    const ffdp::Partition      owners(floats.domain.z, communicator.Size());
    const int                  self = communicator.Rank();
    std::vector<ffdp::Message> sends, receives;
    m_Count = end - first;
    for (int rank = self == 0 ? 1 : self; rank < (self == 0 ? communicator.Size() : self + 1); ++rank)
    {
      ffdp::Message message{ self == 0 ? rank : 0, {} };
      for (const Piece & piece : FindPieces(floats, owners.Owned(rank), first, end))
      {
        message.blocks.push_back({ m_Buffer.data() + (piece.place - first), std::size_t(piece.count) * sizeof(float) });
      }
      if (!message.blocks.empty())
      {
        (self == 0 ? receives : sends).push_back(std::move(message));
      }
    }
    FillPieces(floats, FindPieces(floats, owners.Owned(self), first, end), m_Buffer.data(), first);
    m_UnderWay = communicator.Start(sends, receives);
  }
  void
  Wait()
  {
    m_UnderWay->Wait();
    m_UnderWay.reset();
  }
  void
  AppendTo(GzipWriter & writer) const
  {
    writer.Append(std::uint64_t(m_Count) * sizeof(float), [&](std::uint64_t first, std::uint64_t count, auto * to) {
      std::memcpy(to, reinterpret_cast<const unsigned char *>(m_Buffer.data()) + first, count);
    });
  }

private:
  std::vector<float>                     m_Buffer;
  std::int64_t                           m_Count = 0;
  std::unique_ptr<ffdp::PendingTransfer> m_UnderWay;
};

/** A file for writing at places. */
class OutputFile
{
public:
  OutputFile(const std::string & name, int flags)
    : m_Name(name)
    , m_File(open(name.c_str(), flags | O_CLOEXEC, 0666))
  {
    this->Require(m_File >= 0);
  }
  ~OutputFile()
  {
    if (m_File >= 0)
    {
      close(m_File);
    }
  }
  OutputFile(const OutputFile &) = delete;
  OutputFile &
  operator=(const OutputFile &) = delete;

  void
  SetSize(std::uint64_t bytes)
  {
    this->Require(ftruncate(m_File, off_t(bytes)) == 0);
  }
  void
  WriteAt(std::uint64_t place, const void * bytes, std::size_t count)
  {
    for (std::size_t done = 0; done < count;)
    {
      const ssize_t now = pwrite(m_File, static_cast<const char *>(bytes) + done, count - done, off_t(place + done));
      if (now < 0 && errno == EINTR)
      {
        continue;
      }
      this->Require(now > 0);
      done += std::size_t(now);
    }
  }
  /** Everything is on disk, or an exception says why not. */
  void
  Finish()
  {
    this->Require(fsync(m_File) == 0 || errno == EINVAL); // some files cannot
    const int file = m_File;
    m_File = -1;
    this->Require(close(file) == 0);
  }

private:
  void
  Require(bool succeeded) const
  {
    if (!succeeded)
    {
      throw CommandError("'" + m_Name + "' cannot be written: " + std::strerror(errno));
    }
  }

  std::string m_Name;
  int         m_File;
};

} // namespace

void
WriteZipped(ffdp::Communicator & communicator,
            const std::string &  header,
            const SpreadFloats & floats,
            const std::string &  file)
{
  constexpr std::int64_t AtOnce = GzipWriter::BatchBytes / sizeof(float);
  const std::int64_t     all = floats.volumes * floats.domain.Voxels();
  const bool             first = communicator.Rank() == 0;
  std::vector<Batch>     batches;
  DoTogether(communicator, [&] {
    batches.emplace_back(std::min(all, AtOnce));
    batches.emplace_back(std::min(all, AtOnce));
  });
  // The others go on sending when rank 0 cannot write any more: it receives all of it and says so at the end.
  std::exception_ptr          failure;
  std::unique_ptr<GzipWriter> writer;
  const auto                  attempt = [&](const std::function<void()> & work) {
    try
    {
      if (first && !failure)
      {
        work();
      }
    }
    catch (...)
    {
      failure = std::current_exception();
    }
  };
  attempt([&] {
    writer = std::make_unique<GzipWriter>(file);
    writer->Append(header.size(), [&](std::uint64_t from, std::uint64_t count, unsigned char * to) {
      std::memcpy(to, header.data() + from, count);
    });
  });
  batches[0].Start(communicator, floats, 0, std::min(all, AtOnce));
  std::size_t turn = 0;
  for (std::int64_t place = 0; place < all; place += AtOnce, turn = 1 - turn)
  {
    const std::int64_t next = place + AtOnce;
    batches[turn].Wait();
    if (next < all)
    {
      batches[1 - turn].Start(communicator, floats, next, std::min(all, next + AtOnce));
    }
    attempt([&] { batches[turn].AppendTo(*writer); });
  }
  attempt([&] { writer->Finish(); });
  DoTogether(communicator, [&] {
    if (failure)
    {
      std::rethrow_exception(failure);
    }
  });
}

void
WriteInPlace(ffdp::Communicator & communicator,
             const std::string &  header,
             const SpreadFloats & floats,
             const std::string &  file)
{
  const std::int64_t  all = floats.volumes * floats.domain.Voxels();
  std::vector<double> start; // of the floats, known to rank 0
  DoOnFirst(communicator, [&] {
    OutputFile out(file, O_WRONLY | O_CREAT | O_TRUNC);
    out.WriteAt(0, header.data(), header.size());
    out.SetSize(header.size() + std::uint64_t(all) * sizeof(float));
    out.Finish();
    start = { double(header.size()) };
  });
  start = communicator.Gather(start);
  DoTogether(communicator, [&] {
    constexpr std::int64_t AtOnce = 1 << 21;
    const auto             owned = ffdp::Partition(floats.domain.z, communicator.Size()).Owned(communicator.Rank());
    OutputFile             out(file, O_WRONLY);
    std::vector<float>     buffer;
    for (const Piece & piece : FindPieces(floats, owned, 0, all))
    {
      for (std::int64_t done = 0; done < piece.count; done += AtOnce)
      {
        const Piece part{ piece.volume, piece.place + done, piece.first + done, std::min(AtOnce, piece.count - done) };
        buffer.resize(std::size_t(part.count));
        FillPieces(floats, { part }, buffer.data(), part.place);
        out.WriteAt(std::uint64_t(start[0]) + std::uint64_t(part.place) * sizeof(float),
                    buffer.data(),
                    buffer.size() * sizeof(float));
      }
    }
    out.Finish();
  });
}
