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
#ifndef ffdpFileExchange_h
#define ffdpFileExchange_h

#include <string>
#include <utility>
#include <vector>

/** New files that take the place of old ones, all or none. */
struct FileExchange
{
  std::vector<std::pair<std::string, std::string>> arriving; ///< their temporary names and those that they get
  std::vector<std::string>                         leaving;  ///< what goes and has no successor
};

/** Old files first go aside, then new ones get their names: at no moment are some of the old seen together with some of
 * the new. If one of them fails, all old ones come back and CommandError is thrown; the new ones then have their
 * temporary names.
 *
 * File systems rename one file at a time. What is to be done is in the file `journal` meanwhile, so that what a process
 * began that was killed in between can be finished. */
void
ExchangeFiles(const FileExchange & exchange, const std::string & journal);

/** The name of the journal for files that begin with a prefix. */
std::string
JournalName(const std::string & prefix);
bool
IsJournal(const std::string & file);

/** Gives new files the names that they did not get, and removes the journal. */
void
FinishExchange(const std::string & journal);

#endif
