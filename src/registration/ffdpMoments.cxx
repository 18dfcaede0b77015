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

#include "ffdpLevels.h"
#include "ffdpLinearOptimizer.h"
#include "ffdpLoss.h"

#include "vnl/algo/vnl_symmetric_eigensystem.h"
#include "vnl/vnl_cross.h"
#include "vnl/vnl_matrix_fixed.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ffdp
{
namespace
{

constexpr double Degree = 3.14159265358979323846 / 180;

/** Rotation by angles in degrees about x, then y, then z. */
AffineMap
RotationByAngles(double x, double y, double z)
{
  const double    cx = std::cos(x * Degree), sx = std::sin(x * Degree);
  const double    cy = std::cos(y * Degree), sy = std::sin(y * Degree);
  const double    cz = std::cos(z * Degree), sz = std::sin(z * Degree);
  const AffineMap aboutX{ { 1, 0, 0, 0, cx, -sx, 0, sx, cx }, {} };
  const AffineMap aboutY{ { cy, 0, sy, 0, 1, 0, -sy, 0, cy }, {} };
  const AffineMap aboutZ{ { cz, -sz, 0, sz, cz, 0, 0, 0, 1 }, {} };
  return Compose(aboutZ, Compose(aboutY, aboutX));
}

/** x -> R (x - from) + to. */
AffineMap
About(AffineMap rotation, const std::array<double, 3> & from, const std::array<double, 3> & to)
{
  const std::array<double, 3> moved = rotation(from);
  for (int c = 0; c < 3; ++c)
  {
    rotation.offset[c] = to[c] - moved[c];
  }
  return rotation;
}

std::vector<double>
AnglesToTry(double largest, double step)
{
  std::vector<double> angles = { 0 };
  for (double angle = step; step > 0 && angle <= largest + 1e-9; angle += step)
  {
    angles.push_back(angle);
    if (angle < 180 - 1e-9)
    {
      angles.push_back(-angle);
    }
  }
  return angles;
}

struct Candidate
{
  AffineMap map;
  double    value = 0;
};

/** Infinite where masks leave nothing to compare: one rotation of many may do that. */
double
Evaluate(Loss & loss, const AffineMap & map, const WarpView<const float> & warp)
{
  try
  {
    loss.Begin(map, warp, {}, false);
    loss.AddValue(0, loss.Domain().z);
    return loss.Value();
  }
  catch (const NothingToCompare &)
  {
    return std::numeric_limits<double>::infinity();
  }
}

/** Follows a candidate a little way. */
void
Refine(Loss & loss, const WarpView<const float> & warp, LinearOptimizer & optimizer, double voxel)
{
  constexpr int Iterations = 40;
  try
  {
    for (int i = 0; i < Iterations; ++i)
    {
      loss.Begin(optimizer.Map(), warp, {}, true);
      loss.AddMapGradient(0, loss.Domain().z);
      optimizer.Step(loss.PhysicalMapGradient(), voxel * 0.5 * double(Iterations - i) / Iterations);
    }
  }
  catch (const NothingToCompare &)
  {} // it has led away from what the masks leave, and will not be chosen
}

} // namespace

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

namespace
{

/** The planes of a coarse level of all ranks, on the first: it is small, and searching takes many evaluations. */
class WholeLevel
{
public:
  WholeLevel(Backend & backend, Communicator & communicator, const Level & level, const Slab & warp)
  {
    const auto gather = [&](const VolumeView<const float> & own) {
      m_Volumes.push_back(FetchPlanes(backend, communicator, { own }, this->Wanted(communicator, own.domain)));
      return VolumeView<const float>(m_Volumes.back().Volume());
    };
    for (LevelPair pair : level.Pairs())
    {
      for (VolumeView<const float> * volume : { &pair.fixed, &pair.moving, &pair.fixedMask, &pair.movingMask })
      {
        if (volume->IsGiven())
        {
          *volume = gather(*volume);
        }
      }
      pairs.push_back(pair);
    }
    fixed = { pairs.front().fixed, level.Fixed().indexToPhysical };
    moving = { pairs.front().moving, level.Moving().indexToPhysical };
    if (warp)
    {
      m_Warp = FetchPlanes(backend,
                           communicator,
                           { warp.OwnedVolume(0), warp.OwnedVolume(1), warp.OwnedVolume(2) },
                           this->Wanted(communicator, warp.Domain()));
    }
  }

  WarpView<const float>
  Warp() const
  {
    return m_Warp ? m_Warp.Warp() : WarpView<float>();
  }

  std::vector<LevelPair> pairs;
  PlacedImage            fixed, moving; ///< of the first pair

private:
  static PlaneRange
  Wanted(Communicator & communicator, const Extent & domain)
  {
    return communicator.Rank() == 0 ? PlaneRange{ 0, domain.z } : PlaneRange();
  }

  std::vector<Slab> m_Volumes;
  Slab              m_Warp;
};

/** Calls find() on the first rank and gives all ranks what it found, or the reason why it did not. */
template <typename TFind>
AffineMap
FindOnFirstRank(Communicator & communicator, const TFind & find)
{
  constexpr std::size_t Numbers = 12;
  std::vector<double>   said;
  if (communicator.Rank() == 0)
  {
    try
    {
      const AffineMap map = find();
      said.assign(map.matrix, map.matrix + 9);
      said.insert(said.end(), map.offset, map.offset + 3);
      said.push_back(1);
    }
    catch (const std::invalid_argument & error)
    {
      const std::string reason = error.what();
      said.assign(reason.begin(), reason.end());
      said.push_back(0);
    }
  }
  said = communicator.Gather(said);
  if (said.back() == 0)
  {
    throw std::invalid_argument(std::string(said.begin(), said.end() - 1));
  }
  Require(said.size() == Numbers + 1, "a search for a start ended in something else than a map");
  AffineMap map;
  std::copy(said.begin(), said.begin() + 9, map.matrix);
  std::copy(said.begin() + 9, said.begin() + 12, map.offset);
  return map;
}

AffineMap
Search(Backend & backend, const WholeLevel & images, const RegistrationStage & stage, const AffineMap & start)
{
  constexpr std::size_t       Refined = 4; // how many of the best rotations are followed up
  const auto                  self = MakeSelfCommunicator();
  const Extent &              size = images.fixed.voxels.domain;
  const bool                  planar = size.z == 1;
  const WarpView<const float> warp = images.Warp();
  Loss                        loss(backend, *self, images.pairs, stage.metrics, size.z);
  std::vector<Candidate>      candidates = { { start, Evaluate(loss, start, warp) } };

  // One mask alone would measure a part of one image against the whole of the other.
  const LevelPair & first = images.pairs.front();
  const bool        masked = first.fixedMask.IsGiven() && first.movingMask.IsGiven();
  const auto        inMask = [masked](const VolumeView<const float> & mask) {
    return masked ? mask : VolumeView<const float>();
  };
  const IntensityMoments    fixed = MeasureMoments(backend, images.fixed, inMask(first.fixedMask));
  const IntensityMoments    moving = MeasureMoments(backend, images.moving, inMask(first.movingMask));
  const std::vector<double> about = AnglesToTry(stage.searchAngle, stage.searchStep);
  const std::vector<double> none = { 0 };
  const auto                tryRotation = [&](const AffineMap & rotation) {
    const AffineMap map = About(rotation, fixed.center, moving.center);
    candidates.push_back({ map, Evaluate(loss, map, warp) });
  };
  for (const std::array<double, 9> & rotation : AlignPrincipalAxes(fixed, moving, planar))
  {
    AffineMap map;
    std::copy(rotation.begin(), rotation.end(), map.matrix);
    tryRotation(map);
  }
  for (const double z : about)
  {
    for (const double y : planar ? none : about)
    {
      for (const double x : planar ? none : about)
      {
        tryRotation(RotationByAngles(x, y, z));
      }
    }
  }

  const auto better = [](const Candidate & a, const Candidate & b) { return a.value < b.value; };
  std::stable_sort(candidates.begin(), candidates.end(), better);
  if (!std::isfinite(candidates.front().value))
  {
    throw NothingToCompare();
  }
  candidates.resize(std::min(candidates.size(), Refined));
  const double edge = VoxelEdge(images.fixed);
  for (Candidate & candidate : candidates)
  {
    LinearOptimizer optimizer(RegistrationStage::Kind::Rigid, images.fixed, candidate.map, planar);
    Refine(loss, warp, optimizer, edge);
    const double value = Evaluate(loss, optimizer.Map(), warp);
    if (value < candidate.value)
    {
      candidate = { optimizer.Map(), value };
    }
  }
  return std::min_element(candidates.begin(), candidates.end(), better)->map;
}

} // namespace

AffineMap
FindStart(Backend &                        backend,
          Communicator &                   communicator,
          const std::vector<ImagePair> &   pairs,
          const std::vector<FieldOfView> & fields,
          const RegistrationStage &        stage,
          const Alignment &                start)
{
  constexpr double VoxelsAcross = 32; // of the coarse images that are compared
  const Extent &   size = pairs.front().fixed.voxels.domain;
  const double     factor = std::max(1.0, double(std::max({ size.x, size.y, size.z })) / VoxelsAcross);
  const Level      level(backend, communicator, pairs, fields, LevelSize(size, factor, 8));
  const Slab       warp = start.warp ? Regrid(backend, communicator, start.warp, level.Size()) : Slab();
  const WholeLevel whole(backend, communicator, level, warp);
  return FindOnFirstRank(communicator, [&] { return Search(backend, whole, stage, start.affine); });
}

} // namespace ffdp
