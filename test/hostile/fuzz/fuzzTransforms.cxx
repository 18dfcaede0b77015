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
#include "ffdpTransformMatlab.h"
#include "ffdpTransformText.h"

#include "itkMacro.h"

// Files of transforms, up to the transforms of ITK that are made of them. FFDP_FUZZ_READER: the function that reads,
// FFDP_FUZZ_ENDING: that of its files.
extern "C" int
LLVMFuzzerTestOneInput(const std::uint8_t * bytes, std::size_t count)
{
  static const FuzzFile transforms(FFDP_FUZZ_ENDING);
  const std::string &   file = transforms.Write(bytes, count);
  try
  {
    const std::vector<StoredTransform> list = FFDP_FUZZ_READER(file);
    RequireSoundTransforms(list, file);
    for (const auto & transform : MakeTransforms(list, file))
    {
      if (!transform)
      {
        std::abort();
      }
    }
  }
  catch (const CommandError &)
  {}
  return 0;
}
