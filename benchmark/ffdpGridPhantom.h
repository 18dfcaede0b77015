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
#ifndef ffdpGridPhantom_h
#define ffdpGridPhantom_h

#include "ffdpVolume.h"

#include <vector>

namespace ffdp
{
namespace benchmark
{

/** Two images and the warp between them, as formulas: a rank makes the planes that it owns, and nobody has the whole.
 * moving(x) is a sum of waves, and fixed(x) = moving(x + warp(x)). The waves are the same in volumes of all sizes, so
 * volumes that grow with the number of ranks are equally hard. */
class GridPhantom
{
public:
  /** No voxel moves by more than `reach` along an axis. */
  GridPhantom(const Extent & size, double reach)
    : m_Size(size)
    , m_Reach(reach)
  {}

  std::vector<float>
  Moving(const PlaneRange & planes) const;
  std::vector<float>
  Fixed(const PlaneRange & planes) const;
  /** Three planar volumes. */
  std::vector<float>
  Warp(const PlaneRange & planes) const;

private:
  struct Vector
  {
    double x, y, z;
  };
  static double
  Intensity(const Vector & point);
  Vector
  Displacement(const Vector & point) const;
  template <typename TValue>
  void
  Fill(float * voxels, const PlaneRange & planes, const TValue & value) const;

  Extent m_Size;
  double m_Reach;
};

} // namespace benchmark
} // namespace ffdp

#endif
