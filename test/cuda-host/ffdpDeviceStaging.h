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
#ifndef ffdpDeviceStaging_h
#define ffdpDeviceStaging_h

#include "ffdpCudaDevice.h"
#include "ffdpSampler.h"
#include "ffdpVolume.h"

#include <memory>
#include <type_traits>

/** Copies of a test's views on the device, so that a test body written for the processor runs a kernel: what is between
 * the first and the last voxel of a view goes there with its strides, and comes back when the copy is destroyed unless
 * the view is of constants. */
namespace ffdp
{
namespace test
{

/** The device of the tests: the harness, or the first GPU. */
cuda::Device &
TestDevice();

template <typename T>
class StagedSpan
{
public:
  StagedSpan(T * host, std::int64_t count)
    : m_Host(host)
    , m_Buffer(TestDevice(), host ? count : 0)
  {
    if (m_Buffer.Data())
    {
      TestDevice().CopyFromHost(m_Buffer.Data(), host, std::size_t(m_Buffer.Count()) * sizeof(T));
    }
  }
  StagedSpan(StagedSpan &&) = default;
  ~StagedSpan()
  {
    if constexpr (!std::is_const_v<T>)
    {
      if (m_Buffer.Data())
      {
        TestDevice().CopyToHost(m_Host, m_Buffer.Data(), std::size_t(m_Buffer.Count()) * sizeof(T));
      }
    }
  }
  T *
  Data() const
  {
    return m_Buffer.Data();
  }

private:
  T *                                        m_Host;
  cuda::DeviceBuffer<std::remove_const_t<T>> m_Buffer;
};

template <typename T>
class StagedVolume
{
public:
  explicit StagedVolume(const VolumeView<T> & host)
    : m_View(host)
    , m_Span(host.data, Count(host))
  {
    m_View.data = m_Span.Data();
  }
  operator const VolumeView<T> &() const { return m_View; }

private:
  static std::int64_t
  Count(const VolumeView<T> & v)
  {
    return v.planes > 0 ? (v.planes - 1) * v.planeStride + (v.domain.y - 1) * v.rowStride + v.domain.x : 0;
  }
  VolumeView<T> m_View;
  StagedSpan<T> m_Span;
};

template <typename T>
class StagedWarp
{
public:
  explicit StagedWarp(const WarpView<T> & host)
    : m_View(host)
  {
    const std::int64_t count = host.planes > 0
                                 ? (host.planes - 1) * host.planeStride + (host.domain.y - 1) * host.rowStride +
                                     (host.domain.x - 1) * host.elementStride + 1
                                 : 0;
    if (host.elementStride > 1) // interleaved: one allocation holds all components
    {
      m_Spans.emplace_back(host.component[0], count > 0 ? count + host.elementStride - 1 : 0);
    }
    for (int c = 0; c < 3; ++c)
    {
      if (host.elementStride > 1)
      {
        m_View.component[c] = host.component[c] ? m_Spans[0].Data() + (host.component[c] - host.component[0]) : nullptr;
      }
      else
      {
        m_Spans.emplace_back(host.component[c], count);
        m_View.component[c] = m_Spans.back().Data();
      }
    }
  }
  operator const WarpView<T> &() const { return m_View; }
  const WarpView<T> &
  View() const
  {
    return m_View;
  }

private:
  WarpView<T>                m_View;
  std::vector<StagedSpan<T>> m_Spans;
};

class StagedWarpInput
{
public:
  explicit StagedWarpInput(const WarpInput & host)
    : m_Floats(host.floats)
    , m_Doubles(host.doubles)
  {
    m_Input.floats = m_Floats;
    m_Input.doubles = m_Doubles;
  }
  operator const WarpInput &() const { return m_Input; }

private:
  StagedWarp<const float>  m_Floats;
  StagedWarp<const double> m_Doubles;
  WarpInput                m_Input;
};

class StagedWarpOutput
{
public:
  explicit StagedWarpOutput(const WarpOutput & host)
    : m_Floats(host.floats)
    , m_Doubles(host.doubles)
  {
    m_Output.floats = m_Floats;
    m_Output.doubles = m_Doubles;
  }
  operator const WarpOutput &() const { return m_Output; }

private:
  StagedWarp<float>  m_Floats;
  StagedWarp<double> m_Doubles;
  WarpOutput         m_Output;
};

} // namespace test
} // namespace ffdp

#endif
