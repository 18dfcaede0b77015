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
#ifndef ffdpCudaDevice_h
#define ffdpCudaDevice_h

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/** A CUDA device as the backend sees it: a stream on which everything happens in order, memory that is allocated and
 * freed in the order of that stream, and errors that name the call, the file and the line.
 *
 * cuda_runtime.h is NVIDIA's, or that of test/cuda-host, which executes the same sources on the processor. */
namespace ffdp
{
namespace cuda
{

class Error : public std::runtime_error
{
public:
  Error(cudaError_t code, const char * call, const char * file, int line);
};

inline void
Check(cudaError_t code, const char * call, const char * file, int line)
{
  if (code != cudaSuccess)
  {
    throw Error(code, call, file, line);
  }
}

#define FFDP_CUDA_CHECK(call) ::ffdp::cuda::Check(call, #call, __FILE__, __LINE__)

/** One device with two streams: kernels and copies that depend on each other run on the first; what goes to and comes
 * from other ranks runs on the second, and events tie the two together. Not for use by several host threads at once. */
class Device
{
public:
  explicit Device(int index);
  ~Device();
  Device(const Device &) = delete;
  Device &
  operator=(const Device &) = delete;

  int
  Index() const
  {
    return m_Index;
  }
  cudaStream_t
  Stream() const
  {
    return m_Stream;
  }
  cudaStream_t
  TransferStream() const
  {
    return m_TransferStream;
  }
  int
  Multiprocessors() const
  {
    return m_Multiprocessors;
  }

  /** Makes this the device of the calling thread. Every call of the backend starts with it. */
  void
  Activate() const;

  /** Memory in the order of the stream; throws std::bad_alloc. Free never throws. */
  void *
  Allocate(std::size_t bytes);
  void
  Free(void * memory) noexcept;

  /** What is allocated now, and the most that was at any time. */
  std::size_t
  AllocatedBytes() const
  {
    return m_Allocated;
  }
  std::size_t
  PeakBytes() const
  {
    return m_Peak;
  }

  /** In stream order. Copies to the host return when the bytes are there. */
  void
  CopyFromHost(void * to, const void * from, std::size_t bytes);
  void
  CopyToHost(void * to, const void * from, std::size_t bytes);
  /** Within the device; the two may overlap. */
  void
  Move(void * to, const void * from, std::size_t bytes);
  void
  FillZero(void * memory, std::size_t bytes);

  /** Waits for all that was started on the stream; reports what failed there. */
  void
  Synchronize();

private:
  int                           m_Index;
  int                           m_Multiprocessors = 1;
  cudaStream_t                  m_Stream = nullptr;
  cudaStream_t                  m_TransferStream = nullptr;
  std::map<void *, std::size_t> m_Blocks;
  std::size_t                   m_Allocated = 0;
  std::size_t                   m_Peak = 0;
};

/** Owns memory of a device for as long as it lives. */
template <typename T>
class DeviceBuffer
{
public:
  DeviceBuffer(Device & device, std::int64_t count)
    : m_Device(&device)
    , m_Data(count > 0 ? static_cast<T *>(device.Allocate(std::size_t(count) * sizeof(T))) : nullptr)
    , m_Count(count)
  {}
  /** A copy of what the host has. */
  DeviceBuffer(Device & device, const std::vector<T> & values)
    : DeviceBuffer(device, std::int64_t(values.size()))
  {
    if (!values.empty())
    {
      device.CopyFromHost(m_Data, values.data(), values.size() * sizeof(T));
    }
  }
  DeviceBuffer(DeviceBuffer && other) noexcept
    : m_Device(other.m_Device)
    , m_Data(std::exchange(other.m_Data, nullptr))
    , m_Count(std::exchange(other.m_Count, 0))
  {}
  DeviceBuffer &
  operator=(DeviceBuffer &&) = delete;
  ~DeviceBuffer()
  {
    if (m_Data)
    {
      m_Device->Free(m_Data);
    }
  }

  T *
  Data() const
  {
    return m_Data;
  }
  std::int64_t
  Count() const
  {
    return m_Count;
  }
  void
  FillZero()
  {
    if (m_Count > 0)
    {
      m_Device->FillZero(m_Data, std::size_t(m_Count) * sizeof(T));
    }
  }
  std::vector<T>
  ToHost() const
  {
    std::vector<T> values(static_cast<std::size_t>(m_Count));
    if (m_Count > 0)
    {
      m_Device->CopyToHost(values.data(), m_Data, values.size() * sizeof(T));
    }
    return values;
  }

private:
  Device *     m_Device;
  T *          m_Data;
  std::int64_t m_Count;
};

} // namespace cuda
} // namespace ffdp

#endif
