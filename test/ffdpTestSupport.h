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
#ifndef ffdpTestSupport_h
#define ffdpTestSupport_h

#include "ffdpInstructionSet.h"
#include "ffdpVolume.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

/** What the tests of all primitives share: volumes that own their voxels, ways to fill them, and cutting
 * them into slabs. Written for clarity, not for speed. */
namespace ffdp
{
namespace test
{

/** Voxels of a volume or of some of its planes, in the type that a test needs. */
template <typename T>
struct Volume
{
  Extent         domain;
  std::int64_t   firstPlane = 0;
  std::int64_t   planes = 0;
  std::vector<T> values;

  Volume() = default;
  explicit Volume(const Extent & size, T fill = T{})
    : Volume(size, 0, size.z, fill)
  {}
  Volume(const Extent & size, std::int64_t first, std::int64_t count, T fill = T{})
    : domain(size)
    , firstPlane(first)
    , planes(count)
    , values(std::size_t(size.x * size.y * count), fill)
  {}

  T &
  At(std::int64_t x, std::int64_t y, std::int64_t z)
  {
    return values[std::size_t(x + domain.x * (y + domain.y * (z - firstPlane)))];
  }
  const T &
  At(std::int64_t x, std::int64_t y, std::int64_t z) const
  {
    return const_cast<Volume *>(this)->At(x, y, z);
  }

  VolumeView<T>
  View()
  {
    return VolumeView<T>(values.data(), domain, firstPlane, planes);
  }
  VolumeView<const T>
  View() const
  {
    return VolumeView<const T>(values.data(), domain, firstPlane, planes);
  }

  /** A copy of the planes [first, end), cut to what exists, in a buffer of their own: a slab with halos. */
  Volume
  Slab(std::int64_t first, std::int64_t end) const
  {
    first = std::max<std::int64_t>(first, 0);
    end = std::min<std::int64_t>(end, domain.z);
    Volume             slab(domain, first, end - first);
    const std::int64_t plane = domain.x * domain.y;
    std::copy(
      values.begin() + (first - firstPlane) * plane, values.begin() + (end - firstPlane) * plane, slab.values.begin());
    return slab;
  }

  template <typename U>
  Volume<U>
  As() const
  {
    Volume<U> other(domain, firstPlane, planes);
    for (std::size_t i = 0; i < values.size(); ++i)
    {
      other.values[i] = static_cast<U>(values[i]);
    }
    return other;
  }
};

/** Three volumes, one per component. */
template <typename T>
struct Warp
{
  Volume<T> component[3];

