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
#ifndef ffdpStageList_h
#define ffdpStageList_h

#include "ffdpRegistration.h"

#include <string>
#include <vector>

namespace ffdp
{

/** Sequences of stages that need no choice but how long to look. */
struct StagePreset
{
  enum class Effort
  {
    Fast, ///< linear stages stop a level earlier, and the deformable one does two iterations at full resolution
    Balanced,
    Accurate ///< more iterations, and for one modality windows of two sizes
  };
  enum class Last ///< the kind of transform that is looked for, and all before it
  {
    Rigid,
    Affine,
    Deformable
  };

  Effort effort = Effort::Balanced;
  Last   last = Last::Deformable;
  bool   sameModality = true; ///< local correlation; otherwise mutual information
  bool   withMoments = true;
};

/** Moments, rigid, affine and greedy, as far as the preset asks for them. The default is what is run when nobody says
 * what to run. */
FFDP_EXPORT std::vector<RegistrationStage>
            MakeStages(const StagePreset & preset = {});

/** "4", or "[4,4,1]". */
FFDP_EXPORT std::string
            DescribeFactor(const ShrinkFactor & factor);

/** A stage in one line, for logs. */
FFDP_EXPORT std::string
            DescribeStage(const RegistrationStage & stage);

inline bool
IsDeformable(const RegistrationStage & stage)
{
  return stage.kind == RegistrationStage::Kind::Greedy || stage.kind == RegistrationStage::Kind::SyN;
}

} // namespace ffdp

#endif
