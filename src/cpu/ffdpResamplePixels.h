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
#ifndef ffdpResamplePixels_h
#define ffdpResamplePixels_h

#include "ffdpResampleTerms.h"
#include "ffdpSamplerPlan.h"

#include <cstddef>
#include <cstdint>

/** Pixels of any type, cast from double and written. */
namespace ffdp
{

/** Writes voxels [begin, end) of a block; `to` is where voxel `begin` goes. Component c of voxel k is
 * values[c * SamplerBlock + k]. */
template <typename T>
void
WriteBlock(const double *       values,
           const std::int32_t * inside,
           int                  begin,
           int                  end,
           int                  components,
           const void *         outside,
           void *               to)
{
  for (int c = 0; c < components; ++c)
  {
    T * const            out = static_cast<T *>(to) + c;
    const double * const from = values + std::ptrdiff_t(c) * SamplerBlock;
    const T              beyond = static_cast<const T *>(outside)[c];
    for (int k = begin; k < end; ++k)
    {
      out[std::ptrdiff_t(k - begin) * components] = inside[k] ? CastComponent<T>(from[k]) : beyond;
    }
  }
}

} // namespace ffdp

#endif
