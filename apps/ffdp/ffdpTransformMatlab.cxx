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
#include "ffdpTransformMatlab.h"

#include "ffdpFileBytes.h"
#include "ffdpTextLines.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace
{

constexpr std::size_t   LongestName = 200;
constexpr std::uint32_t LargestKind = 1110; // big-endian, by rows, floats

/** A vector of the file: what ITK calls it, and its values. */
struct MatlabVector
{
  std::string         name, place;
  std::vector<double> values;
};

/** The bytes of a file from some place on, which are not trusted. */
class MatlabBytes
{
public:
  explicit MatlabBytes(const std::string & file)
    : m_File(file)
    , m_Bytes(ReadFileBytes(file, "transform"))
  {}

  bool
  IsAtEnd() const
  {
    return m_At == m_Bytes.size();
  }

  MatlabVector
  NextVector()
  {
    MatlabVector vector;
    m_Start = m_At;
    vector.place = this->Place();
    const auto        header = this->NextHeader();
    const std::size_t rows = header[1], valueBytes = header[0] % 100 == 10 ? sizeof(float) : sizeof(double);
    vector.name.assign(this->Take(header[4], "a name"), header[4]);
    if (vector.name.find('\0') != vector.name.size() - 1)
    {
      this->Refuse("the name " + Quote(vector.name) + " is no name of a transform");
    }
    vector.name.pop_back();
    if (rows > (m_Bytes.size() - m_At) / valueBytes)
    {
      this->Refuse("there are " + std::to_string((m_Bytes.size() - m_At) / valueBytes) + " values of " +
                   std::to_string(rows) + "; is the file cut off?");
    }
    for (std::size_t i = 0; i < rows; ++i)
    {
      vector.values.push_back(valueBytes == sizeof(float) ? this->NextValue<float>() : this->NextValue<double>());
    }
    return vector;
  }

private:
  /** Type, rows, columns, whether numbers are complex, length of the name: all sound. */
  std::array<std::uint32_t, 5>
  NextHeader()
  {
    std::array<std::uint32_t, 5> header;
    std::memcpy(header.data(), this->Take(sizeof(header), "a header"), sizeof(header));
    // 1000: big-endian, or of an old ITK; 100: by rows, which is the same for a vector; 10: floats
    const bool bigHost = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    const bool swapped = header[0] == 0 ? bigHost : header[0] > LargestKind;
    if (swapped)
    {
      std::for_each(header.begin(), header.end(), [](std::uint32_t & word) { word = __builtin_bswap32(word); });
    }
    m_Swaps = swapped;
    const std::uint32_t kind = header[0] % 1000;
    if (header[0] > LargestKind || (kind != 0 && kind != 10 && kind != 100 && kind != 110))
    {
      this->Refuse("this is no vector of floats or doubles in MATLAB's format 4");
    }
    if (header[2] != 1 || header[3] != 0)
    {
      this->Refuse("this is not a vector of real numbers in one column");
    }
    if (header[4] < 2 || header[4] > LongestName)
    {
      this->Refuse("a name of " + std::to_string(header[4]) + " characters is no name of a transform");
    }
    return header;
  }

  template <typename TValue>
  double
  NextValue()
  {
    std::array<char, sizeof(TValue)> bytes;
    std::memcpy(bytes.data(), this->Take(sizeof(TValue), "a value"), sizeof(TValue));
    if (m_Swaps)
    {
      std::reverse(bytes.begin(), bytes.end());
    }
    TValue value;
    std::memcpy(&value, bytes.data(), sizeof(TValue));
    return double(value);
  }

  const char *
  Take(std::size_t count, const char * what)
  {
    if (count > m_Bytes.size() - m_At)
    {
      this->Refuse(std::string("the file ends within ") + what + "; is it cut off?");
    }
    m_At += count;
    return m_Bytes.data() + m_At - count;
  }

  std::string
  Place() const
  {
    return "byte " + std::to_string(m_Start);
  }

  [[noreturn]] void
  Refuse(const std::string & reason) const
  {
    ThrowBadTransform(m_File, this->Place(), reason);
  }

  std::string m_File, m_Bytes;
  std::size_t m_At = 0;
  std::size_t m_Start = 0; ///< of the vector that is being read
  bool        m_Swaps = false;
};

} // namespace

std::vector<StoredTransform>
ReadTransformMatlab(const std::string & file)
{
  std::vector<StoredTransform> list;
  for (MatlabBytes bytes(file); !bytes.IsAtEnd();)
  {
    MatlabVector    parameters = bytes.NextVector();
    StoredTransform stored;
    stored.place = parameters.place;
    stored.type = parameters.name;
    stored.parameters = StoredNumbers(parameters.place, std::move(parameters.values));
    if (bytes.IsAtEnd())
    {
      ThrowBadTransform(
        file, stored.place, Quote(stored.type) + " has no fixed parameters behind it; is the file cut off?");
    }
    MatlabVector fixed = bytes.NextVector();
    if (fixed.name != "fixed")
    {
      ThrowBadTransform(file, fixed.place, "here are " + Quote(fixed.name) + " instead of fixed parameters");
    }
    stored.fixedParameters = StoredNumbers(fixed.place, std::move(fixed.values));
    list.push_back(stored);
  }
  return list;
}
