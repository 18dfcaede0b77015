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
#ifndef ffdpCommandLine_h
#define ffdpCommandLine_h

#include <string>
#include <vector>

/** Keeps the command line for those who want to tell it, and returns its arguments. */
std::vector<std::string>
KeepCommandLine(int argc, char ** argv);

/** The command as it can be typed into a shell. */
const std::string &
GetCommandLine();

#endif
