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
#ifndef ffdpFinalWarp_h
#define ffdpFinalWarp_h

#include "ffdpReconciliation.h"

#include <cmath>
#include <optional>

namespace ffdp
{

/** What the last stage leaves becomes what the caller gets, step by step: the warp at the size of the fixed image,
 * without folds, and its inverse, which agree in both orders. All ranks take part, each keeps the planes that it owns.
 * After each step the result has how far the two are apart, in voxels. */
class FinalWarp
{
public:
  /** Steps there are at most. */
  static constexpr int MostSteps = Reconciliation::MostSteps + 1;

  /** How many iterations at full resolution take about as long as all of it, after a stage that made so many there: the
   * longer it worked, the steeper is the warp. Measured: 5 to 20 after 2, 9 to 33 after 25, 20 to 36 after 50; three
   * times as many in a plane, where steps are many. */
  static double
  Work(int fineIterations, bool planar)
  {
    return (12 + 0.4 * fineIterations) * (planar ? 3 : 1);
  }

  /** The part of that which is still to do after so many steps. The first take longest, and how many there will be is
   * not known: 6 to 17 are usual, MostSteps happen. Measured: three quarters after one, a half after three. */
  static double
  WorkLeft(int steps)
  {
    return 1 / (1 + std::pow(double(steps), 1.2) / 3.6);
  }

  FinalWarp(Backend & backend, Communicator & communicator, const Extent & size, RegistrationResult & result);
  FinalWarp(const FinalWarp &) = delete; // its parts refer to each other
  FinalWarp &
  operator=(const FinalWarp &) = delete;

  /** The first step: from a warp to its inverse. */
  void
  Begin(Slab warp);

  int
  Steps() const
  {
    return 1 + m_Reconciliation->Steps();
  }

  bool
  IsDone() const
  {
    return m_Reconciliation->IsDone();
  }

  /** Each step after the first. */
  void
  Step()
  {
    m_Reconciliation->Step();
  }

  /** After the last step: the result has them, and their folds. */
  void
  Leave();

  /** The state between two steps; loaded instead of the first. */
  void
  Exchange(StateArchive & archive);

private:
  Backend &                     m_Backend;
  Communicator &                m_Communicator;
  Extent                        m_Size;
  RegistrationResult &          m_Result;
  Slab                          m_Warp, m_Inverse;
  float                         m_Bound = 0; ///< of both along z
  std::optional<Reconciliation> m_Reconciliation;
};

} // namespace ffdp

#endif
