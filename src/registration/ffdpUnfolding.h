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
#ifndef ffdpUnfolding_h
#define ffdpUnfolding_h

#include "ffdpStageRunner.h"

#include <cstdint>
#include <vector>

namespace ffdp
{

/** Of determinants, JacobianDifferences::LeastOneSided. */
struct UnfoldingLimits
{
  float least;  ///< not only positive, so that what reads the warp finds no fold either
  float ironed; ///< to which it is ironed where it is less, so that it lasts
};

/** Folds as most programs count them, with central differences. */
struct FoldCount
{
  std::int64_t folds = 0;
  double       smallest = 1;
};

/** What one of the ranks has marked. */
BlockMarks
OfAllRanks(Communicator & communicator, BlockMarks marks);

/** Takes folds out of warps that are split over ranks: slabs of one domain, with a halo of a plane or more. All ranks
 * take part. */
class Unfolding
{
public:
  Unfolding(Backend & backend, Communicator & communicator, const Extent & domain);

  /** A number per voxel that is too small where a warp is to be ironed. The functions below leave determinants here. */
  const Slab &
  Measure() const
  {
    return m_Measure;
  }

  /** Irons a warp wherever the measure is below `least`; returns how many voxels. */
  std::int64_t
  Iron(const Slab & warp, float least) const;

  FoldCount
  CountFolds(const Slab & warp) const;

  /** Whether the smallest determinant, of all blocks or of marked ones, is below the limits. If so, marks where this
   * rank's folds are in `own`, and what they reach in the inverse in `reached`. */
  bool
  MarkFolds(const Slab &            warp,
            const UnfoldingLimits & limits,
            const BlockMarks *      marks,
            BlockMarks &            own,
            BlockMarks &            reached) const;

  /** The same, and irons the warp until it is within the limits, or no longer gets closer to them. Returns how many
   * voxels were changed in the pass that changed most. */
  std::int64_t
  Unfold(const Slab &            warp,
         const UnfoldingLimits & limits,
         const BlockMarks *      marks,
         BlockMarks &            own,
         BlockMarks &            reached) const;

private:
  /** Finds the determinant in some runs of owned planes, and its minima there; minima are those of all planes. Returns
   * how many voxels of these planes are folds. */
  std::int64_t
  MeasurePlanes(const Slab &                    warp,
                const std::vector<PlaneRange> & runs,
                const JacobianParameters &      parameters,
                std::vector<double> &           minima) const;

  /** The minima of all planes, of all blocks or of marked ones. */
  std::vector<double>
  MeasureMinima(const Slab & warp, const BlockMarks * marks) const;

  /** Irons a warp in some runs of owned planes, where the measure is below `least`; returns how many voxels of all
   * ranks. */
  std::int64_t
  IronPlanes(const Slab & warp, const std::vector<PlaneRange> & runs, float least) const;

  /** Marks where the measure is below `least`, and what that reaches in the inverse. */
  void
  MarkBelow(const Slab & warp, float least, BlockMarks & own, BlockMarks & reached) const;

  Backend &      m_Backend;
  Communicator & m_Communicator;
  Slab           m_Measure; ///< one volume, with a halo of a plane
};

} // namespace ffdp

#endif
