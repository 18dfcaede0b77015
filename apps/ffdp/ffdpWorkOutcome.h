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
#ifndef ffdpWorkOutcome_h
#define ffdpWorkOutcome_h

#include <functional>
#include <string>

/** How work ended. A process sends it as one character, with a text behind it. */
enum class WorkEnding : char
{
  Began = 'b', ///< the process is there; not its end
  Result = 'r',
  Reason = 'x', ///< of any exception that is not told below
  Memory = 'm',
  Error = 'e', ///< CommandError
  Usage = 'u',
  Stopped = 's'
};

/** The result of work, or why there is none. */
struct WorkOutcome
{
  WorkEnding  ending = WorkEnding::Began;
  std::string text;
};

/** Does the work, and catches whatever a library may throw. */
WorkOutcome
DoWork(const std::function<std::string()> & work);

/** The result, or an exception with the reason why there is none; `failure` begins the message where that is not one of
 * the program itself, like "image 'a.nii' cannot be read". */
std::string
TakeResult(WorkOutcome & outcome, const std::string & failure);

#endif
