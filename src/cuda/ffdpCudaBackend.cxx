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
#include "ffdpCudaBackendDevice.h"

#include "ffdpCudaAdam.h"
#include "ffdpCudaComposition.h"
#include "ffdpCudaDownsample.h"
#include "ffdpCudaFoldRepair.h"
#include "ffdpCudaGaussian.h"
#include "ffdpCudaImageGradient.h"
#include "ffdpCudaEdgeStrength.h"
#include "ffdpCudaImageSlope.h"
#include "ffdpCudaInverse.h"
#include "ffdpCudaJacobian.h"
#include "ffdpCudaLocalCorrelation.h"
#include "ffdpCudaMeanSquares.h"
#include "ffdpCudaMemory.h"
#include "ffdpCudaMutualInformation.h"
#include "ffdpCudaResample.h"
#include "ffdpCudaSampler.h"
#include "ffdpCudaStatistics.h"
#include "ffdpCudaVoxelwise.h"
#include "ffdpCudaWarpGrid.h"
#include "ffdpCudaWarpProducts.h"

#include <stdexcept>
#include <string>

namespace ffdp
{
namespace
{

class CudaBackend : public Backend
{
public:
  explicit CudaBackend(int device)
    : m_Device(device)
  {}

  cuda::Device &
  GetDevice()
  {
    return m_Device;
  }

  const char *
  Name() const override
  {
    return "cuda";
  }
  bool
  SharesHostMemory() const override
  {
    return false;
  }
  std::int64_t
  FewVoxels() const override
  {
    return cuda::FewVoxels;
  }

  void *
  Allocate(std::size_t bytes) override
  {
    return m_Device.Allocate(bytes);
  }
  void
  Free(void * memory) override
  {
    m_Device.Free(memory);
  }
  void
  CopyFromHost(void * to, const void * from, std::size_t bytes) override
  {
    m_Device.CopyFromHost(to, from, bytes);
  }
  void
  CopyToHost(void * to, const void * from, std::size_t bytes) override
  {
    m_Device.CopyToHost(to, from, bytes);
  }
  void
  Move(void * to, const void * from, std::size_t bytes) override
  {
    m_Device.Move(to, from, bytes);
  }
  void
  FillZero(void * memory, std::size_t bytes) override
  {
    m_Device.FillZero(memory, bytes);
  }

  void
  Sample(const VolumeView<const float> & image,
         const CompositeMap &            map,
         const WarpInput &               u,
         const VolumeView<float> &       output,
         const SamplerParameters &       parameters) override
  {
    cuda::Sample(m_Device, image, map, u, output, parameters);
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
    return cuda::SampleBackward(m_Device, image, map, u, outputGradient, warpGradient, mapGradient, parameters);
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
    return cuda::FindReachedPlanes(m_Device, imageSize, map, u, fixedSize, firstPlane, planes, parameters);
  }
  void
  SampleDerivative(const VolumeView<const float> & image,
                   const CompositeMap &            map,
                   const WarpInput &               u,
                   const WarpView<float> &         derivative,
                   const SamplerParameters &       parameters) override
  {
    cuda::SampleDerivative(m_Device, image, map, u, derivative, parameters);
  }
  std::vector<MapGradient>
  FinishSampleBackward(const CompositeMap &            map,
                       const VolumeView<const float> & outputGradient,
                       const WarpView<float> &         derivative,
                       bool                            mapGradient) override
  {
    return cuda::FinishSampleBackward(m_Device, map, outputGradient, derivative, mapGradient);
  }
  void
  SampleAdjoint(const VolumeView<const float> & outputGradient,
                const CompositeMap &            map,
                const WarpInput &               u,
                const VolumeView<float> &       imageGradient,
                const SamplerParameters &       parameters) override
  {
    cuda::SampleAdjoint(m_Device, outputGradient, map, u, imageGradient, parameters);
  }

