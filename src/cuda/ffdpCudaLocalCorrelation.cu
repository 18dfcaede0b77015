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
#include "ffdpCudaLocalCorrelation.h"

#include "ffdpCudaCorrelationMarch.h"
#include "ffdpCudaCorrelationTile.h"
#include "ffdpCudaMaskCount.h"
#include "ffdpCudaMemory.h"
#include "ffdpLocalCorrelationPlan.h"

#include <algorithm>
#include <limits>

/** Cuts the planes into batches and runs the stages of ffdpCudaCorrelationLaunch.h on each; there are no kernels here.
 */
namespace ffdp
{
namespace cuda
{
namespace
{

/** Kernels count the voxels of a plane, and of its tiles, in int; planes of a volume in 64 bits. */
template <typename TView>
void
RequireIntPlanes(const TView & view)
{
  Require(!view || view.rowStride * view.domain.y <= std::numeric_limits<int>::max() / 2,
          "planes of more than 2^30 voxels cannot be correlated on a CUDA device");
}

/** The weights of windows in the device's memory, in one piece. */
class DeviceWeights
{
public:
  /** Points the task to them. */
  DeviceWeights(Device & device, const WindowWeights & weights, CorrelationTask & task)
    : m_Floats(device, Pack(weights))
  {
    const float * next = m_Floats.Data();
    for (int axis = 0; axis < 3; ++axis)
    {
      task.taps[axis] = next;
      next += 2 * weights.radius[axis] + 1;
    }
    for (int axis = 0; axis < 3; ++axis)
    {
      task.inverseWeight[axis] = next;
      next += weights.inverse[axis].size();
    }
  }

private:
  static std::vector<float>
  Pack(const WindowWeights & weights)
  {
    std::vector<float> all;
    for (int axis = 0; axis < 3; ++axis)
    {
      if (weights.taps[axis].empty())
      {
        all.insert(all.end(), std::size_t(2 * weights.radius[axis] + 1), 1.0f);
      }
      all.insert(all.end(), weights.taps[axis].begin(), weights.taps[axis].end());
    }
    for (const std::vector<float> & inverse : weights.inverse)
    {
      all.insert(all.end(), inverse.begin(), inverse.end());
    }
    return all;
  }

  DeviceBuffer<float> m_Floats;
};

/** One evaluation: buffers of a batch, and the stages. */
class CorrelationRun
{
public:
  CorrelationRun(Device &                   device,
                 const CorrelationLaunch &  launch,
                 bool                       march,
                 const CorrelationBatches & batches,
                 const CorrelationBuffers & buffers)
    : m_Device(device)
    , m_Launch(launch)
    , m_March(march)
    , m_BatchPlanes(batches.planes)
    , m_Shifts(device, buffers.shifts)
    , m_Partials(device, buffers.partials)
    , m_Fields(device, buffers.fields)
    , m_Scratch(device, buffers.scratch)
    , m_PlaneSums(device, launch.endOwned - launch.firstOwned)
  {
    m_Launch.planesPerBlock = batches.planesPerBlock;
    m_Launch.shifts = m_Shifts.Data();
    m_Launch.partials = m_Partials.Data();
    m_Launch.fields = m_Fields.Data();
    m_Launch.ringPlanes = unsigned(batches.most);
  }

  std::vector<double>
  Run()
  {
    const std::int64_t widen = m_Launch.task.exact ? m_Launch.task.radius[2] : 0;
    const std::int64_t last = std::min(m_Launch.task.fixed.domain.z, m_Launch.endOwned + widen);
    std::int64_t       ready = std::max<std::int64_t>(0, m_Launch.firstOwned - widen);
    for (std::int64_t z = m_Launch.firstOwned; z < m_Launch.endOwned; z += m_BatchPlanes)
    {
      const std::int64_t end = std::min(m_Launch.endOwned, z + m_BatchPlanes);
      const std::int64_t wanted = std::min(last, end + widen);
      this->ComputeTerms(ready, wanted);
      ready = wanted;
      if (m_Launch.task.exact)
      {
        this->ComputeGradients(z, end);
      }
    }
    return m_PlaneSums.ToHost();
  }

private:
  void
  ComputeTerms(std::int64_t first, std::int64_t end)
  {
    if (first == end) // the last planes of the volume came with the batch before
    {
      return;
    }
    m_Launch.firstPlane = first;
    m_Launch.endPlane = end;
    ComputeCorrelationShifts(m_Device, m_Launch);
    if (m_March)
    {
      MarchTerms(m_Device, m_Launch);
    }
    else
    {
      TermsOfTiles(m_Device, m_Launch, m_Scratch.Data());
    }
    SumCorrelationPlanes(m_Device, m_Launch, m_PlaneSums.Data());
  }

