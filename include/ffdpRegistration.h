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
#ifndef ffdpRegistration_h
#define ffdpRegistration_h

#include "FFDPExport.h"
#include "ffdpAffineMap.h"
#include "ffdpBackend.h"
#include "ffdpCommunicator.h"
#include "ffdpRegistrationMetric.h"

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

/** Registration: from pairs of images to the transform that takes a point of the fixed image to the moving one,
 *
 *   phi(x) = A (x + u(x)) + t,     x in mm of the fixed image,
 *
 * as a sequence of stages that each start where the one before ended. u is a warp of the fixed image's space by
 * itself: what ANTs writes as 1Warp.nii.gz, applied before 0GenericAffine.mat. */
namespace ffdp
{

/** An image in memory with its place in space: mm = indexToPhysical(index). With several ranks each has the planes that
 * it owns, see Partition. */
struct PlacedImage
{
  VolumeView<const float> voxels;
  AffineMap               indexToPhysical;
};

/** Two images to align. A mask is on its image's grid, 0 outside and 1 inside; without voxels: all is inside. */
struct ImagePair
{
  PlacedImage             fixed;
  PlacedImage             moving;
  VolumeView<const float> fixedMask;
  VolumeView<const float> movingMask;
};

/** By how much a level is smaller than the fixed image. A number, and numbers of three axes ({ 4, 4, 1 }), mean what
 * they say. By spacing, a level has cubes for voxels, whose edges are a number times the shortest edge of a voxel of
 * the fixed image; axes whose voxels are longer already stay as they are, so that thick slices are not made fewer while
 * there are pixels to spare. Images whose voxels are cubes are shrunk alike either way. */
struct ShrinkFactor
{
  ShrinkFactor(double all)
    : axis{ all, all, all }
  {}
  ShrinkFactor(double x, double y, double z)
    : axis{ x, y, z }
  {}

  static ShrinkFactor
  BySpacing(double factor)
  {
    ShrinkFactor shrink(factor);
    shrink.bySpacing = true;
    return shrink;
  }

  double axis[3];           ///< of the fixed image
  bool   bySpacing = false; ///< the three are alike, and count for the axis that is sampled most finely
};

inline bool
operator==(const ShrinkFactor & a, const ShrinkFactor & b)
{
  return a.bySpacing == b.bySpacing && a.axis[0] == b.axis[0] && a.axis[1] == b.axis[1] && a.axis[2] == b.axis[2];
}

/** What is done from coarse to fine. The defaults are the deformable stage of the preset `balanced`, see MakeStages().
 */
struct RegistrationStage
{
  enum class Kind
  {
    Moments, ///< centers of mass and principal axes, then a search over rotations on coarse images
    Rigid,
    Similarity,
    Affine,
    Greedy, ///< a diffeomorphic warp of the fixed grid
    SyN     ///< both images move, against each other, and meet half way
  };

  RegistrationStage() = default;

  /** A stage of this kind with the defaults of the kind: what the presets begin with, and what `ffdp register` takes
   * where numbers are left out. Linear stages and Moments compare by mutual information. */
  FFDP_EXPORT explicit RegistrationStage(Kind kind);

  Kind                            kind = Kind::Greedy;
  std::vector<RegistrationMetric> metrics = std::vector<RegistrationMetric>(1);
  std::vector<ShrinkFactor>       shrinkFactors = { ShrinkFactor::BySpacing(4), ///< of the levels; { 4, 2, 1 } is
                                                    ShrinkFactor::BySpacing(2), ///< taken as it is
                                                    ShrinkFactor::BySpacing(1) };
  std::vector<int>                iterations = { 100, 50, 25 };
  std::vector<double>             smoothingSigmas; ///< of the levels; empty: what the shrinking asks for
  bool   smoothingInMm = false;                    ///< the unit of these sigmas; otherwise voxels of the full image
  double tolerance =
    1e-3; ///< stop a level when its loss falls per iteration by less than this part of its highest minus lowest
  int window = 10;       ///< losses that a slope is fitted to
  int smallestSize = 16; ///< of an axis that is shrunk; a level that would be smaller keeps this many voxels

  /** Linear stages: how far an iteration moves points half way to the corners of the image at the start of a level, in
   * voxels of the level; 0.25 is usual. Greedy, SyN: the largest step, times half a voxel; SyN moves both images so
   * far.
   */
  double learningRate = 0.55;

