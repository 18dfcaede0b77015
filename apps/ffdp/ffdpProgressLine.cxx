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
#include "ffdpProgressLine.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

namespace
{

int
TerminalColumns()
{
  constexpr int Usual = 80;
  winsize       size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? int(size.ws_col) : Usual;
}

/** 75 as 1:15 */
std::string
ClockTime(double seconds)
{
  const long whole = long(seconds + 0.5);
  char       text[32];
  std::snprintf(text, sizeof(text), "%ld:%02ld", whole / 60, whole % 60);
  return text;
}

} // namespace

ProgressLine::ProgressLine(bool quiet, bool plain)
  : m_Quiet(quiet)
  , m_Terminal(!plain && isatty(STDOUT_FILENO) != 0)
  , m_Start(std::chrono::steady_clock::now())
{}

void
ProgressLine::UpdateSpeed(const ffdp::RegistrationProgress & p, double seconds, bool newLevel)
{
  if (newLevel)
  {
    m_LevelSeconds = seconds;
    m_LevelFraction = p.fraction;
    m_Speed = m_Speed > 0 ? m_Speed : p.fraction / std::max(seconds, 1e-3);
  }
  else if (p.fraction > m_LevelFraction && seconds > m_LevelSeconds)
  {
    m_Speed = (p.fraction - m_LevelFraction) / (seconds - m_LevelSeconds);
  }
}

void
ProgressLine::ShowOnTerminal(const ffdp::RegistrationProgress & p, double seconds)
{
  constexpr int Width = 24;
  std::string   bar(Width, '.');
  std::fill_n(bar.begin(), std::min(Width, int(p.fraction * Width)), '#');
  char text[256];
  std::snprintf(text,
                sizeof(text),
                "%-10s level %d/%d  %3d/%d  value %10.6f  [%s] %3.0f %%  ",
                p.stageName,
                p.level + 1,
                p.levels,
                p.iteration,
                p.iterations,
                p.value,
                bar.c_str(),
                100 * p.fraction);
  const double left = m_Speed > 0 ? (1 - p.fraction) / m_Speed : 0;
  std::string  line = text + ClockTime(seconds) + ", " + ClockTime(left) + " left";
  line.resize(std::min(line.size(), std::size_t(TerminalColumns() - 1))); // a line that wraps cannot be written over
  std::printf("\r%s\x1b[K", line.c_str());
  m_Open = true;
}

void
ProgressLine::Show(const ffdp::RegistrationProgress & p)
{
  if (m_Quiet)
  {
    return;
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - m_Start;
  if (m_Stage != p.stage)
  {
    this->Finish();
  }
  const bool newLevel = m_Stage != p.stage || m_Level != p.level;
  m_Stage = p.stage;
  m_Level = p.level;
  this->UpdateSpeed(p, passed.count(), newLevel);
  if (m_Terminal)
  {
    this->ShowOnTerminal(p, passed.count());
  }
  else if (newLevel || p.iteration % 10 == 0)
  {
    std::printf("%s level %d/%d (%ldx%ldx%ld) iteration %d/%d value %.6f step %.4f time %.1f\n",
                p.stageName,
                p.level + 1,
                p.levels,
                long(p.levelSize.x),
                long(p.levelSize.y),
                long(p.levelSize.z),
                p.iteration,
                p.iterations,
                p.value,
                p.step,
                passed.count());
  }
  std::fflush(stdout);
}

void
ProgressLine::Finish()
{
  if (m_Open)
  {
    std::printf("\n");
    m_Open = false;
  }
}
