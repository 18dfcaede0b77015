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
#include "ffdpRunLog.h"

#include "ffdpCommandError.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace
{

/** Memory that the program holds now. */
double
ResidentMegabytes()
{
  std::ifstream in("/proc/self/statm");
  double        all = 0, resident = 0;
  in >> all >> resident; // pages
  return resident * double(sysconf(_SC_PAGE_SIZE)) / 1e6;
}

} // namespace

double
PeakMegabytes()
{
  // Not getrusage(): what it tells begins with the peak of the program that started this one.
  std::ifstream in("/proc/self/status");
  std::string   line;
  const char    name[] = "VmHWM:";
  double        kilobytes = 0;
  while (std::getline(in, line))
  {
    if (line.compare(0, sizeof(name) - 1, name) == 0)
    {
      kilobytes = std::stod(line.substr(sizeof(name) - 1));
    }
  }
  return 1024 * kilobytes / 1e6; // what /proc calls kB are 1024 bytes
}

RunLog::RunLog(const std::string & file)
  : m_Name(file)
  , m_Start(std::chrono::steady_clock::now())
{
  if (!file.empty())
  {
    m_File.open(file);
    if (!m_File)
    {
      throw CommandError("the log '" + file + "' cannot be written: " + std::strerror(errno));
    }
  }
}

void
RunLog::Add(const ffdp::RegistrationProgress & progress, double secondsLeft)
{
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - m_Start;
  m_Iterations.push_back({ progress, passed.count(), PeakMegabytes() });
  if (m_Name.empty())
  {
    return;
  }
  nlohmann::ordered_json line;
  line["stage"] = progress.stage;
  line["name"] = progress.stageName;
  line["level"] = progress.level;
  line["size"] = { progress.levelSize.x, progress.levelSize.y, progress.levelSize.z };
  line["iteration"] = progress.iteration;
  line["value"] = progress.value;
  line["step"] = progress.step;
  line["seconds"] = passed.count();
  line["seconds_left"] = secondsLeft; // NaN becomes null
  line["fraction"] = progress.fraction;
  line["resident_mb"] = ResidentMegabytes();
  errno = 0;
  m_File << line.dump() << std::endl;
  if (!m_File)
  {
    throw CommandError("the log '" + m_Name +
                       "' cannot be written: " + (errno != 0 ? std::strerror(errno) : "is the disk full?"));
  }
}
