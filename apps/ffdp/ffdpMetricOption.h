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
#ifndef ffdpMetricOption_h
#define ffdpMetricOption_h

#include "ffdpStageOptions.h"
#include "ffdpStageText.h"

/** A --metric, as in CC[fixed.nii,moving.nii,1,4], CC[1,4] or CC[1,4,power=1]. Adds pairs that it names and notes to
 * the list. */
ffdp::RegistrationMetric
ParseMetric(const Source & source, StageList & list);

#endif
