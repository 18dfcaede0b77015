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
#ifndef ffdpAgreement_h
#define ffdpAgreement_h

#include "ffdpCommunicator.h"

#include <functional>
#include <string>

/** What all ranks know or fail at together. Every function here is called by all ranks. */

/** The text that rank 0 has, on all ranks. */
std::string
TakeFromFirst(ffdp::Communicator & communicator, const std::string & text);

/** The first rank whose text is not that of rank 0; 0 if all have the same. */
int
FindOther(ffdp::Communicator & communicator, const std::string & text);

/** Throws CommandError on all ranks if one of them has a text that says what went wrong: that of the first which has.
 */
void
AgreeOnError(ffdp::Communicator & communicator, const std::string & error);

/** Calls `work` on all ranks. If it throws on one, all throw CommandError with the same text. What `work` does must not
 * need other ranks after a point where it may throw. One rank alone throws what `work` throws. */
void
DoTogether(ffdp::Communicator & communicator, const std::function<void()> & work);

/** The same for work that is that of rank 0 alone; the others wait. */
void
DoOnFirst(ffdp::Communicator & communicator, const std::function<void()> & work);

#endif
