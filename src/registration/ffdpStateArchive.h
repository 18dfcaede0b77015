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
#ifndef ffdpStateArchive_h
#define ffdpStateArchive_h

#include "ffdpBackend.h"

#include <cstdio>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace ffdp
{

/** A file that state is written to, or read from, by the same sequence of calls: what an object exchanges in one order
 * is what it gets back. Numbers are stored as they are in memory. Throws std::runtime_error with the name of the file.
 */
class StateArchive
{
public:
  enum class Direction
  {
    Save,
    Load
  };

  StateArchive(const std::string & file, Direction direction);

  bool
  IsLoading() const
  {
    return m_Direction == Direction::Load;
  }

  /** A number, or a struct of numbers. */
  template <typename T>
  void
  Exchange(T & value)
  {
    static_assert(std::is_trivially_copyable<T>::value, "only what is made of plain numbers can be stored");
    this->ExchangeBytes(&value, sizeof(T));
  }

  template <typename T>
  void
  Exchange(std::vector<T> & values)
  {
    auto count = std::uint64_t(values.size());
    this->Exchange(count);
    if (this->IsLoading())
    {
      this->RequireLeft(count * sizeof(T));
      values.resize(std::size_t(count));
    }
    for (T & value : values)
    {
      this->Exchange(value);
    }
  }

  void
  Exchange(std::string & text);

  /** Floats in the memory of a backend, a few megabytes at a time. */
  void
  ExchangeDevice(Backend & backend, float * values, std::int64_t count);

  /** Ends the exchange: what was saved is on the disk; what was loaded was all there was. */
  void
  Close();

private:
  void
  ExchangeBytes(void * bytes, std::size_t count);
  void
  RequireLeft(std::uint64_t bytes) const;
  [[noreturn]] void
  Fail(const std::string & what) const;

  struct Closer
  {
    void
    operator()(std::FILE * file) const
    {
      std::fclose(file);
    }
  };
  std::string                        m_Name;
  Direction                          m_Direction;
  std::unique_ptr<std::FILE, Closer> m_File;
  std::uint64_t                      m_Left = 0; ///< bytes that can still be loaded
};

} // namespace ffdp

#endif
