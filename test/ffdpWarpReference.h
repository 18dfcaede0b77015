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
#ifndef ffdpWarpReference_h
#define ffdpWarpReference_h

#include "ffdpComposition.h"
#include "ffdpTestSupport.h"

#include <array>

namespace ffdp
{
namespace test
{

using Vector = std::array<double, 3>;

inline Vector
At(const Warp<double> & u, std::int64_t x, std::int64_t y, std::int64_t z)
{
  return { u.component[0].At(x, y, z), u.component[1].At(x, y, z), u.component[2].At(x, y, z) };
}

inline void
Set(Warp<double> & u, std::int64_t x, std::int64_t y, std::int64_t z, const Vector & value)
{
  for (int c = 0; c < 3; ++c)
  {
    u.component[c].At(x, y, z) = value[std::size_t(c)];
  }
}

inline Warp<double>
AsDouble(const Warp<float> & u)
{
  Warp<double> result;
  for (int c = 0; c < 3; ++c)
  {
    result.component[c] = u.component[c].As<double>();
  }
  return result;
}

/** u at a position between voxels. */
inline Vector
ReferenceSample(const Warp<double> & u, Vector p, WarpBorder border)
{
  const Extent       n = u.component[0].domain;
  const std::int64_t size[3] = { n.x, n.y, n.z };
  std::int64_t       lower[3];
  double             weight[3];
  for (std::size_t a = 0; a < 3; ++a)
  {
    if (border == WarpBorder::Edge)
    {
      p[a] = std::min(std::max(p[a], 0.0), double(size[a] - 1));
    }
    lower[a] = std::int64_t(std::floor(p[a]));
    weight[a] = p[a] - std::floor(p[a]);
  }
  Vector sum{ 0, 0, 0 };
  for (int corner = 0; corner < 8; ++corner)
  {
    std::int64_t q[3];
    double       w = 1;
    bool         inside = true;
    for (int a = 0; a < 3; ++a)
    {
      const int upper = corner >> a & 1;
      q[a] = lower[a] + upper;
      w *= upper ? weight[a] : 1 - weight[a];
      inside = inside && q[a] >= 0 && q[a] < size[a];
    }
    if (inside && w > 0)
    {
      const Vector value = At(u, q[0], q[1], q[2]);
      for (std::size_t c = 0; c < 3; ++c)
      {
        sum[c] += w * value[c];
      }
    }
  }
  return sum;
}

/** keep v(x) + gain u(x + step v(x)) */
inline Warp<double>
ReferenceWarpSweep(const Warp<double> & u,
                   const Warp<double> & v,
                   double               step,
                   double               keep,
                   double               gain,
                   WarpBorder           border)
{
  const Extent n = u.component[0].domain;
  Warp<double> result(n);
  for (std::int64_t z = 0; z < n.z; ++z)
    for (std::int64_t y = 0; y < n.y; ++y)
      for (std::int64_t x = 0; x < n.x; ++x)
      {
        const Vector d = At(v, x, y, z);
        const Vector s =
          ReferenceSample(u, { double(x) + step * d[0], double(y) + step * d[1], double(z) + step * d[2] }, border);
        Set(result, x, y, z, { keep * d[0] + gain * s[0], keep * d[1] + gain * s[1], keep * d[2] + gain * s[2] });
      }
  return result;
}

inline Warp<double>
ReferenceCompose(const Warp<double> & u, const Warp<double> & v, double stepScale, WarpBorder border)
{
  return ReferenceWarpSweep(u, v, stepScale, stepScale, 1, border);
}

/** Compresses up to eightfold along each axis, again and again. */
inline Warp<float>
WavyWarp(const Extent & size)
{
  Warp<float> warp(size);
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        const double at[3] = { double(x), double(y), double(z) };
        const double next[3] = { double(y), double(z), double(x) };
        for (int c = 0; c < 3; ++c)
        {
          warp.component[c].At(x, y, z) = float(2.6 * std::sin(at[c] / 3) * std::cos(next[c] / 9 + c));
        }
      }
  return warp;
}

inline Warp<double>
ReferenceExponential(const Warp<double> & v, int squarings, WarpBorder border)
{
  Warp<double> w = v;
  for (auto & component : w.component)
  {
    for (double & value : component.values)
    {
      value = std::ldexp(value, -squarings);
    }
  }
  for (int i = 0; i < squarings; ++i)
  {
    w = ReferenceCompose(w, w, 1, border);
  }
  return w;
}

/** Undamped fixed point from -u. */
inline Warp<double>
ReferenceInverse(const Warp<double> & u, int iterations, WarpBorder border)
{
  const Warp<double> zero(u.component[0].domain);
  Warp<double>       w = ReferenceWarpSweep(u, zero, 1, 0, -1, border);
  for (int i = 0; i < iterations; ++i)
  {
    w = ReferenceWarpSweep(u, w, 1, 0, -1, border);
  }
  return w;
}

inline double
MaxDifference(const Warp<float> & a, const Warp<double> & b)
{
  double worst = 0;
  for (int c = 0; c < 3; ++c)
  {
    const double d = MaxDifference(a.component[c].values, b.component[c].values);
    worst = !(d <= worst) ? d : worst;
  }
  return worst;
}

inline double
MaxMagnitude(const Warp<float> & a)
{
  return std::max(
    { MaxMagnitude(a.component[0].values), MaxMagnitude(a.component[1].values), MaxMagnitude(a.component[2].values) });
}

inline bool
SameBytes(const Warp<float> & a, const Warp<float> & b)
{
  return SameBytes(a.component[0].values, b.component[0].values) &&
         SameBytes(a.component[1].values, b.component[1].values) &&
         SameBytes(a.component[2].values, b.component[2].values);
}

/** Displacements up to `most` voxels per axis that vary over about 14 voxels. */
inline Warp<float>
SmoothWarp(const Extent & size, unsigned seed, double most)
{
  Warp<float> warp;
  for (unsigned c = 0; c < 3; ++c)
  {
    warp.component[c] = SmoothVolume(size, 3 * seed + c, -most, most);
  }
  return warp;
}

/** Rounding of one sample of a warp whose neighbors differ by at most 2 `magnitude`: the position errs by two
 * roundings of the displacement, the weights by four more (each times a difference), the sums by eight. */
inline double
SampleTolerance(double magnitude, double displacement)
{
  const double rounding = std::ldexp(1.0, -24);
  return rounding * (3 * 2 * magnitude * (2 * displacement + 4) + 8 * magnitude + 2 * displacement);
}

} // namespace test
} // namespace ffdp

#endif
