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
#include "ffdpGivenSpacing.h"

#include "ffdpCommandError.h"
#include "ffdpLengthUnit.h"
#include "ffdpStageText.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

namespace
{

struct Gift
{
  GivenSpacing                              spacing;
  std::function<std::vector<std::string>()> list;
  std::optional<std::vector<std::string>>   files;
};

/** Ranks of a test are threads. */
std::mutex               theMutex;
std::vector<Gift>        theGifts;
std::vector<std::string> theNotes;
std::set<std::string>    theSeenNotes;

} // namespace

GivenSpacing
ParseSpacing(const std::string & option, const std::string & text)
{
  const Source source{ option, Trim(text) };
  const auto   unitAt = source.text.find_last_of("0123456789.") + 1; // 0: nothing is a number
  const Words  words = Split(source.text.substr(0, unitAt), 'x');
  std::string  unit = Trim(source.text.substr(unitAt));
  unit = unit.empty() ? "mm" : unit;
  if (MillimetersOf(unit) == 0)
  {
    source.Refuse("'" + unit + "' is not a unit that is known here (mm, um, nm, cm, ...)");
  }
  if (words.size() < 2 || words.size() > 3)
  {
    source.Refuse("is not two or three numbers, as in 0.65x0.65x2um; without a unit they are mm");
  }
  GivenSpacing given{ source.option, source.text, {} };
  for (const std::string & word : words)
  {
    const double mm = IsNumber(word) ? std::strtod(word.c_str(), nullptr) * MillimetersOf(unit) : 0;
    if (!(mm > 0) || !std::isfinite(mm))
    {
      source.Refuse("'" + word + "' is not a number above 0");
    }
    given.mm.push_back(mm);
  }
  return given;
}

void
GiveSpacing(const GivenSpacing & spacing, const std::function<std::vector<std::string>()> & files)
{
  const std::lock_guard<std::mutex> lock(theMutex);
  theGifts.push_back({ spacing, files, {} });
}

GivenSpacing
FindGivenSpacing(const std::string & file)
{
  const std::lock_guard<std::mutex> lock(theMutex);
  GivenSpacing                      found;
  for (Gift & gift : theGifts)
  {
    if (!gift.files)
    {
      gift.files = gift.list();
    }
    if (std::find(gift.files->begin(), gift.files->end(), file) != gift.files->end())
    {
      if (!found.mm.empty() && found.mm != gift.spacing.mm)
      {
        throw UsageError("'" + file + "' has one size of voxels by " + found.option + " and another by " +
                         gift.spacing.option);
      }
      found = gift.spacing;
    }
  }
  return found;
}

void
AddSpacingNote(const std::string & note)
{
  const std::lock_guard<std::mutex> lock(theMutex);
  if (theSeenNotes.insert(note).second)
  {
    theNotes.push_back(note);
  }
}

std::vector<std::string>
TakeSpacingNotes()
{
  const std::lock_guard<std::mutex> lock(theMutex);
  return std::exchange(theNotes, {});
}
