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
#ifndef ffdpDeviceResampler_h
#define ffdpDeviceResampler_h

#include "FFDPExport.h"
#include "ffdpBackend.h"

#include <memory>

namespace ffdp
{

/** What is resampled and through what, in memory of the host. Versions (an ITK object's modified time) tell whether a
 * device has it already; 0: not known. */
struct ResampleProblem
{
  ConstPixelView image;
  std::uint64_t  imageVersion = 0;
  CompositeMap   map;
  WarpInput      warp; ///< on the grid of the output; not used with a chain
  std::uint64_t  warpVersion = 0;
  WarpChain      chain; ///< has no steps if there is none
};

/** Resample() and ResampleChain() on a backend, with memory of its own or not.
 *
 * The image and the displacement fields stay on the device from one call to the next, as long as they are the same:
 * same memory and same version. Memory of the device: these, and the part of the output that a call computes. */
class FFDP_EXPORT DeviceResampler
{
public:
  explicit DeviceResampler(std::shared_ptr<Backend> backend);
  ~DeviceResampler();
  DeviceResampler(const DeviceResampler &) = delete;
  DeviceResampler &
  operator=(const DeviceResampler &) = delete;

  /** Computes the box of pixels that `output`, on the host, holds. */
  void
  Resample(const ResampleProblem & problem, const PixelView & output, const ResampleParameters & parameters);

  const Backend &
  GetBackend() const;

  /** Bytes of images and fields that went to the device so far: does not grow while they are the same. */
  std::uint64_t
  UploadedBytes() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace ffdp

#endif
