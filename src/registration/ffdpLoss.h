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
#ifndef ffdpLoss_h
#define ffdpLoss_h

#include "ffdpComparedPair.h"
#include "ffdpRegistrationMetric.h"

#include <stdexcept>
#include <vector>

namespace ffdp
{

/** The images do not overlap under a map, or masks leave nothing of the overlap. */
class NothingToCompare : public std::invalid_argument
{
public:
  NothingToCompare()
    : std::invalid_argument("ffdp: the images do not overlap, or the masks leave nothing of the overlap")
  {}
};

/** The weighted sum of all metrics over all pairs, and its gradient: moving images are seen under
 * phi(x) = A (x + u(x)) + t in mm, fixed ones under x + r(x), where r is for methods that move both.
 *
 * A sweep goes through the planes of the fixed grid that this rank owns in ascending order and asks for the gradient of
 * some planes at a time; moving images are sampled as far ahead as windows reach, and forgotten behind them. So nothing
 * as large as the images is kept. */
class Loss
{
public:
  Loss(Backend &                               backend,
       Communicator &                          communicator,
       const std::vector<LevelPair> &          pairs,
       const std::vector<RegistrationMetric> & metrics,
       std::int64_t                            planesAtATime);

  /** Starts a sweep; all ranks do. u and r are in voxels of the fixed grid and hold the planes that this rank owns;
   * either may be missing. They must not change before the sweep ends. `gradients`: the planes that gradients are asked
   * for, if they are on any rank; as if PrepareGradients() followed. */
  void
  Begin(const AffineMap &                 physical,
        const WarpView<const float> &     u,
        const WarpView<const float> &     r,
        const std::optional<PlaneRange> & gradients);

  /** From here on gradients are asked for these planes, and no others. All ranks do this, some perhaps for no plane. */
  void
  PrepareGradients(const PlaneRange & planes);

  /** Whether PrepareGradients() for fewer planes takes less memory, and each time takes long; otherwise it does nothing.
   * The same on all ranks. */
  bool
  GradientsComeFromRing() const;

  /** dL/du, in voxels, for the planes [first, end), which this rank owns; `gradient` holds exactly them. At most as
   * many planes as the constructor was told. It is cheapest where calls go on where the last one ended. With r, it is
   * dL/du - dL/dr: the gradient for a movement of both images against each other. (Moving both along with each other
   * only stretches the space that they meet in, and must not be rewarded for what it makes of the mean over that
   * space.) Local correlation adds what the slopes of the images as they are compared say about the step
   * (RegistrationMetric::movedSlope, fixedSlope), by central differences. */
  void
  WarpGradient(std::int64_t first, std::int64_t end, const WarpView<float> & gradient);

  /** The gradient for the physical map, of the planes [first, end); dL/dA and dL/dt are complete after the last. */
  void
  AddMapGradient(std::int64_t first, std::int64_t end);

  /** Like the above without a gradient. */
  void
  AddValue(std::int64_t first, std::int64_t end);

  /** The loss of all ranks, once the sweep has seen all planes. All ranks ask. */
  double
  Value() const;

  /** dL/dA (row major) and dL/dt of the physical map, once the sweep has seen all planes. All ranks ask. */
  MapGradient
  PhysicalMapGradient() const;

  /** What a change of the loss that matters is measured by, in the units of WarpGradient(), where a term that is alone
   * has no weight and no scale. */
  double
  GradientUnit() const;

  /** The planes of the fixed grid that this rank sweeps through. */
  const PlaneRange &
  Planes() const
  {
    return m_Planes;
  }

  const Extent &
  Domain() const
  {
    return m_Pairs.front().compared.Images().fixed.domain;
  }

private:
  struct Pair
  {
    ComparedPair             compared;
    std::vector<MapGradient> planeGradients; ///< of the planes of this rank
    std::int64_t             counted = 0;    ///< voxels of all ranks whose gradients are divided by their number
  };
  struct Term
  {
    RegistrationMetric          metric;
    LocalCorrelationParameters  correlation;
    MutualInformationParameters histogram;
    double                      scale = 1; ///< of the gradient and the value, besides the weight
    MutualInformation           information;
    PlaneSums                   sums;
  };

  void
  PrepareTerm(Term & term, const LevelPair & images) const;
  void
  MeasureInformation();
  /** Finds by what the gradients of each pair are divided. */
  void
  CountVoxels(bool withGradient);
  /** Which derivatives of a term are wanted. */
  enum class Gradients
  {
    None,
    ForMoved,
    ForBoth
  };
  /** Writes dL/dmoved of a term to m_LossGradient, if wanted, likewise for the fixed image, and adds to its sums. */
  void
  EvaluateTerm(Term & term, std::int64_t first, std::int64_t end, Gradients wanted);
  /** What parts the slopes of both images, as they are compared, have in the gradient for the warp. */
  struct Slopes
  {
    float ofMoved = 0;
    float ofFixed = 0;
  };
  Slopes
  SlopesOf(const Term & term) const;
  /** Adds what u contributes to the gradients for the map of a pair, of the planes that were evaluated last. */
  void
  AddWarpedMapGradient(const CompositeMap &       map,
                       const WarpView<float> &    gradient,
                       std::vector<MapGradient> & planes) const;
  void
  PullBack(SampledImage &            image,
           const VolumeView<float> & lossGradient,
           float                     scale,
           const WarpView<float> &   gradient,
           bool                      accumulate);
  /** Over all ranks. */
  double
  MeanOf(const PlaneSums & own) const;

  Backend &             m_Backend;
  Communicator &        m_Communicator;
  PlaneRange            m_Planes;
  JoinedPlanes          m_JoinedPlanes = std::make_shared<DeviceArray<float>>(); ///< of all images
  std::vector<Pair>     m_Pairs;
  std::vector<Term>     m_Terms;
  std::int64_t          m_PlanesAtATime;
  PlaneWindow<float>    m_LossGradient, m_FixedLossGradient;
  PlaneWindow<float>    m_MapScratch; ///< dL/du of a linear stage that follows a deformable one
  WarpView<const float> m_Warp;
  bool                  m_FixedMoves = false; ///< also on a rank that owns no plane of its warp
};

} // namespace ffdp

#endif
