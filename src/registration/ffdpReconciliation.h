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
#ifndef ffdpReconciliation_h
#define ffdpReconciliation_h

#include "ffdpUnfolding.h"

namespace ffdp
{

/** Jacobian determinants below which a warp, and an inverse, are ironed, and what they then have at least. Steps are small and smooth, so folds are few and
 * shallow: they are ironed out, not prevented. A warp that stretches a lot has an inverse with small determinants,
 * which are no folds. */
constexpr UnfoldingLimits LimitsOfWarp{ 0.05f, 0.08f };
constexpr UnfoldingLimits LimitsOfInverse{ 0.01f, 0.02f };

/** Voxels; of an inverse at its voxels, when it is found. */
constexpr float InverseTolerance = 0.02f;

/** Makes a warp u and its inverse w agree in both orders, and takes folds out of both, step by step. w is nearly exact
 * at its voxels. Between them it is interpolated, and where u squeezes many voxels into one, that is too coarse for
 * points that come from u. So both are moved a little: each to what the other one, as it is interpolated, asks for; and
 * where this does not help, they are ironed. All ranks take part. */
class Reconciliation
{
public:
  /** Steps there are at most. */
  static constexpr int MostSteps = 39;

  /** `bound`: how far both warps reach along z, on any rank. They get halos as wide as that. */
  Reconciliation(Backend &            backend,
                 Communicator &       communicator,
                 float                bound,
                 Slab &               u,
                 Slab &               w,
                 RegistrationResult & result);

  bool
  IsDone() const
  {
    return m_Done;
  }

  int
  Steps() const
  {
    return m_Steps;
  }

  /** Leaves in the result how far the two are apart, in voxels. */
  void
  Step();

  /** Folds of both, to the result. */
  void
  CountFolds();

  /** All but the warps and their bound. */
  void
  Exchange(StateArchive & archive);

private:
  /** Blocks of the two warps. */
  struct Marks
  {
    Marks() = default;
    explicit Marks(const Extent & domain)
      : ofU(domain)
      , ofW(domain)
    {}

    BlockMarks ofU;
    BlockMarks ofW;
  };

  /** Draws and irons. Returns whether there was nothing to iron. */
  bool
  Pass();

  /** Returns whether the warps agree, and have no folds; changes nothing. */
  bool
  LookEverywhere();

  /** Few voxels are ironed. After a pass over all, only they and their surroundings are looked at, until all agree
   * there. Errors may have changed elsewhere, too: all are looked at in the end. */
  bool
  LookNextAt(Marks && marks, double error, bool folded);

  /** Returns whether there was a fold; marks where. The next pass begins with u, which goes to where w asks it to, and
   * so perhaps back into its folds. After some passes w has to follow at once where folds of u were ironed: or else
   * this goes on forever at a voxel here and there. (Not from the start: w would become steep, and worse between
   * voxels. Nor elsewhere: what was just ironed for its errors would be taken back.) */
  bool
  UnfoldBoth(Marks & marks);

  /** Passes have run out: warps without folds come first. */
  void
  GiveUp();

  /** The blocks of a warp that are looked at; nullptr: all. */
  const BlockMarks *
  MarksOf(const Slab & warp) const
  {
    return !m_LooksAtMarks ? nullptr : &warp == &m_U ? &m_Marks.ofU : &m_Marks.ofW;
  }

  /** Moves the voxels of `w`, in all or in marked blocks, whose error is above the usual just as far as that. What they
   * are moved to may be beyond the grid: a seam between what is drawn and what is not would fold. */
  void
  DrawCloser(const Slab & u, const Slab & w, const BlockMarks * marks);

  /** Measures the error of `w`. Marks where it is too large, and what that reaches in `u`. */
  double
  FindErrors(const Slab & u, const Slab & w, BlockMarks & own, BlockMarks & reached);

  /** Finds the error w + u(x + w) in all owned planes, or in marked blocks, and its largest length of all ranks. */
  double
  MeasureError(const Slab & u, const Slab & w, int margin, const BlockMarks * marks);

  Backend &            m_Backend;
  Communicator &       m_Communicator;
  float                m_Bound; ///< of both warps along z
  Slab &               m_U;
  Slab &               m_W;
  Unfolding            m_Unfolding; ///< its measure is that of errors, in turn
  RegistrationResult & m_Result;
  int                  m_Steps = 0;
  bool                 m_Done = false;
  bool                 m_LooksAtMarks = false;
  Marks                m_Marks;
};

} // namespace ffdp

#endif
