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
#include "ffdpCommands.h"
#include "ffdpCommonOptions.h"
#include "ffdpLaunch.h"

#include "ffdpCudaBackend.h"
#include "ffdpInstructionSet.h"
#include "ffdpParallel.h"
#include "itkFFDPConfiguration.h"
#include "itkVersion.h"

#include <iostream>

namespace
{

void
PrintCudaDevices()
{
  const ffdp::CudaDevices found = ffdp::FindCudaDevices();
  if (found.devices.empty())
  {
    std::cout << "device cuda: no CUDA device: " << found.whyNone << "\n";
  }
  for (std::size_t i = 0; i < found.devices.size(); ++i)
  {
    const ffdp::CudaDeviceDescription & device = found.devices[i];
    std::cout << "device cuda:" << i << ": " << device.name << ", compute capability " << device.major << "."
              << device.minor << ", " << (device.memory >> 20) << " MiB\n";
  }
}

void
PrintInfo()
{
  std::cout << "ffdp " FFDP_VERSION_STRING ", ITK " << itk::Version::GetITKVersion() << "\n"
            << "device cpu: " << ffdp::ResolveThreads(0) << " threads, "
            << ffdp::GetInstructionSetName(ffdp::GetInstructionSet()) << "\n";
  PrintCudaDevices();
  std::cout << "MPI: " << Launch::NameOfMpi() << "\n"
#ifdef FFDP_USE_NCCL
            << "NCCL: built in\n";
#else
            << "NCCL: not built in\n";
#endif
}

} // namespace

void
AddInfoCommand(CLI::App & program)
{
  AddCommand(
    program, "info", "What this build is and which devices it can use", std::make_shared<CommonOptions>(), PrintInfo);
}
