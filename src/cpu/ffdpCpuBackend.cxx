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
#include "ffdpBackend.h"

#include "ffdpCheck.h"
#include "ffdpLargePages.h"
#include "ffdpParallel.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace ffdp
{
namespace
{

class CpuBackend : public Backend
{
public:
  explicit CpuBackend(unsigned threads)
    : m_Threads(threads)
  {}

  const char *
  Name() const override
  {
    return "cpu";
  }
  bool
  SharesHostMemory() const override
  {
    return true;
  }
  std::int64_t
  FewVoxels() const override
  {
    return FewVoxelsOfCpu;
  }

  void *
  Allocate(std::size_t bytes) override
  {
    void * const memory = ::operator new(bytes, Alignment);
    AdviseLargePages(memory, bytes);
    return memory;
  }
  void
  Free(void * memory) override
  {
    ::operator delete(memory, Alignment);
  }
  void
  CopyFromHost(void * to, const void * from, std::size_t bytes) override
  {
    std::memcpy(to, from, bytes);
  }
  void
  CopyToHost(void * to, const void * from, std::size_t bytes) override
  {
    std::memcpy(to, from, bytes);
  }
  void
  Move(void * to, const void * from, std::size_t bytes) override
  {
    std::memmove(to, from, bytes);
  }
  void
  FillZero(void * memory, std::size_t bytes) override
  {
    // Touching new memory, whose pages the system clears first, takes longer than all the rest of it.
    constexpr std::size_t Piece = std::size_t(1) << 22;
    const auto            pieces = std::int64_t((bytes + Piece - 1) / Piece);
    ParallelFor(pieces, m_Threads, [&](std::int64_t piece, unsigned) {
      const std::size_t first = std::size_t(piece) * Piece;
      std::memset(static_cast<char *>(memory) + first, 0, std::min(Piece, bytes - first));
    });
  }

  void
  Sample(const VolumeView<const float> & image,
         const CompositeMap &            map,
         const WarpInput &               u,
         const VolumeView<float> &       output,
         const SamplerParameters &       parameters) override
  {
    ffdp::Sample(image, map, u, output, parameters, m_Threads);
  }
  std::vector<MapGradient>
  SampleBackward(const VolumeView<const float> & image,
                 const CompositeMap &            map,
                 const WarpInput &               u,
                 const VolumeView<const float> & outputGradient,
                 const WarpOutput &              warpGradient,
                 bool                            mapGradient,
                 const SamplerParameters &       parameters) override
  {
    return ffdp::SampleBackward(image, map, u, outputGradient, warpGradient, mapGradient, parameters, m_Threads);
  }
  std::vector<PlaneRange>
  FindReachedPlanes(const Extent &            imageSize,
                    const CompositeMap &      map,
                    const WarpInput &         u,
                    const Extent &            fixedSize,
                    std::int64_t              firstPlane,
                    std::int64_t              planes,
                    const SamplerParameters & parameters) override
  {
    return ffdp::FindReachedPlanes(imageSize, map, u, fixedSize, firstPlane, planes, parameters, m_Threads);
  }
  void
  SampleDerivative(const VolumeView<const float> & image,
                   const CompositeMap &            map,
                   const WarpInput &               u,
                   const WarpView<float> &         derivative,
                   const SamplerParameters &       parameters) override
  {
    ffdp::SampleDerivative(image, map, u, derivative, parameters, m_Threads);
  }
  std::vector<MapGradient>
  FinishSampleBackward(const CompositeMap &            map,
                       const VolumeView<const float> & outputGradient,
                       const WarpView<float> &         derivative,
                       bool                            mapGradient) override
  {
    return ffdp::FinishSampleBackward(map, outputGradient, derivative, mapGradient, m_Threads);
  }
  void
  SampleAdjoint(const VolumeView<const float> & outputGradient,
                const CompositeMap &            map,
                const WarpInput &               u,
                const VolumeView<float> &       imageGradient,
                const SamplerParameters &       parameters) override
  {
    ffdp::SampleAdjoint(outputGradient, map, u, imageGradient, parameters, m_Threads);
  }

  void
  Resample(const ConstPixelView &     image,
           const CompositeMap &       map,
           const WarpInput &          u,
           const PixelView &          output,
           const ResampleParameters & parameters) override
  {
    ffdp::Resample(image, map, u, output, parameters, m_Threads);
  }
  void
  ResampleChain(const ConstPixelView &     image,
                const CompositeMap &       map,
                const WarpChain &          chain,
                const PixelView &          output,
                const ResampleParameters & parameters) override
  {
    ffdp::ResampleChain(image, map, chain, output, parameters, m_Threads);
  }

  LocalCorrelationResult
  LocalCorrelation(const VolumeView<const float> &        fixed,
                   const VolumeView<const float> &        moving,
                   const VolumeView<const std::uint8_t> & mask,
                   std::int64_t                           firstPlane,
                   std::int64_t                           planes,
                   const LocalCorrelationParameters &     parameters,
                   const LocalCorrelationOutputs &        outputs) override
  {
    return ffdp::LocalCorrelation(fixed, moving, mask, firstPlane, planes, parameters, outputs, m_Threads);
  }
  JointHistogram
  ComputeJointHistogram(const MutualInformationParameters &    parameters,
                        const VolumeView<const float> &        fixed,
                        const VolumeView<const float> &        moving,
                        const VolumeView<const std::uint8_t> & mask) override
  {
    return ffdp::ComputeJointHistogram(parameters, fixed, moving, mask, m_Threads);
  }
  void
  MutualInformationGradient(const MutualInformation &              information,
                            const VolumeView<const float> &        fixed,
                            const VolumeView<const float> &        moving,
                            const VolumeView<const std::uint8_t> & mask,
                            const VolumeView<float> &              gradientMoving,
                            const VolumeView<float> &              gradientFixed) override
  {
    ffdp::MutualInformationGradient(information, fixed, moving, mask, gradientMoving, gradientFixed, m_Threads);
  }
  MeanSquaresResult
  MeanSquares(const VolumeView<const float> &        moving,
              const VolumeView<const float> &        fixed,
              const VolumeView<const std::uint8_t> & mask,
              const VolumeView<float> &              movingGradient,
              const VolumeView<float> &              fixedGradient,
              std::int64_t                           normalizer) override
  {
    return ffdp::MeanSquares(moving, fixed, mask, movingGradient, fixedGradient, normalizer, m_Threads);
  }
  void
  CombineMasks(const VolumeView<const float> &  fixed,
               const VolumeView<const float> &  moved,
               const VolumeView<std::uint8_t> & mask) override
  {
    ParallelFor(mask.planes, m_Threads, [&](std::int64_t plane, unsigned) {
      const std::int64_t z = mask.firstPlane + plane;
      for (std::int64_t y = 0; y < mask.domain.y; ++y)
      {
        const float *  f = fixed ? fixed.Row(y, z) : nullptr;
        const float *  m = moved ? moved.Row(y, z) : nullptr;
        std::uint8_t * to = mask.Row(y, z);
        for (std::int64_t x = 0; x < mask.domain.x; ++x)
        {
          to[x] = (!f || f[x] >= 0.5f) && (!m || m[x] >= 0.5f) ? 1 : 0;
        }
      }
    });
  }

  std::vector<std::int64_t>
  FindValid(const VolumeView<const float> &  fixed,
            const VolumeView<const float> &  moving,
            const VolumeView<const float> &  fixedMask,
            const VolumeView<const float> &  movingMask,
            const VolumeView<std::uint8_t> & valid) override
  {
    std::vector<std::int64_t> counts(std::size_t(valid.planes), 0);
    this->CombineMasks(fixedMask, movingMask, valid);
    ParallelFor(valid.planes, m_Threads, [&](std::int64_t plane, unsigned) {
      const std::int64_t z = valid.firstPlane + plane;
      for (std::int64_t y = 0; y < valid.domain.y; ++y)
      {
        const float *  f = fixed.Row(y, z);
        const float *  m = moving.Row(y, z);
        std::uint8_t * to = valid.Row(y, z);
        for (std::int64_t x = 0; x < valid.domain.x; ++x)
        {
          to[x] = to[x] != 0 && f[x] == f[x] && m[x] == m[x] ? 1 : 0;
          counts[std::size_t(plane)] += to[x];
        }
      }
    });
    return counts;
  }
  void
  PullIntoRange(const VolumeView<float> & volume, const RangeGuard & guard) override
  {
    ParallelFor(volume.planes, m_Threads, [&](std::int64_t plane, unsigned) {
      for (std::int64_t y = 0; y < volume.domain.y; ++y)
      {
        float * row = volume.Row(y, volume.firstPlane + plane);
        for (std::int64_t x = 0; x < volume.domain.x; ++x)
        {
          const bool justBelow = row[x] < guard.low && row[x] >= guard.lowest;
          const bool justAbove = row[x] > guard.high && row[x] <= guard.highest;
          row[x] = justBelow ? guard.low : justAbove ? guard.high : row[x];
        }
      }
    });
  }
  std::vector<MapGradient>
  ImageGradient(const VolumeView<const float> & image,
                const CompositeMap &            map,
                const WarpInput &               u,
                const ImageDifferences &        differences,
                const VolumeView<const float> & weights,
                const std::array<double, 9> &   C,
                const WarpOutput &              derivative,
                bool                            moments) override
  {
    return ffdp::ImageGradient(image, map, u, differences, weights, C, derivative, moments, m_Threads);
  }
  void
  AddImageSlope(const VolumeView<const float> &        image,
                const VolumeView<const std::uint8_t> & mask,
                const VolumeView<const float> &        weights,
                float                                  factor,
                const WarpView<float> &                gradient) override
  {
    ffdp::AddImageSlope(image, mask, weights, factor, gradient, m_Threads);
  }
  void
  EdgeStrength(const VolumeView<const float> & image, float noise, const VolumeView<float> & edges) override
  {
    ffdp::EdgeStrength(image, noise, edges, m_Threads);
  }

  void
  Scale(const VolumeView<float> & volume, float factor) override
  {
    ParallelFor(volume.planes, m_Threads, [&](std::int64_t plane, unsigned) {
      for (std::int64_t y = 0; y < volume.domain.y; ++y)
      {
        float * row = volume.Row(y, volume.firstPlane + plane);
        for (std::int64_t x = 0; x < volume.domain.x; ++x)
        {
          row[x] *= factor;
        }
      }
    });
  }

  void
  Add(const VolumeView<float> & to, const VolumeView<const float> & from) override
  {
    ParallelFor(to.planes, m_Threads, [&](std::int64_t plane, unsigned) {
      for (std::int64_t y = 0; y < to.domain.y; ++y)
      {
        float *       sum = to.Row(y, to.firstPlane + plane);
        const float * term = from.Row(y, to.firstPlane + plane);
        for (std::int64_t x = 0; x < to.domain.x; ++x)
        {
          sum[x] += term[x];
        }
      }
    });
  }

  void
  SmoothGaussian(const WarpView<float> &    warp,
                 std::int64_t               firstOwned,
                 std::int64_t               ownedPlanes,
                 const GaussianParameters & parameters) override
  {
    ffdp::SmoothGaussian(warp, firstOwned, ownedPlanes, parameters, m_Threads);
  }
  void
  SmoothGaussian(const WarpView<const float> & warp,
                 const WarpView<float> &       smoothed,
                 const GaussianParameters &    parameters) override
  {
    ffdp::SmoothGaussian(warp, smoothed, parameters, m_Threads);
  }
  void
  Downsample(const VolumeView<const float> & fine,
             const VolumeView<float> &       coarse,
             const GridMap &                 map,
             const DownsampleParameters &    parameters) override
  {
    ffdp::Downsample(fine, coarse, map, parameters, m_Threads);
  }
  void
  UpsampleWarp(const WarpView<const float> & coarse, const WarpView<float> & fine, const GridMap & map) override
  {
    ffdp::UpsampleWarp(coarse, fine, map, m_Threads);
  }

  double
  AdamStep(const WarpView<const float> & gradient,
           const WarpView<float> &       firstMoment,
           const VolumeView<float> &     secondMoment,
           const AdamParameters &        parameters) override
  {
    return ffdp::AdamStep(gradient, firstMoment, secondMoment, parameters, m_Threads);
  }
  void
  ComposeAdamStep(const WarpView<float> &           u,
                  std::int64_t                      firstOwned,
                  std::int64_t                      ownedPlanes,
                  const WarpView<const float> &     firstMoment,
                  const VolumeView<const float> &   secondMoment,
                  const AdamParameters &            adam,
                  const AdamCompositionParameters & parameters) override
  {
    ffdp::ComposeAdamStep(u, firstOwned, ownedPlanes, firstMoment, secondMoment, adam, parameters, m_Threads);
  }
  void
  ComposeWarps(const WarpView<float> &       u,
               std::int64_t                  firstOwned,
               std::int64_t                  ownedPlanes,
               const WarpView<const float> & v,
               const CompositionParameters & parameters) override
  {
    ffdp::ComposeWarps(u, firstOwned, ownedPlanes, v, parameters, m_Threads);
  }
  float
  IterateInverse(const WarpView<const float> & u,
                 const WarpView<float> &       w,
                 const InverseStepParameters & parameters) override
  {
    return ffdp::IterateInverse(u, w, parameters, m_Threads);
  }
  float
  RefineInverse(const WarpView<const float> &   u,
                const WarpView<float> &         w,
                const VolumeView<const float> & error,
                const InverseRefinement &       refinement) override
  {
    return ffdp::RefineInverse(u, w, error, refinement, m_Threads);
  }
  float
  InverseError(const WarpView<const float> & u,
               const WarpView<const float> & w,
               float                         boundAlongZ,
               int                           margin,
               const VolumeView<float> &     error,
               const BlockMarks *            marks) override
  {
    return ffdp::InverseError(u, w, boundAlongZ, margin, error, marks, m_Threads);
  }
  void
  MarkInverseErrors(const VolumeView<const float> & error,
                    const WarpView<const float> &   w,
                    float                           longest,
                    BlockMarks &                    own,
                    BlockMarks &                    reached) override
  {
    ffdp::MarkInverseErrors(error, w, longest, own, reached, m_Threads);
  }
  JacobianResult
  JacobianDeterminant(const WarpView<const float> & warp,
                      std::int64_t                  firstPlane,
                      std::int64_t                  planes,
                      const VolumeView<float> &     determinant,
                      const JacobianParameters &    parameters) override
  {
    return ffdp::JacobianDeterminant(warp, firstPlane, planes, determinant, {}, parameters, m_Threads);
  }
  std::int64_t
  IronFolds(const WarpView<float> &         u,
            std::int64_t                    firstOwned,
            std::int64_t                    ownedPlanes,
            const VolumeView<const float> & determinant,
            float                           least) override
  {
    return ffdp::IronFolds(u, firstOwned, ownedPlanes, determinant, least, m_Threads);
  }

  WarpSize
  MeasureWarp(const WarpView<const float> & warp, const double (&axisScale)[3]) override
  {
    return ffdp::MeasureWarp(warp, axisScale, m_Threads);
  }
  std::vector<std::array<double, 9>>
  WarpProducts(const WarpView<const float> & a, const WarpView<const float> & b) override
  {
    return ffdp::WarpProducts(a, b, m_Threads);
  }
  std::vector<Statistics>
  PlaneStatistics(const VolumeView<const float> & image) override
  {
    return ffdp::PlaneStatistics(image, {}, m_Threads);
  }
  IntensityHistogram
  MeasureHistogram(const VolumeView<const float> & image, float low, float high, std::int64_t bins) override
  {
    return ffdp::MeasureHistogram(image, low, high, {}, bins, m_Threads);
  }

private:
  static constexpr std::align_val_t Alignment{ 64 };
  unsigned                          m_Threads;
};

} // namespace

std::unique_ptr<Backend>
MakeCpuBackend(unsigned threads)
{
  return std::make_unique<CpuBackend>(threads);
}

} // namespace ffdp
