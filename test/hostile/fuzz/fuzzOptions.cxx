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
#include "ffdpCommandError.h"
#include "ffdpStageOptions.h"

#include <cstdint>
#include <string>
#include <vector>

// The stages of a command line: each line of the input is an option, whose first letter says which.
extern "C" int
LLVMFuzzerTestOneInput(const std::uint8_t * bytes, std::size_t count)
{
  const std::string          text(reinterpret_cast<const char *>(bytes), count);
  std::vector<StageArgument> arguments;
  std::size_t                begin = 0;
  while (begin < text.size())
  {
    const std::size_t end = std::min(text.size(), text.find('\n', begin));
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.empty())
    {
      continue;
    }
    const std::size_t kind = std::string("tmcfs").find(line[0]);
    arguments.push_back({ StageOption(kind == std::string::npos ? 0 : kind), line.substr(1) });
    try
    {
      ParseAxisWeights(line);
      IsStage(line);
    }
    catch (const CommandError &) // of which wrong usage is one
    {}
  }
  try
  {
    ParseStages(arguments, { "fixed.nii", "moving.nii" });
  }
  catch (const CommandError &)
  {}
  return 0;
}
