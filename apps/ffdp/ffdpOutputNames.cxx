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
#include "ffdpOutputNames.h"

#include "ffdpCommandError.h"
#include "ffdpDataFiles.h"
#include "ffdpStageText.h"
#include "ffdpTemporaryFiles.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace fs = std::filesystem;

namespace
{

/** Whether this is a name in the folder of all that this process has open. */
bool
IsOpenFile(const fs::path & file)
{
  std::error_code ignored;
  const fs::path  open = fs::canonical("/proc/self/fd", ignored);
  return !open.empty() && fs::canonical(fs::absolute(file, ignored).parent_path(), ignored) == open;
}

} // namespace

/** Not further than to what is open: such links need not hold a name, and a new file would not be what is open. */
std::string
FollowLinks(const std::string & file)
{
  constexpr int MostLinks = 40; // Linux follows no more
  fs::path      end = file;
  for (int links = 0; links < MostLinks && !IsOpenFile(end); ++links)
  {
    std::error_code error;
    const fs::path  next = fs::read_symlink(end, error);
    if (error)
    {
      break;
    }
    end = end.parent_path() / next;
  }
  return end.string();
}

int
DescriptorOf(const std::string & file)
{
  const fs::path    end = FollowLinks(file);
  const std::string number = end.filename().string();
  const bool        isNumber = !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
  return isNumber && IsOpenFile(end) ? std::atoi(number.c_str()) : -1;
}

bool
IsStream(const std::string & file)
{
  std::error_code ignored;
  const auto      status = fs::status(file, ignored);
  return fs::is_character_file(status) || fs::is_fifo(status) || DescriptorOf(file) >= 0;
}

bool
IsOneFile(const std::string & a, const std::string & b)
{
  std::error_code ignored;
  const auto      place = [&](const std::string & file) {
    return fs::weakly_canonical(fs::absolute(FollowLinks(file), ignored), ignored);
  };
  return fs::equivalent(a, b, ignored) || place(a) == place(b);
}

bool
IsAmong(const std::string & file, const std::vector<std::string> & names)
{
  return std::any_of(names.begin(), names.end(), [&](const std::string & name) { return IsOneFile(file, name); });
}

std::vector<std::string>
ListNamedFiles(const std::vector<std::string> & texts)
{
  std::vector<std::string> files;
  for (const std::string & text : texts)
  {
    Words names = SplitList(text);
    names.push_back(Trim(text)); // brackets and commas may be part of a name
    for (const std::string & name : names)
    {
      std::error_code ignored;
      if (fs::exists(name, ignored))
      {
        const std::vector<std::string> data = ListDataFiles(name);
        files.push_back(name);
        files.insert(files.end(), data.begin(), data.end());
      }
    }
  }
  return files;
}

void
RequireOwnNames(const std::vector<std::string> & outputs, const std::vector<std::string> & inputs)
{
  const std::vector<std::string> read = ListNamedFiles(inputs);
  for (auto file = outputs.begin(); file != outputs.end(); ++file)
  {
    if (file->empty() || IsStream(*file))
    {
      continue;
    }
    if (IsAmong(*file, read))
    {
      throw UsageError("'" + *file + "' is an input: take another name for the output");
    }
    if (IsAmong(*file, std::vector<std::string>(outputs.begin(), file)))
    {
      throw UsageError("'" + *file + "' is the name of two outputs");
    }
  }
}

void
RequireReplaceable(const std::vector<std::string> & files)
{
  for (const std::string & file : files)
  {
    std::error_code ignored;
    const auto      status = fs::symlink_status(FollowLinks(file), ignored);
    if (fs::is_directory(status) || fs::path(file).filename().empty())
    {
      throw CommandError("'" + file + "' is a folder, so that no file of this name can be written");
    }
    if (fs::exists(status) && !fs::is_regular_file(status))
    {
      throw CommandError("'" + file + "' is a device, a pipe or the like, which a file would replace: " +
                         "take another name for the output");
    }
  }
}

void
RequireWritableFile(const std::string & file)
{
  RequireReplaceable({ file });
  const fs::path target = FollowLinks(file);
  MakePrivateFolder(file, target)->RequireName(target.filename().string(), file);
}

void
RequireWritableText(const std::string & file)
{
  if (!IsStream(file))
  {
    RequireWritableFile(file);
  }
  else if (DescriptorOf(file) < 0 && access(file.c_str(), W_OK) != 0) // what is open needs no permission
  {
    throw CommandError("'" + file + "' is not writable: " + std::strerror(errno));
  }
}
