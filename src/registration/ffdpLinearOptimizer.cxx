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
#include "ffdpLinearOptimizer.h"

#include "ffdpPyramid.h"

#include <algorithm>
#include <cmath>

namespace ffdp
{
namespace
{

using Matrix = std::array<double, 9>;

Matrix
Multiply(const Matrix & a, const Matrix & b)
{
  Matrix product{};
  for (int i = 0; i < 9; ++i)
  {
    for (int k = 0; k < 3; ++k)
    {
      product[i] += a[std::size_t(i / 3 * 3 + k)] * b[std::size_t(3 * k + i % 3)];
    }
  }
  return product;
}

/** The rotation by |w| about w. */
Matrix
Rotation(const std::array<double, 3> & w)
{
  const double angle = std::sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  const Matrix skew = { { 0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0 } };
  const Matrix square = Multiply(skew, skew);
  const double sine = angle > 1e-8 ? std::sin(angle) / angle : 1.0;
  const double cosine = angle > 1e-8 ? (1 - std::cos(angle)) / (angle * angle) : 0.5;
  Matrix       rotation = { { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
  for (int i = 0; i < 9; ++i)
  {
    rotation[i] += sine * skew[i] + cosine * square[i];
  }
  return rotation;
}

} // namespace

double
VoxelEdge(const PlacedImage & image)
{
  const std::array<double, 3> spacing = SpacingOf(image.indexToPhysical);
  const Extent &              size = image.voxels.domain;
  const std::int64_t          voxels[3] = { size.x, size.y, size.z };
  double                      product = 1;
  int                         axes = 0;
  for (int c = 0; c < 3; ++c)
  {
    product *= voxels[c] > 1 ? spacing[std::size_t(c)] : 1.0;
    axes += voxels[c] > 1 ? 1 : 0;
  }
  return axes == 3 ? std::cbrt(product) : axes == 2 ? std::sqrt(product) : axes == 1 ? product : spacing[0];
}

LinearOptimizer::LinearOptimizer(RegistrationStage::Kind kind,
                                 const PlacedImage &     fixed,
                                 const AffineMap &       start,
                                 bool                    planar)
  : m_Rigid(kind != RegistrationStage::Kind::Affine)
  , m_Planar(planar)
{
  std::copy(start.matrix, start.matrix + 9, m_Place.A.begin());
  const Extent &              size = fixed.voxels.domain;
  const std::array<double, 3> corner = fixed.indexToPhysical({ { 0, 0, 0 } });
  m_Center =
    fixed.indexToPhysical({ { 0.5 * double(size.x - 1), 0.5 * double(size.y - 1), 0.5 * double(size.z - 1) } });
  double squared = 0;
  for (int c = 0; c < 3; ++c)
  {
    squared += (corner[c] - m_Center[c]) * (corner[c] - m_Center[c]);
  }
  m_Radius = std::max(1e-6, 0.5 * std::sqrt(squared)); // half way: objects seldom fill the corners
  m_Place.b = start(m_Center);

  if (m_Rigid)
  {
    m_Generators = { { { 0, 0, 0, 0, 0, -1, 0, 1, 0 } },
                     { { 0, 0, 1, 0, 0, 0, -1, 0, 0 } },
                     { { 0, -1, 0, 1, 0, 0, 0, 0, 0 } } };
    if (planar)
    {
      m_Generators.erase(m_Generators.begin(), m_Generators.begin() + 2);
    }
    if (kind == RegistrationStage::Kind::Similarity)
    {
      m_Generators.push_back({ { 1, 0, 0, 0, 1, 0, 0, 0, planar ? 0.0 : 1.0 } });
    }
  }
  else
  {
    const int dimension = planar ? 2 : 3;
    for (int i = 0; i < dimension; ++i)
    {
      for (int j = 0; j < dimension; ++j)
      {
        Matrix generator{};
        generator[std::size_t(3 * i + j)] = 1;
        m_Generators.push_back(generator);
      }
    }
  }
  this->Restart();
}

void
LinearOptimizer::Restart()
{
  m_First.assign(m_Generators.size() + 3, 0.0);
  m_Second = m_First;
  m_Steps = 0;
}

void
LinearOptimizer::Exchange(StateArchive & archive)
{
  archive.Exchange(m_Place);
  archive.Exchange(m_First);
  archive.Exchange(m_Second);
  archive.Exchange(m_Steps);
}

AffineMap
LinearOptimizer::Map() const
{
  AffineMap map;
  std::copy(m_Place.A.begin(), m_Place.A.end(), map.matrix);
  const std::array<double, 3> moved = map(m_Center);
  for (int c = 0; c < 3; ++c)
  {
    map.offset[c] = m_Place.b[c] - moved[c];
  }
  return map;
}

std::vector<double>
LinearOptimizer::ProjectGradient(const MapGradient & gradient) const
{
  std::vector<double> projected;
  Matrix              about; // dL/dA about the center
  for (int i = 0; i < 3; ++i)
  {
    for (int j = 0; j < 3; ++j)
    {
      about[std::size_t(3 * i + j)] = gradient[std::size_t(3 * i + j)] - gradient[std::size_t(9 + i)] * m_Center[j];
    }
  }
  for (const Matrix & generator : m_Generators)
  {
    const Matrix change = Multiply(generator, m_Place.A);
    double       sum = 0;
    for (int i = 0; i < 9; ++i)
    {
      sum += about[i] * change[i];
    }
    projected.push_back(sum / m_Radius);
  }
  for (int c = 0; c < 3; ++c)
  {
    projected.push_back(m_Planar && c == 2 ? 0.0 : gradient[std::size_t(9 + c)]);
  }
  return projected;
}

std::vector<double>
LinearOptimizer::AdamStep(const std::vector<double> & gradient, double length)
{
  constexpr double beta1 = 0.9, beta2 = 0.99;
  ++m_Steps;
  std::vector<double> step(gradient.size());
  for (std::size_t k = 0; k < gradient.size(); ++k)
  {
    m_First[k] = beta1 * m_First[k] + (1 - beta1) * gradient[k];
    m_Second[k] = beta2 * m_Second[k] + (1 - beta2) * gradient[k] * gradient[k];
    const double first = m_First[k] / (1 - std::pow(beta1, m_Steps));
    const double second = m_Second[k] / (1 - std::pow(beta2, m_Steps));
    step[k] = second > 0 ? -length * first / std::sqrt(second) : 0.0;
  }
  return step;
}

void
LinearOptimizer::Move(const std::vector<double> & step)
{
  Matrix                factor = { { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
  std::array<double, 3> turn{};
  double                growth = 0;
  for (std::size_t k = 0; k < m_Generators.size(); ++k)
  {
    const Matrix & generator = m_Generators[k];
    const double   amount = step[k] / m_Radius;
    if (!m_Rigid)
    {
      for (int i = 0; i < 9; ++i)
      {
        factor[i] += amount * generator[i];
      }
    }
    else if (generator[0] != 0) // growth: the only one with a diagonal
    {
      growth = amount;
    }
    else
    {
      turn[0] += amount * generator[7];
      turn[1] += amount * generator[2];
      turn[2] += amount * generator[3];
    }
  }
  if (m_Rigid)
  {
    factor = Rotation(turn);
    for (int i = 0; i < 9; ++i)
    {
      factor[i] *= m_Planar && i == 8 ? 1.0 : std::exp(growth);
    }
  }
  m_Place.A = Multiply(factor, m_Place.A);
  for (int c = 0; c < 3; ++c)
  {
    m_Place.b[c] += step[m_Generators.size() + std::size_t(c)];
  }
}

} // namespace ffdp
