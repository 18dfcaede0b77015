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
#ifndef ffdpOutputNames_h
#define ffdpOutputNames_h

#include <string>
#include <vector>

/** The names of outputs: what is there already, and what may be written there. A file is replaced as a whole; a
 * symbolic link stays, and the file that it leads to is replaced. Nothing takes the place of what is no file. */

/** The name of the file that is written: where links lead, also if nothing is there yet. */
std::string
FollowLinks(const std::string & file);

/** N for /dev/fd/N and for links to it like /dev/stdout: the file that this process has open. -1 for other names. */
int
DescriptorOf(const std::string & file);

/** Whether bytes go to what takes them one after the other: a device, a pipe or what this process has open. */
bool
IsStream(const std::string & file);

/** Whether two names stand for one file, which need not be there. */
bool
IsOneFile(const std::string & a, const std::string & b);
bool
IsAmong(const std::string & file, const std::vector<std::string> & names);

/** The files, among those that are there, which options name: FILE, [FILE,1], [FILE,FILE]. */
std::vector<std::string>
ListNamedFiles(const std::vector<std::string> & texts);

/** Throws UsageError if two outputs are one file, or one of them is a file that the options of inputs name: it would
 * be lost. Empty names do not count. */
void
RequireOwnNames(const std::vector<std::string> & outputs, const std::vector<std::string> & inputs);

/** Throws CommandError if something that no file can replace has one of these names: a folder, a device, a pipe. */
void
RequireReplaceable(const std::vector<std::string> & files);

/** Throws CommandError unless this file can be written, as a whole. Tries it: a file is made in its folder, which is made
 * if it is missing, and all is removed again. */
void
RequireWritableFile(const std::string & file);

/** The same for a text, which may also go to a stream. */
void
RequireWritableText(const std::string & file);

#endif
