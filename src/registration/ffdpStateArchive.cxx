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
#include "ffdpStateArchive.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

namespace ffdp
{

StateArchive::StateArchive(Communicator & communicator, const std::string & file, Direction direction)
  : m_Communicator(communicator)
  , m_Name(file)
  , m_Direction(direction)
{
  constexpr int Readable = 0666;
  if (this->IsLoading())
  {
    m_File = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  }
  else if (communicator.Rank() == 0)
  {
    m_File = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, Readable);
  }
  const int error = errno;
  this->WaitForAll(); // for the file to be there
  if (!this->IsLoading() && communicator.Rank() != 0)
  {
    m_File = open(file.c_str(), O_WRONLY | O_CLOEXEC);
  }
  if (m_File < 0)
  {
    this->Fail(std::strerror(this->IsLoading() || communicator.Rank() == 0 ? error : errno));
  }
  if (this->IsLoading())
  {
    m_Size = std::filesystem::file_size(file);
  }
}

StateArchive::~StateArchive()
{
  if (m_File >= 0)
  {
    close(m_File);
  }
}

void
StateArchive::WaitForAll() const
{
  std::int64_t nothing = 0;
  m_Communicator.Sum(&nothing, 1);
}

void
StateArchive::Fail(const std::string & what)
{
  if (this->IsLoading())
  {
    throw std::runtime_error("cannot read " + m_Name + ": " + what);
  }
  m_Error = m_Error.empty() ? what : m_Error;
}

void
StateArchive::RequireLeft(std::uint64_t bytes)
{
  if (bytes > m_Size - std::min(m_Size, m_At))
  {
    this->Fail("the file is too short");
  }
}

void
StateArchive::Transfer(void * bytes, std::size_t count, std::uint64_t at)
{
  std::size_t done = 0;
  while (done < count && m_Error.empty())
  {
    char * const  rest = static_cast<char *>(bytes) + done;
    const ssize_t moved = this->IsLoading() ? pread(m_File, rest, count - done, off_t(at + done))
                                            : pwrite(m_File, rest, count - done, off_t(at + done));
    if (moved < 0 && errno == EINTR)
    {
      continue;
    }
    if (moved <= 0)
    {
      this->Fail(moved == 0 ? "the file is too short" : std::strerror(errno));
      return;
    }
    done += std::size_t(moved);
  }
}

void
StateArchive::ExchangeBytes(void * bytes, std::size_t count)
{
  if (this->IsLoading())
  {
    this->RequireLeft(count);
  }
  if (this->IsLoading() || m_Communicator.Rank() == 0)
  {
    this->Transfer(bytes, count, m_At);
  }
  m_At += count;
}

void
StateArchive::Exchange(std::string & text)
{
  std::vector<char> characters(text.begin(), text.end());
  this->Exchange(characters);
  text.assign(characters.begin(), characters.end());
}

void
StateArchive::Exchange(Backend & backend, const Slab & slab)
{
  const Extent &     domain = slab.Domain();
  const auto         planeBytes = std::size_t(domain.x * domain.y) * sizeof(float);
  const auto         volumeBytes = std::uint64_t(domain.z) * planeBytes;
  std::vector<float> plane(std::size_t(domain.x * domain.y));
  if (this->IsLoading())
  {
    this->RequireLeft(std::uint64_t(slab.Channels()) * volumeBytes);
  }
  for (int c = 0; c < slab.Channels(); ++c)
  {
    for (std::int64_t z = slab.Owned().first; z < slab.Owned().end; ++z)
    {
      float * const       device = slab.Volume(c).Row(0, z);
      const std::uint64_t at = m_At + std::uint64_t(z) * planeBytes;
      if (!this->IsLoading())
      {
        backend.CopyToHost(plane.data(), device, planeBytes);
      }
      this->Transfer(plane.data(), planeBytes, at);
      if (this->IsLoading())
      {
        backend.CopyFromHost(device, plane.data(), planeBytes);
      }
    }
    m_At += volumeBytes;
  }
}

void
StateArchive::Close()
{
  if (this->IsLoading())
  {
    if (m_At != m_Size)
    {
      this->Fail("the file is too long");
    }
  }
  else if (m_Error.empty() && fsync(m_File) != 0)
  {
    this->Fail(std::strerror(errno));
  }
  std::int64_t failed = m_Error.empty() ? 0 : 1;
  m_Communicator.Sum(&failed, 1);
  if (failed > 0)
  {
    throw StateNotWritten("cannot write " + m_Name + ": " +
                          (m_Error.empty() ? std::to_string(failed) + " other ranks cannot" : m_Error));
  }
}

} // namespace ffdp
