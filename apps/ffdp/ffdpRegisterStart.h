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
#ifndef ffdpRegisterStart_h
#define ffdpRegisterStart_h

#include "ffdpRegisterInputs.h"

/** What --initial-moving-transform says. */

/** The file of the displacement field that stands first; empty if there is none. */
std::string
FindStartWarp(const RegisterOptions & options);

/** Whether the start has a warp: such a field, or a composite transform with one. */
bool
StartsFromWarp(const RegisterOptions & options);

/** Fills the start of `inputs`, whose images are there. All ranks make the call. */
void
ReadStart(const RegisterOptions & options, ffdp::Communicator & communicator, RegisterInputs & inputs);

#endif
