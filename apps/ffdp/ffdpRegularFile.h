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
#ifndef ffdpRegularFile_h
#define ffdpRegularFile_h

#include <cstdio>
#include <memory>
#include <string>

/** Only regular files, or links to them, are read: a FIFO would let the program wait for ever, and a device has no end.
 * `what` names a file in messages, like "fixed image". All throw CommandError with the reason why it cannot be read. */
void
RequireRegularFile(const std::string & file, const std::string & what);

/** Does not wait, whatever the file has become meanwhile. The caller closes what it gets. */
int
OpenRegularFile(const std::string & file, const std::string & what);

struct FileClosing
{
  void
  operator()(std::FILE * file) const
  {
    std::fclose(file);
  }
};
using FilePointer = std::unique_ptr<std::FILE, FileClosing>;

FilePointer
OpenFileStream(const std::string & file, const std::string & what);

#endif
