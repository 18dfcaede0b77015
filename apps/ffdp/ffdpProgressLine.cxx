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

#include <cstdio>
#include <unistd.h>

ProgressLine::ProgressLine(bool quiet)
  : m_Quiet(quiet)
  , m_Terminal(isatty(STDOUT_FILENO) != 0)
  , m_Start(std::chrono::steady_clock::now())
{}

bool
ProgressLine::Show(const ffdp::RegistrationProgress & p)
{
  if (m_Quiet)
  {
    return true;
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - m_Start;
  if (m_Stage != p.stage)
  {
    this->Finish();
  }
  const bool newLevel = m_Stage != p.stage || m_Level != p.level;
  m_Stage = p.stage;
  m_Level = p.level;
  if (m_Terminal)
  {
    constexpr int Width = 24;
    char          bar[Width + 1];
    for (int i = 0; i < Width; ++i)
    {
      bar[i] = i < int(p.fraction * Width) ? '#' : '.';
    }
    bar[Width] = '\0';
    const double left = p.fraction > 0 ? passed.count() * (1 - p.fraction) / p.fraction : 0;
    std::printf("\r%-10s level %d/%d  iteration %3d/%d  value %10.6f  [%s] %4.0f s left \x1b[K",
                p.stageName,
                p.level + 1,
                p.levels,
                p.iteration,
                p.iterations,
                p.value,
                bar,
                left);
    m_Open = true;
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
  return true;
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
