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

#include "ffdpTemporaryFiles.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

class Leftover;

/** One name of an exchange. */
struct ExchangeStep
{
  std::size_t folder = 0; ///< the private folder beside it, counted from that of the journal
  std::string temporary;  ///< the new file there; none if the old one goes without a successor
  std::string name;       ///< of the file, without its folder
  std::string before;     ///< what had this name when the exchange began; ExchangeFiles() finds out
};

/** New files that take the place of old ones, all or none. */
struct FileExchange
{
  std::string               run;     ///< as the private folders say it
  std::vector<std::string>  folders; ///< private ones, as absolute paths; the first has the journal
  std::vector<ExchangeStep> steps;
};

/** Old files first go aside, then new ones get their names: at no moment are some of the old seen together with some of
 * the new. If one of them fails, all old ones come back and CommandError is thrown; the new ones then have their
 * temporary names.
 *
 * File systems rename one file at a time. What is to be done is in a journal in the first private folder meanwhile, so
 * that what a process began that was killed in between can be finished. */
void
ExchangeFiles(FileExchange exchange, const std::vector<std::unique_ptr<PrivateFolder>> & folders);

/** Gives new files the names that they did not get, and removes the journal. It counts only if it lies in a private
 * folder of this user (that is what a Leftover is), is a regular file of this user with one name, is whole, and is of
 * the run that made this folder. It names files of the folder beside that; and those beside other private folders of
 * the same run and user, whose locks are free, too. A file stays that has come to one of the names since.
 *
 * Returns false, with a warning, if the journal is damaged. Throws CommandError if it cannot be finished. */
bool
FinishExchange(const Leftover & leftover, const PrivateFolder & own);

/** Of a journal, in a private folder. */
std::string
JournalName();

std::string
WriteJournal(const FileExchange & exchange);

/** Nothing if it is damaged, or names files in other folders than those that it may. */
std::optional<FileExchange>
ParseJournal(const std::string & bytes);

std::uint64_t
HashOf(const std::string & text);

#endif
