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
#ifndef ffdpHash_h
#define ffdpHash_h

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ffdp
{

/** Mixes words into a number, such that each bit of each word matters (a 64-bit FNV with a final spread per word). */
class Hash
{
public:
  void
  AddWord(std::uint64_t word)
  {
    m_Value = (m_Value ^ word) * 0x100000001b3ull;
    m_Value ^= m_Value >> 29;
  }
  void
  AddNumber(double number)
  {
    this->AddBytes(&number, sizeof(number));
  }
  /** The last ones are filled up with zeros to a word. */
  void
  AddBytes(const void * bytes, std::size_t count)
  {
    const auto * from = static_cast<const unsigned char *>(bytes);
    for (; count > 0;)
    {
      const std::size_t part = count < sizeof(std::uint64_t) ? count : sizeof(std::uint64_t);
      std::uint64_t     word = 0;
      std::memcpy(&word, from, part);
      this->AddWord(word);
      from += part;
      count -= part;
    }
  }
  std::uint64_t
  Value() const
  {
    return m_Value;
  }

private:
  std::uint64_t m_Value = 0xcbf29ce484222325ull;
};

} // namespace ffdp

#endif
