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
#ifndef ffdpRegisterOutputs_h
#define ffdpRegisterOutputs_h

#include "ffdpRegisterInputs.h"

/** Writes the transforms and the images seen through them, and gives the warps' memory back on the way. All ranks make
 * the call. */
void
WriteRegistration(const RegisterOptions &    options,
                  ffdp::RegistrationResult & result,
                  const RegisterInputs &     inputs,
                  ffdp::Backend &            backend,
                  ffdp::Communicator &       communicator);

#endif
