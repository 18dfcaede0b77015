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
#include <unistd.h>

namespace ffdp
{

StateArchive::StateArchive(const std::string & file, Direction direction)
  : m_Name(file)
  , m_Direction(direction)
  , m_File(std::fopen(file.c_str(), direction == Direction::Save ? "wb" : "rb"))
{
  if (!m_File)
  {
    this->Fail(std::strerror(errno));
  }
  if (this->IsLoading())
  {
    m_Left = std::filesystem::file_size(file);
  }
}

void
StateArchive::Fail(const std::string & what) const
{
  throw std::runtime_error((this->IsLoading() ? "cannot read " : "cannot write ") + m_Name + ": " + what);
}

void
StateArchive::RequireLeft(std::uint64_t bytes) const
{
  if (bytes > m_Left)
  {
    this->Fail("the file is too short");
  }
}

void
StateArchive::ExchangeBytes(void * bytes, std::size_t count)
{
  if (this->IsLoading())
  {
    this->RequireLeft(count);
    m_Left -= count;
  }
  const std::size_t done =
    this->IsLoading() ? std::fread(bytes, 1, count, m_File.get()) : std::fwrite(bytes, 1, count, m_File.get());
  if (done != count)
  {
    this->Fail(std::strerror(errno));
  }
}

void
StateArchive::Exchange(std::string & text)
{
  std::vector<char> characters(text.begin(), text.end());
  this->Exchange(characters);
  text.assign(characters.begin(), characters.end());
}

void
StateArchive::ExchangeDevice(Backend & backend, float * values, std::int64_t count)
{
  constexpr std::int64_t AtATime = 1 << 20;
  std::vector<float>     buffer(std::size_t(std::min(count, AtATime)));
  for (std::int64_t first = 0; first < count; first += AtATime)
  {
    const auto bytes = std::size_t(std::min(AtATime, count - first)) * sizeof(float);
    if (!this->IsLoading())
    {
      backend.CopyToHost(buffer.data(), values + first, bytes);
    }
    this->ExchangeBytes(buffer.data(), bytes);
    if (this->IsLoading())
    {
      backend.CopyFromHost(values + first, buffer.data(), bytes);
    }
  }
}

void
StateArchive::Close()
{
  if (this->IsLoading())
  {
    if (m_Left != 0)
    {
      this->Fail("the file is too long");
    }
  }
  else if (std::fflush(m_File.get()) != 0 || fsync(fileno(m_File.get())) != 0)
  {
    this->Fail(std::strerror(errno));
  }
  m_File.reset();
}

} // namespace ffdp
