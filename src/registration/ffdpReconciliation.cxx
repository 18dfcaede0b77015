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
#include "ffdpReconciliation.h"

#include <algorithm>
#include <sstream>

namespace ffdp
{
namespace
{

constexpr float UsualError = 0.1f;   // what a warp and its inverse may differ by everywhere
constexpr float UsualWay = 0.12f;    // and how far either may be from what would be the inverse of the other
constexpr float LargestError = 0.2f; // at voxels; where it is more, warps are ironed. Between them more is left
constexpr int   Margin = 2; // voxels; beyond the grid a warp is not known, so nothing is ironed for what is near it
constexpr int   EarlyPasses = 8; // after them the inverse follows at once where folds of the warp were ironed
constexpr int   MostPasses = Reconciliation::MostSteps - 1; // and a last look

} // namespace

Reconciliation::Reconciliation(Backend &            backend,
                               Communicator &       communicator,
                               float                bound,
                               Slab &               u,
                               Slab &               w,
                               RegistrationResult & result)
  : m_Backend(backend)
  , m_Communicator(communicator)
  , m_Bound(bound)
  , m_U(u = WithHalo(backend, communicator, std::move(u), CompositionHalo(bound)))
  , m_W(w = WithHalo(backend, communicator, std::move(w), CompositionHalo(bound)))
  , m_Unfolding(backend, communicator, u.Domain())
  , m_Result(result)
{}

void
Reconciliation::Step()
{
  ++m_Steps;
  if (m_Steps > MostPasses)
  {
    this->GiveUp();
    return;
  }
  const bool everywhere = !m_LooksAtMarks;
  m_Done = this->Pass() && (everywhere || this->LookEverywhere());
}

bool
Reconciliation::Pass()
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

bool
Reconciliation::LookEverywhere()
{
  m_LooksAtMarks = false;
  Marks        marks(m_U.Domain());
  const double forward = this->FindErrors(m_W, m_U, marks.ofU, marks.ofW);
  const double backward = this->FindErrors(m_U, m_W, marks.ofW, marks.ofU);
  const bool   ofU = m_Unfolding.MarkFolds(m_U, LimitsOfWarp, nullptr, marks.ofU, marks.ofW);
  const bool   ofW = m_Unfolding.MarkFolds(m_W, LimitsOfInverse, nullptr, marks.ofW, marks.ofU);
  return this->LookNextAt(std::move(marks), std::max(forward, backward), ofU || ofW);
}

bool
Reconciliation::LookNextAt(Marks && marks, double error, bool folded)
{
  m_Marks.ofU = OfAllRanks(m_Communicator, std::move(marks.ofU));
  m_Marks.ofW = OfAllRanks(m_Communicator, std::move(marks.ofW));
  m_LooksAtMarks = true;
  m_Result.inverseResidual = error;
  return !folded && error <= double(LargestError);
}

bool
Reconciliation::UnfoldBoth(Marks & marks)
{
  Marks              folds(m_U.Domain());
  const std::int64_t ofU = m_Unfolding.Unfold(m_U, LimitsOfWarp, this->MarksOf(m_U), folds.ofU, folds.ofW);
  if (ofU > 0 && m_Steps > EarlyPasses)
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
Reconciliation::GiveUp()
{
  m_LooksAtMarks = false;
  Marks unused(m_U.Domain());
  this->UnfoldBoth(unused);
  this->LookEverywhere();
  m_Done = true;
  if (m_Result.inverseResidual > double(LargestError))
  {
    std::ostringstream note;
    note << "the warp is too steep for its inverse to agree with it everywhere: they are up to "
         << m_Result.inverseResidual << " voxels apart; smooth it more, or take shorter steps";
    m_Result.notes.push_back(note.str());
  }
}

void
Reconciliation::CountFolds()
{
  const FoldCount ofU = m_Unfolding.CountFolds(m_U);
  const FoldCount ofW = m_Unfolding.CountFolds(m_W);
  m_Result.folds = ofU.folds;
  m_Result.smallestJacobian = ofU.smallest;
  m_Result.inverseFolds = ofW.folds;
  m_Result.smallestInverseJacobian = ofW.smallest;
}

void
Reconciliation::DrawCloser(const Slab & u, const Slab & w, const BlockMarks * marks)
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

double
Reconciliation::FindErrors(const Slab & u, const Slab & w, BlockMarks & own, BlockMarks & reached)
{
  const double largest = this->MeasureError(u, w, Margin, this->MarksOf(w));
  if (largest > double(LargestError) && !w.IsEmpty())
  {
    m_Backend.MarkInverseErrors(m_Unfolding.Measure().OwnedVolume(), w.OwnedWarp(), LargestError, own, reached);
  }
  return largest;
}

double
Reconciliation::MeasureError(const Slab & u, const Slab & w, int margin, const BlockMarks * marks)
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

void
Reconciliation::Exchange(StateArchive & archive)
{
  archive.Exchange(m_Steps);
  archive.Exchange(m_Done);
  archive.Exchange(m_LooksAtMarks);
  for (BlockMarks * const marks : { &m_Marks.ofU, &m_Marks.ofW })
  {
    archive.Exchange(marks->blocks);
    archive.Exchange(marks->marks);
    Require(!m_LooksAtMarks || marks->IsFor(m_U.Domain()), "a checkpoint marks blocks of a warp of another size");
  }
}

} // namespace ffdp
