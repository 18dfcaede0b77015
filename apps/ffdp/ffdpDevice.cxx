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
#include "ffdpDevice.h"

#include "ffdpCommandError.h"

#include "ffdpCudaBackend.h"
#include "ffdpNcclCommunicator.h"

#include <iomanip>
#include <sstream>
#include <stdexcept>

namespace
{

/** The GPU of this rank, where the user leaves the choice to us. */
int
DeviceOfRank(const Launch & launch)
{
#ifdef FFDP_USE_NCCL
  return launch.Ranks().Size() > 1 ? ffdp::RankOnHost(MPI_COMM_WORLD) : 0;
#else
  static_cast<void>(launch);
  return 0;
#endif
}

} // namespace

ffdp::DeviceName
ParseDevice(const std::string & text)
{
  try
  {
    return ffdp::ParseDeviceName(text);
  }
  catch (const std::invalid_argument & error)
  {
    throw UsageError(std::string("--device: ") + error.what());
  }
}

void
RequireDevice(const ffdp::DeviceName & name, const Launch & launch)
{
  if (!name.cuda)
  {
    return;
  }
  const ffdp::CudaDevices found = ffdp::FindCudaDevices();
  if (found.devices.empty())
  {
    throw CommandError("--device cuda: no CUDA device: " + found.whyNone);
  }
  const int several = launch.Ranks().Size();
#ifndef FFDP_USE_NCCL
  if (several > 1)
  {
    throw CommandError("--device cuda: GPUs of several ranks need a program that was built with FFDP_USE_NCCL");
  }
#endif
  if (several > 1 && name.index >= 0)
  {
    throw CommandError(
      "--device cuda:N is for one rank; several ranks each take a GPU of their host with --device cuda");
  }
  const int index = name.index >= 0 ? name.index : DeviceOfRank(launch);
  if (std::size_t(index) >= found.devices.size())
  {
    throw CommandError(several > 1 ? "--device cuda: " + std::to_string(launch.RanksHere()) + " ranks on a host with " +
                                       std::to_string(found.devices.size()) + " GPUs: each needs one of its own"
                                   : "--device cuda:" + std::to_string(index) + ": GPUs 0 to " +
                                       std::to_string(found.devices.size() - 1) + " are there");
  }
}

void
RequireDeviceMemory(const ffdp::DeviceName & name, double bytes, const Launch & launch)
{
  const int  index = name.index >= 0 ? name.index : DeviceOfRank(launch);
  const auto device = ffdp::FindCudaDevices().devices.at(std::size_t(index));
  if (bytes > double(device.memory))
  {
    constexpr double   Gibi = 1024.0 * 1024.0 * 1024.0;
    std::ostringstream message;
    message << std::fixed << std::setprecision(1) << "this registration needs " << bytes / Gibi
            << " GiB on the GPU, and " << device.name << " has " << double(device.memory) / Gibi
            << ": take --device cpu, or more ranks with a GPU each";
    throw CommandError(message.str());
  }
}

RegistrationDevice::RegistrationDevice(const ffdp::DeviceName & name, unsigned threads, const Launch & launch)
  : m_Backend(name.cuda ? ffdp::MakeCudaBackend(name.index >= 0 ? name.index : DeviceOfRank(launch))
                        : ffdp::MakeCpuBackend(threads))
  , m_Ranks(&launch.Ranks())
{
#ifdef FFDP_USE_NCCL
  if (name.cuda && launch.Ranks().Size() > 1)
  {
    m_BetweenDevices = ffdp::MakeNcclCommunicator(MPI_COMM_WORLD, *m_Backend);
    m_Ranks = m_BetweenDevices.get();
  }
#endif
}
