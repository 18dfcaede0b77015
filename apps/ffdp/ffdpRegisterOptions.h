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
#ifndef ffdpRegisterOptions_h
#define ffdpRegisterOptions_h

#include "ffdpStageOptions.h"

#include <string>
#include <vector>

/** What the user of `ffdp register` asked for. */
struct RegisterOptions
{
  std::string                fixed, moving, output;
  std::string                warped, inverseWarped;        ///< names of these images; empty: as the prefix says
  std::string                fixedMask, movingMask, masks; ///< masks: both, as [FIXED,MOVING]
  std::vector<std::string>   start;                        ///< --initial-moving-transform
  std::string                preset = "balanced", modality = "same";
  std::vector<std::string>   presetOptions; ///< names of those given that say something about presets
  std::vector<StageArgument> stages;        ///< in the order of the command line
  std::vector<std::string>   notes;         ///< what was accepted but means nothing here
  std::string                restrictDeformation, logJson, checkpoint;
  double                     checkpointSeconds = ffdp::RegistrationCheckpoint().seconds;
  std::string                device = "cpu";
  unsigned                   threads = 0;
  bool                       quiet = false, noMoments = false, composite = false, noReport = false;
  bool                       ignoreMemory = false, uncompressed = false;
};

/** Takes --output [PREFIX,WARPED,INVERSEWARPED] apart; a PREFIX alone stays as it is. Throws UsageError. */
void
ParseOutput(RegisterOptions & options);

/** The stages that the options ask for, one by one or as a preset, and the images that they compare. */
StageList
PlanStages(const RegisterOptions & options);

/** Throws UsageError if --restrict-deformation, or a level of --shrink-factors, has a number of numbers that does not
 * suit images of this size. */
void
RequireAxisWeights(const RegisterOptions & options, const ffdp::Extent & fixedSize);

#endif
