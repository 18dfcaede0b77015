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
#include "ffdpRegisterFiles.h"

#include "ffdpOutputNames.h"
#include "ffdpStageList.h"

#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;

namespace
{

using Names = std::vector<std::string>;

std::string
EndingOf(const RegisterOptions & options)
{
  return options.uncompressed ? ".nii" : ".nii.gz";
}

/** All that this run writes. */
Names
ListWrittenFiles(const RegisterOptions & options, const StageList & list)
{
  const std::string & prefix = options.output;
  Names names = { prefix + "0GenericAffine.mat", NameOfWarped(options, true), NameOfWarped(options, false) };
  if (!options.start.empty() || std::any_of(list.stages.begin(), list.stages.end(), ffdp::IsDeformable))
  {
    names.insert(names.end(), { prefix + "1Warp" + EndingOf(options), prefix + "1InverseWarp" + EndingOf(options) });
  }
  if (options.composite)
  {
    names.insert(names.end(), { prefix + "Composite.h5", prefix + "InverseComposite.h5" });
  }
  if (!options.noReport)
  {
    names.push_back(prefix + "report.html");
  }
  return names;
}

} // namespace

std::string
NameOfWarped(const RegisterOptions & options, bool forward)
{
  const std::string & given = forward ? options.warped : options.inverseWarped;
  return !given.empty() ? given : options.output + (forward ? "" : "Inverse") + "Warped" + EndingOf(options);
}

Names
ListReadFiles(const RegisterOptions & options, const StageList & list)
{
  Names texts = options.start;
  texts.insert(texts.end(), { options.fixedMask, options.movingMask, options.masks });
  for (const ImageNames & pair : list.pairs)
  {
    texts.insert(texts.end(), { pair.fixed, pair.moving });
  }
  return ListNamedFiles(texts);
}

void
RequireOutputNames(const RegisterOptions & options, const StageList & list)
{
  Names outputs = ListWrittenFiles(options, list);
  outputs.push_back(options.logJson);
  RequireOwnNames(outputs, ListReadFiles(options, list));
}

void
RequireWritableOutputs(const RegisterOptions & options, const StageList & list)
{
  for (const std::string & file : ListWrittenFiles(options, list))
  {
    RequireWritableFile(file);
  }
}

Names
ListOutdatedFiles(const RegisterOptions & options, const StageList & list)
{
  Names names = { "1Warp.nii", "1Warp.nii.gz", "1InverseWarp.nii", "1InverseWarp.nii.gz" };
  if (!fs::path(options.output).filename().empty())
  {
    names.insert(names.end(),
                 { "Warped.nii",
                   "Warped.nii.gz",
                   "InverseWarped.nii",
                   "InverseWarped.nii.gz",
                   "Composite.h5",
                   "InverseComposite.h5",
                   "report.html" });
  }
  Names keep = ListReadFiles(options, list);
  keep.push_back(options.logJson);
  Names outdated;
  for (const std::string & name : names)
  {
    if (!IsAmong(options.output + name, keep))
    {
      outdated.push_back(options.output + name);
    }
  }
  return outdated;
}
