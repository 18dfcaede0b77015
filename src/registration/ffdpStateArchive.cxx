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

#include "ffdpHash.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ffdp
{

StateArchive::StateArchive(Communicator & communicator, const std::string & file, Direction direction, uid_t owner)
  : m_Communicator(communicator)
  , m_Name(file)
  , m_Direction(direction)
{
  if (!this->IsLoading() && communicator.Rank() != 0)
  {
    this->WaitForAll(); // for the file to be there
    this->Open(owner);
  }
  else
  {
    this->Open(owner);
    this->WaitForAll();
  }
}

/** Where others can write to the folder, they must not be able to make this process write elsewhere, or read what they
 * made: no link is followed, and the first rank makes the file anew. */
void
StateArchive::Open(uid_t owner)
{
  constexpr int Readable = 0666;
  const bool    makes = !this->IsLoading() && m_Communicator.Rank() == 0;
  const int     saving = makes ? O_WRONLY | O_CREAT | O_EXCL : O_WRONLY;
  if (makes && unlink(m_Name.c_str()) != 0 && errno != ENOENT) // of a run that was killed
  {
    this->Fail(std::strerror(errno));
    return;
  }
  m_File =
    open(m_Name.c_str(), (this->IsLoading() ? O_RDONLY : saving) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, Readable);
  struct stat status;
  if (m_File < 0 || fstat(m_File, &status) != 0)
  {
    this->Fail(errno == ELOOP ? "it is a link" : std::strerror(errno));
  }
  else if (!S_ISREG(status.st_mode) || status.st_uid != owner)
  {
    this->Fail(S_ISREG(status.st_mode) ? "it belongs to another user" : "it is no regular file");
  }
  else
  {
    m_Size = std::uint64_t(status.st_size);
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
  m_Error = m_Error.empty() ? what : m_Error;
}

void
StateArchive::RequireRead() const
{
  std::int64_t failed = m_Error.empty() ? 0 : 1;
  m_Communicator.Sum(&failed, 1);
  if (failed > 0)
  {
    throw std::runtime_error("cannot read " + m_Name + ": " + (m_Error.empty() ? "another rank cannot" : m_Error));
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
StateArchive::TransferChecked(void * bytes, std::size_t count, std::uint64_t at, std::uint64_t checkAt)
{
  const auto checkOf = [&] {
    Hash hash;
    hash.AddWord(at); // so that pieces are not taken for each other
    hash.AddBytes(bytes, count);
    return hash.Value();
  };
  std::uint64_t check = this->IsLoading() ? 0 : checkOf();
  this->Transfer(bytes, count, at);
  this->Transfer(&check, sizeof(check), checkAt);
  if (this->IsLoading() && m_Error.empty() && check != checkOf())
  {
    this->Fail("the file is damaged, or of another version: remove it to begin anew");
  }
}

void
StateArchive::ExchangeBytes(void * bytes, std::size_t count)
{
  if (this->IsLoading() || m_Communicator.Rank() == 0)
  {
    this->TransferChecked(bytes, count, m_At, m_At + count);
  }
  m_At += count + sizeof(std::uint64_t);
  if (this->IsLoading())
  {
    this->RequireRead();
  }
}

void
StateArchive::RequireRoom(std::uint64_t count, std::size_t bytes)
{
  if (m_At > m_Size || count > (m_Size - m_At) / bytes)
  {
    this->Fail("it holds less than it says");
  }
  this->RequireRead();
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
  for (int c = 0; c < slab.Channels(); ++c)
  {
    for (std::int64_t z = slab.Owned().first; z < slab.Owned().end && m_Error.empty(); ++z)
    {
      float * const       device = slab.Volume(c).Row(0, z);
      const std::uint64_t at = m_At + std::uint64_t(z) * planeBytes;
      const std::uint64_t checkAt = m_At + volumeBytes + std::uint64_t(z) * sizeof(std::uint64_t);
      if (!this->IsLoading())
      {
        backend.CopyToHost(plane.data(), device, planeBytes);
      }
      this->TransferChecked(plane.data(), planeBytes, at, checkAt);
      if (this->IsLoading())
      {
        backend.CopyFromHost(device, plane.data(), planeBytes);
      }
    }
    m_At += volumeBytes + std::uint64_t(domain.z) * sizeof(std::uint64_t);
  }
  if (this->IsLoading())
  {
    this->RequireRead();
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
    this->RequireRead();
    return;
  }
  if (m_Error.empty() && fsync(m_File) != 0)
  {
    this->Fail(std::strerror(errno));
  }
  if (m_File >= 0 && close(std::exchange(m_File, -1)) != 0)
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
