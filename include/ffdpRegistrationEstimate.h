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
#ifndef ffdpRegistrationEstimate_h
#define ffdpRegistrationEstimate_h

#include "ffdpRegistration.h"

namespace ffdp
{

/** What an estimate needs to know of a pair of images. */
struct PairGeometry
{
  Extent    fixedSize;
  AffineMap fixedToPhysical;
  Extent    movingSize;
  AffineMap movingToPhysical;
  bool      hasFixedMask = false;
  bool      hasMovingMask = false;
};

/** Where a registration will run, as far as its memory depends on it. */
struct EstimatedDevice
{
  bool cuda = false;
  int  multiprocessors = 192; ///< of a GPU; by default more than those have that are known: the estimate is then high
};

/** A level that a stage will go through, before it does. */
struct LevelEstimate
{
  int          stage = 0;
  const char * stageName = "";
  Extent       size;
  int          iterations = 0; ///< at most
  double       bytes = 0;      ///< of memory of the device, above the images, which a GPU holds copies of
};

struct RegistrationEstimate
{
  std::vector<LevelEstimate> levels;
  double                     resultBytes = 0; ///< while the warp and its inverse are brought home; 0: there is none
  double                     peakBytes = 0;   ///< the largest of all
  std::vector<std::string>   notes;           ///< those of the run about levels
};

/** The memory that Register() will take with these images and stages, and the work. `threads` are those of the CPU; on
 * a GPU, windows and what kernels keep are larger. A GPU need not be there. With several ranks: on the rank that owns
 * most, for maps that turn the images little from how their headers place them. Throws like Register() for stages that
 * cannot be run. */
FFDP_EXPORT RegistrationEstimate
EstimateRegistration(const std::vector<PairGeometry> &      pairs,
                     bool                                   startsFromWarp,
                     const std::vector<RegistrationStage> & stages,
                     unsigned                               threads = 0,
                     int                                    ranks = 1,
                     const EstimatedDevice &                device = {});

/** The geometry of images in memory. */
FFDP_EXPORT PairGeometry
DescribePair(const ImagePair & pair);

/** "greedy" and so on. */
FFDP_EXPORT const char *
NameOf(RegistrationStage::Kind kind);

} // namespace ffdp

#endif
