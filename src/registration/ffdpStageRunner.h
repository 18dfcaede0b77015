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
#ifndef ffdpStageRunner_h
#define ffdpStageRunner_h

#include "ffdpLevels.h"
#include "ffdpStateArchive.h"

#include <memory>
#include <optional>

namespace ffdp
{

/** A warp, in voxels of its grid, which covers the fixed image, on a grid of another size. */
Slab
Regrid(Backend & backend, Communicator & communicator, const Slab & warp, const Extent & size);

/** How far a warp moves points along z, on any rank, with room for rounding. */
float
BoundAlongZ(Backend & backend, Communicator & communicator, const Slab & warp);

/** Writes (id + u)^-1 - id to `inverse`, which has no halo and is zero before, and returns the largest residual in
 * voxels: within the tolerance, where there is an inverse. u gets a halo as wide as its inverse reaches. */
double
InvertWarp(Backend & backend, Communicator & communicator, Slab & u, const Slab & inverse, float tolerance);

/** What passes from stage to stage: phi(x) = A (x + u(x)) + t. */
struct Alignment
{
  AffineMap affine;
  Slab      warp;
};

/** A stage that iterates, level by level. It starts from an alignment and leaves its own there. */
class StageRunner
{
public:
  virtual ~StageRunner() = default;

  /** Goes on at the next level, which must live until the one after. */
  virtual void
  Enter(const Level & level) = 0;

  struct Iteration
  {
    double value = 0; ///< the loss before the step
    double step = 0;  ///< largest movement, voxels of the level
    bool   converged = false;
  };
  virtual Iteration
  Iterate() = 0;

  /** After the last iteration of a level, which is still there. Returns the loss of what the level leaves, where this
   * is not where its last iteration began. */
  virtual std::optional<double>
  EndLevel()
  {
    return {};
  }

  /** After the last level. */
  virtual void
  Leave() = 0;

  /** Ends what is under way between ranks. All ranks do, before the stage is given up. */
  virtual void
  FinishTransfers()
  {}

  /** The state in the middle of a level; to be loaded after Enter() of the same level. */
  virtual void
  Exchange(StateArchive & archive) = 0;
};

std::unique_ptr<StageRunner>
MakeLinearStage(Backend &                 backend,
                Communicator &            communicator,
                const PlacedImage &       fixed,
                const RegistrationStage & stage,
                Alignment &               alignment);

std::unique_ptr<StageRunner>
MakeDeformableStage(Backend &                 backend,
                    Communicator &            communicator,
                    const RegistrationStage & stage,
                    Alignment &               alignment);

} // namespace ffdp

#endif
