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
#include "ffdpFuzzFile.h"
#include "ffdpUnzippedStream.h"

#include <vector>

// Streams of gzip or zlib: the first bytes say how much is asked for, in which pieces, and where the stream begins.
extern "C" int
LLVMFuzzerTestOneInput(const std::uint8_t * bytes, std::size_t count)
{
  constexpr std::size_t Choices = 4;
  static const FuzzFile stream(".gz");
  if (count < Choices)
  {
    return 0;
  }
  const std::string &       file = stream.Write(bytes + Choices, count - Choices);
  const std::uint64_t       needed = bytes[0] * 1000u;
  std::vector<std::uint8_t> piece(std::size_t(bytes[1]) * 16 + 1);
  try
  {
    UnzippedStream whole(file, "image", needed);
    whole.SkipTo(bytes[2]);
    for (std::uint64_t got = bytes[2]; got + piece.size() <= needed; got += piece.size())
    {
      whole.Read(piece.data(), piece.size());
    }
    whole.Finish();
  }
  catch (const CommandError &)
  {}
  try
  {
    UnzippedStream::Part part;
    part.start = bytes[2];
    part.length = bytes[3] > 128 ? count / 2 : part.length;
    UnzippedStream stream(file, "image", needed, part);
    stream.SkipTo(needed);
    stream.Finish();
  }
  catch (const CommandError &)
  {}
  return 0;
}
