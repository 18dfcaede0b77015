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
#ifndef ffdpSpacingOptions_h
#define ffdpSpacingOptions_h

#include "ffdpRegisterOptions.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

/** Adds an option like --spacing, which says how large the voxels of some files are; `whose` names them in the help.
 * `files` is called when all options have been parsed. */
CLI::Option *
AddSpacingOption(CLI::App &                                        command,
                 const std::string &                               name,
                 const std::string &                               whose,
                 const std::function<std::vector<std::string>()> & files);

/** The same for the images of a registration and their masks: --spacing for all, or --fixed-spacing and
 * --moving-spacing. */
void
AddRegistrationSpacings(CLI::App & command, const std::shared_ptr<RegisterOptions> & options);

/** Prints to standard error what was noted about the voxels of files, unless the command that ran has --quiet. */
void
PrintSpacingNotes(const CLI::App & program);

#endif
