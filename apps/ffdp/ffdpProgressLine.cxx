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
#include <cmath>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace
{

std::size_t
TerminalColumns()
{
  constexpr std::size_t Usual = 80;
  winsize               size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : Usual;
}

template <typename... TValues>
std::string
Format(const char * format, TValues... values)
{
  char text[128];
  std::snprintf(text, sizeof(text), format, values...);
  return text;
}

/** 75 as 1:15 */
std::string
ClockTime(double seconds)
{
  constexpr double Most = 359999; // seconds; what is longer is shown as this
  if (std::isnan(seconds))
  {
    return "?:??";
  }
  const long whole = long(std::min(seconds, Most) + 0.5);
  return Format("%ld:%02ld", whole / 60, whole % 60);
}

/** With six digits, so that large values do not push others out. */
std::string
ValueText(double value)
{
  return std::abs(value) < 1e4 ? Format("%9.6f", value) : Format("%9.5g", value);
}

std::string
MakeBar(double fraction, std::size_t width)
{
  std::string bar(width, '.');
  std::fill_n(bar.begin(), std::min(width, std::size_t(fraction * double(width))), '#');
  return "[" + bar + "]";
}

} // namespace

std::string
MakeTerminalLine(const ffdp::RegistrationProgress & p, double seconds, double secondsLeft, std::size_t columns)
{
  constexpr std::size_t LeastBar = 6, MostBar = 24;
  const std::string     value = ValueText(p.value);
  const std::string     level =
    Format("%-7s level %d/%d %3d/%d", p.stageName, p.level + 1, p.levels, p.iteration, p.iterations);
  const std::string left = Format("%3.0f %%  ", 100 * p.fraction) + ClockTime(secondsLeft) + " left";
  const std::string start = level + "  value " + value, end = left + ", " + ClockTime(seconds) + " passed";
  for (const std::string & times : { end, left })
  {
    const std::size_t besidesBar = start.size() + times.size() + 5;
    if (besidesBar + LeastBar <= columns)
    {
      return start + "  " + MakeBar(p.fraction, std::min(MostBar, columns - besidesBar)) + " " + times;
    }
  }
  for (const std::string & line : { start + " " + left, level + " " + value + " " + left })
  {
    if (line.size() <= columns)
    {
      return line;
    }
  }
  const std::string least = Format("%s ", p.stageName) + value + " " + left;
  return least.substr(0, columns); // a line that wraps cannot be written over
}

ProgressLine::ProgressLine(bool quiet, bool plain)
  : m_Quiet(quiet)
  , m_Terminal(!plain && isatty(STDOUT_FILENO) != 0)
{}

void
ProgressLine::Show(const ffdp::RegistrationProgress & p, double seconds, double secondsLeft)
{
  if (m_Quiet)
  {
    return;
  }
  if (m_Stage != p.stage)
  {
    this->Finish();
  }
  const bool newLevel = m_Stage != p.stage || m_Level != p.level;
  m_Stage = p.stage;
  m_Level = p.level;
  if (m_Terminal)
  {
    std::printf("\r%s\x1b[K", MakeTerminalLine(p, seconds, secondsLeft, TerminalColumns() - 1).c_str());
    m_Open = true;
  }
  else if (newLevel || p.iteration % 10 == 0)
  {
    std::printf("%s level %d/%d (%ldx%ldx%ld) iteration %d/%d value %.6f step %.4f time %.1f left %s\n",
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
                seconds,
                std::isnan(secondsLeft) ? "unknown" : Format("%.1f", secondsLeft).c_str());
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
