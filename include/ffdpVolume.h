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
#ifndef ffdpVolume_h
#define ffdpVolume_h

#include <cstdint>

/** Marks what kernels call on a view: index arithmetic has one place on every device. */
#if defined(__CUDACC__)
#  define FFDP_HOST_DEVICE __host__ __device__
#else
#  define FFDP_HOST_DEVICE
#endif

/** Views of volumes and warps: what every primitive below the ITK layer works on.
 *
 * A view never owns memory. It holds the planes [firstPlane, firstPlane + planes) of a volume of
 * `domain` voxels, x fastest. A whole volume is the case firstPlane = 0, planes = domain.z; a slab
 * with halos is the same struct with other numbers. All plane indices are indices of the whole
 * volume, so a primitive gives a voxel the same value whichever slab it sits in: borders are where
 * `domain` ends, not where the buffer ends.
 *
 * A primitive computes the planes that its output view holds, and says which planes of its inputs it
 * needs for that (its halo).
 */
namespace ffdp
{

/** Voxels along each axis. A 2-D image has z = 1. */
struct Extent
{
  std::int64_t x = 1;
  std::int64_t y = 1;
  std::int64_t z = 1;

  std::int64_t
  Voxels() const
  {
    return x * y * z;
  }
};

inline bool
operator==(const Extent & a, const Extent & b)
{
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

inline bool
operator!=(const Extent & a, const Extent & b)
{
  return !(a == b);
}

/** Planes [first, end) of a volume; empty where first >= end. */
struct PlaneRange
{
  std::int64_t first = 0;
  std::int64_t end = 0;
};

/** Planes of a scalar volume. Strides are in elements; neighbors along x are adjacent. */
template <typename T>
struct VolumeView
{
  T *          data = nullptr; ///< voxel (0, 0, firstPlane)
  Extent       domain;         ///< size of the whole volume
  std::int64_t firstPlane = 0;
  std::int64_t planes = 0;
  std::int64_t rowStride = 0;
  std::int64_t planeStride = 0;

  VolumeView() = default;

  /** A whole volume, densely packed. */
  VolumeView(T * voxels, const Extent & size)
    : VolumeView(voxels, size, 0, size.z)
  {}

  /** Densely packed planes [first, first + count) of a volume of size `whole`. */
  VolumeView(T * voxels, const Extent & whole, std::int64_t first, std::int64_t count)
    : data(voxels)
    , domain(whole)
    , firstPlane(first)
    , planes(count)
    , rowStride(whole.x)
    , planeStride(whole.x * whole.y)
  {}

  /** A view of the same voxels that cannot write them. */
  operator VolumeView<const T>() const
  {
    VolumeView<const T> view(data, domain, firstPlane, planes);
    view.rowStride = rowStride;
    view.planeStride = planeStride;
    return view;
  }

  /** False for a default-constructed view, which stands for "not given" or "not asked for". */
  FFDP_HOST_DEVICE explicit operator bool() const { return data != nullptr; }

  /** True also for the slab of a rank that owns no plane of a volume: it has the volume's size. */
  bool
  IsGiven() const
  {
    return planeStride > 0;
  }

  /** The row at y of plane z, z counted in the whole volume. */
  FFDP_HOST_DEVICE T *
  Row(std::int64_t y, std::int64_t z) const
  {
    return data + (z - firstPlane) * planeStride + y * rowStride;
  }

  FFDP_HOST_DEVICE std::int64_t
  EndPlane() const
  {
    return firstPlane + planes;
  }

  /** The same buffer seen as fewer planes: those of [first, first + count). */
  VolumeView
  Planes(std::int64_t first, std::int64_t count) const
  {
    VolumeView view = *this;
    view.data = Row(0, first);
    view.firstPlane = first;
    view.planes = count;
    return view;
  }
};

/** Planes of a vector field: three planar volumes (elementStride 1), or ITK's interleaved vectors
 * (elementStride 3; 2 for the vectors of a 2-D field, whose component[2] is null and means zero).
 * Units are voxels of the grid that the primitive names, components in the order x, y, z. */
template <typename T>
struct WarpView
{
  T *          component[3] = { nullptr, nullptr, nullptr }; ///< each at voxel (0, 0, firstPlane)
  Extent       domain;
  std::int64_t firstPlane = 0;
  std::int64_t planes = 0;
  std::int64_t elementStride = 1;
  std::int64_t rowStride = 0;
  std::int64_t planeStride = 0;

  WarpView() = default;

  /** Three densely packed volumes. */
  static WarpView
  Planar(T * x, T * y, T * z, const Extent & whole, std::int64_t first, std::int64_t count)
  {
    return Make(x, y, z, 1, whole, first, count);
  }

  /** Three densely packed volumes that follow each other in one allocation. */
  static WarpView
  Planar(T * values, const Extent & whole)
  {
    const std::int64_t n = whole.Voxels();
    return Make(values, values + n, values + 2 * n, 1, whole, 0, whole.z);
  }

  /** Vectors of `dimension` (2 or 3) components side by side. */
  static WarpView
  Interleaved(T * values, int dimension, const Extent & whole, std::int64_t first, std::int64_t count)
  {
    return Make(values, values + 1, dimension == 3 ? values + 2 : nullptr, dimension, whole, first, count);
  }

  static WarpView
  Interleaved(T * values, int dimension, const Extent & whole)
  {
    return Interleaved(values, dimension, whole, 0, whole.z);
  }

  operator WarpView<const T>() const
  {
    WarpView<const T> view;
    for (int c = 0; c < 3; ++c)
    {
      view.component[c] = component[c];
    }
    view.domain = domain;
    view.firstPlane = firstPlane;
    view.planes = planes;
    view.elementStride = elementStride;
    view.rowStride = rowStride;
    view.planeStride = planeStride;
    return view;
  }

  FFDP_HOST_DEVICE explicit operator bool() const { return component[0] != nullptr; }

  /** See VolumeView. */
  bool
  IsGiven() const
  {
    return planeStride > 0;
  }

  /** Component c of the row at y of plane z (z of the whole volume), or null if the field has none. */
  FFDP_HOST_DEVICE T *
  Row(int c, std::int64_t y, std::int64_t z) const
  {
    return component[c] ? component[c] + (z - firstPlane) * planeStride + y * rowStride : nullptr;
  }

  FFDP_HOST_DEVICE std::int64_t
  EndPlane() const
  {
    return firstPlane + planes;
  }

  WarpView
  Planes(std::int64_t first, std::int64_t count) const
  {
    WarpView view = *this;
    for (int c = 0; c < 3; ++c)
    {
      view.component[c] = Row(c, 0, first);
    }
    view.firstPlane = first;
    view.planes = count;
    return view;
  }

  /** One component of a planar warp as a volume. */
  VolumeView<T>
  Component(int c) const
  {
    VolumeView<T> view(component[c], domain, firstPlane, planes);
    view.rowStride = rowStride;
    view.planeStride = planeStride;
    return view;
  }

private:
  static WarpView
  Make(T * x, T * y, T * z, std::int64_t stride, const Extent & whole, std::int64_t first, std::int64_t count)
  {
    WarpView view;
    view.component[0] = x;
    view.component[1] = y;
    view.component[2] = z;
    view.domain = whole;
    view.firstPlane = first;
    view.planes = count;
    view.elementStride = stride;
    view.rowStride = stride * whole.x;
    view.planeStride = stride * whole.x * whole.y;
    return view;
  }
};

} // namespace ffdp

#endif
