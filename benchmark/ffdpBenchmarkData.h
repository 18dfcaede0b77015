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
#ifndef ffdpBenchmarkData_h
#define ffdpBenchmarkData_h

#include "ffdpVolume.h"

#include <vector>

namespace ffdp
{
namespace benchmark
{

/** Voxels that own their memory. */
struct Image
{
  Extent             size;
  std::vector<float> voxels;

  explicit Image(const Extent & extent)
    : size(extent)
    , voxels(std::size_t(extent.Voxels()))
  {}
  VolumeView<float>
  View()
  {
    return VolumeView<float>(voxels.data(), size);
  }
};

/** Three planar volumes. */
struct Field
{
  Extent             size;
  std::vector<float> values;

  explicit Field(const Extent & extent)
    : size(extent)
    , values(std::size_t(3 * extent.Voxels()))
  {}
  WarpView<float>
  View()
  {
    return WarpView<float>::Planar(values.data(), size);
  }
};

/** Smooth structure in every direction plus some noise, within [0, 1]; other phases for another seed. */
Image
MakeImage(const Extent & size, unsigned seed);

/** A smooth warp whose components reach +-amplitude voxels, with waves about 60 voxels long. */
Field
MakeField(const Extent & size, double amplitude);

} // namespace benchmark
} // namespace ffdp

#endif
