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
#include "ffdpCudaDevice.h"

#include <new>

namespace ffdp
{
namespace cuda
{

Error::Error(cudaError_t code, const char * call, const char * file, int line)
  : std::runtime_error(std::string("ffdp: CUDA: ") + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) +
                       ") in " + call + ", " + file + ":" + std::to_string(line))
{}

Device::Device(int index)
  : m_Index(index)
{
  this->Activate();
  FFDP_CUDA_CHECK(cudaDeviceGetAttribute(&m_Multiprocessors, cudaDevAttrMultiProcessorCount, index));
  FFDP_CUDA_CHECK(cudaStreamCreateWithFlags(&m_Stream, cudaStreamNonBlocking));
  const cudaError_t second = cudaStreamCreateWithFlags(&m_TransferStream, cudaStreamNonBlocking);
  if (second != cudaSuccess)
  {
    cudaStreamDestroy(m_Stream);
    Check(second, "cudaStreamCreateWithFlags", __FILE__, __LINE__);
  }
  // Freed blocks stay in the pool: rolling windows are allocated and freed in every iteration.
  cudaMemPool_t pool = nullptr;
  if (cudaDeviceGetDefaultMemPool(&pool, index) == cudaSuccess)
  {
    std::uint64_t threshold = UINT64_MAX;
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
  }
  cudaGetLastError(); // a device without pools allocates all the same
}

Device::~Device()
{
  cudaSetDevice(m_Index);
  for (const auto & block : m_Blocks)
  {
    cudaFreeAsync(block.first, m_Stream);
  }
  cudaStreamSynchronize(m_Stream);
  cudaStreamDestroy(m_TransferStream);
  cudaStreamDestroy(m_Stream);
}

void
Device::Activate() const
{
  FFDP_CUDA_CHECK(cudaSetDevice(m_Index));
}

void *
Device::Allocate(std::size_t bytes)
{
  this->Activate();
  void *            memory = nullptr;
  const cudaError_t code = cudaMallocAsync(&memory, bytes > 0 ? bytes : 1, m_Stream);
  if (code == cudaErrorMemoryAllocation)
  {
    cudaGetLastError(); // the caller may go on with less
    throw std::bad_alloc();
  }
  Check(code, "cudaMallocAsync", __FILE__, __LINE__);
  m_Blocks.emplace(memory, bytes);
  m_Allocated += bytes;
  m_Peak = m_Allocated > m_Peak ? m_Allocated : m_Peak;
  return memory;
}

void
Device::Free(void * memory) noexcept
{
  const auto block = m_Blocks.find(memory);
  if (block != m_Blocks.end())
  {
    m_Allocated -= block->second;
    m_Blocks.erase(block);
    cudaSetDevice(m_Index);
    cudaFreeAsync(memory, m_Stream);
  }
}

void
Device::CopyFromHost(void * to, const void * from, std::size_t bytes)
{
  this->Activate();
  FFDP_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, m_Stream));
}

void
Device::CopyToHost(void * to, const void * from, std::size_t bytes)
{
  this->Activate();
  FFDP_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, m_Stream));
  FFDP_CUDA_CHECK(cudaStreamSynchronize(m_Stream));
}

void
Device::Move(void * to, const void * from, std::size_t bytes)
{
  this->Activate();
  char * const       target = static_cast<char *>(to);
  const char * const source = static_cast<const char *>(from);
  const std::size_t  apart = target < source ? std::size_t(source - target) : std::size_t(target - source);
  if (apart >= bytes)
  {
    FFDP_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, m_Stream));
    return;
  }
  // A copy onto itself is not defined: pieces as long as the two are apart do not overlap, from the end that is safe.
  if (apart == 0)
  {
    return;
  }
  if (bytes / apart > 16) // many small pieces: through memory in between
  {
    void * const between = this->Allocate(bytes);
    FFDP_CUDA_CHECK(cudaMemcpyAsync(between, from, bytes, cudaMemcpyDeviceToDevice, m_Stream));
    FFDP_CUDA_CHECK(cudaMemcpyAsync(to, between, bytes, cudaMemcpyDeviceToDevice, m_Stream));
    this->Free(between);
    return;
  }
  for (std::size_t done = 0; done < bytes; done += apart)
  {
    const std::size_t length = bytes - done < apart ? bytes - done : apart;
    const std::size_t at = target < source ? done : bytes - done - length;
    FFDP_CUDA_CHECK(cudaMemcpyAsync(target + at, source + at, length, cudaMemcpyDeviceToDevice, m_Stream));
  }
}

void
Device::FillZero(void * memory, std::size_t bytes)
{
  this->Activate();
  FFDP_CUDA_CHECK(cudaMemsetAsync(memory, 0, bytes, m_Stream));
}

void
Device::Synchronize()
{
  this->Activate();
  FFDP_CUDA_CHECK(cudaStreamSynchronize(m_Stream));
}

} // namespace cuda
} // namespace ffdp
