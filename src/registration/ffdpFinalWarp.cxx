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
#include "ffdpFinalWarp.h"

#include "ffdpScratchScope.h"
#include "ffdpUnfolding.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace ffdp
{
namespace
{

constexpr float InverseTolerance = 0.02f; // voxels; of the inverse at its voxels, when it is found
constexpr float UsualError = 0.1f;        // what a warp and its inverse may differ by everywhere
constexpr float UsualWay = 0.12f;         // and how far either may be from what would be the inverse of the other
constexpr float LargestError = 0.2f;      // at voxels; where it is more, warps are ironed. Between them more is left
constexpr int   Margin = 2; // voxels; beyond the grid a warp is not known, so nothing is ironed for what is near it
constexpr int   EarlyPasses = 8; // after them the inverse follows at once where folds of the warp were ironed
constexpr int   InversePasses = MostFinalWarpSteps - 2; // besides the inverse itself, and a last look

/** Steps are small and smooth, so folds are few and shallow: they are ironed out, not prevented. A warp that stretches
 * a lot has an inverse with small determinants, which are no folds. */
constexpr UnfoldingLimits LimitsOfWarp{ 0.05f, 0.08f };
constexpr UnfoldingLimits LimitsOfInverse{ 0.01f, 0.02f };

/** Makes a warp u and its inverse w agree in both orders, and takes folds out of both. w is nearly exact at its voxels.
 * Between them it is interpolated, and where u squeezes many voxels into one, that is too coarse for points that come
 * from u. So both are moved a little: each to what the other one, as it is interpolated, asks for; and where this does
 * not help, they are ironed.
 */
class Reconciliation
{
public:
  Reconciliation(Backend & backend, Communicator & communicator, Slab & u, Slab & w, RegistrationResult & result)
    : m_Backend(backend)
    , m_Communicator(communicator)
    , m_Bound(std::max(BoundAlongZ(backend, communicator, u), BoundAlongZ(backend, communicator, w)))
    , m_U(u = WithHalo(backend, communicator, std::move(u), CompositionHalo(m_Bound)))
    , m_W(w = WithHalo(backend, communicator, std::move(w), CompositionHalo(m_Bound)))
    , m_Unfolding(backend, communicator, u.Domain())
    , m_Result(result)
  {}

  void
  Run(const std::function<void(double)> & report)
  {
    const ScratchScope scratch; // dozens of sweeps follow, all of the same size
    bool               done = false;
    while (m_Passes < InversePasses && !done)
    {
      ++m_Passes;
      const bool everywhere = !m_LooksAtMarks;
      done = this->Pass() && (everywhere || this->LookEverywhere());
      report(m_Result.inverseResidual);
    }
    m_LooksAtMarks = false;
    if (!done) // passes have run out; warps without folds come first
    {
      Marks unused(m_U.Domain());
      this->UnfoldBoth(unused);
      this->LookEverywhere();
      report(m_Result.inverseResidual);
      this->NoteResidual();
    }
    this->CountBoth();
  }

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
  Pass()
  {
    this->DrawCloser(m_W, m_U, this->MarksOf(m_U)); // the warp first: w, being nearly exact, has nothing to come to
    this->DrawCloser(m_U, m_W, this->MarksOf(m_W));
    Marks        marks(m_U.Domain()); // where this pass irons
    const double forward = this->FindErrors(m_W, m_U, marks.ofU, marks.ofW);
    if (forward > double(LargestError))
    {
      m_Result.ironed = std::max(m_Result.ironed, m_Unfolding.Iron(m_U, -LargestError));
    }
    // The errors of w are those beside a warp that was ironed: so both are, at the same places.
    const double backward = this->FindErrors(m_U, m_W, marks.ofW, marks.ofU);
    if (backward > double(LargestError))
    {
      m_Unfolding.Iron(m_W, -LargestError);
    }
    const bool folded = this->UnfoldBoth(marks);
    return this->LookNextAt(std::move(marks), std::max(forward, backward), folded);
  }

  /** Returns whether the warps agree, and have no folds; changes nothing. */
  bool
  LookEverywhere()
  {
    m_LooksAtMarks = false;
    Marks        marks(m_U.Domain());
    const double forward = this->FindErrors(m_W, m_U, marks.ofU, marks.ofW);
    const double backward = this->FindErrors(m_U, m_W, marks.ofW, marks.ofU);
    const bool   ofU = m_Unfolding.MarkFolds(m_U, LimitsOfWarp, nullptr, marks.ofU, marks.ofW);
    const bool   ofW = m_Unfolding.MarkFolds(m_W, LimitsOfInverse, nullptr, marks.ofW, marks.ofU);
    return this->LookNextAt(std::move(marks), std::max(forward, backward), ofU || ofW);
  }

  /** Few voxels are ironed. After a pass over all, only they and their surroundings are looked at, until all agree
   * there. Errors may have changed elsewhere, too: all are looked at in the end. */
  bool
  LookNextAt(Marks && marks, double error, bool folded)
  {
    m_Marks.ofU = OfAllRanks(m_Communicator, std::move(marks.ofU));
    m_Marks.ofW = OfAllRanks(m_Communicator, std::move(marks.ofW));
    m_LooksAtMarks = true;
    m_Result.inverseResidual = error;
    return !folded && error <= double(LargestError);
  }

  /** Returns whether there was a fold; marks where. The next pass begins with u, which goes to where w asks it to, and
   * so perhaps back into its folds. After some passes w has to follow at once where folds of u were ironed: or else
   * this goes on forever at a voxel here and there. (Not from the start: w would become steep, and worse between
   * voxels. Nor elsewhere: what was just ironed for its errors would be taken back.) */
  bool
  UnfoldBoth(Marks & marks)
  {
    Marks              folds(m_U.Domain());
    const std::int64_t ofU = m_Unfolding.Unfold(m_U, LimitsOfWarp, this->MarksOf(m_U), folds.ofU, folds.ofW);
    if (ofU > 0 && m_Passes > EarlyPasses)
    {
      const BlockMarks reached = OfAllRanks(m_Communicator, folds.ofW);
      this->DrawCloser(m_U, m_W, &reached);
    }
    marks.ofU.Add(folds.ofU);
    marks.ofW.Add(folds.ofW);
    const std::int64_t ofW = m_Unfolding.Unfold(m_W, LimitsOfInverse, this->MarksOf(m_W), marks.ofW, marks.ofU);
    m_Result.ironed = std::max(m_Result.ironed, ofU);
    return ofU + ofW > 0;
  }

  void
  NoteResidual()
  {
    if (m_Result.inverseResidual > double(LargestError))
    {
      std::ostringstream note;
      note << "the warp is too steep for its inverse to agree with it everywhere: they are up to "
           << m_Result.inverseResidual << " voxels apart; smooth it more, or take shorter steps";
      m_Result.notes.push_back(note.str());
    }
  }

  void
  CountBoth()
  {
    const FoldCount ofU = m_Unfolding.CountFolds(m_U);
    const FoldCount ofW = m_Unfolding.CountFolds(m_W);
    m_Result.folds = ofU.folds;
    m_Result.smallestJacobian = ofU.smallest;
    m_Result.inverseFolds = ofW.folds;
    m_Result.smallestInverseJacobian = ofW.smallest;
  }

  /** The blocks of a warp that are looked at; nullptr: all. */
  const BlockMarks *
  MarksOf(const Slab & warp) const
  {
    return !m_LooksAtMarks ? nullptr : &warp == &m_U ? &m_Marks.ofU : &m_Marks.ofW;
  }

  /** Moves the voxels of `w`, in all or in marked blocks, whose error is above the usual just as far as that. What they
   * are moved to may be beyond the grid: a seam between what is drawn and what is not would fold. */
  void
  DrawCloser(const Slab & u, const Slab & w, const BlockMarks * marks)
  {
    const Extent & domain = w.Domain();
    const int      everywhere = -int(std::max({ domain.x, domain.y, domain.z }));
    this->MeasureError(u, w, everywhere, marks);
    InverseRefinement refinement;
    refinement.boundAlongZ = 0.99995f * m_Bound; // means of it, by ironing, may be rounded up, and must stay within
    refinement.tolerance = InverseTolerance;
    refinement.allowed = UsualError;
    refinement.allowedWay = UsualWay;
    if (!w.IsEmpty())
    {
      m_Backend.RefineInverse(u.Warp(), w.OwnedWarp(), m_Unfolding.Measure().OwnedVolume(), refinement);
    }
    w.RefreshHalo(m_Backend, m_Communicator);
  }

  /** Measures the error of `w`. Marks where it is too large, and what that reaches in `u`. */
  double
  FindErrors(const Slab & u, const Slab & w, BlockMarks & own, BlockMarks & reached)
  {
    const double largest = this->MeasureError(u, w, Margin, this->MarksOf(w));
    if (largest > double(LargestError) && !w.IsEmpty())
    {
      m_Backend.MarkInverseErrors(m_Unfolding.Measure().OwnedVolume(), w.OwnedWarp(), LargestError, own, reached);
    }
    return largest;
  }

  /** Finds the error w + u(x + w) in all owned planes, or in marked blocks, and its largest length of all ranks. */
  double
  MeasureError(const Slab & u, const Slab & w, int margin, const BlockMarks * marks)
  {
    double largest = 0;
    if (!w.IsEmpty())
    {
      largest = double(
        m_Backend.InverseError(u.Warp(), w.OwnedWarp(), m_Bound, margin, m_Unfolding.Measure().OwnedVolume(), marks));
    }
    m_Communicator.Maximum(&largest, 1);
    return largest;
  }

  Backend &            m_Backend;
  Communicator &       m_Communicator;
  float                m_Bound; ///< of both warps along z
  Slab &               m_U;
  Slab &               m_W;
  Unfolding            m_Unfolding; ///< its measure is that of errors, in turn
  RegistrationResult & m_Result;
  int                  m_Passes = 0;
  bool                 m_LooksAtMarks = false;
  Marks                m_Marks;
};

/** A warp of zeros: in the memory of the result, where that can be used, so that large warps exist once. Several ranks
 * need halos beside it. */
Slab
MakeHome(Backend & backend, Communicator & communicator, const Extent & size, std::vector<float> & values)
{
  if (backend.SharesHostMemory() && communicator.Size() == 1)
  {
    return Slab(backend, communicator, size, 3, values);
  }
  Slab home(backend, communicator, size, 3);
  home.FillZero();
  return home;
}

/** Moves a warp to such memory. */
Slab
MoveHome(Backend & backend, Communicator & communicator, Slab && warp, std::vector<float> & values)
{
  if (!backend.SharesHostMemory() || communicator.Size() > 1)
  {
    return std::move(warp);
  }
  Slab home = MakeHome(backend, communicator, warp.Domain(), values);
  for (int c = 0; c < 3; ++c)
  {
    const VolumeView<float> from = warp.OwnedVolume(c);
    backend.Move(home.Volume(c).data, from.data, std::size_t(from.planes * from.planeStride) * sizeof(float));
  }
  warp = Slab();
  return home;
}

/** Leaves in the result what is not there already; the slab is gone afterwards. */
void
LeaveAtHome(Backend & backend, Slab && warp, std::vector<float> & values)
{
  const std::int64_t count = (warp.Owned().end - warp.Owned().first) * warp.Domain().x * warp.Domain().y;
  if (values.empty() && count > 0)
  {
    values.resize(std::size_t(3 * count));
    for (int c = 0; c < 3; ++c)
    {
      backend.CopyToHost(values.data() + c * count, warp.OwnedVolume(c).data, std::size_t(count) * sizeof(float));
    }
  }
  warp = Slab();
}

} // namespace

void
BringWarpHome(Backend &                           backend,
              Communicator &                      communicator,
              Slab                                warp,
              const Extent &                      size,
              const std::function<void(double)> & report,
              RegistrationResult &                result)
{
  if (warp.Domain() != size)
  {
    warp = Regrid(backend, communicator, warp, size);
  }
  warp = WithHalo(backend, communicator, std::move(warp), 1);
  BlockMarks unused(size);
  result.ironed = Unfolding(backend, communicator, size).Unfold(warp, LimitsOfWarp, nullptr, unused, unused);
  result.hasWarp = true;
  result.warpSize = size;
  result.warpPlanes = warp.Owned();
  warp = MoveHome(backend, communicator, std::move(warp), result.warp);
  Slab inverse = MakeHome(backend, communicator, size, result.inverseWarp);
  report(InvertWarp(backend, communicator, warp, inverse, InverseTolerance));
  Reconciliation(backend, communicator, warp, inverse, result).Run(report);
  LeaveAtHome(backend, std::move(inverse), result.inverseWarp);
  LeaveAtHome(backend, std::move(warp), result.warp);
}

} // namespace ffdp
