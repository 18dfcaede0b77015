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
#include "ffdpRegularFile.h"

#include "ffdpCommandError.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace
{

/** Why a file of this kind is not read; nothing for a regular one. */
const char *
WhyNotRead(mode_t mode)
{
  switch (mode & S_IFMT)
  {
    case S_IFREG:
      return nullptr;
    case S_IFDIR:
      return "is a folder, not a file";
    case S_IFIFO:
      return "is a pipe, and only regular files are read";
    case S_IFSOCK:
      return "is a socket, and only regular files are read";
    default:
      return "is a device, and only regular files are read";
  }
}

[[noreturn]] void
ThrowReason(const std::string & file, const std::string & what, int reason)
{
  const std::string name = what + " '" + file + "' ";
  throw CommandError(reason == ENOENT || reason == ENOTDIR ? name + "does not exist"
                                                           : name + "cannot be opened: " + std::strerror(reason));
}

} // namespace

void
RequireRegularFile(const std::string & file, const std::string & what)
{
  close(OpenRegularFile(file, what));
}

int
OpenRegularFile(const std::string & file, const std::string & what)
{
  struct stat status = {};
  if (stat(file.c_str(), &status) != 0) // before it is opened: what a device does then is its own affair
  {
    ThrowReason(file, what, errno);
  }
  const char * why = WhyNotRead(status.st_mode);
  const int    handle = why ? -1 : open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (!why && handle < 0)
  {
    ThrowReason(file, what, errno);
  }
  if (!why && fstat(handle, &status) == 0)
  {
    why = WhyNotRead(status.st_mode);
  }
  if (why)
  {
    if (handle >= 0)
    {
      close(handle);
    }
    throw CommandError(what + " '" + file + "' " + why);
  }
  return handle;
}

FilePointer
OpenFileStream(const std::string & file, const std::string & what)
{
  const int   handle = OpenRegularFile(file, what);
  FilePointer stream(fdopen(handle, "rb"));
  if (!stream)
  {
    const int reason = errno;
    close(handle);
    ThrowReason(file, what, reason);
  }
  return stream;
}
