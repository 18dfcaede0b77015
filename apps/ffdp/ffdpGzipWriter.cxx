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
#include "ffdpGzipWriter.h"

#include "ffdpCommandError.h"

#include "ffdpParallel.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>
#include <zlib.h>

namespace
{

constexpr std::uint64_t BlockBytes = 1 << 19;
constexpr std::int64_t  BlocksAtOnce = GzipWriter::BatchBytes / std::int64_t(BlockBytes);
constexpr std::uint64_t SampleBytes = 1 << 15;
constexpr double        WorthCompressing = 0.875; // of the size; what shrinks less is stored

/** Raw deflate of bytes, ended at a byte boundary such that more can follow; returns how many bytes of `to` it takes.
 */
std::uint64_t
Deflate(const std::vector<unsigned char> & bytes, std::uint64_t count, int level, std::vector<unsigned char> & to)
{
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, 9, Z_RLE) != Z_OK)
  {
    throw std::bad_alloc();
  }
  constexpr uLong FlushBytes = 64;
  to.resize(std::max<std::size_t>(to.size(), deflateBound(&stream, uLong(count)) + FlushBytes));
  stream.next_in = const_cast<unsigned char *>(bytes.data());
  stream.avail_in = uInt(count);
  stream.next_out = to.data();
  stream.avail_out = uInt(to.size());
  deflate(&stream, Z_SYNC_FLUSH);
  const std::uint64_t taken = stream.total_out;
  deflateEnd(&stream);
  return taken;
}

void
PutLittleEndian(std::uint64_t value, unsigned char (&to)[4])
{
  for (int i = 0; i < 4; ++i)
  {
    to[i] = static_cast<unsigned char>(value >> (8 * i));
  }
}

} // namespace

/** On its way from a producer to the file. */
struct GzipWriter::Block
{
  std::vector<unsigned char> bytes, deflated;
  std::uint64_t              count = 0;
  std::uint64_t              deflatedCount = 0;
  unsigned long              checksum = 0;

  void
  Compress()
  {
    checksum = crc32(0, bytes.data(), uInt(count));
    const std::uint64_t sample = std::min(count, SampleBytes);
    deflatedCount = Deflate(bytes, sample, 1, deflated);
    const bool store = double(deflatedCount) > WorthCompressing * double(sample);
    if (store || sample < count)
    {
      deflatedCount = Deflate(bytes, count, store ? Z_NO_COMPRESSION : 1, deflated);
    }
  }
};

GzipWriter::GzipWriter(const std::string & file, unsigned threads)
  : m_Name(file)
  , m_File(std::fopen(file.c_str(), "wb"))
  , m_Threads(threads)
  , m_Blocks(BlocksAtOnce)
{
  if (!m_File)
  {
    throw CommandError("'" + file + "' cannot be written: " + std::strerror(errno));
  }
  const unsigned char header[10] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255 }; // no name, no time, unknown system
  this->Put(header, sizeof(header));
}

GzipWriter::~GzipWriter()
{
  if (m_File)
  {
    std::fclose(m_File);
  }
}

void
GzipWriter::Put(const void * bytes, std::size_t count)
{
  if (std::fwrite(bytes, 1, count, m_File) != count)
  {
    throw CommandError("'" + m_Name + "' cannot be written: " + std::strerror(errno));
  }
}

void
GzipWriter::Append(std::uint64_t bytes, const Producer & produce)
{
  for (std::uint64_t start = 0; start < bytes; start += BlocksAtOnce * BlockBytes)
  {
    const auto now = std::int64_t(std::min<std::uint64_t>(BlocksAtOnce, (bytes - start + BlockBytes - 1) / BlockBytes));
    ffdp::ParallelFor(now, m_Threads, [&](std::int64_t piece, unsigned) {
      Block &             block = m_Blocks[std::size_t(piece)];
      const std::uint64_t first = start + std::uint64_t(piece) * BlockBytes;
      block.count = std::min(BlockBytes, bytes - first);
      block.bytes.resize(BlockBytes);
      produce(first, block.count, block.bytes.data());
      block.Compress();
    });
    for (std::int64_t i = 0; i < now; ++i)
    {
      const Block & block = m_Blocks[std::size_t(i)];
      this->Put(block.deflated.data(), block.deflatedCount);
      m_Checksum = crc32_combine(m_Checksum, block.checksum, z_off_t(block.count));
      m_Bytes += block.count;
    }
  }
}

void
GzipWriter::Finish()
{
  const unsigned char lastBlock[5] = { 1, 0, 0, 0xff, 0xff }; // final, stored, empty
  this->Put(lastBlock, sizeof(lastBlock));
  unsigned char number[4];
  PutLittleEndian(m_Checksum, number);
  this->Put(number, sizeof(number));
  PutLittleEndian(m_Bytes, number);
  this->Put(number, sizeof(number));
  std::FILE * const file = m_File;
  m_File = nullptr;
  if (std::fclose(file) != 0)
  {
    throw CommandError("'" + m_Name + "' cannot be written: " + std::strerror(errno));
  }
}