  void
  Resample(const ConstPixelView &     image,
           const CompositeMap &       map,
           const WarpInput &          u,
           const PixelView &          output,
           const ResampleParameters & parameters) override
  {
    cuda::Resample(m_Device, image, map, u, output, parameters);
  }
  void
  ResampleChain(const ConstPixelView &     image,
                const CompositeMap &       map,
                const WarpChain &          chain,
                const PixelView &          output,
                const ResampleParameters & parameters) override
  {
    cuda::ResampleChain(m_Device, image, map, chain, output, parameters);
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
    return cuda::LocalCorrelation(m_Device, fixed, moving, mask, firstPlane, planes, parameters, outputs);
  }
  JointHistogram
  ComputeJointHistogram(const MutualInformationParameters &    parameters,
                        const VolumeView<const float> &        fixed,
                        const VolumeView<const float> &        moving,
                        const VolumeView<const std::uint8_t> & mask) override
  {
    return cuda::ComputeJointHistogram(m_Device, parameters, fixed, moving, mask);
  }
  void
  MutualInformationGradient(const MutualInformation &              information,
                            const VolumeView<const float> &        fixed,
                            const VolumeView<const float> &        moving,
                            const VolumeView<const std::uint8_t> & mask,
                            const VolumeView<float> &              gradientMoving,
                            const VolumeView<float> &              gradientFixed) override
  {
    cuda::MutualInformationGradient(m_Device, information, fixed, moving, mask, gradientMoving, gradientFixed);
  }
  MeanSquaresResult
  MeanSquares(const VolumeView<const float> &        moving,
              const VolumeView<const float> &        fixed,
              const VolumeView<const std::uint8_t> & mask,
              const VolumeView<float> &              movingGradient,
              const VolumeView<float> &              fixedGradient,
              std::int64_t                           normalizer) override
  {
    return cuda::MeanSquares(m_Device, moving, fixed, mask, movingGradient, fixedGradient, normalizer);
  }
  void
  CombineMasks(const VolumeView<const float> &  fixed,
               const VolumeView<const float> &  moved,
               const VolumeView<std::uint8_t> & mask) override
  {
    cuda::CombineMasks(m_Device, fixed, moved, mask);
  }

  std::vector<std::int64_t>
  FindValid(const VolumeView<const float> &  fixed,
            const VolumeView<const float> &  moving,
            const VolumeView<const float> &  fixedMask,
            const VolumeView<const float> &  movingMask,
            const VolumeView<std::uint8_t> & valid) override
  {
    return cuda::FindValid(m_Device, fixed, moving, fixedMask, movingMask, valid);
  }
  void
  PullIntoRange(const VolumeView<float> & volume, const RangeGuard & guard) override
  {
    cuda::PullIntoRange(m_Device, volume, guard);
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
    return cuda::ImageGradient(m_Device, image, map, u, differences, weights, C, derivative, moments);
  }
  void
  AddImageSlope(const VolumeView<const float> &        image,
                const VolumeView<const std::uint8_t> & mask,
                const VolumeView<const float> &        weights,
                float                                  factor,
                const WarpView<float> &                gradient) override
  {
    cuda::AddImageSlope(m_Device, image, mask, weights, factor, gradient);
  }
  void
  EdgeStrength(const VolumeView<const float> & image, float noise, const VolumeView<float> & edges) override
  {
    cuda::EdgeStrength(m_Device, image, noise, edges);
  }

  void
  Scale(const VolumeView<float> & volume, float factor) override
  {
    cuda::Scale(m_Device, volume, factor);
  }

  void
  Add(const VolumeView<float> & to, const VolumeView<const float> & from) override
  {
    cuda::Add(m_Device, to, from);
  }

  void
  SmoothGaussian(const WarpView<float> &    warp,
                 std::int64_t               firstOwned,
                 std::int64_t               ownedPlanes,
                 const GaussianParameters & parameters) override
  {
    cuda::SmoothGaussian(m_Device, warp, firstOwned, ownedPlanes, parameters);
  }
  void
  SmoothGaussian(const WarpView<const float> & warp,
                 const WarpView<float> &       smoothed,
                 const GaussianParameters &    parameters) override
  {
    cuda::SmoothGaussian(m_Device, warp, smoothed, parameters);
  }
  void
  Downsample(const VolumeView<const float> & fine,
             const VolumeView<float> &       coarse,
             const GridMap &                 map,
             const DownsampleParameters &    parameters) override
  {
    cuda::Downsample(m_Device, fine, coarse, map, parameters);
  }
  void
  UpsampleWarp(const WarpView<const float> & coarse, const WarpView<float> & fine, const GridMap & map) override
  {
    cuda::UpsampleWarp(m_Device, coarse, fine, map);
  }

