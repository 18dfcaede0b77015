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
#ifndef ffdpDeviceSamples_h
#define ffdpDeviceSamples_h

#include "ffdpDeviceArray.h"
#include "ffdpDeviceCopies.h"
#include "ffdpImageMetric.h"

#include <vector>

namespace ffdp
{

/** Images and masks on a device, as floats. */
class DeviceImageCache
{
public:
  explicit DeviceImageCache(Backend & backend)
    : m_Backend(backend)
    , m_Copies(backend)
  {}

  /** Copies of these images and masks are there afterwards, and no others. */
  void
  Hold(const MetricImage & fixed, const MetricImage & moving);

  VolumeView<const float>
  ImageOf(const MetricImage & image) const;

  /** As floats, so that it is sampled like an image; not given if there is no mask. */
  VolumeView<const float>
  MaskOf(const MetricImage & image) const;

  std::uint64_t
  UploadedBytes() const
  {
    return m_Copies.UploadedBytes();
  }

private:
  static DeviceCopies::Key
  KeyOfImage(const MetricImage & image);
  static DeviceCopies::Key
  KeyOfMask(const MetricImage & image);
  void
  Hold(const MetricImage & image);

  Backend &    m_Backend;
  DeviceCopies m_Copies;
};

/** A few planes of both images, sampled on the grid, on a device: what MetricPlanes is on the processor. */
class DeviceSamples
{
public:
  /** Brings to the device what the problem has and the cache has not. Holds `capacity` planes at most. */
  DeviceSamples(Backend & backend, DeviceImageCache & images, const MetricProblem & problem, std::int64_t capacity);

  /** Holds the planes [first, end) afterwards. */
  void
  Load(std::int64_t first, std::int64_t end);

  /** NaN outside the image. */
  VolumeView<const float>
  Fixed() const;
  VolumeView<float>
  Moving() const;

  /** Not 0 where a voxel counts; empty if all of them do. */
  VolumeView<const std::uint8_t>
  Valid() const;

  /** Brings d for the planes of `weights` = dL/dM to the host, and returns their moments, if these are asked for. */
  std::vector<MapGradient>
  Differentiate(const VolumeView<const float> & weights, const MetricDerivative & derivative);

private:
  WarpInput
  UploadWarp(const MetricImage & image, DeviceArray<float> & floats, DeviceArray<double> & doubles);
  VolumeView<const float>
  SampleMask(const MetricImage & image, const WarpInput & warp, DeviceArray<float> & to);
  void
  Download(const VolumeView<const float> & weights, const MetricDerivative & derivative);

  Backend &                 m_Backend;
  const DeviceImageCache &  m_Images;
  const MetricProblem &     m_Problem;
  std::int64_t              m_Capacity;
  PlaneRange                m_Range;
  DeviceArray<float>        m_FixedWarpFloats, m_MovingWarpFloats;
  DeviceArray<double>       m_FixedWarpDoubles, m_MovingWarpDoubles;
  WarpInput                 m_FixedWarp, m_MovingWarp; ///< on the device
  DeviceArray<float>        m_Fixed, m_Moving, m_FixedMask, m_MovingMask, m_Derivative;
  DeviceArray<std::uint8_t> m_Valid;
  bool                      m_AllValid = false;
};

} // namespace ffdp

#endif
