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
#ifndef ffdpUsage_h
#define ffdpUsage_h

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

/** What is wrong where the options of a command do not fit together: each by itself was found good by ReadArguments().
 */
std::string
DescribeUsageError(const CLI::App & program, const CLI::ParseError & error);

/** Where no command was recognized. */
std::string
DescribeMissingCommand(const CLI::App & program, const std::vector<std::string> & arguments);

/** Of the names, the one that a misspelt word is nearest to; empty if none is near. */
std::string
FindNearest(const std::string & word, const std::vector<std::string> & names);

#endif