  // Moments
  double searchAngle = 45; ///< degrees about each axis; 0: keep the orientation, put centers of mass on each other
  double searchStep = 15;

  // Greedy, SyN
  double gradientSigma = 1.4;         ///< smoothing of the gradient
  double warpSigma = 0.55;            ///< smoothing of the warp after each step
  bool   sigmasInMm = false;          ///< the unit of the two; otherwise voxels of the level
  double axisWeight[3] = { 1, 1, 1 }; ///< 0 keeps the warp from moving along an axis of the fixed grid
};

/** What an observer is told after each iteration, a search for a start by moments being one for some rotations; and
 * then, where there is a warp, while it and its inverse are brought together, as if that were one stage more with one
 * level. */
struct RegistrationProgress
{
  int          stage = 0;
  const char * stageName = "";
  int          level = 0;
  int          levels = 0;
  Extent       levelSize;
  int          iteration = 0;  ///< from 1
  int          iterations = 0; ///< at most
  double       value = 0;      ///< the loss before this iteration's step, or the least of a search; at the end, voxels
                               ///< the two warps are apart
  double step = 0;      ///< largest movement in this iteration, in voxels of the level; of linear stages, at most
  double fraction = 0;  ///< of the work of all stages that is done, by voxels
  bool   isEnd = false; ///< all stages are done
};

struct LevelReport
{
  int          stage = 0;
  const char * stageName = "";
  Extent       size;
  int          iterations = 0;
  double       firstValue = 0;
  double       lastValue = 0;
  double       seconds = 0;
};

struct RegistrationResult
{
  AffineMap                affine; ///< A, t
  bool                     hasWarp = false;
  Extent                   warpSize;            ///< of the whole warp
  PlaneRange               warpPlanes;          ///< that this rank owns, and that the two warps below hold
  std::vector<float>       warp;                ///< u in voxels of the fixed image, three planar volumes
  std::vector<float>       inverseWarp;         ///< (id + u)^-1 - id, likewise
  double                   inverseResidual = 0; ///< how far one after the other, in either order, moves a voxel at most
  double                   smallestJacobian = 1; ///< of the warp, central differences
  double                   smallestInverseJacobian = 1;
  std::int64_t             folds = 0; ///< voxels of the warp with a determinant that is not positive
  std::int64_t             inverseFolds = 0;
  std::int64_t             ironed = 0; ///< voxels, in one pass, that were smoothed because the warp was too steep
  std::vector<LevelReport> levels;
  std::vector<std::string> notes; ///< what was done differently from what was asked
};

/** Where the first stage starts: phi(x) = A (x + u(x)) + t. */
struct RegistrationStart
{
  RegistrationStart() = default;
  RegistrationStart(const AffineMap & map)
    : affine(map)
  {}

  AffineMap affine;
  WarpView<const float>
    warp; ///< u in voxels, on the grid of the fixed image, the planes that this rank owns; may be missing
};

/** State on disk, from which the same call goes on after it was interrupted and ends in the same bytes. */
struct RegistrationCheckpoint
{
  std::string directory;    ///< none is kept if this is empty
  double      seconds = 60; ///< between two saves
};

/** Thrown by Register() when the observer asks to stop. */
class FFDP_EXPORT RegistrationAborted : public std::runtime_error
{
public:
  RegistrationAborted();
  ~RegistrationAborted() override;
};

/** Runs the stages. All pairs have the fixed grid of the first. The observer returns false to stop.
 * With a checkpoint whose directory holds the state of this very problem, goes on from there; the caller removes it
 * (RemoveCheckpoint) when the result is safe.
 * All ranks of the communicator make the call, with the same stages and maps, and get the bytes that one rank alone
 * would. Where one rank's observer asks to stop, all stop.
 * Throws std::invalid_argument for what cannot be registered, RegistrationAborted. */
FFDP_EXPORT RegistrationResult
Register(Backend &                                                 backend,
         Communicator &                                            communicator,
         const std::vector<ImagePair> &                            pairs,
         const RegistrationStart &                                 start,
         const std::vector<RegistrationStage> &                    stages,
         const std::function<bool(const RegistrationProgress &)> & observer = {},
         const RegistrationCheckpoint &                            checkpoint = {});

FFDP_EXPORT void
RemoveCheckpoint(const RegistrationCheckpoint & checkpoint);

} // namespace ffdp

#endif
