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
#include "ffdpMemory.h"

#include "ffdpCommandError.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>

namespace
{

constexpr double Unlimited = std::numeric_limits<double>::infinity();

double theNeededBytes = 0;

double
ReadNumber(const std::string & file)
{
  std::ifstream in(file);
  double        number = 0;
  return in >> number ? number : Unlimited; // "max", or no such file
}

/** The value of a line like "name 123 kB"; 0 if there is none. */
double
ReadField(const std::string & file, const std::string & name)
{
  std::ifstream in(file);
  std::string   line, word;
  while (std::getline(in, line))
  {
    std::istringstream words(line);
    double             value = 0;
    if (words >> word >> value && word == name)
    {
      return value;
    }
  }
  return 0;
}

/** What may still be taken in one folder of a cgroup. Pages of files are given back when they are needed. */
double
AvailableInFolder(const std::string & folder, const char * limitName, const char * usedName, const char * prefix)
{
  const double limit = ReadNumber(folder + "/" + limitName), used = ReadNumber(folder + "/" + usedName);
  if (limit == Unlimited || used == Unlimited)
  {
    return Unlimited;
  }
  const std::string statistics = folder + "/memory.stat";
  const double      files = ReadField(statistics, std::string(prefix) + "inactive_file") +
                       ReadField(statistics, std::string(prefix) + "active_file");
  return std::max(0.0, limit - std::max(0.0, used - files));
}

/** From the group of the process up to the root, as a limit of any of them holds. In a container, the root that it sees
 * is the group. */
double
AvailableInGroups(const std::string & root,
                  std::string         path,
                  const char *        limitName,
                  const char *        usedName,
                  const char *        prefix)
{
  double available = AvailableInFolder(root, limitName, usedName, prefix);
  for (; path.size() > 1; path.erase(path.rfind('/')))
  {
    available = std::min(available, AvailableInFolder(root + path, limitName, usedName, prefix));
  }
  return available;
}

double
AvailableInGroups()
{
  double        available = Unlimited;
  std::ifstream in("/proc/self/cgroup");
  std::string   line; // number:controllers:/path
  while (std::getline(in, line))
  {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos)
    {
      continue;
    }
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,")
    {
      available = std::min(available, AvailableInGroups("/sys/fs/cgroup", path, "memory.max", "memory.current", ""));
    }
    else if (controllers.find(",memory,") != std::string::npos)
    {
      available = std::min(
        available,
        AvailableInGroups("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"));
    }
  }
  return available;
}

/** What the process may still map by such a limit, which a column of /proc/self/statm counts against. */
double
AvailableBelow(decltype(RLIMIT_AS) resource, int column)
{
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
  {
    return Unlimited;
  }
  std::ifstream in("/proc/self/statm");
  double        pages = 0;
  for (int i = 0; i <= column; ++i)
  {
    in >> pages;
  }
  return std::max(0.0, double(limit.rlim_cur) - pages * double(sysconf(_SC_PAGE_SIZE)));
}

double
Sum(const MemoryItems & items)
{
  return std::accumulate(
    items.begin(), items.end(), 0.0, [](double sum, const MemoryItem & item) { return sum + item.bytes; });
}

} // namespace

double
AvailableBytes()
{
  constexpr int Size = 0, Data = 5; // columns of statm
  const double  machine = ReadField("/proc/meminfo", "MemAvailable:");
  return std::min({ machine > 0 ? 1024 * machine : Unlimited,
                    AvailableInGroups(),
                    AvailableBelow(RLIMIT_AS, Size),
                    AvailableBelow(RLIMIT_DATA, Data) });
}

const MemoryItems &
MemoryNeed::Peak() const
{
  static const MemoryItems none;
  const auto               most = std::max_element(
    phases.begin(), phases.end(), [](const MemoryItems & a, const MemoryItems & b) { return Sum(a) < Sum(b); });
  return most == phases.end() ? none : *most;
}

double
MemoryNeed::Bytes() const
{
  return Sum(this->Peak());
}

void
RequireMemory(const MemoryNeed & need, const CommonOptions & options)
{
  const double needed = need.Bytes(), available = AvailableBytes();
  KeepNeededBytes(needed);
  if (needed <= available || options.ignoreMemory)
  {
    return;
  }
  const MemoryItems & items = need.Peak();
  const auto          largest = std::max_element(items.begin(), items.end(), [](const auto & a, const auto & b) {
    return (a.name.empty() ? -1 : a.bytes) < (b.name.empty() ? -1 : b.bytes);
  });
  const std::string   free = Megabytes(available) + " are free; --ignore-memory runs it all the same";
  if (largest == items.end() || largest->name.empty())
  {
    throw CommandError("ffdp " + NameOfCommand() + " needs " + Megabytes(needed) + " of memory, and " + free);
  }
  throw CommandError(largest->name + " needs " + Megabytes(largest->bytes) + ", ffdp " + NameOfCommand() + " " +
                     Megabytes(needed) + " in all, and " + free);
}

void
KeepNeededBytes(double bytes)
{
  theNeededBytes = bytes;
}

std::string
DescribeLackOfMemory()
{
  const std::string name = NameOfCommand().empty() ? std::string() : " for ffdp " + NameOfCommand();
  const std::string start = "there is not enough memory" + name;
  return theNeededBytes > 0 ? start + ", which was estimated to need " + Megabytes(theNeededBytes) + ": " +
                                Megabytes(AvailableBytes()) + " are free now"
                            : start + ": " + Megabytes(AvailableBytes()) + " are free now";
}

std::string
Megabytes(double bytes)
{
  char text[32];
  std::snprintf(text, sizeof(text), bytes < 99.95e6 ? "%.1f MB" : "%.0f MB", bytes / 1e6);
  return text;
}
