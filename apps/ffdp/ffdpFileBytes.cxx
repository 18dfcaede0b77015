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
#include "ffdpFileBytes.h"

#include "ffdpCommandError.h"
#include "ffdpRegularFile.h"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>

std::string
ReadFileBytes(const std::string & file, const std::string & what)
{
  constexpr std::size_t Largest = std::size_t(1) << 30;
  const FilePointer     stream = OpenFileStream(file, what);
  struct stat           status = {};
  const std::size_t     size = fstat(fileno(stream.get()), &status) == 0 ? std::size_t(status.st_size) : 0;
  if (size > Largest)
  {
    throw CommandError(what + " '" + file + "' has " + std::to_string(size) +
                       " bytes: no file of this kind is so large");
  }
  std::string bytes(size, '\0');
  if (std::fread(&bytes[0], 1, size, stream.get()) != size)
  {
    throw CommandError(what + " '" + file + "' cannot be read: " +
                       (std::ferror(stream.get()) ? std::strerror(errno) : "it became shorter meanwhile"));
  }
  return bytes;
}
