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
#include "ffdpRunProgress.h"

#include <algorithm>

namespace ffdp
{

void
RunProgress::EnterStage(int stage, const char * name, int levels)
{
  m_Progress = RegistrationProgress();
  m_Progress.stage = stage;
  m_Progress.stageName = name;
  m_Progress.levels = levels;
}

void
RunProgress::EnterLevel(int level, const Extent & size, int iterations, double work)
{
  m_Progress.level = level;
  m_Progress.levelSize = size;
  m_Progress.iterations = iterations;
  m_WorkOfLevel = work;
}

LevelReport
RunProgress::MakeReport() const
{
  return { m_Progress.stage, m_Progress.stageName, m_Progress.levelSize, 0, 0, 0, 0 };
}

bool
RunProgress::Tell(int iteration, double value, double step)
{
  m_Progress.iteration = iteration;
  return this->Notify(value, step, double(iteration) / double(m_Progress.iterations));
}

void
RunProgress::EndLevel()
{
  m_WorkBefore += m_WorkOfLevel;
  m_WorkOfLevel = 0;
}

void
RunProgress::EnterEnd(int stage, const char * name)
{
  this->EnterStage(stage, name, 1);
  m_Progress.isEnd = true;
}

bool
RunProgress::TellEnd(int step, double value, double partLeft)
{
  m_Progress.iteration = step;
  return this->Notify(value, 0, 1 - partLeft);
}

bool
RunProgress::Notify(double value, double step, double partOfLevel)
{
  m_Progress.value = value;
  m_Progress.step = step;
  const double done = m_WorkBefore + partOfLevel * m_WorkOfLevel;
  m_Progress.fraction = m_AllWork > 0 ? std::min(1.0, done / m_AllWork) : 1.0;
  return !m_Observer || m_Observer(m_Progress);
}

} // namespace ffdp
