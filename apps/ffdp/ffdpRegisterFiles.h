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
#ifndef ffdpRegisterFiles_h
#define ffdpRegisterFiles_h

#include "ffdpRegisterOptions.h"

/** The names of the files of `ffdp register`. */

/** Of the moving image on the fixed grid, or of the fixed one on the moving grid. */
std::string
NameOfWarped(const RegisterOptions & options, bool forward);

/** All that a run reads and that is there. */
std::vector<std::string>
ListReadFiles(const RegisterOptions & options, const StageList & list);

/** Throws UsageError if two outputs have one name, or one has that of an input. */
void
RequireOutputNames(const RegisterOptions & options, const StageList & list);

/** Throws CommandError unless all files can be written where they, or links of their names, lead. */
void
RequireWritableOutputs(const RegisterOptions & options, const StageList & list);

/** Files of an earlier run of the same prefix that would not belong to this one, unless it reads them or logs
 * to them. Of a folder as a
 * prefix, only those whose names nobody else would choose. */
std::vector<std::string>
ListOutdatedFiles(const RegisterOptions & options, const StageList & list);

#endif
