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
#include "ffdpMoments.h"

#include "ffdpCheck.h"

#include "vnl/algo/vnl_symmetric_eigensystem.h"
#include "vnl/vnl_cross.h"
#include "vnl/vnl_matrix_fixed.h"

#include <algorithm>
#include <cmath>

namespace ffdp
{

IntensityMoments
MeasureMoments(Backend & backend, const PlacedImage & image, const VolumeView<const float> & mask)
{
  const Extent &     size = image.voxels.domain;
  std::vector<float> voxels(std::size_t(size.Voxels()));
  backend.CopyToHost(voxels.data(), image.voxels.data, voxels.size() * sizeof(float));
  const float        darkest = *std::min_element(voxels.begin(), voxels.end());
  std::vector<float> inside;
  if (mask.IsGiven())
  {
    inside.resize(voxels.size());
    backend.CopyToHost(inside.data(), mask.data, inside.size() * sizeof(float));
  }
  double                mass = 0;
  std::array<double, 3> first{};  // of indices
  std::array<double, 9> second{}; // of indices
  std::size_t           at = 0;
  for (std::int64_t z = 0; z < size.z; ++z)
  {
    for (std::int64_t y = 0; y < size.y; ++y)
    {
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        const double weight = inside.empty() || inside[at] >= 0.5f ? double(voxels[at]) - darkest : 0.0;
        ++at;
        const double index[3] = { double(x), double(y), double(z) };
        mass += weight;
        for (int i = 0; i < 9; ++i)
        {
          second[std::size_t(i)] += weight * index[i / 3] * index[i % 3];
          first[std::size_t(i / 3)] += i % 3 == 0 ? weight * index[i / 3] : 0.0;
        }
      }
    }
  }
  Require(mass > 0 && std::isfinite(mass),
          "an image is constant (where its mask is) or not finite: it has no center of mass");

  IntensityMoments moments;
  moments.center = image.indexToPhysical({ { first[0] / mass, first[1] / mass, first[2] / mass } });
  vnl_matrix_fixed<double, 3, 3> covariance;
  for (unsigned i = 0; i < 3; ++i)
  {
    for (unsigned j = 0; j < 3; ++j)
    {
      covariance(i, j) = second[3 * i + j] / mass - first[i] / mass * (first[j] / mass);
    }
  }
  const vnl_matrix_fixed<double, 3, 3> toPhysical(image.indexToPhysical.matrix);
  (toPhysical * covariance * toPhysical.transpose()).copy_out(moments.covariance.data());
  return moments;
}

std::vector<std::array<double, 9>>
AlignPrincipalAxes(const IntensityMoments & fixed, const IntensityMoments & moving, bool planar)
{
  using Matrix = vnl_matrix_fixed<double, 3, 3>;
  // Columns are axes in the order of their variances, the third making a right-handed system of them.
  const auto axesOf = [planar](const IntensityMoments & moments) {
    Matrix covariance(moments.covariance.data());
    if (planar)
    {
      // The plane's normal is to be the third axis: no variance is above this.
      covariance(2, 2) = 1 + 2 * (covariance(0, 0) + covariance(1, 1));
      covariance(0, 2) = covariance(2, 0) = covariance(1, 2) = covariance(2, 1) = 0;
    }
    const vnl_symmetric_eigensystem<double> eigen(covariance.as_matrix());
    Matrix                                  axes(eigen.V);
    axes.set_column(2, vnl_cross_3d(axes.get_column(0), axes.get_column(1)));
    return axes;
  };
  const Matrix fixedAxes = axesOf(fixed);
  const Matrix movingAxes = axesOf(moving);
  const double signs[4][3] = { { 1, 1, 1 }, { -1, -1, 1 }, { 1, -1, -1 }, { -1, 1, -1 } };

  std::vector<std::array<double, 9>> rotations;
  for (int k = 0; k < (planar ? 2 : 4); ++k)
  {
    Matrix flipped = movingAxes;
    for (unsigned c = 0; c < 3; ++c)
    {
      flipped.scale_column(c, signs[k][c]);
    }
    std::array<double, 9> rotation;
    Matrix                product = flipped * fixedAxes.transpose();
    if (planar) // exactly in the plane
    {
      product(2, 2) = 1;
      product(0, 2) = product(1, 2) = product(2, 0) = product(2, 1) = 0;
    }
    product.copy_out(rotation.data());
    rotations.push_back(rotation);
  }
  return rotations;
}

} // namespace ffdp
