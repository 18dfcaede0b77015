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
#include "ffdpDeviceResampler.h"

#include "ffdpDeviceArray.h"
#include "ffdpDeviceCopies.h"
#include "ffdpDeviceWarp.h"
#include "ffdpResampleArguments.h"

#include <cstring>
#include <vector>

namespace ffdp
{
namespace
{

DeviceCopies::Key
KeyOfImage(const ResampleProblem & problem)
{
  return { problem.image.data, problem.imageVersion, SpanOf(problem.image) };
}

template <typename T>
DeviceCopies::Key
KeyOfWarp(const WarpView<const T> & warp, std::uint64_t version)
{
  return { warp.component[0], version, DeviceWarp<T>(warp).Count() * std::int64_t(sizeof(T)) };
}

DeviceCopies::Key
KeyOfWarp(const WarpInput & warp, std::uint64_t version)
{
  return warp.doubles ? KeyOfWarp(warp.doubles, version) : KeyOfWarp(warp.floats, version);
}

/** Brings a densely packed box to where the host has it. */
void
Download(Backend & backend, const char * from, const PixelView & to)
{
  const PixelBox &  box = to.box;
  const std::size_t pixelSize = PixelSizeOf(to);
  const std::size_t rowSize = std::size_t(box.count[0]) * pixelSize;
  const std::size_t size = rowSize * std::size_t(box.count[1] * box.count[2]);
  if (SpanOf(to) == std::int64_t(size))
  {
    backend.CopyToHost(to.data, from, size);
    return;
  }
  std::vector<char> packed(size);
  backend.CopyToHost(packed.data(), from, size);
  const char * row = packed.data();
  for (std::int64_t z = 0; z < box.count[2]; ++z)
  {
    for (std::int64_t y = 0; y < box.count[1]; ++y, row += rowSize)
    {
      const std::int64_t offset = (z * to.planeStride + y * to.rowStride) * std::int64_t(pixelSize);
      std::memcpy(static_cast<char *>(to.data) + offset, row, rowSize);
    }
  }
}

} // namespace

/** What stays on the device between calls. */
class DeviceResampler::Implementation
{
public:
  explicit Implementation(std::shared_ptr<Backend> backend)
    : m_Backend(std::move(backend))
    , m_Copies(*m_Backend)
  {}

  Backend &
  GetBackend() const
  {
    return *m_Backend;
  }
  const DeviceCopies &
  Copies() const
  {
    return m_Copies;
  }

  /** The same problem with its image and its fields on the device, and no others there. */
  ResampleProblem
  BringThere(const ResampleProblem & problem)
  {
    std::vector<DeviceCopies::Key> keys{ KeyOfImage(problem) };
    if (problem.warp)
    {
      keys.push_back(KeyOfWarp(problem.warp, problem.warpVersion));
    }
    for (const WarpStep & step : problem.chain.steps)
    {
      keys.push_back(KeyOfWarp(step.warp, step.version));
    }
    m_Copies.KeepOnly(keys);
    ResampleProblem there = problem;
    there.image.data = m_Copies.Hold(KeyOfImage(problem));
    there.warp = this->BringThere(problem.warp, problem.warpVersion);
    for (WarpStep & step : there.chain.steps)
    {
      step.warp = this->BringThere(step.warp, step.version);
    }
    return there;
  }

private:
  template <typename T>
  WarpView<const T>
  BringThere(const WarpView<const T> & warp, std::uint64_t version)
  {
    const DeviceWarp<T> layout(warp);
    return layout.View(static_cast<const T *>(
      m_Copies.Hold(KeyOfWarp(warp, version), [&](void * to) { layout.Upload(*m_Backend, static_cast<T *>(to)); })));
  }

  WarpInput
  BringThere(const WarpInput & warp, std::uint64_t version)
  {
    if (warp.doubles)
    {
      return this->BringThere(warp.doubles, version);
    }
    return warp.floats ? WarpInput(this->BringThere(warp.floats, version)) : WarpInput();
  }

  std::shared_ptr<Backend> m_Backend;
  DeviceCopies             m_Copies;
};

DeviceResampler::DeviceResampler(std::shared_ptr<Backend> backend)
  : m_Implementation(std::make_unique<Implementation>(std::move(backend)))
{}

DeviceResampler::~DeviceResampler() = default;

const Backend &
DeviceResampler::GetBackend() const
{
  return m_Implementation->GetBackend();
}

std::uint64_t
DeviceResampler::UploadedBytes() const
{
  return m_Implementation->Copies().UploadedBytes();
}

void
DeviceResampler::Resample(const ResampleProblem &    problem,
                          const PixelView &          output,
                          const ResampleParameters & parameters)
{
  // before anything is copied by these views
  CheckResample(problem.image, output, parameters);
  const bool isChain = !problem.chain.steps.empty();
  if (isChain)
  {
    RequireChain(problem.chain);
  }
  else
  {
    CheckFieldOfResample(problem.warp, output);
  }
  if (output.box.IsEmpty())
  {
    return;
  }
  Backend &  backend = m_Implementation->GetBackend();
  const auto resample = [&](const ResampleProblem & from, const PixelView & to) {
    if (isChain)
    {
      backend.ResampleChain(from.image, from.map, from.chain, to, parameters);
    }
    else
    {
      backend.Resample(from.image, from.map, from.warp, to, parameters);
    }
  };
  if (backend.SharesHostMemory())
  {
    resample(problem, output);
    return;
  }
  const ResampleProblem   there = m_Implementation->BringThere(problem);
  const PixelBox &        box = output.box;
  const std::int64_t      pixels = box.count[0] * box.count[1] * box.count[2];
  const DeviceArray<char> memory(backend, pixels * std::int64_t(PixelSizeOf(output)));
  PixelView               result = output;
  result.data = memory.Data();
  result.rowStride = box.count[0];
  result.planeStride = box.count[0] * box.count[1];
  resample(there, result);
  Download(backend, memory.Data(), output);
}

} // namespace ffdp
