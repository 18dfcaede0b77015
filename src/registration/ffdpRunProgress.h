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
#ifndef ffdpRunProgress_h
#define ffdpRunProgress_h

#include "ffdpRegistration.h"
#include "ffdpStateArchive.h"

#include <functional>

namespace ffdp
{

/** Tells the observer of a registration how far it is. Work is counted in voxels that iterations go through, or about
 * as much. */
class RunProgress
{
public:
  using Observer = std::function<bool(const RegistrationProgress &)>;

  /** The observer, which may be none, must live as long as this. */
  explicit RunProgress(const Observer & observer)
    : m_Observer(observer)
  {}

  /** Adds to what there is to do in all. */
  void
  Expect(double work)
  {
    m_AllWork += work;
  }

  void
  EnterStage(int stage, const char * name, int levels);

  void
  EnterLevel(int level, const Extent & size, int iterations, double work);

  /** Of the level that was entered, before its first iteration. */
  LevelReport
  MakeReport() const;

  /** This many iterations of the level are done. Returns whether the observer wants to go on. */
  bool
  Tell(int iteration, double value, double step);

  /** The level is done, perhaps with fewer iterations than it could have had. */
  void
  EndLevel();

  /** All stages are done: the warp and its inverse come as one more, with one level. */
  void
  EnterEnd(int stage, const char * name);

  /** The same of the end, where a part of its work is left. */
  bool
  TellEnd(int step, double value, double partLeft);

  /** What levels before have done; the rest is told again when a level is entered. */
  void
  Exchange(StateArchive & archive)
  {
    archive.Exchange(m_WorkBefore);
  }

private:
  bool
  Notify(double value, double step, double partOfLevel);

  const Observer &     m_Observer;
  RegistrationProgress m_Progress;
  double               m_AllWork = 0;
  double               m_WorkBefore = 0; ///< the level
  double               m_WorkOfLevel = 0;
};

} // namespace ffdp

#endif
