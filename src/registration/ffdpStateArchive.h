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

#include "ffdpSlab.h"

#include <stdexcept>
#include <string>
#include <sys/types.h>
#include <type_traits>
#include <vector>

namespace ffdp
{

/** What all ranks throw if one of them cannot write. */
class StateNotWritten : public std::runtime_error
{
public:
  using std::runtime_error::runtime_error;
};

/** A file that state is written to, or read from, by the same sequence of calls on all ranks: what an object exchanges
 * in one order is what it gets back. Numbers are stored as they are in memory. The first rank writes what all have
 * alike; volumes lie in the file as a whole, and each rank writes and reads the planes that it owns in their place. So
 * the file is the same for any number of ranks, and another number of them can read it. Whatever is stored has a check
 * beside it, and is not taken if it does not fit: a disk that is failing must not lead to wrong results.
 *
 * Throws std::runtime_error with the name of the file, on all ranks: where one cannot read, at once; where one cannot
 * write, StateNotWritten from Close(). */
class StateArchive
{
public:
  enum class Direction
  {
    Save,
    Load
  };

  /** owner: the user whose files this process makes in that folder; those of others are not taken. */
  StateArchive(Communicator & communicator, const std::string & file, Direction direction, uid_t owner);
  ~StateArchive();
  StateArchive(const StateArchive &) = delete;
  StateArchive &
  operator=(const StateArchive &) = delete;

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
      this->RequireRoom(count, std::is_trivially_copyable<T>::value ? sizeof(T) : 1);
      values.resize(std::size_t(count));
    }
    if constexpr (std::is_trivially_copyable<T>::value)
    {
      this->ExchangeBytes(values.data(), values.size() * sizeof(T));
    }
    else
    {
      for (T & value : values)
      {
        this->Exchange(value);
      }
    }
  }

  void
  Exchange(std::string & text);

  /** The planes that ranks own. */
  void
  Exchange(Backend & backend, const Slab & slab);

  /** Ends the exchange: what was saved is on the disk, on all ranks; what was loaded was all there was. */
  void
  Close();

private:
  /** What all ranks have alike, and its check. */
  void
  ExchangeBytes(void * bytes, std::size_t count);
  /** Bytes at a place in the file, and their check at another. */
  void
  TransferChecked(void * bytes, std::size_t count, std::uint64_t at, std::uint64_t checkAt);
  /** Throws on all ranks unless what is left of a file that is loaded can hold so many values of at least so many
   * bytes.
   */
  void
  RequireRoom(std::uint64_t count, std::size_t bytes);
  /** Reads or writes at a place in the file. */
  void
  Transfer(void * bytes, std::size_t count, std::uint64_t at);
  void
  Open(uid_t owner);
  void
  WaitForAll() const;
  /** Notes the first thing that goes wrong on this rank. */
  void
  Fail(const std::string & what);
  /** Throws on all ranks if one of them cannot read. */
  void
  RequireRead() const;

  Communicator & m_Communicator;
  std::string    m_Name;
  Direction      m_Direction;
  int            m_File = -1;
  std::uint64_t  m_At = 0;   ///< where the next exchange begins
  std::uint64_t  m_Size = 0; ///< of a file that is loaded
  std::string    m_Error;    ///< the first
};

} // namespace ffdp

#endif
