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
#include "ffdpDeviceSamples.h"

#include "ffdpCheck.h"
#include "ffdpDeviceMetric.h"
#include "ffdpDeviceWarp.h"
#include "ffdpMetricPlanes.h"

#include <limits>

namespace ffdp
{
namespace
{

/** The voxels of a view one after the other, as floats. */
template <typename T>
std::vector<float>
Pack(const VolumeView<const T> & view)
{
  std::vector<float> packed;
  packed.reserve(std::size_t(view.domain.Voxels()));
  for (std::int64_t z = 0; z < view.domain.z; ++z)
  {
    for (std::int64_t y = 0; y < view.domain.y; ++y)
    {
      const T * const row = view.Row(y, z);
      packed.insert(packed.end(), row, row + view.domain.x);
    }
  }
  return packed;
}

template <typename TView>
bool
IsDense(const TView & view)
{
  return view.rowStride == view.domain.x && view.planeStride == view.domain.x * view.domain.y;
}

/** A copy of a warp; the view of it. */
template <typename T>
WarpView<const T>
CopyWarp(Backend & backend, const WarpView<const T> & host, DeviceArray<T> & copy)
{
  const DeviceWarp<T> layout(host);
  copy = DeviceArray<T>(backend, layout.Count());
  layout.Upload(backend, copy.Data());
  return layout.View(copy.Data());
}

/** From planar floats to the layout that the caller wants, for some planes. */
template <typename T>
void
ScatterVectors(const std::vector<float> & planar, const WarpView<T> & to, std::int64_t first, std::int64_t count)
{
  const std::int64_t voxels = count * to.domain.x * to.domain.y;
  for (int c = 0; c < 3; ++c)
  {
    const float * from = planar.data() + c * voxels;
    for (std::int64_t z = first; z < first + count; ++z)
    {
      for (std::int64_t y = 0; y < to.domain.y; ++y, from += to.domain.x)
      {
        T * const row = to.Row(c, y, z);
        for (std::int64_t x = 0; row && x < to.domain.x; ++x)
        {
          row[x * to.elementStride] = T(from[x]);
        }
      }
    }
  }
}

} // namespace

DeviceCopies::Key
DeviceImageCache::KeyOfImage(const MetricImage & image)
{
  return { image.image.floats.data, image.version, image.image.floats.domain.Voxels() * std::int64_t(sizeof(float)) };
}

DeviceCopies::Key
DeviceImageCache::KeyOfMask(const MetricImage & image)
{
  return { image.mask.data, image.maskVersion, image.mask.domain.Voxels() * std::int64_t(sizeof(float)) };
}

void
DeviceImageCache::Hold(const MetricImage & fixed, const MetricImage & moving)
{
  m_Copies.KeepOnly({ KeyOfImage(fixed), KeyOfMask(fixed), KeyOfImage(moving), KeyOfMask(moving) });
  this->Hold(fixed);
  this->Hold(moving);
}

void
DeviceImageCache::Hold(const MetricImage & image)
{
  const auto holdPacked = [this](const DeviceCopies::Key & key, const auto & view) {
    m_Copies.Hold(key,
                  [&](void * to) { m_Backend.CopyFromHost(to, Pack(view).data(), std::size_t(std::get<2>(key))); });
  };
  if (IsDense(image.image.floats))
  {
    m_Copies.Hold(KeyOfImage(image));
  }
  else
  {
    holdPacked(KeyOfImage(image), image.image.floats);
  }
  if (image.mask)
  {
    holdPacked(KeyOfMask(image), image.mask);
  }
}

VolumeView<const float>
DeviceImageCache::ImageOf(const MetricImage & image) const
{
  return { static_cast<const float *>(m_Copies.Get(KeyOfImage(image))), image.image.floats.domain };
}

VolumeView<const float>
DeviceImageCache::MaskOf(const MetricImage & image) const
{
  return image.mask
           ? VolumeView<const float>(static_cast<const float *>(m_Copies.Get(KeyOfMask(image))), image.mask.domain)
           : VolumeView<const float>();
}

DeviceSamples::DeviceSamples(Backend &             backend,
                             DeviceImageCache &    images,
                             const MetricProblem & problem,
                             std::int64_t          capacity)
  : m_Backend(backend)
  , m_Images(images)
  , m_Problem(problem)
  , m_Capacity(capacity)
{
  const std::string whyNot = DeviceMetric::WhyNot(problem);
  Require(whyNot.empty(), "the metric cannot be evaluated on the device: " + whyNot);
  images.Hold(problem.fixed, problem.moving);
  m_FixedWarp = this->UploadWarp(problem.fixed, m_FixedWarpFloats, m_FixedWarpDoubles);
  m_MovingWarp = this->UploadWarp(problem.moving, m_MovingWarpFloats, m_MovingWarpDoubles);
  const std::int64_t voxels = capacity * problem.grid.x * problem.grid.y;
  m_Fixed = DeviceArray<float>(backend, voxels);
  m_Moving = DeviceArray<float>(backend, voxels);
  m_Valid = DeviceArray<std::uint8_t>(backend, voxels);
  m_FixedMask = DeviceArray<float>(backend, problem.fixed.mask ? voxels : 0);
  m_MovingMask = DeviceArray<float>(backend, problem.moving.mask ? voxels : 0);
}

WarpInput
DeviceSamples::UploadWarp(const MetricImage & image, DeviceArray<float> & floats, DeviceArray<double> & doubles)
{
  WarpInput warp;
  if (image.warp.doubles)
  {
    warp.doubles = CopyWarp(m_Backend, image.warp.doubles, doubles);
  }
  else if (image.warp.floats)
  {
    warp.floats = CopyWarp(m_Backend, image.warp.floats, floats);
  }
  return warp;
}

void
DeviceSamples::Load(std::int64_t first, std::int64_t end)
{
  Require(end - first <= m_Capacity, "more planes are asked for than there is room for");
  m_Range = { first, end };
  SamplerParameters parameters;
  parameters.border = Border::Edge;
  parameters.outsideValue = std::numeric_limits<float>::quiet_NaN();
  const VolumeView<float> fixed(m_Fixed.Data(), m_Problem.grid, first, end - first);
  m_Backend.Sample(m_Images.ImageOf(m_Problem.fixed), m_Problem.fixed.map, m_FixedWarp, fixed, parameters);
  m_Backend.Sample(m_Images.ImageOf(m_Problem.moving), m_Problem.moving.map, m_MovingWarp, this->Moving(), parameters);
  const VolumeView<const float>   fixedMask = this->SampleMask(m_Problem.fixed, m_FixedWarp, m_FixedMask);
  const VolumeView<const float>   movingMask = this->SampleMask(m_Problem.moving, m_MovingWarp, m_MovingMask);
  const VolumeView<std::uint8_t>  valid(m_Valid.Data(), m_Problem.grid, first, end - first);
  const std::vector<std::int64_t> counts = m_Backend.FindValid(fixed, this->Moving(), fixedMask, movingMask, valid);
  m_AllValid = true;
  for (const std::int64_t count : counts)
  {
    m_AllValid = m_AllValid && count == m_Problem.grid.x * m_Problem.grid.y;
  }
}

VolumeView<const float>
DeviceSamples::SampleMask(const MetricImage & image, const WarpInput & warp, DeviceArray<float> & to)
{
  if (!image.mask)
  {
    return {};
  }
  SamplerParameters parameters;
  parameters.interpolation = Interpolation::Nearest;
  parameters.border = Border::Edge;
  const VolumeView<float> planes(to.Data(), m_Problem.grid, m_Range.first, m_Range.end - m_Range.first);
  m_Backend.Sample(m_Images.MaskOf(image), MapThrough(image.toMask, image.map), warp, planes, parameters);
  return planes;
}

VolumeView<const float>
DeviceSamples::Fixed() const
{
  return VolumeView<const float>(m_Fixed.Data(), m_Problem.grid, m_Range.first, m_Range.end - m_Range.first);
}

VolumeView<float>
DeviceSamples::Moving() const
{
  return VolumeView<float>(m_Moving.Data(), m_Problem.grid, m_Range.first, m_Range.end - m_Range.first);
}

VolumeView<const std::uint8_t>
DeviceSamples::Valid() const
{
  return m_AllValid
           ? VolumeView<const std::uint8_t>()
           : VolumeView<const std::uint8_t>(m_Valid.Data(), m_Problem.grid, m_Range.first, m_Range.end - m_Range.first);
}

std::vector<MapGradient>
DeviceSamples::Differentiate(const VolumeView<const float> & weights, const MetricDerivative & derivative)
{
  if (!derivative)
  {
    return {};
  }
  WarpOutput d;
  if (derivative.local)
  {
    const std::int64_t voxels = weights.planes * m_Problem.grid.x * m_Problem.grid.y;
    if (m_Derivative.Count() < 3 * voxels)
    {
      m_Derivative = DeviceArray<float>(m_Backend, 3 * voxels);
    }
    float * const data = m_Derivative.Data();
    d = WarpView<float>::Planar(
      data, data + voxels, data + 2 * voxels, m_Problem.grid, weights.firstPlane, weights.planes);
  }
  const std::vector<MapGradient> moments = m_Backend.ImageGradient(m_Images.ImageOf(m_Problem.moving),
                                                                   m_Problem.moving.map,
                                                                   m_MovingWarp,
                                                                   m_Problem.differences,
                                                                   weights,
                                                                   m_Problem.C,
                                                                   d,
                                                                   derivative.moments);
  if (derivative.local)
  {
    this->Download(weights, derivative);
  }
  return moments;
}

void
DeviceSamples::Download(const VolumeView<const float> & weights, const MetricDerivative & derivative)
{
  std::vector<float> planar(std::size_t(3 * weights.planes * m_Problem.grid.x * m_Problem.grid.y));
  m_Backend.CopyToHost(planar.data(), m_Derivative.Data(), planar.size() * sizeof(float));
  if (derivative.local.doubles)
  {
    ScatterVectors(planar, derivative.local.doubles, weights.firstPlane, weights.planes);
  }
  else
  {
    ScatterVectors(planar, derivative.local.floats, weights.firstPlane, weights.planes);
  }
}

} // namespace ffdp
