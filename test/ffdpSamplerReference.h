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
#ifndef ffdpSamplerReference_h
#define ffdpSamplerReference_h

#include "ffdpSampler.h"
#include "ffdpTestSupport.h"

#include <array>
#include <cmath>
#include <random>
#include <vector>

/** The sampler in plain double precision: coordinates are one number per axis, corners are looked up one by one. */
namespace ffdp
{
namespace test
{

using Point = std::array<double, 3>;

/** X = A x + t + S u. */
inline Point
MapPoint(const CompositeMap & map, const Point & x, const Point & u)
{
  Point X;
  for (int r = 0; r < 3; ++r)
  {
    X[r] = map.t[r];
    for (int c = 0; c < 3; ++c)
    {
      X[r] += map.A[3 * r + c] * x[c] + map.S[3 * r + c] * u[c];
    }
  }
  return X;
}

/** How a coordinate spreads over the samples of an axis: at most two indices with weights. */
struct AxisWeights
{
  std::int64_t index[2];
  double       weight[2];
};

inline AxisWeights
WeightsOnAxis(double coordinate, std::int64_t size, const SamplerParameters & parameters)
{
  const bool   nearest = parameters.interpolation == Interpolation::Nearest;
  const double low = nearest ? std::nearbyint(coordinate) : std::floor(coordinate); // nearbyint: halves to even
  const double f = nearest ? 0 : coordinate - low;
  AxisWeights  w{ { std::int64_t(low), std::int64_t(low) + 1 }, { 1 - f, f } };
  for (int side = 0; side < 2; ++side)
  {
    if (parameters.border == Border::Edge)
    {
      w.index[side] = std::min(std::max<std::int64_t>(w.index[side], 0), size - 1);
    }
    else if (w.index[side] < 0 || w.index[side] >= size)
    {
      w.index[side] = 0;
      w.weight[side] = 0;
    }
  }
  return w;
}

/** Calls body(ix, iy, iz, weight) for the corners that make up the value at X; false if X is outside. */
template <typename TBody>
bool
ForEachCorner(const Extent & size, const Point & X, const SamplerParameters & parameters, TBody && body)
{
  const double n[3] = { double(size.x), double(size.y), double(size.z) };
  for (int c = 0; c < 3; ++c)
  {
    const bool within = parameters.border == Border::Edge ? X[c] >= -0.5 && X[c] < n[c] - 0.5
                                                          : X[c] > -2 && X[c] < n[c] + 1; // farther has no corners
    if (!within)
    {
      return false;
    }
  }
  const AxisWeights x = WeightsOnAxis(X[0], size.x, parameters);
  const AxisWeights y = WeightsOnAxis(X[1], size.y, parameters);
  const AxisWeights z = WeightsOnAxis(X[2], size.z, parameters);
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 2; ++j)
      for (int i = 0; i < 2; ++i)
      {
        body(x.index[i], y.index[j], z.index[k], x.weight[i] * y.weight[j] * z.weight[k]);
      }
  return true;
}

inline double
ValueAt(const Volume<float> & image, const Point & X, const SamplerParameters & parameters)
{
  double     value = 0;
  const bool inside =
    ForEachCorner(image.domain, X, parameters, [&](std::int64_t i, std::int64_t j, std::int64_t k, double weight) {
      value += weight * image.At(i, j, k);
    });
  return inside ? value : (parameters.border == Border::Edge ? double(parameters.outsideValue) : 0.0);
}

/** Calls body(x, y, z, X) for every voxel of the fixed grid. */
template <typename TBody>
void
ForEachMappedVoxel(const CompositeMap & map, const Warp<double> & u, TBody && body)
{
  const Extent & n = u.component[0].domain;
  for (std::int64_t z = 0; z < n.z; ++z)
    for (std::int64_t y = 0; y < n.y; ++y)
      for (std::int64_t x = 0; x < n.x; ++x)
      {
        const Point displacement{ u.component[0].At(x, y, z), u.component[1].At(x, y, z), u.component[2].At(x, y, z) };
        body(x, y, z, MapPoint(map, { double(x), double(y), double(z) }, displacement));
      }
}

inline Volume<double>
SampleReference(const Volume<float> &     image,
                const CompositeMap &      map,
                const Warp<double> &      u,
                const SamplerParameters & parameters)
{
  Volume<double> out(u.component[0].domain);
  ForEachMappedVoxel(map, u, [&](std::int64_t x, std::int64_t y, std::int64_t z, const Point & X) {
    out.At(x, y, z) = ValueAt(image, X, parameters);
  });
  return out;
}

/** The adjoint: every voxel of g goes to the corners that its value came from. */
inline Volume<double>
AdjointReference(const Volume<float> &     g,
                 const CompositeMap &      map,
                 const Warp<double> &      u,
                 const Extent &            imageSize,
                 const SamplerParameters & parameters)
{
  Volume<double> image(imageSize);
  ForEachMappedVoxel(map, u, [&](std::int64_t x, std::int64_t y, std::int64_t z, const Point & X) {
    ForEachCorner(imageSize, X, parameters, [&](std::int64_t i, std::int64_t j, std::int64_t k, double weight) {
      image.At(i, j, k) += weight * g.At(x, y, z);
    });
  });
  return image;
}

/** A matrix that turns, scales and shears a little, and a translation. */
inline CompositeMap
ObliqueMap()
{
  const double A[9] = { 0.95, 0.11, -0.06, -0.09, 1.04, 0.08, 0.05, -0.07, 0.98 };
  const double S[9] = { 1.1, -0.2, 0.1, 0.15, 0.9, -0.05, -0.1, 0.2, 1.2 };
  CompositeMap map;
  std::copy(A, A + 9, map.A);
  std::copy(S, S + 9, map.S);
  map.t[0] = 1.25;
  map.t[1] = -0.8;
  map.t[2] = 0.3;
  return map;
}

/** Solves S u = b by Cramer's rule. */
inline Point
SolveS(const CompositeMap & map, const Point & b)
{
  const auto det = [](const double * m) {
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
  };
  Point u;
  for (int c = 0; c < 3; ++c)
  {
    double m[9];
    std::copy(map.S, map.S + 9, m);
    for (int r = 0; r < 3; ++r)
    {
      m[3 * r + c] = b[r];
    }
    u[c] = det(m) / det(map.S);
  }
  return u;
}

/** A warp that maps every voxel of the fixed grid to a random point of the image, from two voxels outside it to two
 * voxels outside on the other side. Points keep 0.1 away from samples and from halfway between them, where
 * derivatives and rounding jump: a float position is then in the same cell as its double reference. */
inline Warp<double>
WarpToRandomPoints(const Extent & fixedSize, const Extent & imageSize, const CompositeMap & map, unsigned seed)
{
  std::mt19937                           generator(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  const auto                             coordinate = [&](std::int64_t n) {
    const double whole = std::floor(unit(generator) * (double(n) + 3)) - 2;
    const double half = unit(generator) < 0.5 ? 0.0 : 0.5;
    return whole + half + 0.1 + 0.3 * unit(generator);
  };
  Warp<double> u(fixedSize);
  ForEachMappedVoxel(map, u, [&](std::int64_t x, std::int64_t y, std::int64_t z, const Point & X) {
    const Point target{ coordinate(imageSize.x), coordinate(imageSize.y), coordinate(imageSize.z) };
    const Point d = SolveS(map, { target[0] - X[0], target[1] - X[1], target[2] - X[2] });
    for (int c = 0; c < 3; ++c)
    {
      u.component[c].At(x, y, z) = float(d[c]); // a float in a double: all layouts hold the same numbers
    }
  });
  return u;
}

template <typename T>
Warp<T>
ConvertWarp(const Warp<double> & warp)
{
  Warp<T> other;
  for (int c = 0; c < 3; ++c)
  {
    other.component[c] = warp.component[c].template As<T>();
  }
  return other;
}

/** The components side by side, as in an image of vectors. */
template <typename T>
std::vector<T>
Interleave(const Warp<double> & warp, int dimension = 3)
{
  std::vector<T> values;
  for (std::size_t i = 0; i < warp.component[0].values.size(); ++i)
  {
    for (int c = 0; c < dimension; ++c)
    {
      values.push_back(T(warp.component[c].values[i]));
    }
  }
  return values;
}

/** How far positions may be off: the displacement is a sum of three rounded products and is added to a fraction,
 * about six roundings of numbers no larger than `reach` voxels. */
inline double
PositionError(double reach)
{
  return 6 * 6e-8 * (reach + 1);
}

inline const std::vector<SamplerParameters> &
AllSamplerParameters()
{
  static const std::vector<SamplerParameters> all = [] {
    std::vector<SamplerParameters> list;
    for (const auto interpolation : { Interpolation::Linear, Interpolation::Nearest })
      for (const auto border : { Border::Zero, Border::Edge })
      {
        SamplerParameters parameters;
        parameters.interpolation = interpolation;
        parameters.border = border;
        parameters.outsideValue = border == Border::Edge ? -3.5f : 0.0f;
        list.push_back(parameters);
      }
    return list;
  }();
  return all;
}

} // namespace test
} // namespace ffdp

#endif
