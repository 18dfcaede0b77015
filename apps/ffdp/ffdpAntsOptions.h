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
#ifndef ffdpAntsOptions_h
#define ffdpAntsOptions_h

#include "ffdpRegisterOptions.h"

#include <CLI/CLI.hpp>

#include <memory>

/** Options of antsRegistration that mean nothing here, or the same as one of ours under another name: a line that was
 * written for it need not be changed for them. What is ignored becomes a note. */
void
AddAntsOptions(CLI::App & command, const std::shared_ptr<RegisterOptions> & options);

#endif
