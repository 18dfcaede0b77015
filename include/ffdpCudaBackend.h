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
#ifndef ffdpCudaBackend_h
#define ffdpCudaBackend_h

#include "FFDPExport.h"
#include "ffdpBackend.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ffdp
{

struct CudaDeviceDescription
{
  std::string   name;
  int           major = 0; ///< of its compute capability
  int           minor = 0;
  std::uint64_t memory = 0; ///< bytes
  int           multiprocessors = 0;
};

/** What CUDA offers here. */
struct CudaDevices
{
  std::vector<CudaDeviceDescription> devices;
  std::string                        whyNone; ///< if there are none: built without CUDA, no driver, no device ...
};

/** Asks the CUDA runtime; never throws for what is missing, in every build. */
FFDP_EXPORT CudaDevices
FindCudaDevices();

/** A GPU, by its place in FindCudaDevices(). Results are those of the CPU's backend up to the rounding of sums whose
 * order differs. Throws std::runtime_error, with the reason, where there is no such device. */
FFDP_EXPORT std::unique_ptr<Backend>
            MakeCudaBackend(int device = 0);

} // namespace ffdp

#endif
