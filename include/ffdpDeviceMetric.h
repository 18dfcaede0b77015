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
#ifndef ffdpDeviceMetric_h
#define ffdpDeviceMetric_h

#include "FFDPExport.h"
#include "ffdpBackend.h"
#include "ffdpImageMetric.h"

#include <memory>
#include <string>

namespace ffdp
{

/** The metrics of ffdpImageMetric.h on a backend with memory of its own.
 *
 * Images and masks stay on the device from one evaluation to the next, as long as they are the same: same memory and
 * same version (an ITK image's modified time). A displacement field goes to the device in each evaluation and never
 * comes back; a derivative per voxel, which ITK wants on the host, comes back once. The grid is streamed in pieces of
 * planes: extra memory of the device is O(planes). */
class FFDP_EXPORT DeviceMetric
{
public:
  explicit DeviceMetric(std::shared_ptr<Backend> backend);
  ~DeviceMetric();
  DeviceMetric(const DeviceMetric &) = delete;
  DeviceMetric &
  operator=(const DeviceMetric &) = delete;

  /** Empty if the device can evaluate this; otherwise what it cannot: images of doubles, chains of several fields. */
  static std::string
  WhyNot(const MetricProblem & problem);

  MetricResult
  EvaluateMeanSquares(const MetricProblem & problem, const MetricDerivative & derivative);
  MetricResult
  EvaluateLocalCorrelation(const MetricProblem &              problem,
                           const LocalCorrelationParameters & parameters,
                           const MetricDerivative &           derivative);
  MetricResult
  EvaluateMutualInformation(const MetricProblem &               problem,
                            const MutualInformationParameters & parameters,
                            const MetricDerivative &            derivative);

  const Backend &
  GetBackend() const;

  /** Bytes of images and masks that went to the device so far: does not grow while they are the same. */
  std::uint64_t
  UploadedImageBytes() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> m_Implementation;
};

} // namespace ffdp

#endif
