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
#include "ffdpFileExchange.h"
#include "ffdpTemporaryFiles.h"

#include <cstdint>
#include <cstdlib>
#include <string>

// The journal of an exchange, and the mark of a run. What is read is the same when it is written and read again, and no
// name leads out of its folder.
extern "C" int
LLVMFuzzerTestOneInput(const std::uint8_t * bytes, std::size_t count)
{
  const std::string text(reinterpret_cast<const char *>(bytes), count);
  RunMark::Parse(text);
  const auto exchange = ParseJournal(text);
  if (!exchange)
  {
    return 0;
  }
  for (const ExchangeStep & step : exchange->steps)
  {
    if (step.folder >= exchange->folders.size() || step.name.find('/') != std::string::npos || step.name == ".." ||
        step.temporary.find('/') != std::string::npos || step.temporary == "..")
    {
      std::abort();
    }
  }
  if (!ParseJournal(WriteJournal(*exchange)))
  {
    std::abort();
  }
  return 0;
}
