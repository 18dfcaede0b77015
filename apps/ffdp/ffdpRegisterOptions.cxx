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
#include "ffdpRegisterOptions.h"

#include "ffdpCommandError.h"
#include "ffdpImageFiles.h"
#include "ffdpStageList.h"
#include "ffdpStageText.h"

#include <algorithm>

namespace
{

using Stage = ffdp::RegistrationStage;

/** Someone who gives ANTs' letters gets told, instead of reading that a file called 4x2x1 does not exist. */
void
RefuseLettersOfAnts(const RegisterOptions & options)
{
  if (options.fixed.find_first_not_of("0123456789x") == std::string::npos && !options.fixed.empty())
  {
    throw UsageError("-f '" + options.fixed + "': -f is the fixed image here; shrink factors are --shrink-factors");
  }
  if (options.moving.find('[') != std::string::npos)
  {
    throw UsageError("-m '" + options.moving + "': -m is the moving image here; metrics are --metric");
  }
}

StageList
PlanPreset(const RegisterOptions & options, const ImageNames & images)
{
  std::string transform = "deformable";
  for (const StageArgument & argument : options.stages)
  {
    if (argument.option != StageOption::Transform || options.stages.size() > 1)
    {
      throw UsageError("stages one by one need a --transform with brackets first, as in --transform 'Rigid[0.25]'");
    }
    transform = Trim(argument.value);
    if (transform != "rigid" && transform != "affine" && transform != "deformable")
    {
      throw UsageError("--transform '" + transform +
                       "': neither rigid, affine or deformable nor a stage with brackets like Rigid[0.25]");
    }
  }
  if (images.fixed.empty() || images.moving.empty())
  {
    throw UsageError("--fixed and --moving are needed");
  }
  using Preset = ffdp::StagePreset;
  Preset preset;
  preset.effort = options.preset == "fast"       ? Preset::Effort::Fast
                  : options.preset == "accurate" ? Preset::Effort::Accurate
                                                 : Preset::Effort::Balanced;
  preset.last = transform == "rigid"    ? Preset::Last::Rigid
                : transform == "affine" ? Preset::Last::Affine
                                        : Preset::Last::Deformable;
  preset.sameModality = options.modality == "same";
  preset.withMoments = !options.noMoments && options.start.empty();
  StageList list;
  list.stages = ffdp::MakeStages(preset);
  list.pairs = { images };
  return list;
}

} // namespace

void
ParseOutput(RegisterOptions & options)
{
  const Source source{ "--output", Trim(options.output) };
  if (source.text.empty() || source.text.front() != '[')
  {
    return;
  }
  if (source.text.back() != ']')
  {
    source.Refuse("the closing bracket is missing");
  }
  Words names = SplitList(source.text);
  if (names.size() > 3 || names[0].empty())
  {
    source.Refuse("is not [PREFIX], [PREFIX,WARPED] or [PREFIX,WARPED,INVERSEWARPED]");
  }
  names.resize(3);
  for (std::size_t i = 1; i < names.size(); ++i)
  {
    if (!names[i].empty() && !EndsWith(names[i], ".nii") && !EndsWith(names[i], ".nii.gz"))
    {
      source.Refuse("'" + names[i] + "' does not end in .nii or .nii.gz");
    }
  }
  options.output = names[0];
  options.warped = names[1];
  options.inverseWarped = names[2];
}

StageList
PlanStages(const RegisterOptions & options)
{
  RefuseLettersOfAnts(options);
  const ImageNames images{ options.fixed, options.moving };
  if (images.fixed.empty() != images.moving.empty())
  {
    throw UsageError("--fixed and --moving go together");
  }
  const bool oneByOne = std::any_of(options.stages.begin(), options.stages.end(), [](const StageArgument & argument) {
    return argument.option == StageOption::Transform && IsStage(argument.value);
  });
  if (oneByOne && !options.presetOptions.empty())
  {
    throw UsageError(options.presetOptions.front() +
                     " is about presets: it has no meaning with stages that are given one by one");
  }
  StageList list = oneByOne ? ParseStages(options.stages, images) : PlanPreset(options, images);
  list.notes.insert(list.notes.begin(), options.notes.begin(), options.notes.end());
  if (!options.restrictDeformation.empty())
  {
    const auto weights = ParseAxisWeights(options.restrictDeformation);
    if (std::none_of(list.stages.begin(), list.stages.end(), ffdp::IsDeformable))
    {
      throw UsageError("--restrict-deformation '" + options.restrictDeformation + "': no stage deforms");
    }
    for (Stage & stage : list.stages)
    {
      std::copy(weights.begin(), weights.end(), stage.axisWeight);
    }
  }
  return list;
}

void
RequireAxisWeights(const RegisterOptions & options, const ffdp::Extent & fixedSize)
{
  RequireAxisFactors(options.stages, fixedSize.z > 1 ? 3 : 2);
  if (!options.restrictDeformation.empty() && fixedSize.z > 1 && Split(options.restrictDeformation, 'x').size() < 3)
  {
    throw UsageError("--restrict-deformation '" + options.restrictDeformation +
                     "': the images are 3-D, so it needs three numbers, as in 1x1x0");
  }
}