  double
  AdamStep(const WarpView<const float> & gradient,
           const WarpView<float> &       firstMoment,
           const VolumeView<float> &     secondMoment,
           const AdamParameters &        parameters) override
  {
    return cuda::AdamStep(m_Device, gradient, firstMoment, secondMoment, parameters);
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
    cuda::ComposeAdamStep(m_Device, u, firstOwned, ownedPlanes, firstMoment, secondMoment, adam, parameters);
  }
  void
  ComposeWarps(const WarpView<float> &       u,
               std::int64_t                  firstOwned,
               std::int64_t                  ownedPlanes,
               const WarpView<const float> & v,
               const CompositionParameters & parameters) override
  {
    cuda::ComposeWarps(m_Device, u, firstOwned, ownedPlanes, v, parameters);
  }
  float
  IterateInverse(const WarpView<const float> & u,
                 const WarpView<float> &       w,
                 const InverseStepParameters & parameters) override
  {
    return cuda::IterateInverse(m_Device, u, w, parameters);
  }
  float
  RefineInverse(const WarpView<const float> &   u,
                const WarpView<float> &         w,
                const VolumeView<const float> & error,
                const InverseRefinement &       refinement) override
  {
    return cuda::RefineInverse(m_Device, u, w, error, refinement);
  }
  float
  InverseError(const WarpView<const float> & u,
               const WarpView<const float> & w,
               float                         boundAlongZ,
               int                           margin,
               const VolumeView<float> &     error,
               const BlockMarks *            marks) override
  {
    return cuda::InverseError(m_Device, u, w, boundAlongZ, margin, error, marks);
  }
  void
  MarkInverseErrors(const VolumeView<const float> & error,
                    const WarpView<const float> &   w,
                    float                           longest,
                    BlockMarks &                    own,
                    BlockMarks &                    reached) override
  {
    cuda::MarkInverseErrors(m_Device, error, w, longest, own, reached);
  }
  JacobianResult
  JacobianDeterminant(const WarpView<const float> & warp,
                      std::int64_t                  firstPlane,
                      std::int64_t                  planes,
                      const VolumeView<float> &     determinant,
                      const JacobianParameters &    parameters) override
  {
    return cuda::JacobianDeterminant(m_Device, warp, firstPlane, planes, determinant, {}, parameters);
  }
  std::int64_t
  IronFolds(const WarpView<float> &         u,
            std::int64_t                    firstOwned,
            std::int64_t                    ownedPlanes,
            const VolumeView<const float> & determinant,
            float                           least) override
  {
    return cuda::IronFolds(m_Device, u, firstOwned, ownedPlanes, determinant, least);
  }

  WarpSize
  MeasureWarp(const WarpView<const float> & warp, const double (&axisScale)[3]) override
  {
    return cuda::MeasureWarp(m_Device, warp, axisScale);
  }
  std::vector<std::array<double, 9>>
  WarpProducts(const WarpView<const float> & a, const WarpView<const float> & b) override
  {
    return cuda::WarpProducts(m_Device, a, b);
  }
  std::vector<Statistics>
  PlaneStatistics(const VolumeView<const float> & image) override
  {
    return cuda::PlaneStatistics(m_Device, image);
  }
  IntensityHistogram
  MeasureHistogram(const VolumeView<const float> & image, float low, float high, std::int64_t bins) override
  {
    return cuda::MeasureHistogram(m_Device, image, low, high, bins);
  }

private:
  cuda::Device m_Device;
};

} // namespace

namespace cuda
{

Device &
DeviceOf(Backend & backend)
{
  CudaBackend * const own = dynamic_cast<CudaBackend *>(&backend);
  if (!own)
  {
    throw std::invalid_argument(std::string("ffdp: a CUDA backend is needed, and this one is ") + backend.Name());
  }
  return own->GetDevice();
}

} // namespace cuda

CudaDevices
FindCudaDevices()
{
  CudaDevices       found;
  int               count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count); // leaves the count as it is where there is no driver
  if (code != cudaSuccess)
  {
    cudaGetLastError();
    found.whyNone = cudaGetErrorString(code);
    return found;
  }
  for (int device = 0; device < count; ++device)
  {
    cudaDeviceProp properties{};
    FFDP_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
    found.devices.push_back({ properties.name,
                              properties.major,
                              properties.minor,
                              std::uint64_t(properties.totalGlobalMem),
                              properties.multiProcessorCount });
  }
  if (found.devices.empty())
  {
    found.whyNone = "the driver finds no device";
  }
  return found;
}

std::unique_ptr<Backend>
MakeCudaBackend(int device)
{
  const CudaDevices found = FindCudaDevices();
  if (found.devices.empty())
  {
    throw std::runtime_error("ffdp: no CUDA device: " + found.whyNone);
  }
  if (device < 0 || std::size_t(device) >= found.devices.size())
  {
    throw std::runtime_error("ffdp: there is no CUDA device " + std::to_string(device) + ": devices 0 to " +
                             std::to_string(found.devices.size() - 1) + " are there");
  }
  return std::make_unique<CudaBackend>(device);
}

} // namespace ffdp
