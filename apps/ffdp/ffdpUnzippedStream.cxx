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
#include "ffdpUnzippedStream.h"

#include "ffdpCommandError.h"
#include "ffdpFileCompleteness.h"
#include "ffdpVoxelLayout.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace
{

constexpr std::size_t BytesAtOnce = 1 << 17;

bool
IsGzip(const unsigned char * bytes, std::size_t count)
{
  return count > 1 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

} // namespace

UnzippedStream::UnzippedStream(const std::string & file,
                               const std::string & what,
                               std::uint64_t       needed,
                               Content             content)
  : m_Name(file)
  , m_What(what)
  , m_Needed(needed)
  , m_LengthLeft(Part().length)
{
  this->Open(0);
  m_IsCompressed = content != Content::Plain && IsGzip(m_Stream.next_in, m_Stream.avail_in);
}

UnzippedStream::UnzippedStream(const std::string & file,
                               const std::string & what,
                               std::uint64_t       needed,
                               const Part &        part)
  : m_Name(file)
  , m_What(what)
  , m_Needed(needed)
  , m_LengthLeft(part.length)
{
  this->Open(part.start);
}

UnzippedStream::~UnzippedStream()
{
  inflateEnd(&m_Stream);
}

void
UnzippedStream::Open(std::uint64_t start)
{
  m_File = OpenFileStream(m_Name, m_What);
  if (fseeko(m_File.get(), off_t(start), SEEK_SET) != 0)
  {
    throw CommandError(m_What + " '" + m_Name + "' cannot be opened: " + std::strerror(errno));
  }
  m_Compressed.resize(BytesAtOnce);
  m_Skipped.resize(BytesAtOnce);
  this->Fill();
  constexpr int GzipOrZlib = MAX_WBITS + 32;
  if (inflateInit2(&m_Stream, GzipOrZlib) != Z_OK)
  {
    throw std::bad_alloc();
  }
}

void
UnzippedStream::Read(void * to, std::size_t count)
{
  if (this->ReadSome(static_cast<unsigned char *>(to), count) < count)
  {
    ThrowCutOff(m_Name, m_What, m_Place, m_Needed);
  }
}

void
UnzippedStream::SkipTo(std::uint64_t place)
{
  while (m_Place < place)
  {
    this->Read(m_Skipped.data(), std::size_t(std::min<std::uint64_t>(place - m_Place, m_Skipped.size())));
  }
}

void
UnzippedStream::Finish()
{
  constexpr std::uint64_t Padding = 1 << 16;
  while (m_IsCompressed && this->ReadSome(m_Skipped.data(), m_Skipped.size()) > 0)
  {
    if (m_Place > m_Needed + Padding)
    {
      throw CommandError(m_What + " '" + m_Name + "' holds more than the " + std::to_string(m_Needed) +
                         " bytes that its header promises");
    }
  }
}

std::size_t
UnzippedStream::ReadSome(unsigned char * to, std::size_t count)
{
  constexpr std::size_t Most = std::numeric_limits<uInt>::max() / 2;
  std::size_t           got = 0;
  while (got < count && !m_IsAtEnd)
  {
    if (!this->Fill())
    {
      m_IsAtEnd = true;
      if (m_IsCompressed) // the stream did not say that it ends
      {
        ThrowCutOff(m_Name, m_What, m_Place, m_Needed);
      }
      break;
    }
    const std::size_t now = std::min(count - got, Most);
    m_Stream.next_out = to + got;
    m_Stream.avail_out = uInt(now);
    int state = Z_OK;
    if (m_IsCompressed)
    {
      state = inflate(&m_Stream, Z_NO_FLUSH);
    }
    else
    {
      const std::size_t copied = std::min<std::size_t>(now, m_Stream.avail_in);
      std::memcpy(to + got, m_Stream.next_in, copied);
      m_Stream.next_in += copied;
      m_Stream.avail_in -= uInt(copied);
      m_Stream.avail_out -= uInt(copied);
    }
    got += now - m_Stream.avail_out;
    m_Place += now - m_Stream.avail_out;
    if (state == Z_STREAM_END)
    {
      m_IsAtEnd = !this->HasNextStream();
      state = m_IsAtEnd ? Z_OK : inflateReset(&m_Stream);
    }
    if (state != Z_OK && state != Z_BUF_ERROR)
    {
      this->ThrowBroken();
    }
  }
  return got;
}

bool
UnzippedStream::Fill()
{
  if (m_Stream.avail_in == 0)
  {
    const auto        most = std::size_t(std::min<std::uint64_t>(m_Compressed.size(), m_LengthLeft));
    const std::size_t got = std::fread(m_Compressed.data(), 1, most, m_File.get());
    if (std::ferror(m_File.get()))
    {
      throw CommandError(m_What + " '" + m_Name + "' cannot be read: " + std::strerror(errno));
    }
    m_LengthLeft -= got;
    m_Stream.next_in = m_Compressed.data();
    m_Stream.avail_in = uInt(got);
  }
  return m_Stream.avail_in > 0;
}

bool
UnzippedStream::HasNextStream()
{
  if (m_Stream.avail_in == 1 && m_LengthLeft > 0) // half of the two bytes that tell
  {
    const int next = std::fgetc(m_File.get());
    m_Compressed[0] = m_Stream.next_in[0];
    m_Compressed[1] = static_cast<unsigned char>(next);
    m_Stream.next_in = m_Compressed.data();
    m_Stream.avail_in = next == EOF ? 1 : 2;
    m_LengthLeft -= next == EOF ? 0 : 1;
  }
  return this->Fill() && IsGzip(m_Stream.next_in, m_Stream.avail_in);
}

void
UnzippedStream::ThrowBroken() const
{
  throw CommandError(m_What + " '" + m_Name + "' is broken: it cannot be unzipped");
}

std::unique_ptr<UnzippedStream>
OpenVoxels(const VoxelLayout & layout, const std::string & what)
{
  using Storage = VoxelLayout::Storage;
  const std::string data = DataFileOf(layout, what);
  if (layout.storage == Storage::Stream)
  {
    UnzippedStream::Part part;
    part.start = layout.offset;
    part.length = layout.bytes > 0 ? layout.bytes : part.length;
    return std::make_unique<UnzippedStream>(layout.file, data, layout.unzipped, part);
  }
  const auto content =
    layout.storage == Storage::Gzip ? UnzippedStream::Content::MaybeGzip : UnzippedStream::Content::Plain;
  auto stream = std::make_unique<UnzippedStream>(layout.file, data, layout.offset + layout.bytes, content);
  stream->SkipTo(layout.offset);
  return stream;
}

std::uint64_t
EndOfVoxels(const VoxelLayout & layout)
{
  return layout.storage == VoxelLayout::Storage::Stream ? layout.unzipped : layout.offset + layout.bytes;
}
