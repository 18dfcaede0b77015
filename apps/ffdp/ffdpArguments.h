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
#ifndef ffdpArguments_h
#define ffdpArguments_h

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

/** Checks the arguments of a command, and returns them as --name=value for CLI11, one value each, in reverse, as it
 * wants them. CLI11 would take [FILE,1] for a list of two, an option for a value, the name of a command for its end,
 * and names no option in some of its messages; what it gets from here it cannot misunderstand.
 *
 * A value that begins with '-' is a number, or a lone '-'; a file of such a name is ./-name, or is given as
 * --option=-name. Throws UsageError, which names the option, the value and what can be done. `arguments` are those
 * after the name of the program. */
std::vector<std::string>
ReadArguments(CLI::App & program, const std::vector<std::string> & arguments);

/** Where help is: " (see ffdp apply --help)". */
std::string
HelpHint(const std::string & command);

#endif
