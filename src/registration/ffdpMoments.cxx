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

#include <algorithm>
#include <cmath>

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

double
Evaluate(Loss & loss, const AffineMap & map)
{
  loss.Begin(map, {});
  loss.AddValue(0, loss.Domain().z);
  return loss.Value();
}

} // namespace

std::array<double, 3>
CenterOfMass(Backend & backend, const PlacedImage & image)
{
  const Extent &     size = image.voxels.domain;
  std::vector<float> voxels(std::size_t(size.Voxels()));
  backend.CopyToHost(voxels.data(), image.voxels.data, voxels.size() * sizeof(float));
  const float           darkest = *std::min_element(voxels.begin(), voxels.end());
  double                mass = 0;
  std::array<double, 3> sum{};
  std::size_t           at = 0;
  for (std::int64_t z = 0; z < size.z; ++z)
  {
    for (std::int64_t y = 0; y < size.y; ++y)
    {
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        const double weight = double(voxels[at++]) - darkest;
        mass += weight;
        sum[0] += weight * double(x);
        sum[1] += weight * double(y);
        sum[2] += weight * double(z);
      }
    }
  }
  Require(mass > 0 && std::isfinite(mass), "an image is constant or not finite: it has no center of mass");
  return image.indexToPhysical({ { sum[0] / mass, sum[1] / mass, sum[2] / mass } });
}

AffineMap
FindStart(Backend &                      backend,
          Communicator &                 communicator,
          const std::vector<ImagePair> & pairs,
          const RegistrationStage &      stage,
          const AffineMap &              start)
{
  constexpr double       VoxelsAcross = 32; // of the coarse images that are compared
  constexpr std::size_t  Refined = 4;       // how many of the best rotations are followed up
  constexpr int          Iterations = 40;
  const Extent &         size = pairs.front().fixed.voxels.domain;
  const bool             planar = size.z == 1;
  const double           factor = std::max(1.0, double(std::max({ size.x, size.y, size.z })) / VoxelsAcross);
  const Level            level(backend, pairs, LevelSize(size, factor, 8));
  Loss                   loss(backend, communicator, level.Pairs(), stage.metrics, level.Size().z);
  std::vector<Candidate> candidates = { { start, Evaluate(loss, start) } };

  const std::array<double, 3> fixedCenter = CenterOfMass(backend, level.Fixed());
  const std::array<double, 3> movingCenter = CenterOfMass(backend, level.Moving());
  const std::vector<double>   about = AnglesToTry(stage.searchAngle, stage.searchStep);
  const std::vector<double>   none = { 0 };
  for (const double z : about)
  {
    for (const double y : planar ? none : about)
    {
      for (const double x : planar ? none : about)
      {
        const AffineMap map = About(RotationByAngles(x, y, z), fixedCenter, movingCenter);
        candidates.push_back({ map, Evaluate(loss, map) });
      }
    }
  }

  const auto better = [](const Candidate & a, const Candidate & b) { return a.value < b.value; };
  std::stable_sort(candidates.begin(), candidates.end(), better);
  candidates.resize(std::min(candidates.size(), Refined));
  const std::array<double, 3> spacing = SpacingOf(level.Fixed().indexToPhysical);
  for (Candidate & candidate : candidates)
  {
    LinearOptimizer optimizer(RegistrationStage::Kind::Rigid, level.Fixed(), candidate.map, planar);
    for (int i = 0; i < Iterations; ++i)
    {
      loss.Begin(optimizer.Map(), {});
      loss.AddMapGradient(0, level.Size().z);
      optimizer.Step(loss.PhysicalMapGradient(), spacing[0] * 0.5 * double(Iterations - i) / Iterations);
    }
    const double value = Evaluate(loss, optimizer.Map());
    if (value < candidate.value)
    {
      candidate = { optimizer.Map(), value };
    }
  }
  return std::min_element(candidates.begin(), candidates.end(), better)->map;
}

} // namespace ffdp
