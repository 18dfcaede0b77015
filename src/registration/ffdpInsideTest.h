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
#ifndef ffdpInsideTest_h
#define ffdpInsideTest_h

#include "ffdpBackend.h"
#include "ffdpDeviceArray.h"

namespace ffdp
{

/** Where a map leads into an image, without a mask of the size of the image: what is sampled is an image of one voxel
 * that is as large as all voxels of the whole one, as Border::Edge takes them. */
class InsideTest
{
public:
  InsideTest() = default;
  InsideTest(Backend & backend, const Extent & size)
    : m_Voxel(backend, 1)
  {
    constexpr double Within = 1 - 1e-6; // rounding must not lead to samples that are outside
    const float      inside = 1;
    backend.CopyFromHost(m_Voxel.Data(), &inside, sizeof(inside));
    const std::int64_t voxels[3] = { size.x, size.y, size.z };
    for (int axis = 0; axis < 3; ++axis)
    {
      m_Middle[axis] = 0.5 * double(voxels[axis] - 1);
      m_Length[axis] = Within * double(voxels[axis]);
    }
  }

  /** Writes 1 where a sample of the image under this map is inside of it, else 0. */
  void
  Sample(Backend & backend, const CompositeMap & map, const WarpInput & u, const VolumeView<float> & output) const
  {
    CompositeMap toVoxel;
    for (int axis = 0; axis < 3; ++axis)
    {
      for (int k = 3 * axis; k < 3 * axis + 3; ++k)
      {
        toVoxel.A[k] = map.A[k] / m_Length[axis];
        toVoxel.S[k] = map.S[k] / m_Length[axis];
      }
      toVoxel.t[axis] = (map.t[axis] - m_Middle[axis]) / m_Length[axis];
    }
    SamplerParameters parameters;
    parameters.interpolation = Interpolation::Nearest;
    backend.Sample(VolumeView<const float>(m_Voxel.Data(), Extent{ 1, 1, 1 }), toVoxel, u, output, parameters);
  }

private:
  DeviceArray<float> m_Voxel;
  double             m_Middle[3] = { 0, 0, 0 };
  double             m_Length[3] = { 1, 1, 1 };
};

} // namespace ffdp

#endif
