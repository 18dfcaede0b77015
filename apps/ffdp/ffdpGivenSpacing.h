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
#ifndef ffdpGivenSpacing_h
#define ffdpGivenSpacing_h

#include <functional>
#include <string>
#include <vector>

/** Sizes of voxels that the command line gives for some files, in place of what is in them. Whoever reads a header
 * asks here, so that they need not be handed from function to function. */

struct GivenSpacing
{
  std::string         option, text; ///< as in --spacing, 0.65x0.65x2um
  std::vector<double> mm;           ///< per axis
};

/** Takes 0.65x0.65x2um apart: two or three numbers above 0, and their unit if it is not mm. Throws UsageError. */
GivenSpacing
ParseSpacing(const std::string & option, const std::string & text);

/** `files` names the files that it is for; it is asked when the first header is read, when all options are known. */
void
GiveSpacing(const GivenSpacing & spacing, const std::function<std::vector<std::string>()> & files);

/** What was given for a file, or an empty list. Throws UsageError if two options give it different sizes. */
GivenSpacing
FindGivenSpacing(const std::string & file);

/** Keeps a sentence about the voxels of a file for the user, once: headers are read several times. */
void
AddSpacingNote(const std::string & note);

/** The sentences since the last call. */
std::vector<std::string>
TakeSpacingNotes();

#endif
