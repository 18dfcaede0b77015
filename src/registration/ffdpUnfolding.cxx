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

/** Finds the determinant in some runs of owned planes, and its minima there; minima are those of all planes. Returns
 * how many voxels of these planes are folds. */
std::int64_t
MeasurePlanes(Backend &                       backend,
              Communicator &                  communicator,
              const Slab &                    warp,
              const std::vector<PlaneRange> & runs,
              const JacobianParameters &      parameters,
              const Slab &                    measure,
              std::vector<double> &           minima)
{
  const PlaneRange &  owned = warp.Owned();
  std::vector<double> own(minima.begin() + owned.first, minima.begin() + owned.end);
  std::int64_t        folds = 0;
  for (const PlaneRange & run : runs)
  {
    const JacobianResult jacobian =
      backend.JacobianDeterminant(warp.Warp(), run.first, run.end - run.first, measure.OwnedVolume(), parameters);
    std::copy(jacobian.planeMinima.begin(), jacobian.planeMinima.end(), own.begin() + (run.first - owned.first));
    folds += jacobian.notPositive;
  }
  minima = communicator.Gather(own);
  return folds;
}

JacobianParameters
LeastOneSided(const BlockMarks * marks)
{
  JacobianParameters parameters;
  parameters.differences = JacobianDifferences::LeastOneSided;
  parameters.marks = marks;
  return parameters;
}

/** The minima of all planes, of all blocks or of marked ones. */
std::vector<double>
MeasureMinima(Backend &          backend,
              Communicator &     communicator,
              const Slab &       warp,
              const BlockMarks * marks,
              const Slab &       measure)
{
  std::vector<double> minima(std::size_t(warp.Domain().z));
  MeasurePlanes(backend, communicator, warp, AllPlanes(warp), LeastOneSided(marks), measure, minima);
  return minima;
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

/** Irons a warp in some runs of owned planes, where `measure` is below `least`; returns how many voxels of all ranks.
 */
std::int64_t
IronPlanes(Backend &                       backend,
           Communicator &                  communicator,
           const Slab &                    warp,
           const std::vector<PlaneRange> & runs,
           const Slab &                    measure,
           float                           least)
{
  measure.RefreshHalo(backend, communicator);
  std::int64_t ironed = 0;
  for (const PlaneRange & run : runs) // runs do not touch, so none sees what became of another
  {
    ironed += backend.IronFolds(warp.Warp(), run.first, run.end - run.first, measure.Volume(), least);
  }
  communicator.Sum(&ironed, 1);
  warp.RefreshHalo(backend, communicator);
  return ironed;
}

/** Marks where what is measured is below `least`, and what that reaches in the inverse. */
void
MarkBelow(Backend &    backend,
          const Slab & warp,
          const Slab & measure,
          float        least,
          BlockMarks & own,
          BlockMarks & reached)
{
  if (!warp.IsEmpty())
  {
    backend.MarkInverseErrors(measure.OwnedVolume(), warp.OwnedWarp(), -least, own, reached);
  }
}

} // namespace

FoldCount
CountFolds(Backend & backend, Communicator & communicator, const Slab & warp, const Slab & measure)
{
  std::vector<double> minima(std::size_t(warp.Domain().z));
  FoldCount           count;
  count.folds = MeasurePlanes(backend, communicator, warp, AllPlanes(warp), {}, measure, minima);
  communicator.Sum(&count.folds, 1);
  count.smallest = SmallestOf(minima);
  return count;
}

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

bool
MarkFolds(Backend &               backend,
          Communicator &          communicator,
          const Slab &            warp,
          const Slab &            measure,
          const UnfoldingLimits & limits,
          const BlockMarks *      marks,
          BlockMarks &            own,
          BlockMarks &            reached)
{
  const std::vector<double> minima = MeasureMinima(backend, communicator, warp, marks, measure);
  const bool                folded = SmallestOf(minima) < double(limits.least);
  if (folded)
  {
    MarkBelow(backend, warp, measure, limits.ironed, own, reached);
  }
  return folded;
}

/** After a pass only what is near folds is looked at: ironing changes voxels beside a fold, and these the determinants
 * beside them. */
std::int64_t
Unfold(Backend &               backend,
       Communicator &          communicator,
       const Slab &            warp,
       const Slab &            measure,
       const UnfoldingLimits & limits,
       const BlockMarks *      marks,
       BlockMarks &            own,
       BlockMarks &            reached)
{
  std::vector<double> minima = MeasureMinima(backend, communicator, warp, marks, measure);
  double              smallest = SmallestOf(minima);
  if (smallest >= double(limits.least))
  {
    return 0;
  }
  BlockMarks folded(warp.Domain());
  MarkBelow(backend, warp, measure, limits.ironed, folded, reached);
  for (std::size_t i = 0; i < folded.marks.size(); ++i)
  {
    own.marks[i] |= folded.marks[i];
  }
  folded = OfAllRanks(communicator, std::move(folded));
  Progress     progress;
  std::int64_t most = 0;
  for (int pass = 0; pass < MostPasses && smallest < double(limits.ironed) && !progress.HasEnded(smallest); ++pass)
  {
    const auto changed = PlanesNearFolds(minima, limits.ironed, 1, warp.Owned());
    const auto measured = PlanesNearFolds(minima, limits.ironed, 2, warp.Owned());
    most = std::max(most, IronPlanes(backend, communicator, warp, changed, measure, limits.ironed));
    MeasurePlanes(backend, communicator, warp, measured, LeastOneSided(&folded), measure, minima);
    smallest = SmallestOf(minima);
  }
  return most;
}

std::int64_t
Iron(Backend & backend, Communicator & communicator, const Slab & warp, const Slab & measure, float least)
{
  return IronPlanes(backend, communicator, warp, AllPlanes(warp), measure, least);
}

} // namespace ffdp
