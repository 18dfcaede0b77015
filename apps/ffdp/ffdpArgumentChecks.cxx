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
#include "ffdpArgumentChecks.h"

#include "ffdpUsage.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <sstream>

namespace
{

/** 3 without zeros behind it, and 0.5. */
std::string
NumberText(double number)
{
  std::ostringstream text;
  text.precision(10);
  text << number;
  return text.str();
}

bool
HasOnly(const std::string & text, const char * letters)
{
  return !text.empty() && text.find_first_not_of(letters) == std::string::npos;
}

} // namespace

std::string
FindFault(const std::string & type, const std::string & text)
{
  const bool whole = type == "INT" || type == "UINT";
  if (!whole && type != "FLOAT")
  {
    return "";
  }
  const std::string kind = whole ? "is not a whole number" : "is not a number";
  char *            end = nullptr;
  const double      number = std::strtod(text.c_str(), &end);
  if (!HasOnly(text, whole ? "+-0123456789" : "+-0123456789.eE") || *end != '\0')
  {
    return kind;
  }
  errno = 0;
  const bool negative = text[0] == '-' && number != 0;
  static_cast<void>(negative ? std::strtoll(text.c_str(), nullptr, 10)
                             : (long long)(std::strtoull(text.c_str(), nullptr, 10)));
  if (!std::isfinite(number) || (whole && errno == ERANGE))
  {
    return "is too large a number";
  }
  return type == "UINT" && negative ? "must not be negative" : "";
}

CLI::Validator
NumberBetween(double least, double most)
{
  const std::string range =
    std::isinf(most) ? "of at least " + NumberText(least) : "from " + NumberText(least) + " to " + NumberText(most);
  const auto check = [=](std::string & text) {
    const double number = std::strtod(text.c_str(), nullptr);
    return number >= least && number <= most ? std::string() : "is not a number " + range;
  };
  return CLI::Validator(check, range.substr(range.find(' ') + 1));
}

CLI::Validator
NumberAtLeast(double least)
{
  return NumberBetween(least, INFINITY);
}

CLI::Validator
OneOf(const std::vector<std::string> & words)
{
  std::string list, set;
  for (std::size_t i = 0; i < words.size(); ++i)
  {
    list += (i == 0 ? "" : i + 1 < words.size() ? ", " : " or ") + words[i];
    set += (i == 0 ? "" : ",") + words[i];
  }
  return CLI::Validator(
    [=](std::string & text) {
      const std::string nearest = FindNearest(text, words);
      return std::find(words.begin(), words.end(), text) != words.end()
               ? std::string()
               : "is not " + list + (nearest.empty() ? "" : "; did you mean '" + nearest + "'?");
    },
    "{" + set + "}");
}
