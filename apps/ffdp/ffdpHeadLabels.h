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
#ifndef ffdpHeadLabels_h
#define ffdpHeadLabels_h

#include "ffdpLabelSource.h"

/** As in FreeSurfer and, from 500 on, in SynthSeg. For what has two sides, that on the left. */
enum LabelName : LabelSource::Label
{
  Air = 0,
  WhiteMatter = 2,
  Cortex = 3,
  LateralVentricle = 4,
  CerebellarWhiteMatter = 7,
  CerebellarCortex = 8,
  ThalamusLabel = 10,
  CaudateLabel = 11,
  PutamenLabel = 12,
  PallidumLabel = 13,
  ThirdVentricle = 14,
  FourthVentricle = 15,
  BrainStem = 16,
  HippocampusLabel = 17,
  AmygdalaLabel = 18,
  Fluid = 24,
  Eye = 506,
  SoftTissue = 507,
  Skin = 511,
  CompactBone = 515,
  SpongyBone = 516
};

/** From a label on the left to that on the right: 2 to 41, 17 to 53. */
constexpr LabelSource::Label RightOfCerebrum = 39, RightOfLimbic = 36;

#endif
