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
#include "ffdpTextLines.h"

#include "ffdpCommandError.h"
#include "ffdpFileBytes.h"

#include <algorithm>
#include <charconv>
#include <cmath>

TextLines::TextLines(const std::string & file, const std::string & what, std::size_t longest)
  : m_Name(what + " '" + file + "'")
  , m_Text(ReadFileBytes(file, what))
  , m_Longest(longest)
{}

bool
TextLines::Next(std::string & line)
{
  constexpr const char * Blanks = " \t\r\f\v";
  line.clear();
  while (line.empty() && m_At < m_Text.size())
  {
    ++m_Number;
    const std::size_t end = std::min(m_Text.find('\n', m_At), m_Text.size());
    if (end - m_At > m_Longest)
    {
      this->Refuse("it has more than " + std::to_string(m_Longest) + " characters");
    }
    line.assign(m_Text, m_At, end - m_At);
    m_At = end + 1;
    if (line.find('\0') != std::string::npos)
    {
      this->Refuse("it holds a NUL character, which no text does");
    }
    line.erase(line.find_last_not_of(Blanks) + 1);
    line.erase(0, line.find_first_not_of(Blanks));
    if (!line.empty() && end == m_Text.size())
    {
      this->Refuse("there is no line break at its end: is the file cut off? (if it is not, add a line break)");
    }
  }
  return !line.empty();
}

std::string
TextLines::Place() const
{
  return "line " + std::to_string(m_Number);
}

void
TextLines::Refuse(const std::string & reason) const
{
  throw CommandError(m_Name + ", " + this->Place() + ": " + reason);
}

bool
ParseNumber(const char * begin, const char * end, double & number)
{
  begin += end - begin > 1 && begin[0] == '+' && begin[1] != '-' ? 1 : 0;
  const auto result = std::from_chars(begin, end, number);
  return result.ec == std::errc() && result.ptr == end && std::isfinite(number);
}

std::string
Quote(const std::string & text)
{
  constexpr std::size_t Longest = 80;
  std::string           shown = text.substr(0, Longest);
  std::replace_if(
    shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return "'" + shown + (text.size() > Longest ? "...'" : "'");
}