  void
  ComputeGradients(std::int64_t first, std::int64_t end)
  {
    m_Launch.firstPlane = first;
    m_Launch.endPlane = end;
    const CorrelationTask & task = m_Launch.task;
    int                     field = 1;
    if (task.outputs.movingGradient)
    {
      this->ComputeGradient({ task.moving, task.fixed, task.outputs.movingGradient, field });
      field += 2;
    }
    if (task.outputs.fixedGradient)
    {
      this->ComputeGradient({ task.fixed, task.moving, task.outputs.fixedGradient, field });
    }
  }

  void
  ComputeGradient(const CorrelationGradient & gradient)
  {
    if (m_March)
    {
      MarchGradient(m_Device, m_Launch, gradient);
    }
    else
    {
      GradientOfTiles(m_Device, m_Launch, gradient, m_Scratch.Data());
    }
  }

  Device &                       m_Device;
  CorrelationLaunch              m_Launch;
  bool                           m_March;
  std::int64_t                   m_BatchPlanes;
  DeviceBuffer<CorrelationShift> m_Shifts;
  DeviceBuffer<double>           m_Partials;
  DeviceBuffer<float>            m_Fields; ///< a ring of planes
  DeviceBuffer<float>            m_Scratch;
  DeviceBuffer<double>           m_PlaneSums;
};

} // namespace

LocalCorrelationResult
LocalCorrelation(Device &                               device,
                 const VolumeView<const float> &        fixed,
                 const VolumeView<const float> &        moving,
                 const VolumeView<const std::uint8_t> & mask,
                 std::int64_t                           firstPlane,
                 std::int64_t                           planes,
                 const LocalCorrelationParameters &     parameters,
                 const LocalCorrelationOutputs &        outputs)
{
  CheckLocalCorrelation(fixed, moving, mask, firstPlane, planes, parameters, outputs);
  const Extent & size = fixed.domain;
  RequireIntPlanes(fixed);
  RequireIntPlanes(moving);
  RequireIntPlanes(mask);
  LocalCorrelationResult result;
  if (planes == 0)
  {
    return result;
  }
  const PlaneCounts   counts(device, mask, size, firstPlane, planes);
  const WindowWeights weights(parameters, size);

  CorrelationLaunch launch{};
  launch.task = MakeCorrelationTask(fixed, moving, mask, parameters, outputs, weights);
  launch.task.gradientScale =
    CorrelationGradientScale(parameters.normalizer != 0 ? parameters.normalizer : counts.Total());
  launch.maskedWindows = launch.task.WindowsAreMasked();
  launch.firstOwned = firstPlane;
  launch.endOwned = firstPlane + planes;
  const CorrelationTiles tiles(launch.task.radius, !launch.task.taps[0], size.x, size.y);
  launch.tileWidth = tiles.width;
  launch.tileHeight = tiles.height;
  launch.partialsPerTile = tiles.partials;
  launch.tilesX = unsigned(tiles.inRow);
  launch.tiles = unsigned(tiles.count);

  const DeviceWeights      onDevice(device, weights, launch.task);
  const CorrelationBatches batches(
    device.Multiprocessors(), tiles.count, launch.task.radius[2], launch.task.exact, planes);
  const CorrelationBuffers buffers(tiles,
                                   batches,
                                   launch.task.Fields(),
                                   size.x * size.y,
                                   WindowTileFloats(launch.task.radius, CorrelationQuantities(launch.maskedWindows)),
                                   device.Multiprocessors());
  result.planeSums = CorrelationRun(device, launch, tiles.march, batches, buffers).Run();
  result.planeCounts = counts.PerPlane();
  return result;
}

} // namespace cuda
} // namespace ffdp
