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
#include "ffdpCudaResample.h"

#include "ffdpDeviceStaging.h"
#include "ffdpResampleArguments.h"

#include <deque>

/** The functions of ffdpResample.h on the device of the tests. */
namespace ffdp
{
namespace
{

/** A copy of a box of pixels on the device, with its strides. */
template <typename TView, typename TByte>
class StagedPixels
{
public:
  explicit StagedPixels(const TView & host)
    : m_View(host)
    , m_Span(static_cast<TByte *>(host.data), SpanOf(host))
  {
    m_View.data = m_Span.Data();
  }
  operator const TView &() const { return m_View; }

private:
  TView                   m_View;
  test::StagedSpan<TByte> m_Span;
};

using StagedImage = StagedPixels<ConstPixelView, const char>;
using StagedOutput = StagedPixels<PixelView, char>;

} // namespace

void
Resample(const ConstPixelView &     image,
         const CompositeMap &       map,
         const WarpInput &          u,
         const PixelView &          output,
         const ResampleParameters & parameters,
         unsigned)
{
  const StagedImage           imageThere(image);
  const test::StagedWarpInput uThere(u);
  const StagedOutput          outputThere(output);
  cuda::Resample(test::TestDevice(), imageThere, map, uThere, outputThere, parameters);
}

void
ResampleChain(const ConstPixelView &     image,
              const CompositeMap &       map,
              const WarpChain &          chain,
              const PixelView &          output,
              const ResampleParameters & parameters,
              unsigned)
{
  const StagedImage                 imageThere(image);
  const StagedOutput                outputThere(output);
  std::deque<test::StagedWarpInput> fields;
  WarpChain                         chainThere = chain;
  for (WarpStep & step : chainThere.steps)
  {
    fields.emplace_back(step.warp);
    step.warp = fields.back();
  }
  cuda::ResampleChain(test::TestDevice(), imageThere, map, chainThere, outputThere, parameters);
}

} // namespace ffdp
