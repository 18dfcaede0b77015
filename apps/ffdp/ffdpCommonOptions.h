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
#ifndef ffdpCommonOptions_h
#define ffdpCommonOptions_h

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>

/** What every command takes. */
struct CommonOptions
{
  unsigned threads = 0;          ///< 0: all
  bool     quiet = false;        ///< print nothing but errors and what was asked for, like the figures of `evaluate`
  bool     ignoreMemory = false; ///< run even if the memory that is free will not do
};

/** Adds a command with the options that all commands share: --threads, --quiet, --ignore-memory, --help and --version.
 * `run` is called when all options are parsed and threads are ready. The options live as long as the program. */
CLI::App *
AddCommand(CLI::App &                             program,
           const std::string &                    name,
           const std::string &                    description,
           const std::shared_ptr<CommonOptions> & options,
           const std::function<void()> &          run);

/** The command that runs, or nothing. */
const std::string &
NameOfCommand();

/** Prints a line that begins with "ffdp: warning: " to standard error, unless the command is to be quiet. */
void
Warn(const CommonOptions & options, const std::string & text);

#endif
