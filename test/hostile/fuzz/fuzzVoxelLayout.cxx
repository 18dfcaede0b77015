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
#include "ffdpFileCompleteness.h"
#include "ffdpFuzzFile.h"
#include "ffdpNiftiHeader.h"
#include "ffdpVoxelLayout.h"

// Where the voxels of a file are, and whether all of them are there. The first byte chooses one of the endings that the
// build defines, as in FFDP_FUZZ_ENDINGS=".mha",".mhd"
extern "C" int
LLVMFuzzerTestOneInput(const std::uint8_t * bytes, std::size_t count)
{
  static const FuzzFile     files[] = { FFDP_FUZZ_ENDINGS };
  constexpr std::size_t     choices = sizeof(files) / sizeof(files[0]);
  static const std::uint8_t nothing = 0;
  const std::size_t         choice = count > 0 ? bytes[0] % choices : 0;
  const std::string &       file = files[choice].Write(count > 0 ? bytes + 1 : &nothing, count > 0 ? count - 1 : 0);
  try
  {
    WhatIsWrongWithSpacing(file, true);
    FindVoxels(file);
    RequireComplete(file, "image");
    RequireSoundVoxels(file, "image");
  }
  catch (const CommandError &)
  {}
  return 0;
}
