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
#include "ffdpPlaneTurn.h"

#include "ffdpPyramid.h"

#include <cmath>

namespace ffdp
{

PlaneTurn::PlaneTurn(const PlacedImage & image)
{
  const Extent & size = image.voxels.domain;
  if (!IsPlane(size))
  {
    return;
  }
  const int      axis = size.z == 1 ? 2 : size.y == 1 ? 1 : 0;
  const double   spacing = SpacingOf(image.indexToPhysical)[std::size_t(axis)];
  const double * m = image.indexToPhysical.matrix;
  double         normal[3] = { m[axis] / spacing, m[3 + axis] / spacing, m[6 + axis] / spacing };
  const double   sign = normal[2] < 0 ? -1 : 1; // the shorter way
  for (double & n : normal)
  {
    n *= sign;
  }
  constexpr double Rounding = 1e-9;
  m_Turns = std::hypot(normal[0], normal[1]) > Rounding;
  if (!m_Turns)
  {
    return;
  }
  // About the axis v = n x z, by the angle whose cosine is n z: I + [v] + [v]^2 / (1 + n z).
  const double v[3] = { normal[1], -normal[0], 0 };
  const double cross[9] = { 0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0 };
  for (int i = 0; i < 3; ++i)
  {
    for (int j = 0; j < 3; ++j)
    {
      double square = 0;
      for (int k = 0; k < 3; ++k)
      {
        square += cross[3 * i + k] * cross[3 * k + j];
      }
      m_Turn.matrix[3 * i + j] = (i == j ? 1.0 : 0.0) + cross[3 * i + j] + square / (1 + normal[2]);
    }
  }
}

std::vector<ImagePair>
PlaneTurn::Apply(std::vector<ImagePair> pairs) const
{
  for (ImagePair & pair : pairs)
  {
    for (PlacedImage * image : { &pair.fixed, &pair.moving })
    {
      image->indexToPhysical = m_Turns ? Compose(m_Turn, image->indexToPhysical) : image->indexToPhysical;
    }
  }
  return pairs;
}

AffineMap
PlaneTurn::Apply(const AffineMap & map) const
{
  return m_Turns ? Compose(m_Turn, Compose(map, m_Turn.Inverse())) : map;
}

AffineMap
PlaneTurn::Undo(const AffineMap & map) const
{
  return m_Turns ? Compose(m_Turn.Inverse(), Compose(map, m_Turn)) : map;
}

} // namespace ffdp
