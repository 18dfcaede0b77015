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
#include "ffdpTransformText.h"

#include "ffdpStageText.h"
#include "ffdpTextLines.h"

#include <algorithm>
#include <limits>

namespace
{

std::vector<double>
ParseNumbers(const std::string & text, const TextLines & lines)
{
  constexpr const char * Blanks = " \t";
  std::vector<double>    numbers;
  for (std::size_t begin = text.find_first_not_of(Blanks); begin != std::string::npos;)
  {
    const std::size_t end = std::min(text.find_first_of(Blanks, begin), text.size());
    numbers.emplace_back();
    if (!ParseNumber(text.data() + begin, text.data() + end, numbers.back()))
    {
      lines.Refuse(Quote(text.substr(begin, end - begin)) + " is not a finite number");
    }
    begin = text.find_first_not_of(Blanks, end);
  }
  return numbers;
}

/** Throws unless a transform has both lines of numbers. Those of a composite are those of its parts. */
void
RequireBoth(const StoredTransform & stored, const std::string & file)
{
  const bool composite = stored.type.compare(0, 18, "CompositeTransform") == 0;
  for (const auto & numbers :
       { std::make_pair(&stored.parameters, "Parameters"), std::make_pair(&stored.fixedParameters, "FixedParameters") })
  {
    if (!composite && numbers.first->place.empty())
    {
      ThrowBadTransform(
        file, stored.place, stored.type + " has no line '" + numbers.second + ":'; is the file cut off?");
    }
  }
}

/** Takes the numbers of a line 'Parameters:' or 'FixedParameters:'. */
void
SetNumbers(StoredNumbers & numbers, const std::string & text, const TextLines & lines)
{
  if (!numbers.place.empty())
  {
    lines.Refuse("the transform has such a line already, at " + numbers.place);
  }
  numbers = StoredNumbers(lines.Place(), ParseNumbers(text, lines));
}

/** Takes a line of the form 'name: value'. */
void
TakeLine(const std::string &            name,
         const std::string &            value,
         const TextLines &              lines,
         const std::string &            file,
         std::vector<StoredTransform> & list)
{
  if (name == "Transform")
  {
    if (!list.empty())
    {
      RequireBoth(list.back(), file);
    }
    list.emplace_back();
    list.back().place = lines.Place();
    list.back().type = value;
  }
  else if (name == "ComponentTransformFile")
  {
    lines.Refuse(
      "parts of a composite in files of their own are not read here: name these files instead, the last first");
  }
  else if (name != "Parameters" && name != "FixedParameters")
  {
    lines.Refuse("not of the form 'Transform:', 'Parameters:' or 'FixedParameters:' with what belongs to it");
  }
  else if (list.empty())
  {
    lines.Refuse("there is no line 'Transform:' before it");
  }
  else
  {
    SetNumbers(name == "Parameters" ? list.back().parameters : list.back().fixedParameters, value, lines);
  }
}

} // namespace

std::vector<StoredTransform>
ReadTransformText(const std::string & file)
{
  const std::string            announcement = "#Transform ";
  TextLines                    lines(file, "transform", std::numeric_limits<std::size_t>::max());
  std::vector<StoredTransform> list;
  std::size_t                  announced = 0; // by comments, which not all programs write
  for (std::string line; lines.Next(line);)
  {
    if (line[0] == '#')
    {
      announced += line.compare(0, announcement.size(), announcement) == 0 ? 1 : 0;
      continue;
    }
    const std::size_t colon = std::min(line.find(':'), line.size());
    TakeLine(Trim(line.substr(0, colon)), colon < line.size() ? Trim(line.substr(colon + 1)) : "", lines, file, list);
  }
  if (!list.empty())
  {
    RequireBoth(list.back(), file);
  }
  if (announced > list.size())
  {
    lines.Refuse("the file announces " + std::to_string(announced) + " transforms and holds " +
                 std::to_string(list.size()) + "; is it cut off?");
  }
  return list;
}
