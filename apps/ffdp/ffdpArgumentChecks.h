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
#ifndef ffdpArgumentChecks_h
#define ffdpArgumentChecks_h

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

/** Why a text is no value of a type that CLI11 names, or nothing. A range is for what the option checks. */
std::string
FindFault(const std::string & type, const std::string & text);

/** For CLI::Option::check(): numbers within bounds. Whatever an option checks, what is not a finite number is refused
 * by ReadArguments() where one is expected. */
CLI::Validator
NumberBetween(double least, double most);
CLI::Validator
NumberAtLeast(double least);

/** Likewise: one of these words. */
CLI::Validator
OneOf(const std::vector<std::string> & words);

#endif
