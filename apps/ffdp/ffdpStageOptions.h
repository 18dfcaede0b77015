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
#ifndef ffdpStageOptions_h
#define ffdpStageOptions_h

#include "ffdpRegistration.h"

#include <array>
#include <string>
#include <vector>

/** Stages in the form that antsRegistration made known: --transform begins a stage, and the options --metric,
 * --convergence, --shrink-factors and --smoothing-sigmas that follow belong to it.
 *
 *   --transform Rigid[0.1] --metric MI[fixed.nii,moving.nii,1,32] --convergence [100x50,1e-3,10]
 *               --shrink-factors 4x2 --smoothing-sigmas 2x1vox
 */
enum class StageOption
{
  Transform,
  Metric,
  Convergence,
  ShrinkFactors,
  SmoothingSigmas
};

struct StageArgument
{
  StageOption option;
  std::string value;
};

/** The files of a pair of images. */
struct ImageNames
{
  std::string fixed, moving;
};

struct StageList
{
  std::vector<ffdp::RegistrationStage> stages;
  std::vector<ImageNames>              pairs; ///< what RegistrationMetric::pair counts
  std::vector<std::string>             notes; ///< what was accepted but means nothing here
};

/** A word with brackets, like Rigid[0.1], is a stage; without, it names a sequence of stages (rigid, affine,
 * deformable). */
bool
IsStage(const std::string & transform);

/** The stages, in the order of the arguments. `images` are the pair that a metric without names compares; if it has
 * none, the first pair that a metric names takes its place. Throws CommandError. */
StageList
ParseStages(const std::vector<StageArgument> & arguments, const ImageNames & images);

/** Throws CommandError if shrink factors of axes, as in [4,4,1], are more or fewer than the images have axes. */
void
RequireAxisFactors(const std::vector<StageArgument> & arguments, int dimension);

/** A weight for each axis: 1x1x0 or 1x0. */
std::array<double, 3>
ParseAxisWeights(const std::string & text);

/** How to write stages, for the help. */
extern const char * const StageHelp;

#endif
