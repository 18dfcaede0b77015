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
#include "ffdpBackend.h"
#include "ffdpCommunicator.h"
#include "ffdpFuzzFile.h"
#include "ffdpHash.h"
#include "ffdpStateArchive.h"

#include <stdexcept>
#include <unistd.h>
#include <vector>

namespace
{

/** What a checkpoint stores, in one order: numbers, lists of them, texts. */
void
Load(const std::string & file)
{
  const auto               self = ffdp::MakeSelfCommunicator();
  ffdp::StateArchive       archive(*self, file, ffdp::StateArchive::Direction::Load, geteuid());
  std::uint64_t            number = 0;
  std::vector<double>      numbers;
  std::vector<std::string> texts;
  archive.Exchange(number);
  archive.Exchange(numbers);
  archive.Exchange(texts);
  archive.Close();
}

/** The same bytes with right checks after each eight of them, since nobody guesses a check. */
std::vector<std::uint8_t>
AddChecks(const std::uint8_t * bytes, std::size_t count)
{
  constexpr std::size_t     Word = 8;
  std::vector<std::uint8_t> checked;
  for (std::size_t i = 0; i + Word <= count; i += Word)
  {
    ffdp::Hash hash;
    hash.AddWord(checked.size());
    hash.AddBytes(bytes + i, Word);
    const std::uint64_t value = hash.Value();
    checked.insert(checked.end(), bytes + i, bytes + i + Word);
    const auto * const check = reinterpret_cast<const std::uint8_t *>(&value);
    checked.insert(checked.end(), check, check + Word);
  }
  return checked;
}

} // namespace

// The state that a run goes on from, as it is on the disk and with checks that fit.
extern "C" int
LLVMFuzzerTestOneInput(const std::uint8_t * bytes, std::size_t count)
{
  static const FuzzFile           state("-state");
  const std::vector<std::uint8_t> checked = AddChecks(bytes, count);
  for (const bool withChecks : { false, true })
  {
    const std::string & file = withChecks ? state.Write(checked.data(), checked.size()) : state.Write(bytes, count);
    try
    {
      Load(file);
    }
    catch (const std::runtime_error &)
    {}
  }
  return 0;
}
