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

#include <algorithm>

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
  const auto                attempt = [](const auto & action) {
    try
    {
      action();
    }
    catch (const CommandError &)
    {}
  };
  attempt([&] { RequireSoundNifti(file, "image"); });
  attempt([&] { WhatIsWrongWithSpacing(file, true); });
  attempt([&] {
    const auto layout = FindVoxels(file, "image");
    // what a library would say of it: the image of the corpus, or all that the file speaks of
    ImageHeader header;
    header.axes.resize(3);
    header.axes[0].size = 3;
    header.axes[1].size = header.axes[2].size = 2;
    header.component = itk::IOComponentEnum::FLOAT;
    RequireComplete(file, "image", header);
    RequireSoundVoxels(file, "image", header);
    if (layout && SizeOf(layout->component) > 0)
    {
      header.axes.resize(1);
      header.component = layout->component;
      header.axes[0].size = std::max(layout->bytes, layout->unzipped) / SizeOf(layout->component);
      RequireSoundVoxels(file, "image", header);
    }
  });
  return 0;
}
