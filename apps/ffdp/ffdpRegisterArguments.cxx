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
#include "ffdpRegisterArguments.h"

#include "ffdpAntsOptions.h"
#include "ffdpSpacingOptions.h"

#include <map>

namespace
{

/** Options that can be given once per stage; what the user meant depends on their order. */
using StageOptions = std::map<const CLI::Option *, StageOption>;

StageOptions
AddStageOptions(CLI::App & command)
{
  StageOptions options;
  const auto   add = [&](const std::string & name, StageOption which, const std::string & help) {
    auto * option = command.add_option(name, help)->type_name("TEXT");
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(false)->group("Stages");
    options[option] = which;
  };
  add("-t,--transform",
      StageOption::Transform,
      "rigid, affine or deformable (the default): the preset up to that kind; or one stage, as in 'Rigid[0.25]'");
  add("--metric", StageOption::Metric, "As in 'CC[1,4]', 'MI[fixed.nii,moving.nii,1,32]' or 'MeanSquares'");
  add("-c,--convergence", StageOption::Convergence, "As in '[100x50x25,1e-3,10]' or 100x50x25");
  add("--shrink-factors", StageOption::ShrinkFactors, "As in 4x2x1, or of each axis as in '[4,4,1]x[2,2,1]x1'");
  add("-s,--smoothing-sigmas", StageOption::SmoothingSigmas, "As in 2x1x0vox or 2x1x0mm");
  return options;
}

std::vector<StageArgument>
CollectInOrder(const CLI::App & command, const StageOptions & options)
{
  std::vector<StageArgument>                 arguments;
  std::map<const CLI::Option *, std::size_t> seen;
  for (const CLI::Option * option : command.parse_order())
  {
    const auto known = options.find(option);
    if (known != options.end())
    {
      arguments.push_back({ known->second, option->results().at(seen[option]++) });
    }
  }
  return arguments;
}

} // namespace

void
AddProblemOptions(CLI::App &                               command,
                  const std::shared_ptr<RegisterOptions> & options,
                  const std::function<void()> &            run)
{
  command.add_option("-f,--fixed", options->fixed, "The image whose grid is kept");
  command.add_option("-m,--moving", options->moving, "The image that is brought to it");
  command.add_option("-p,--preset", options->preset, "fast, balanced or accurate")
    ->check(CLI::IsMember({ "fast", "balanced", "accurate" }))
    ->capture_default_str();
  command.add_option("--modality", options->modality, "same (T1 and T1) or different (T1 and T2, CT and MR)")
    ->check(CLI::IsMember({ "same", "different" }))
    ->capture_default_str();
  command.add_option("--fixed-mask", options->fixedMask, "Compare only where this is not 0; on the fixed grid");
  command.add_option("--moving-mask", options->movingMask, "Likewise on the moving grid");
  command.add_option("-x,--masks", options->masks, "Both, as [FIXED,MOVING]; NULL for none")->allow_extra_args(false);
  command.add_option("-r,--initial-moving-transform,--initial-transform",
                     options->start,
                     "Start from these, in the order of `ffdp apply`: FILE, [FILE,1] for the inverse, a warp first; or "
                     "from [FIXED,MOVING,N], or just [N], with N 0: middles of the images, 1: centers of mass, "
                     "2: origins");
  command.add_option("--restrict-deformation",
                     options->restrictDeformation,
                     "Weights of the fixed grid's axes in warps: 1x1x0 moves nothing along the third");
  command.add_flag("--no-moments", options->noMoments, "Start from where the files say the images are");
  command.add_option("--threads", options->threads, "0: all, or what ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS says");
  command.add_option("--device", options->device, "cpu, cuda or cuda:N (see `ffdp info`)")->capture_default_str();
  AddRegistrationSpacings(command, options);
  AddAntsOptions(command, options);
  const StageOptions stageOptions = AddStageOptions(command);
  command.footer(StageHelp);
  command.callback([options, &command, stageOptions, run] {
    for (const char * name : { "--preset", "--modality", "--no-moments" })
    {
      if (command.count(name) > 0)
      {
        options->presetOptions.emplace_back(name);
      }
    }
    options->stages = CollectInOrder(command, stageOptions);
    run();
  });
}
