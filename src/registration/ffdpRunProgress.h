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

#include "ffdpLevels.h"
#include "ffdpRegistration.h"
#include "ffdpStateArchive.h"

#include <functional>

namespace ffdp
{

/** What a level, or the end, costs: in voxels that iterations of a usual deformable stage go through. */
struct LevelWork
{
  double setup = 0;        ///< before the first iteration
  double perIteration = 0; ///< or, for what has no such, of the whole divided by how many times it tells
  int    iterations = 0;   ///< at most
  double share = 1;        ///< of those that are left, so many are usual: levels end early

  /** What is still to do after so many iterations. */
  double
  Left(int done) const
  {
    return perIteration * (iterations - done) * share;
  }
  double
  Usual() const
  {
    return setup + this->Left(0);
  }
};

/** The work of a level, as LevelWork counts it. */
LevelWork
WorkOf(const RegistrationStage & stage, const PlannedLevel & level);

/** Tells the observer of a registration how far it is: what is done, of that and what is usually left. A level that
 * ends early takes what it leaves undone with it. */
class RunProgress
{
public:
  using Observer = std::function<bool(const RegistrationProgress &)>;

  /** The observer, which may be none, must live as long as this. */
  explicit RunProgress(const Observer & observer)
    : m_Observer(observer)
  {}

  void
  EnterStage(int stage, const char * name, int levels);

  void
  EnterLevel(int level, const Extent & size, const LevelWork & work, double workAfter);

  /** Of the level that was entered, before its first iteration. */
  LevelReport
  MakeReport() const;

  /** This many iterations of the level are done, and these are all if it has converged. Returns whether the observer
   * wants to go on. */
  bool
  Tell(int iteration, double value, double step, bool converged = false);

  /** The level is done, perhaps with fewer iterations than it could have had. What was told last counts. */
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
  Notify(double value, double step, double workOfLevel, double workLeft);

  const Observer &     m_Observer;
  RegistrationProgress m_Progress;
  LevelWork            m_Work;           ///< of the level
  double               m_WorkBefore = 0; ///< the level
  double               m_WorkAfter = 0;  ///< the level, as far as it is usual
};

} // namespace ffdp

#endif
