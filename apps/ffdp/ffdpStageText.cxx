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
#include "ffdpStageText.h"

#include "ffdpCommandError.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace
{

bool
TakeEnd(std::string & text, const std::string & end)
{
  const bool there = text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
  text.resize(text.size() - (there ? end.size() : 0));
  return there;
}

} // namespace

std::string
Trim(const std::string & text)
{
  const auto first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string
LowerCase(std::string text)
{
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return text;
}

Words
Split(const std::string & text, char separator)
{
  Words       words;
  std::size_t start = 0, end = 0;
  while ((end = text.find(separator, start)) != std::string::npos)
  {
    words.push_back(Trim(text.substr(start, end - start)));
    start = end + 1;
  }
  words.push_back(Trim(text.substr(start)));
  return words;
}

Words
SplitList(const std::string & text)
{
  const std::string list = Trim(text);
  const bool        bracketed = list.size() > 1 && list.front() == '[' && list.back() == ']';
  return Split(bracketed ? list.substr(1, list.size() - 2) : list, ',');
}

bool
IsNumber(const std::string & word)
{
  char * end = nullptr;
  return !word.empty() && std::isfinite(std::strtod(word.c_str(), &end)) && *end == '\0';
}

bool
TakeUnit(std::string & text)
{
  return !TakeEnd(text, "vox") && TakeEnd(text, "mm");
}

void
Source::Refuse(const std::string & reason) const
{
  throw UsageError(option + " '" + text + "': " + reason);
}

double
Source::Number(const std::string & word, const std::string & what, int least) const
{
  const double number = IsNumber(word) ? std::strtod(word.c_str(), nullptr) : least - 1;
  if (number < least)
  {
    this->Refuse("the " + what + " '" + word + "' is not a number of at least " + std::to_string(least));
  }
  return number;
}

int
Source::Count(const std::string & word, const std::string & what, int least) const
{
  constexpr double Largest = 1e6;
  const double     number = this->Number(word, what, least);
  if (number != std::floor(number) || number > Largest)
  {
    this->Refuse("the " + what + " '" + word + "' is not a whole number below a million");
  }
  return int(number);
}

Call
ParseCall(const Source & source)
{
  const auto open = source.text.find('[');
  if (open == std::string::npos)
  {
    return { LowerCase(source.text), {} };
  }
  if (source.text.back() != ']')
  {
    source.Refuse("the closing bracket is missing");
  }
  Call call{ LowerCase(source.text.substr(0, open)), SplitList(source.text.substr(open)) };
  if (call.fields.size() == 1 && call.fields[0].empty())
  {
    call.fields.clear();
  }
  return call;
}
