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
#include "ffdpCudaHostInternal.h"

#include <cstring>
#include <memory>
#include <vector>

/** Copies in stream order. Memory of the host that is not pinned is read before the call returns, and written
 * before it returns, as CUDA does; only between pinned memory and the device is a copy done later. */
using namespace cudahost;

namespace
{

struct Copy // of rows
{
  char *       to;
  std::size_t  toPitch;
  const char * from;
  std::size_t  fromPitch;
  std::size_t  width;
  std::size_t  height;

  void
  operator()() const
  {
    for (std::size_t y = 0; y < height; ++y)
    {
      std::memmove(to + y * toPitch, from + y * fromPitch, width);
    }
  }
};

std::uint64_t bytesToDevices = 0;
std::uint64_t bytesToHost = 0;

std::size_t
Extent(std::size_t pitch, std::size_t width, std::size_t height)
{
  return (height - 1) * pitch + width;
}

/** Whether both ends are where `kind` says they are, in full. */
bool
EndsMatch(const Copy & copy, cudaMemcpyKind & kind)
{
  const std::size_t inTo = DeviceBytesFrom(copy.to);
  const std::size_t inFrom = DeviceBytesFrom(copy.from);
  if (kind == cudaMemcpyDefault)
  {
    kind = inTo > 0 ? (inFrom > 0 ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)
                    : (inFrom > 0 ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
  }
  const bool toDevice = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool fromDevice = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool toFits = toDevice ? inTo >= Extent(copy.toPitch, copy.width, copy.height) : inTo == 0;
  const bool fromFits = fromDevice ? inFrom >= Extent(copy.fromPitch, copy.width, copy.height) : inFrom == 0;
  return toFits && fromFits;
}

cudaError_t
CopyInOrder(Copy copy, cudaMemcpyKind kind, cudaStream_t stream, bool wait)
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  if (copy.width == 0 || copy.height == 0)
  {
    return Broken();
  }
  if (copy.to == nullptr || copy.from == nullptr || copy.toPitch < copy.width || copy.fromPitch < copy.width ||
      !EndsMatch(copy, kind))
  {
    return Note(cudaErrorInvalidValue);
  }
  const bool  fromPageable = kind == cudaMemcpyHostToDevice && !IsPinned(copy.from);
  const bool  toPageable = (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost) && !IsPinned(copy.to);
  cudaError_t code;
  if (fromPageable && !wait && stream)
  {
    auto staged = std::make_shared<std::vector<char>>(copy.width * copy.height);
    Copy{ staged->data(), copy.width, copy.from, copy.fromPitch, copy.width, copy.height }();
    copy.from = staged->data();
    copy.fromPitch = copy.width;
    code = Enqueue(stream, { [copy, staged] { copy(); } });
  }
  else
  {
    code = Enqueue(stream, { copy });
  }
  bytesToDevices += kind == cudaMemcpyHostToDevice ? copy.width * copy.height : 0;
  bytesToHost += kind == cudaMemcpyDeviceToHost ? copy.width * copy.height : 0;
  if (code == cudaSuccess && (wait || toPageable))
  {
    code = cudaStreamSynchronize(stream);
  }
  return code;
}

Copy
OneRow(void * to, const void * from, std::size_t bytes)
{
  return { static_cast<char *>(to), bytes, static_cast<const char *>(from), bytes, bytes, 1 };
}

cudaError_t
Fill(void * memory, int value, std::size_t bytes, cudaStream_t stream)
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  if (bytes == 0)
  {
    return Broken();
  }
  if (DeviceBytesFrom(memory) < bytes)
  {
    return Note(cudaErrorInvalidValue);
  }
  return Enqueue(stream, { [=] { std::memset(memory, value, bytes); } });
}

} // namespace

std::uint64_t
cudahost::BytesCopiedToDevices()
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  return bytesToDevices;
}

std::uint64_t
cudahost::BytesCopiedToHost()
{
  const std::lock_guard<std::recursive_mutex> lock(Lock());
  return bytesToHost;
}

cudaError_t
cudaMemcpy(void * to, const void * from, std::size_t bytes, cudaMemcpyKind kind)
{
  return CopyInOrder(OneRow(to, from, bytes), kind, nullptr, true);
}

cudaError_t
cudaMemcpyAsync(void * to, const void * from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
  return CopyInOrder(OneRow(to, from, bytes), kind, stream, false);
}

cudaError_t
cudaMemcpy2D(void *         to,
             std::size_t    toPitch,
             const void *   from,
             std::size_t    fromPitch,
             std::size_t    width,
             std::size_t    height,
             cudaMemcpyKind kind)
{
  return CopyInOrder({ static_cast<char *>(to), toPitch, static_cast<const char *>(from), fromPitch, width, height },
                     kind,
                     nullptr,
                     true);
}

cudaError_t
cudaMemcpy2DAsync(void *         to,
                  std::size_t    toPitch,
                  const void *   from,
                  std::size_t    fromPitch,
                  std::size_t    width,
                  std::size_t    height,
                  cudaMemcpyKind kind,
                  cudaStream_t   stream)
{
  return CopyInOrder({ static_cast<char *>(to), toPitch, static_cast<const char *>(from), fromPitch, width, height },
                     kind,
                     stream,
                     false);
}

cudaError_t
cudaMemset(void * memory, int value, std::size_t bytes)
{
  return Fill(memory, value, bytes, nullptr);
}

cudaError_t
cudaMemsetAsync(void * memory, int value, std::size_t bytes, cudaStream_t stream)
{
  return Fill(memory, value, bytes, stream);
}
