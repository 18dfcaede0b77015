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
#ifndef ffdpImageGradientReference_h
#define ffdpImageGradientReference_h

#include "ffdpImageGradient.h"
#include "ffdpSamplerReference.h"
#include "ffdpTestSupport.h"

#include <array>
#include <cmath>

/** The gradient of an image by central differences, in plain double precision. */
namespace ffdp
{
namespace test
{

/** The value at X by ITK's rule; false if X is outside. */
template <typename T>
bool
ValueInside(const Volume<T> & image, const Point & X, double & value)
{
  SamplerParameters edge;
  edge.border = Border::Edge;
  value = 0;
  return ForEachCorner(image.domain, X, edge, [&](std::int64_t i, std::int64_t j, std::int64_t k, double weight) {
    value += weight * double(image.At(i, j, k));
  });
}

/** True if X is so close to where ITK's inside ends that rounding decides. */
inline bool
IsNearTheEnd(const Extent & size, const Point & X)
{
  const double n[3] = { double(size.x), double(size.y), double(size.z) };
  bool         near = false;
  for (int c = 0; c < 3; ++c)
  {
    near = near || std::abs(X[c] + 0.5) < 1e-3 || std::abs(X[c] - (n[c] - 0.5)) < 1e-3;
  }
  return near;
}

struct ReferenceGradient
{
  Point value{ { 0, 0, 0 } };
  bool  certain = true; ///< no sample is where rounding decides about inside
};

/** C g at position X. */
template <typename T>
ReferenceGradient
GradientAt(const Volume<T> & image, const Point & X, const ImageDifferences & h, const std::array<double, 9> & C)
{
  ReferenceGradient result;
  for (int c = 0; c < h.dimension; ++c)
  {
    const Point ahead{ X[0] + h.step[c][0], X[1] + h.step[c][1], X[2] + h.step[c][2] };
    const Point behind{ X[0] - h.step[c][0], X[1] - h.step[c][1], X[2] - h.step[c][2] };
    result.certain = result.certain && !IsNearTheEnd(image.domain, ahead) && !IsNearTheEnd(image.domain, behind);
    double upper, lower;
    if (ValueInside(image, ahead, upper) && ValueInside(image, behind, lower))
    {
      for (int r = 0; r < 3; ++r)
      {
        result.value[std::size_t(r)] += C[std::size_t(3 * r + c)] * (upper - lower) / h.distance[c];
      }
    }
  }
  return result;
}

/** Differences along the axes, backward and in another order, over other distances, and along oblique axes. */
inline std::vector<ImageDifferences>
AllDifferences()
{
  std::vector<ImageDifferences> all(4);
  const double                  turned[3][3] = { { 0, -0.5, 0 }, { 0, 0, 0.5 }, { -0.5, 0, 0 } };
  const double                  scaled[3][3] = { { 0.5, 0, 0 }, { 0, 0, -1.3 }, { 0, 0.3, 0 } };
  const double                  oblique[3][3] = { { 0.45, 0.2, -0.1 }, { -0.25, 0.4, 0.15 }, { 0.1, -0.2, 0.6 } };
  std::copy(&turned[0][0], &turned[0][0] + 9, &all[1].step[0][0]);
  std::copy(&scaled[0][0], &scaled[0][0] + 9, &all[2].step[0][0]);
  std::copy(&oblique[0][0], &oblique[0][0] + 9, &all[3].step[0][0]);
  for (std::size_t i = 1; i < 4; ++i)
  {
    all[i].distance[0] = 0.8;
    all[i].distance[1] = 1.25;
    all[i].distance[2] = 2.0;
  }
  return all;
}

/** A matrix without symmetry. */
inline std::array<double, 9>
SomeMatrix()
{
  return { { 0.9, -0.2, 0.3, 0.1, 1.1, -0.4, -0.15, 0.25, 0.8 } };
}

/** A problem of the given size: image, map, warp and weights, a third of which are zero. */
template <typename T>
struct GradientProblem
{
  Extent                imageSize;
  Volume<T>             image;
  CompositeMap          map = ObliqueMap();
  Warp<double>          u;
  Warp<float>           floats;
  Volume<float>         weights;
  std::array<double, 9> C = SomeMatrix();

  explicit GradientProblem(const Extent & size, double mean = 0, double deviation = 1)
    : imageSize{ size.x + 3, std::max<std::int64_t>(1, size.y - 2), size.z + 1 }
    , image(RandomVolume(imageSize, 51, mean, deviation).template As<T>())
    , u(WarpToRandomPoints(size, imageSize, map, 52))
    , floats(ConvertWarp<float>(u))
    , weights(RandomVolume(size, 53))
  {
    for (std::size_t i = 0; i < weights.values.size(); i += 3)
    {
      weights.values[i] = 0;
    }
  }
};

struct GradientResult
{
  Warp<float>              derivative;
  std::vector<MapGradient> planeSums;
};

template <typename T>
GradientResult
ComputeGradient(const GradientProblem<T> & p, const ImageDifferences & h, unsigned threads = 2)
{
  GradientResult result{ Warp<float>(p.weights.domain, 7.0f), {} };
  result.planeSums = ImageGradient(
    p.image.View(), p.map, p.floats.View(), h, p.weights.View(), p.C, result.derivative.View(), true, threads);
  return result;
}

inline bool
SameBytes(const GradientResult & a, const GradientResult & b)
{
  bool same = a.planeSums == b.planeSums;
  for (int c = 0; c < 3; ++c)
  {
    same = same && SameBytes(a.derivative.component[c].values, b.derivative.component[c].values);
  }
  return same;
}

} // namespace test
} // namespace ffdp

#endif
