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
#ifndef ffdpTemporaryFiles_h
#define ffdpTemporaryFiles_h

#include <string>

/** Names for files that are not complete yet: hidden, beside those that they will be, with the machine and the process
 * in them, so that what a killed process left is known for it. */

std::string
TemporaryName(const std::string & target);

/** Removes what processes of this machine that are gone left for names that begin with `start`. Of processes on other
 * machines, which may share the folder, nothing is known. A set of files that was complete, and was getting its names
 * when the process was killed, gets the rest of them first (see ffdpFileExchange.h).
 *
 * ofOwnNumber: also what has the number of this process, which wrote nothing yet: in containers, all have the same. */
void
RemoveLeftovers(const std::string & start, bool ofOwnNumber);

#endif
