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
#include "ffdpLengthUnit.h"

#include "ffdpStageText.h"

#include <algorithm>
#include <iterator>

namespace
{

struct LengthUnit
{
  const char * name;
  double       millimeters;
};

/** Symbols as they are written: "Mm" and "M" are not "mm" and "m". */
constexpr LengthUnit Symbols[] = { { "m", 1e3 },
                                   { "dm", 1e2 },
                                   { "cm", 10 },
                                   { "mm", 1 },
                                   { "\xC2\xB5m", 1e-3 }, // U+00B5, the sign of micro
                                   { "\xCE\xBCm", 1e-3 }, // U+03BC, the Greek letter
                                   { "\xB5m", 1e-3 },     // Latin-1
                                   { "um", 1e-3 },
                                   { "nm", 1e-6 },
                                   { "pm", 1e-9 },
                                   { "\xC3\x85", 1e-7 },     // U+00C5, the letter A with a ring
                                   { "\xE2\x84\xAB", 1e-7 }, // U+212B, the sign of angstrom
                                   { "A", 1e-7 },
                                   { "in", 25.4 },
                                   { "ft", 304.8 },
                                   { "thou", 0.0254 } };

constexpr LengthUnit Names[] = { { "meter", 1e3 },      { "metre", 1e3 },       { "centimeter", 10 },
                                 { "centimetre", 10 },  { "millimeter", 1 },    { "millimetre", 1 },
                                 { "micron", 1e-3 },    { "micrometer", 1e-3 }, { "micrometre", 1e-3 },
                                 { "nanometer", 1e-6 }, { "nanometre", 1e-6 },  { "angstrom", 1e-7 },
                                 { "picometer", 1e-9 }, { "picometre", 1e-9 },  { "inch", 25.4 },
                                 { "inches", 25.4 } };

double
Find(const LengthUnit * first, const LengthUnit * end, const std::string & name)
{
  const auto found = std::find_if(first, end, [&](const LengthUnit & unit) { return name == unit.name; });
  return found == end ? 0 : found->millimeters;
}

} // namespace

double
MillimetersOf(const std::string & unit)
{
  const std::string name = Trim(unit);
  const double      symbol = Find(std::begin(Symbols), std::end(Symbols), name);
  if (symbol > 0)
  {
    return symbol;
  }
  const std::string word = LowerCase(name);
  const double      one = Find(std::begin(Names), std::end(Names), word);
  const bool        several = one == 0 && word.size() > 1 && word.back() == 's';
  return several ? Find(std::begin(Names), std::end(Names), word.substr(0, word.size() - 1)) : one;
}

bool
IsNoLength(const std::string & unit)
{
  const std::string word = LowerCase(Trim(unit));
  const char *      words[] = { "", "pixel", "pixels", "px", "voxel", "voxels", "reference frame" };
  return std::any_of(std::begin(words), std::end(words), [&](const char * one) { return word == one; });
}
