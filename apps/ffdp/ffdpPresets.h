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
#ifndef ffdpPresets_h
#define ffdpPresets_h

#include "ffdpRegistration.h"

#include <string>
#include <vector>

/** The stages of a preset (fast, balanced, accurate) for images of the same or of different modalities, up to a kind of
 * transform (rigid, affine, deformable). */
std::vector<ffdp::RegistrationStage>
MakePreset(const std::string & preset, bool sameModality, const std::string & transform, bool withMoments);

#endif
