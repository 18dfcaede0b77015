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
#ifndef ffdpBackend_h
#define ffdpBackend_h

#include "FFDPExport.h"
#include "ffdpAdamComposition.h"
#include "ffdpDownsample.h"
#include "ffdpFoldRepair.h"
#include "ffdpGaussian.h"
#include "ffdpImageGradient.h"
#include "ffdpEdgeStrength.h"
#include "ffdpImageSlope.h"
#include "ffdpInverse.h"
#include "ffdpJacobian.h"
#include "ffdpLocalCorrelation.h"
#include "ffdpMeanSquares.h"
#include "ffdpMutualInformation.h"
#include "ffdpRangeGuard.h"
#include "ffdpResample.h"
#include "ffdpSampler.h"
#include "ffdpStatistics.h"
#include "ffdpWarpGrid.h"
#include "ffdpWarpProducts.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ffdp
{

/** A device with memory of its own and the fused primitives: what registration is written against.
 *
 * Views passed to a backend point to memory that it allocated, unless it says otherwise. Calls are coarse (a whole slab
 * of planes), so they are virtual; what they compute, and what they need as halo, is said where the primitive of the
 * same name is declared. Results that are numbers come back to the host. */
class FFDP_EXPORT Backend
{
public:
  virtual ~Backend() = default;

  virtual const char *
  Name() const = 0;

  /** True if the caller's memory can be worked on where it is; otherwise it is copied to the device first. */
  virtual bool
  SharesHostMemory() const = 0;

  /** Where fewer voxels are worked on at a time, starting costs more than computing. */
  virtual std::int64_t
  FewVoxels() const = 0;

  static constexpr std::int64_t FewVoxelsOfCpu = 1 << 17;

  /** Memory for floats or bytes on the device; throws std::bad_alloc. */
  virtual void *
  Allocate(std::size_t bytes) = 0;
  virtual void
  Free(void * memory) = 0;

  virtual void
  CopyFromHost(void * to, const void * from, std::size_t bytes) = 0;
  virtual void
  CopyToHost(void * to, const void * from, std::size_t bytes) = 0;
  /** Within the device; the two may overlap. */
  virtual void
  Move(void * to, const void * from, std::size_t bytes) = 0;
  virtual void
  FillZero(void * memory, std::size_t bytes) = 0;

  virtual void
  Sample(const VolumeView<const float> & image,
         const CompositeMap &            map,
         const WarpInput &               u,
         const VolumeView<float> &       output,
         const SamplerParameters &       parameters) = 0;
  virtual std::vector<MapGradient>
  SampleBackward(const VolumeView<const float> & image,
                 const CompositeMap &            map,
                 const WarpInput &               u,
                 const VolumeView<const float> & outputGradient,
                 const WarpOutput &              warpGradient,
                 bool                            mapGradient,
                 const SamplerParameters &       parameters) = 0;
  virtual std::vector<PlaneRange>
  FindReachedPlanes(const Extent &            imageSize,
                    const CompositeMap &      map,
                    const WarpInput &         u,
                    const Extent &            fixedSize,
                    std::int64_t              firstPlane,
                    std::int64_t              planes,
                    const SamplerParameters & parameters) = 0;
  virtual void
  SampleDerivative(const VolumeView<const float> & image,
                   const CompositeMap &            map,
                   const WarpInput &               u,
                   const WarpView<float> &         derivative,
                   const SamplerParameters &       parameters) = 0;
  virtual std::vector<MapGradient>
  FinishSampleBackward(const CompositeMap &            map,
                       const VolumeView<const float> & outputGradient,
                       const WarpView<float> &         derivative,
                       bool                            mapGradient) = 0;
  virtual void
  SampleAdjoint(const VolumeView<const float> & outputGradient,
                const CompositeMap &            map,
                const WarpInput &               u,
                const VolumeView<float> &       imageGradient,
                const SamplerParameters &       parameters) = 0;

  virtual void
  Resample(const ConstPixelView &     image,
           const CompositeMap &       map,
           const WarpInput &          u,
           const PixelView &          output,
           const ResampleParameters & parameters) = 0;
  /** The fields of the chain are on the device. */
  virtual void
  ResampleChain(const ConstPixelView &     image,
                const CompositeMap &       map,
                const WarpChain &          chain,
                const PixelView &          output,
                const ResampleParameters & parameters) = 0;

  virtual LocalCorrelationResult
  LocalCorrelation(const VolumeView<const float> &        fixed,
                   const VolumeView<const float> &        moving,
                   const VolumeView<const std::uint8_t> & mask,
                   std::int64_t                           firstPlane,
                   std::int64_t                           planes,
                   const LocalCorrelationParameters &     parameters,
                   const LocalCorrelationOutputs &        outputs) = 0;
  virtual JointHistogram
  ComputeJointHistogram(const MutualInformationParameters &    parameters,
                        const VolumeView<const float> &        fixed,
                        const VolumeView<const float> &        moving,
                        const VolumeView<const std::uint8_t> & mask) = 0;
  virtual void
  MutualInformationGradient(const MutualInformation &              information,
                            const VolumeView<const float> &        fixed,
                            const VolumeView<const float> &        moving,
                            const VolumeView<const std::uint8_t> & mask,
                            const VolumeView<float> &              gradientMoving,
                            const VolumeView<float> &              gradientFixed) = 0;
  virtual MeanSquaresResult
  MeanSquares(const VolumeView<const float> &        moving,
              const VolumeView<const float> &        fixed,
              const VolumeView<const std::uint8_t> & mask,
              const VolumeView<float> &              movingGradient,
              const VolumeView<float> &              fixedGradient,
              std::int64_t                           normalizer) = 0;

  /** mask(x) = fixed(x) >= 1/2 and moved(x) >= 1/2, for the planes that the mask holds; a view that is not given
   * counts as 1 everywhere. */
  virtual void
  CombineMasks(const VolumeView<const float> &  fixed,
               const VolumeView<const float> &  moved,
               const VolumeView<std::uint8_t> & mask) = 0;

  /** valid(x) = 1 where neither image is NaN and both masks, if given, are at least 1/2. Returns how many are, by
   * plane. */
  virtual std::vector<std::int64_t>
  FindValid(const VolumeView<const float> &  fixed,
            const VolumeView<const float> &  moving,
            const VolumeView<const float> &  fixedMask,
            const VolumeView<const float> &  movingMask,
            const VolumeView<std::uint8_t> & valid) = 0;
  virtual void
  PullIntoRange(const VolumeView<float> & volume, const RangeGuard & guard) = 0;
  virtual std::vector<MapGradient>
  ImageGradient(const VolumeView<const float> & image,
                const CompositeMap &            map,
                const WarpInput &               u,
                const ImageDifferences &        differences,
                const VolumeView<const float> & weights,
                const std::array<double, 9> &   C,
                const WarpOutput &              derivative,
                bool                            moments) = 0;
  virtual void
  AddImageSlope(const VolumeView<const float> &        image,
                const VolumeView<const std::uint8_t> & mask,
                const VolumeView<const float> &        weights,
                float                                  factor,
                const WarpView<float> &                gradient) = 0;
  virtual void
  EdgeStrength(const VolumeView<const float> & image, float noise, const VolumeView<float> & edges) = 0;

  virtual void
  Scale(const VolumeView<float> & volume, float factor) = 0;
  /** to += from, for the planes that `to` holds. */
  virtual void
  Add(const VolumeView<float> & to, const VolumeView<const float> & from) = 0;

  virtual void
  SmoothGaussian(const WarpView<float> &    warp,
                 std::int64_t               firstOwned,
                 std::int64_t               ownedPlanes,
                 const GaussianParameters & parameters) = 0;
  virtual void
  SmoothGaussian(const WarpView<const float> & warp,
                 const WarpView<float> &       smoothed,
                 const GaussianParameters &    parameters) = 0;
  virtual void
  Downsample(const VolumeView<const float> & fine,
             const VolumeView<float> &       coarse,
             const GridMap &                 map,
             const DownsampleParameters &    parameters) = 0;
  virtual void
  UpsampleWarp(const WarpView<const float> & coarse, const WarpView<float> & fine, const GridMap & map) = 0;

  virtual double
  AdamStep(const WarpView<const float> & gradient,
           const WarpView<float> &       firstMoment,
           const VolumeView<float> &     secondMoment,
           const AdamParameters &        parameters) = 0;
  virtual void
  ComposeAdamStep(const WarpView<float> &           u,
                  std::int64_t                      firstOwned,
                  std::int64_t                      ownedPlanes,
                  const WarpView<const float> &     firstMoment,
                  const VolumeView<const float> &   secondMoment,
                  const AdamParameters &            adam,
                  const AdamCompositionParameters & parameters) = 0;
  virtual void
  ComposeWarps(const WarpView<float> &       u,
               std::int64_t                  firstOwned,
               std::int64_t                  ownedPlanes,
               const WarpView<const float> & v,
               const CompositionParameters & parameters) = 0;
  virtual float
  IterateInverse(const WarpView<const float> & u,
                 const WarpView<float> &       w,
                 const InverseStepParameters & parameters) = 0;
  virtual float
  RefineInverse(const WarpView<const float> &   u,
                const WarpView<float> &         w,
                const VolumeView<const float> & error,
                const InverseRefinement &       refinement) = 0;
  virtual float
  InverseError(const WarpView<const float> & u,
               const WarpView<const float> & w,
               float                         boundAlongZ,
               int                           margin,
               const VolumeView<float> &     error,
               const BlockMarks *            marks) = 0;
  virtual void
  MarkInverseErrors(const VolumeView<const float> & error,
                    const WarpView<const float> &   w,
                    float                           longest,
                    BlockMarks &                    own,
                    BlockMarks &                    reached) = 0;
  virtual JacobianResult
  JacobianDeterminant(const WarpView<const float> & warp,
                      std::int64_t                  firstPlane,
                      std::int64_t                  planes,
                      const VolumeView<float> &     determinant,
                      const JacobianParameters &    parameters) = 0;
  virtual std::int64_t
  IronFolds(const WarpView<float> &         u,
            std::int64_t                    firstOwned,
            std::int64_t                    ownedPlanes,
            const VolumeView<const float> & determinant,
            float                           least) = 0;

  virtual WarpSize
  MeasureWarp(const WarpView<const float> & warp, const double (&axisScale)[3]) = 0;
  virtual std::vector<std::array<double, 9>>
  WarpProducts(const WarpView<const float> & a, const WarpView<const float> & b) = 0;
  virtual std::vector<Statistics>
  PlaneStatistics(const VolumeView<const float> & image) = 0;
  virtual IntensityHistogram
  MeasureHistogram(const VolumeView<const float> & image, float low, float high, std::int64_t bins) = 0;
};

/** The processor, with `threads` threads (0: ITK's default). */
FFDP_EXPORT std::unique_ptr<Backend>
            MakeCpuBackend(unsigned threads = 0);

} // namespace ffdp

#endif
