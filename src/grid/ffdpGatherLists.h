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
#ifndef ffdpGatherLists_h
#define ffdpGatherLists_h

#include "ffdpCommunicator.h"

#include <cstddef>
#include <string>
#include <vector>

/** Small things that every rank is to know of all others, of another length on each. */
namespace ffdp
{

/** What each rank gave, in the order of the ranks. */
inline std::vector<std::vector<double>>
GatherLists(Communicator & communicator, const std::vector<double> & own)
{
  std::vector<double> counted{ double(own.size()) };
  counted.insert(counted.end(), own.begin(), own.end());
  const std::vector<double>        all = communicator.Gather(counted);
  std::vector<std::vector<double>> lists;
  for (auto at = all.begin(); at != all.end();)
  {
    const auto end = at + 1 + std::ptrdiff_t(*at);
    lists.emplace_back(at + 1, end);
    at = end;
  }
  return lists;
}

/** What each rank has to say. */
inline std::vector<std::string>
GatherTexts(Communicator & communicator, const std::string & own)
{
  std::vector<std::string> texts;
  for (const std::vector<double> & text : GatherLists(communicator, std::vector<double>(own.begin(), own.end())))
  {
    texts.emplace_back(text.begin(), text.end());
  }
  return texts;
}

} // namespace ffdp

#endif