  Warp() = default;
  explicit Warp(const Extent & size, T fill = T{})
    : component{ Volume<T>(size, fill), Volume<T>(size, fill), Volume<T>(size, fill) }
  {}
  WarpView<T>
  View()
  {
    const Volume<T> & x = component[0];
    return WarpView<T>::Planar(component[0].values.data(),
                               component[1].values.data(),
                               component[2].values.data(),
                               x.domain,
                               x.firstPlane,
                               x.planes);
  }
  WarpView<const T>
  View() const
  {
    return const_cast<Warp *>(this)->View();
  }
  Warp
  Slab(std::int64_t first, std::int64_t end) const
  {
    Warp slab;
    for (int c = 0; c < 3; ++c)
    {
      slab.component[c] = component[c].Slab(first, end);
    }
    return slab;
  }
};

/** Independent normal values: nothing in them is smooth, so nothing hides in smoothness. */
inline Volume<float>
RandomVolume(const Extent & size, unsigned seed, double mean = 0, double deviation = 1)
{
  Volume<float>                    volume(size);
  std::mt19937                     generator(seed);
  std::normal_distribution<double> normal(mean, deviation);
  for (float & v : volume.values)
  {
    v = float(normal(generator));
  }
  return volume;
}

/** A sum of a few waves between `low` and `high`: what a smooth image looks like. */
inline Volume<float>
SmoothVolume(const Extent & size, unsigned seed, double low = 0, double high = 1)
{
  std::mt19937                           generator(seed);
  std::uniform_real_distribution<double> phase(0, 6.28);
  const double                           px = phase(generator), py = phase(generator), pz = phase(generator);
  Volume<float>                          volume(size);
  for (std::int64_t z = 0; z < size.z; ++z)
    for (std::int64_t y = 0; y < size.y; ++y)
      for (std::int64_t x = 0; x < size.x; ++x)
      {
        const double s =
          (std::sin(0.45 * x + px) + std::sin(0.38 * y + 0.1 * x + py) + std::sin(0.5 * z - 0.2 * y + pz)) / 6 + 0.5;
        volume.At(x, y, z) = float(low + (high - low) * s);
      }
  return volume;
}

/** About `fraction` of the voxels set. */
inline Volume<std::uint8_t>
RandomMask(const Extent & size, unsigned seed, double fraction = 0.7)
{
  Volume<std::uint8_t>        mask(size);
  std::mt19937                generator(seed);
  std::bernoulli_distribution inside(fraction);
  for (auto & m : mask.values)
  {
    m = inside(generator) ? 1 : 0;
  }
  return mask;
}

/** Displacements of a given size in voxels, independent from voxel to voxel. */
inline Warp<float>
RandomWarp(const Extent & size, unsigned seed, double deviation)
{
  Warp<float> warp;
  for (unsigned c = 0; c < 3; ++c)
  {
    warp.component[c] = RandomVolume(size, seed * 3 + c, 0, deviation);
  }
  return warp;
}

template <typename T>
bool
SameBytes(const std::vector<T> & a, const std::vector<T> & b)
{
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/** The largest difference between a result and its reference. */
template <typename T, typename U>
double
MaxDifference(const std::vector<T> & a, const std::vector<U> & b)
{
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
  {
    const double d = std::abs(double(a[i]) - double(b[i]));
    worst = !(d <= worst) ? d : worst; // keeps NaN
  }
  return worst;
}

template <typename T>
double
MaxMagnitude(const std::vector<T> & a)
{
  double worst = 0;
  for (const T & v : a)
  {
    worst = std::max(worst, std::abs(double(v)));
  }
  return worst;
}

template <typename T, typename U>
double
Dot(const std::vector<T> & a, const std::vector<U> & b)
{
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
  {
    sum += double(a[i]) * double(b[i]);
  }
  return sum;
}

/** Sanitizers make a registration thirty times slower. What they look for shows in a few iterations, so tests of
 * accuracy are left out there. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool Sanitized = true;
#else
constexpr bool Sanitized = false;
#endif
#define SKIP_IF_SANITIZED()                                                                                            \
  if (Sanitized)                                                                                                       \
  GTEST_SKIP() << "a test of accuracy"

/** Sizes that found faults before: odd, prime, one along an axis, 2-D, wider than a vector or a tile. */
inline const std::vector<Extent> &
AwkwardSizes()
{
  static const std::vector<Extent> sizes{ { 1, 1, 1 },   { 7, 1, 1 },    { 1, 9, 1 },   { 1, 1, 11 },
                                          { 2, 3, 5 },   { 17, 13, 1 },  { 33, 19, 1 }, { 9, 1, 13 },
                                          { 1, 12, 10 }, { 23, 17, 11 }, { 70, 37, 9 } };
  return sizes;
}

/** Thread counts whose results must not differ; a device takes none. */
inline const std::vector<unsigned> &
ThreadCounts()
{
#ifdef FFDP_TEST_ON_DEVICE
  static const std::vector<unsigned> counts{ 1 };
#else
  static const std::vector<unsigned> counts{ 1, 2, 3, 7 };
#endif
  return counts;
}

/** Runs `body` once per instruction set that this machine has, baseline first; then restores the best. A device has
 * one. */
template <typename TBody>
void
ForEachInstructionSet(TBody && body)
{
#ifdef FFDP_TEST_ON_DEVICE
  body();
#else
  const InstructionSet best = LimitInstructionSet(InstructionSet::AVX512);
  for (const auto set : { InstructionSet::Baseline, InstructionSet::AVX2, InstructionSet::AVX512 })
  {
    if (set <= best)
    {
      LimitInstructionSet(set);
      body();
    }
  }
  LimitInstructionSet(best);
#endif
}

} // namespace test
} // namespace ffdp

#endif
