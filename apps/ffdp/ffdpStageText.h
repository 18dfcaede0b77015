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
#ifndef ffdpStageText_h
#define ffdpStageText_h

#include <string>
#include <vector>

/** The small grammar of stage options: lists in brackets, numbers, units. */
using Words = std::vector<std::string>;

std::string
Trim(const std::string & text);

std::string
LowerCase(std::string text);

/** Cut at each separator, without spaces around the pieces; at least one piece. */
Words
Split(const std::string & text, char separator);

/** What stands in brackets, cut at commas; the brackets may be missing. */
Words
SplitList(const std::string & text);

bool
IsNumber(const std::string & word);

/** Takes the unit off the end of a length: true for mm, false for vox or none. */
bool
TakeUnit(std::string & text);

/** An option and its text, which all messages name, as in: --metric 'CC[4]': ... */
struct Source
{
  std::string option, text;

  /** Throws UsageError. */
  [[noreturn]] void
  Refuse(const std::string & reason) const;

  double
  Number(const std::string & word, const std::string & what, int least) const;

  int
  Count(const std::string & word, const std::string & what, int least) const;
};

/** Name[a,b,c]: the name in lower case, and its fields. */
struct Call
{
  std::string name;
  Words       fields;
};

Call
ParseCall(const Source & source);

#endif
