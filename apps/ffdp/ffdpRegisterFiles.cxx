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

#include "ffdpCommandError.h"
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

/** All that this run reads, and pieces of options that may be such names: a start is FILE or [FILE,1], masks may be
 * [FILE,FILE]. */
Names
ListReadFiles(const RegisterOptions & options, const StageList & list)
{
  Names names = { options.fixedMask, options.movingMask };
  for (const ImageNames & pair : list.pairs)
  {
    names.insert(names.end(), { pair.fixed, pair.moving });
  }
  Names lists = options.start;
  lists.push_back(options.masks);
  for (const std::string & text : lists)
  {
    names.push_back(text);
    for (std::size_t at = 0, end; at < text.size(); at = end + 1)
    {
      end = std::min(text.find_first_of("[],", at), text.size());
      names.push_back(text.substr(at, end - at));
    }
  }
  names.erase(std::remove(names.begin(), names.end(), std::string()), names.end());
  return names;
}

} // namespace

std::string
NameOfWarped(const RegisterOptions & options, bool forward)
{
  const std::string & given = forward ? options.warped : options.inverseWarped;
  return !given.empty() ? given : options.output + (forward ? "" : "Inverse") + "Warped" + EndingOf(options);
}

void
RequireOutputNames(const RegisterOptions & options, const StageList & list)
{
  const Names written = ListWrittenFiles(options, list);
  for (auto name = written.begin(); name != written.end(); ++name)
  {
    if (IsAmong(*name, Names(name + 1, written.end())))
    {
      throw UsageError("'" + *name + "' is the name of two outputs");
    }
  }
  for (const std::string & file : { options.warped, options.inverseWarped })
  {
    if (!file.empty() && IsAmong(file, ListReadFiles(options, list)))
    {
      throw UsageError("'" + file + "' is an input: take another name for the output");
    }
  }
  RequireReplaceable(written);
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
  const Names read = ListReadFiles(options, list);
  Names       outdated;
  for (const std::string & name : names)
  {
    if (!IsAmong(options.output + name, read))
    {
      outdated.push_back(options.output + name);
    }
  }
  return outdated;
}
