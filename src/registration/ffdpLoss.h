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

#include "ffdpAffineMap.h"
#include "ffdpBackend.h"
#include "ffdpCommunicator.h"
#include "ffdpEdgeStrips.h"
#include "ffdpPlaneWindow.h"
#include "ffdpRegistrationMetric.h"
#include "ffdpSampledImage.h"

#include <vector>

namespace ffdp
{

/** A pair of images as one level sees it: the planes that this rank owns. Masks are floats, 1 inside and 0 outside; not
 * given: inside everywhere. */
struct LevelPair
{
  VolumeView<const float> fixed;
  VolumeView<const float> moving;
  VolumeView<const float> fixedMask;
  VolumeView<const float> movingMask;
  AffineMap               fixedToPhysical;  ///< index to mm
  AffineMap               physicalToMoving; ///< mm to index
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
   * either may be missing. They must not change before the sweep ends. */
  void
  Begin(const AffineMap &             physical,
        const WarpView<const float> & u,
        const WarpView<const float> & r,
        bool                          withGradient);

  /** dL/du, in voxels, for the planes [first, end), which this rank owns; `gradient` holds exactly them. At most as
   * many planes as the constructor was told. It is cheapest where calls go on where the last one ended. With r, it is
   * dL/du - dL/dr: the gradient for a movement of both images against each other. (Moving both along with each other
   * only stretches the space that they meet in, and must not be rewarded for what it makes of the mean over that
   * space.) */
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

  /** The planes of the fixed grid that this rank sweeps through. */
  const PlaneRange &
  Planes() const
  {
    return m_Planes;
  }

  const Extent &
  Domain() const
  {
    return m_Pairs.front().images.fixed.domain;
  }

private:
  struct Pair
  {
    LevelPair                 images;
    CompositeMap              map;
    std::int64_t              halo = 0;  ///< of its metrics
    ExtendedImage             fixedHere; ///< the fixed image where it does not move
    SampledImage              moving, fixed, movingMask, fixedMask;
    PlaneWindow<float>        moved;
    PlaneWindow<float>        movedFixed; ///< where the fixed image moves, too
    PlaneWindow<float>        movedMask, movedFixedMask;
    PlaneWindow<std::uint8_t> mask;
    EdgeStrips<float>         movedEdges, movedFixedEdges;
    EdgeStrips<std::uint8_t>  maskEdges;
    std::vector<MapGradient>  planeGradients; ///< of the planes of this rank

    bool
    HasFixedMask() const
    {
      return images.fixedMask.IsGiven();
    }
    bool
    HasMovingMask() const
    {
      return images.movingMask.IsGiven();
    }
    bool
    IsMasked() const
    {
      return this->HasFixedMask() || this->HasMovingMask();
    }
    VolumeView<const std::uint8_t>
    Mask() const
    {
      return this->IsMasked() ? VolumeView<const std::uint8_t>(mask.Volume()) : VolumeView<const std::uint8_t>();
    }
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

  Statistics
  MeasureImage(const VolumeView<const float> & image) const;
  IntensityRange
  MeasureRange(const VolumeView<const float> & image, const Statistics & statistics) const;
  void
  PrepareTerm(Term & term);
  /** Makes room for what a moving fixed image needs. */
  void
  PrepareFixedWarp(Pair & pair);
  void
  MeasureInformation();
  /** Swaps the planes at the edges of slabs that windows of neighbors reach. */
  void
  SwapEdges(Pair & pair);
  void
  RestartWindows(Pair & pair, std::int64_t first);
  /** Samples what is compared in the planes [first, end), and around them as far as windows reach. */
  void
  SampleUpTo(Pair & pair, std::int64_t first, std::int64_t end);
  /** The mask of a pair from both images' masks, for the planes of a view. */
  void
  SampleMask(Pair & pair, const VolumeView<std::uint8_t> & mask);
  /** The fixed image as it is compared, itself or its moved planes, in [first, end) and as far as windows reach. */
  VolumeView<const float>
  ComparedFixed(Pair & pair, std::int64_t first, std::int64_t end);
  /** Writes dL/dmoved of a term to m_LossGradient, if wanted, likewise for the fixed image, and adds to its sums. */
  void
  EvaluateTerm(Term & term, std::int64_t first, std::int64_t end, bool withGradient);
  /** Adds what u contributes to the gradients for the map of a pair, of the planes that were evaluated last. */
  void
  AddWarpedMapGradient(const Pair & pair, const WarpView<float> & gradient, std::vector<MapGradient> & planes) const;
  double
  MeanOf(const PlaneSums & own) const;
  WarpInput
  Displacement() const
  {
    return m_Warp ? WarpInput(m_Warp) : WarpInput();
  }

  Backend &             m_Backend;
  Communicator &        m_Communicator;
  PlaneRange            m_Planes;
  JoinedPlanes          m_JoinedPlanes = std::make_shared<DeviceArray<float>>(); ///< of all images
  std::vector<Pair>     m_Pairs;
  std::vector<Term>     m_Terms;
  std::int64_t          m_PlanesAtATime;
  PlaneWindow<float>    m_LossGradient, m_FixedLossGradient;
  PlaneWindow<float>    m_MapScratch; ///< dL/du of a linear stage that follows a deformable one
  WarpView<const float> m_Warp, m_FixedWarp;
  bool                  m_FixedMoves = false; ///< also on a rank that owns no plane of its warp
};

} // namespace ffdp

#endif
