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
#include "ffdpAntsOptions.h"

#include "ffdpCommandError.h"
#include "ffdpStageText.h"

#include <functional>

namespace
{

using Words = std::vector<std::string>;

bool
IsOff(const std::string & value)
{
  return value == "0" || LowerCase(value) == "false";
}

} // namespace

void
AddAntsOptions(CLI::App & command, const std::shared_ptr<RegisterOptions> & options)
{
  // `take` gets the value, or an empty text where there may be none.
  const auto add = [&](const std::string & names, int least, const std::function<void(const std::string &)> & take) {
    const auto parse = [take](const Words & values) {
      take(values.empty() ? "" : Trim(values.front()));
      return true;
    };
    command.add_option(names, parse, "")->expected(least, 1)->group(""); // not in the help
  };
  const auto ignore = [&](const std::string & names, int least, const std::string & why) {
    add(names, least, [=](const std::string & value) {
      options->notes.push_back(names.substr(names.rfind("--")) + (value.empty() ? "" : " " + value) +
                               " is ignored: " + why);
    });
  };
  ignore("-d,--dimensionality", 1, "the files say how many dimensions images have");
  ignore("--float", 0, "precision is not a choice here");
  ignore("-v,--verbose", 0, "--quiet is what there is");
  add("-z,--collapse-output-transforms", 0, [=](const std::string & value) {
    if (IsOff(value))
    {
      options->notes.push_back(
        "--collapse-output-transforms 0 is ignored: there is one linear transform, and one warp");
    }
  });
  add("-u,--use-histogram-matching", 0, [=](const std::string & value) {
    if (!IsOff(value))
    {
      options->notes.push_back("--use-histogram-matching is ignored: CC and MI do not need it");
    }
  });
  add("-n,--interpolation", 1, [=](const std::string & value) {
    if (LowerCase(value) != "linear")
    {
      options->notes.push_back("--interpolation " + value +
                               " is ignored: warped images are interpolated linearly; `ffdp apply` knows more ways");
    }
  });
  add("-a,--write-composite-transform", 0, [=](const std::string & value) { options->composite = !IsOff(value); });
  add("-w,--winsorize-image-intensities", 0, [](const std::string &) {
    throw UsageError("--winsorize-image-intensities is not known here: cut the intensities of the files, or use masks");
  });
}
