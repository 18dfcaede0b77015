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

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace
{

/** A regular file that is open, and its size. */
struct OpenFile
{
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> stream{ nullptr, std::fclose };
  std::size_t                                      size = 0;
};

[[noreturn]] void
ThrowUnopened(const std::string & name)
{
  throw CommandError(name + (errno == ENOENT || errno == ENOTDIR
                               ? " does not exist"
                               : " cannot be opened: " + std::string(std::strerror(errno))));
}

OpenFile
Open(const std::string & file, const std::string & what)
{
  const std::string name = what + " '" + file + "'";
  // a pipe would have to be written to until it is open
  const int descriptor = open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0)
  {
    ThrowUnopened(name);
  }
  OpenFile opened;
  opened.stream.reset(fdopen(descriptor, "rb"));
  struct stat status = {};
  if (!opened.stream || fstat(descriptor, &status) != 0)
  {
    ThrowUnopened(name);
  }
  if (S_ISDIR(status.st_mode))
  {
    throw CommandError(name + " is a folder, not a file");
  }
  if (!S_ISREG(status.st_mode))
  {
    throw CommandError(name + " is not a regular file (a pipe or a device cannot be read here)");
  }
  opened.size = std::size_t(status.st_size);
  return opened;
}

} // namespace

void
RequireRegularFile(const std::string & file, const std::string & what)
{
  Open(file, what);
}

std::string
ReadFileBytes(const std::string & file, const std::string & what)
{
  constexpr std::size_t Largest = std::size_t(1) << 30;
  const OpenFile        opened = Open(file, what);
  if (opened.size > Largest)
  {
    throw CommandError(what + " '" + file + "' has " + std::to_string(opened.size) +
                       " bytes: no file of this kind is so large");
  }
  std::string bytes(opened.size, '\0');
  if (std::fread(&bytes[0], 1, bytes.size(), opened.stream.get()) != bytes.size())
  {
    throw CommandError(what + " '" + file + "' cannot be read: " +
                       (std::ferror(opened.stream.get()) ? std::strerror(errno) : "it became shorter meanwhile"));
  }
  return bytes;
}
