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
#ifndef ffdpRegisterArguments_h
#define ffdpRegisterArguments_h

#include "ffdpRegisterOptions.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>

/** Adds a command with the options that say what is to be registered and how, for those that run it or plan it; `run`
 * is called when all have been parsed. */
CLI::App *
AddRegistrationCommand(CLI::App &                               program,
                       const std::string &                      name,
                       const std::string &                      description,
                       const std::shared_ptr<RegisterOptions> & options,
                       const std::function<void()> &            run);

#endif
