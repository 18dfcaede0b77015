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
#ifndef ffdpCommandError_h
#define ffdpCommandError_h

#include <stdexcept>
#include <string>

/** What a user can put right: the program prints the text as one line and ends with a code other than 0. */
class CommandError : public std::runtime_error
{
public:
  explicit CommandError(const std::string & text)
    : std::runtime_error(text)
  {}
};

/** What is wrong with the options themselves, whatever is in the files: the code is that of wrong usage. */
class UsageError : public CommandError
{
public:
  using CommandError::CommandError;
};

#endif
