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
#include "ffdpGridPhantom.h"

#include "ffdpParallel.h"

#include <cmath>

namespace ffdp
{
namespace benchmark
{

double
GridPhantom::Intensity(const Vector & p)
{
  // Two long waves for the shape, two short ones, across the axes, for the texture.
  return 0.5 + 0.15 * std::sin(0.11 * p.x) * std::sin(0.13 * p.y + 0.4) + 0.15 * std::sin(0.12 * p.z + 0.1 * p.x) +
         0.08 * std::sin(0.61 * p.x - 0.33 * p.z + 0.2) + 0.08 * std::sin(0.57 * p.y + 0.41 * p.z - 0.25 * p.x);
}

GridPhantom::Vector
GridPhantom::Displacement(const Vector & p) const
{
  const double wx = std::sin(0.050 * p.x + 0.3), wy = std::sin(0.055 * p.y + 1.1), wz = std::sin(0.045 * p.z + 2.3);
  return { m_Reach * wy * wz, m_Reach * wz * wx, m_Reach * wx * wy };
}

template <typename TValue>
void
GridPhantom::Fill(float * voxels, const PlaneRange & planes, const TValue & value) const
{
  ParallelFor(planes.end - planes.first, 0, [&](std::int64_t plane, unsigned) {
    float * voxel = voxels + plane * m_Size.x * m_Size.y;
    for (std::int64_t y = 0; y < m_Size.y; ++y)
    {
      for (std::int64_t x = 0; x < m_Size.x; ++x)
      {
        *voxel++ = float(value(Vector{ double(x), double(y), double(planes.first + plane) }));
      }
    }
  });
}

std::vector<float>
GridPhantom::Moving(const PlaneRange & planes) const
{
  std::vector<float> image(std::size_t((planes.end - planes.first) * m_Size.x * m_Size.y));
  this->Fill(image.data(), planes, Intensity);
  return image;
}

std::vector<float>
GridPhantom::Fixed(const PlaneRange & planes) const
{
  std::vector<float> image(std::size_t((planes.end - planes.first) * m_Size.x * m_Size.y));
  this->Fill(image.data(), planes, [this](const Vector & p) {
    const Vector u = this->Displacement(p);
    return Intensity({ p.x + u.x, p.y + u.y, p.z + u.z });
  });
  return image;
}

std::vector<float>
GridPhantom::Warp(const PlaneRange & planes) const
{
  const std::int64_t count = (planes.end - planes.first) * m_Size.x * m_Size.y;
  std::vector<float> warp(std::size_t(3 * count));
  this->Fill(warp.data(), planes, [this](const Vector & p) { return this->Displacement(p).x; });
  this->Fill(warp.data() + count, planes, [this](const Vector & p) { return this->Displacement(p).y; });
  this->Fill(warp.data() + 2 * count, planes, [this](const Vector & p) { return this->Displacement(p).z; });
  return warp;
}

} // namespace benchmark
} // namespace ffdp
