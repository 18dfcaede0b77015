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

/** Takes folds out of warps that are split over ranks. A slab has a halo of a plane or more; `measure` is one volume
 * with such a halo, of the same planes. All ranks take part. */
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

FoldCount
CountFolds(Backend & backend, Communicator & communicator, const Slab & warp, const Slab & measure);

/** What one of the ranks has marked. */
BlockMarks
OfAllRanks(Communicator & communicator, BlockMarks marks);

/** Whether the smallest determinant, of all blocks or of marked ones, is below the limits. If so, marks where this
 * rank's folds are in `own`, and what they reach in the inverse in `reached`. */
bool
MarkFolds(Backend &               backend,
          Communicator &          communicator,
          const Slab &            warp,
          const Slab &            measure,
          const UnfoldingLimits & limits,
          const BlockMarks *      marks,
          BlockMarks &            own,
          BlockMarks &            reached);

/** The same, and irons the warp until it is within the limits, or no longer gets closer to them. Returns how many
 * voxels were changed in the pass that changed most. */
std::int64_t
Unfold(Backend &               backend,
       Communicator &          communicator,
       const Slab &            warp,
       const Slab &            measure,
       const UnfoldingLimits & limits,
       const BlockMarks *      marks,
       BlockMarks &            own,
       BlockMarks &            reached);

/** Irons a warp wherever `measure` is below `least`; returns how many voxels. */
std::int64_t
Iron(Backend & backend, Communicator & communicator, const Slab & warp, const Slab & measure, float least);

} // namespace ffdp

#endif
