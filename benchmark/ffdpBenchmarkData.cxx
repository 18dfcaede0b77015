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
#include "ffdpBenchmarkData.h"

#include "ffdpParallel.h"

#include <cmath>
#include <cstdint>

namespace ffdp
{
namespace benchmark
{
namespace
{

std::vector<double>
Wave(std::int64_t count, double step, double phase)
{
  std::vector<double> wave(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
  {
    wave[std::size_t(i)] = std::sin(step * double(i) + phase);
  }
  return wave;
}

/** Uniform in [-1, 1), the same for a voxel on every run. */
double
Noise(std::uint64_t voxel, unsigned seed)
{
  std::uint64_t h = (voxel + 1) * 0x9E3779B97F4A7C15u + seed;
  h = (h ^ (h >> 31)) * 0xBF58476D1CE4E5B9u;
  return double(h >> 40) * std::ldexp(1.0, -23) - 1.0;
}

} // namespace

Image
MakeImage(const Extent & size, unsigned seed)
{
  const auto alongX = Wave(size.x, 0.23, seed);
  const auto alongY = Wave(size.y, 0.19, 2.0 * seed);
  const auto alongZ = Wave(size.z, 0.26, 3.0 * seed);
  Image      image(size);
  ParallelFor(size.z, 0, [&](std::int64_t z, unsigned) {
    for (std::int64_t y = 0; y < size.y; ++y)
    {
      float * row = image.View().Row(y, z);
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        const double wx = alongX[std::size_t(x)], wy = alongY[std::size_t(y)], wz = alongZ[std::size_t(z)];
        const auto   voxel = std::uint64_t(x + size.x * (y + size.y * z));
        row[x] = float(0.5 + 0.15 * (wx * wy + wy * wz + wz * wx) + 0.05 * Noise(voxel, seed));
      }
    }
  });
  return image;
}

Field
MakeField(const Extent & size, double amplitude)
{
  const auto alongX = Wave(size.x, 0.1, 0.3);
  const auto alongY = Wave(size.y, 0.1, 1.1);
  const auto alongZ = Wave(size.z, 0.1, 2.3);
  Field      field(size);
  ParallelFor(size.z, 0, [&](std::int64_t z, unsigned) {
    for (std::int64_t y = 0; y < size.y; ++y)
    {
      float *      ux = field.View().Row(0, y, z);
      float *      uy = field.View().Row(1, y, z);
      float *      uz = field.View().Row(2, y, z);
      const double wy = alongY[std::size_t(y)], wz = alongZ[std::size_t(z)];
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        const double wx = alongX[std::size_t(x)];
        ux[x] = float(amplitude * wy * wz);
        uy[x] = float(amplitude * wz * wx);
        uz[x] = float(amplitude * wx * wy);
      }
    }
  });
  return field;
}

} // namespace benchmark
} // namespace ffdp
