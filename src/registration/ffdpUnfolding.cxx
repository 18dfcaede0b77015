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
#include "ffdpUnfolding.h"

#include <algorithm>
#include <cmath>

namespace ffdp
{
namespace
{

constexpr int MostPasses = 50;

/** Ironing may stand still: a voxel at the border of the grid keeps what the planes inside ask for. */
class Progress
{
public:
  /** Whether `value`, which is to grow, has not grown by a hundredth of itself for some passes. */
  bool
  HasEnded(double value)
  {
    constexpr int Patience = 5;
    m_Passes = value > m_Best + 0.01 * std::abs(m_Best) ? 0 : m_Passes + 1;
    m_Best = std::max(m_Best, value);
    return m_Passes > Patience;
  }

private:
  double m_Best = -1e30;
  int    m_Passes = 0;
};

std::vector<PlaneRange>
AllPlanes(const Slab & warp)
{
  return warp.IsEmpty() ? std::vector<PlaneRange>() : std::vector<PlaneRange>{ warp.Owned() };
}

JacobianParameters
LeastOneSided(const BlockMarks * marks)
{
  JacobianParameters parameters;
  parameters.differences = JacobianDifferences::LeastOneSided;
  parameters.marks = marks;
  return parameters;
}

double
SmallestOf(const std::vector<double> & minima)
{
  return *std::min_element(minima.begin(), minima.end());
}

/** The owned planes that are at most `reach` from one whose determinant is below `least` somewhere. */
std::vector<PlaneRange>
PlanesNearFolds(const std::vector<double> & minima, double least, std::int64_t reach, const PlaneRange & owned)
{
  std::vector<PlaneRange> runs;
  for (std::int64_t z = 0; z < std::int64_t(minima.size()); ++z)
  {
    const PlaneRange near{ std::max(owned.first, z - reach), std::min(owned.end, z + reach + 1) };
    if (!(minima[std::size_t(z)] < least) || near.first >= near.end)
    {
      continue;
    }
    if (!runs.empty() && runs.back().end >= near.first)
    {
      runs.back().end = near.end;
    }
    else
    {
      runs.push_back(near);
    }
  }
  return runs;
}

} // namespace

BlockMarks
OfAllRanks(Communicator & communicator, BlockMarks marks)
{
  std::vector<std::int64_t> counts(marks.marks.begin(), marks.marks.end());
  communicator.Sum(counts.data(), counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i)
  {
    marks.marks[i] = counts[i] > 0 ? 1 : 0;
  }
  return marks;
}

Unfolding::Unfolding(Backend & backend, Communicator & communicator, const Extent & domain)
  : m_Backend(backend)
  , m_Communicator(communicator)
  , m_Measure(backend, communicator, domain, 1, 1)
{}

std::int64_t
Unfolding::MeasurePlanes(const Slab &                    warp,
                         const std::vector<PlaneRange> & runs,
                         const JacobianParameters &      parameters,
                         std::vector<double> &           minima) const
{
  const PlaneRange &  owned = warp.Owned();
  std::vector<double> own(minima.begin() + owned.first, minima.begin() + owned.end);
  std::int64_t        folds = 0;
  for (const PlaneRange & run : runs)
  {
    const JacobianResult jacobian =
      m_Backend.JacobianDeterminant(warp.Warp(), run.first, run.end - run.first, m_Measure.OwnedVolume(), parameters);
    std::copy(jacobian.planeMinima.begin(), jacobian.planeMinima.end(), own.begin() + (run.first - owned.first));
    folds += jacobian.notPositive;
  }
  minima = m_Communicator.Gather(own);
  return folds;
}

std::vector<double>
Unfolding::MeasureMinima(const Slab & warp, const BlockMarks * marks) const
{
  std::vector<double> minima(std::size_t(warp.Domain().z));
  this->MeasurePlanes(warp, AllPlanes(warp), LeastOneSided(marks), minima);
  return minima;
}

std::int64_t
Unfolding::IronPlanes(const Slab & warp, const std::vector<PlaneRange> & runs, float least) const
{
  m_Measure.RefreshHalo(m_Backend, m_Communicator);
  std::int64_t ironed = 0;
  for (const PlaneRange & run : runs) // runs do not touch, so none sees what became of another
  {
    ironed += m_Backend.IronFolds(warp.Warp(), run.first, run.end - run.first, m_Measure.Volume(), least);
  }
  m_Communicator.Sum(&ironed, 1);
  warp.RefreshHalo(m_Backend, m_Communicator);
  return ironed;
}

void
Unfolding::MarkBelow(const Slab & warp, float least, BlockMarks & own, BlockMarks & reached) const
{
  if (!warp.IsEmpty())
  {
    m_Backend.MarkInverseErrors(m_Measure.OwnedVolume(), warp.OwnedWarp(), -least, own, reached);
  }
}

std::int64_t
Unfolding::Iron(const Slab & warp, float least) const
{
  return this->IronPlanes(warp, AllPlanes(warp), least);
}

FoldCount
Unfolding::CountFolds(const Slab & warp) const
{
  std::vector<double> minima(std::size_t(warp.Domain().z));
  FoldCount           count;
  count.folds = this->MeasurePlanes(warp, AllPlanes(warp), {}, minima);
  m_Communicator.Sum(&count.folds, 1);
  count.smallest = SmallestOf(minima);
  return count;
}

bool
Unfolding::MarkFolds(const Slab &            warp,
                     const UnfoldingLimits & limits,
                     const BlockMarks *      marks,
                     BlockMarks &            own,
                     BlockMarks &            reached) const
{
  const bool folded = SmallestOf(this->MeasureMinima(warp, marks)) < double(limits.least);
  if (folded)
  {
    this->MarkBelow(warp, limits.ironed, own, reached);
  }
  return folded;
}

/** After a pass only what is near folds is looked at: ironing changes voxels beside a fold, and these the determinants
 * beside them. */
std::int64_t
Unfolding::Unfold(const Slab &            warp,
                  const UnfoldingLimits & limits,
                  const BlockMarks *      marks,
                  BlockMarks &            own,
                  BlockMarks &            reached) const
{
  std::vector<double> minima = this->MeasureMinima(warp, marks);
  double              smallest = SmallestOf(minima);
  if (smallest >= double(limits.least))
  {
    return 0;
  }
  BlockMarks folded(warp.Domain());
  this->MarkBelow(warp, limits.ironed, folded, reached);
  for (std::size_t i = 0; i < folded.marks.size(); ++i)
  {
    own.marks[i] |= folded.marks[i];
  }
  folded = OfAllRanks(m_Communicator, std::move(folded));
  Progress     progress;
  std::int64_t most = 0;
  for (int pass = 0; pass < MostPasses && smallest < double(limits.ironed) && !progress.HasEnded(smallest); ++pass)
  {
    const auto changed = PlanesNearFolds(minima, limits.ironed, 1, warp.Owned());
    const auto measured = PlanesNearFolds(minima, limits.ironed, 2, warp.Owned());
    most = std::max(most, this->IronPlanes(warp, changed, limits.ironed));
    this->MeasurePlanes(warp, measured, LeastOneSided(&folded), minima);
    smallest = SmallestOf(minima);
  }
  return most;
}

} // namespace ffdp
