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
#include "ffdpSlices.h"

#include "ffdpImageGrid.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace
{

constexpr int    LargestPicture = 400; // pixels
constexpr double LargestAspect = 20;

using Triple = std::array<int, 3>;

/** Which of the patient's axes (0 right-left, 1 front-back, 2 feet-head) each axis of a grid follows most closely, each
 * used once. */
Triple
PatientAxes(const FloatImage * image)
{
  const auto direction = image->GetDirection();
  Triple     order{ { 0, 1, 2 } }, best = order;
  double     bestSum = -1;
  do
  {
    double sum = 0;
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      sum += std::abs(direction[static_cast<unsigned int>(order[axis])][axis]);
    }
    if (sum > bestSum)
    {
      bestSum = sum;
      best = order;
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

std::array<std::int64_t, 3>
CenterVoxel(const FloatImage * image, ffdp::Communicator & communicator)
{
  const auto       voxels = PlaceImage(image).voxels;
  const auto       count = voxels.planes * voxels.planeStride;
  const auto       range = std::minmax_element(voxels.data, voxels.data + count);
  constexpr double None = -std::numeric_limits<double>::infinity();
  double           ends[2] = { count > 0 ? -double(*range.first) : None, count > 0 ? double(*range.second) : None };
  communicator.Maximum(ends, 2);
  const double threshold = 0.8 * -ends[0] + 0.2 * ends[1];
  std::int64_t sums[4] = { 0, 0, 0, 0 }; // of the indices, and how many there are
  for (std::int64_t z = voxels.firstPlane; z < voxels.EndPlane(); ++z)
  {
    for (std::int64_t y = 0; y < voxels.domain.y; ++y)
    {
      const float * row = voxels.Row(y, z);
      for (std::int64_t x = 0; x < voxels.domain.x; ++x)
      {
        const std::int64_t inside = row[x] > threshold ? 1 : 0;
        sums[0] += inside * x;
        sums[1] += inside * y;
        sums[2] += inside * z;
        sums[3] += inside;
      }
    }
  }
  communicator.Sum(sums, 4);
  const std::int64_t inside = std::max<std::int64_t>(sums[3], 1);
  return { { sums[0] / inside, sums[1] / inside, sums[2] / inside } };
}

/** Sums of bits are exact: all ranks but one add zero. */
template <typename T>
void
Join(std::vector<T> & values, ffdp::Communicator & communicator)
{
  std::vector<std::int64_t> bits(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
  {
    std::memcpy(&bits[i], &values[i], sizeof(T));
  }
  communicator.Sum(bits.data(), bits.size());
  for (std::size_t i = 0; i < values.size(); ++i)
  {
    std::memcpy(&values[i], &bits[i], sizeof(T));
  }
}

/** value(voxel) for each pixel, asked where this rank has the voxel's plane. */
template <typename TValue>
Slice
CutOwn(const SlicePlane & plane, const ffdp::PlaneRange & own, ffdp::Communicator & communicator, const TValue & value)
{
  Slice slice;
  for (int row = 0; row < plane.height; ++row)
  {
    for (int column = 0; column < plane.width; ++column)
    {
      const auto at = plane.VoxelAt(column, row);
      slice.push_back(at[2] >= own.first && at[2] < own.end ? value(at) : 0.0f);
    }
  }
  JoinSlice(slice, communicator);
  return slice;
}

/** Linear interpolation in one plane of an image; corners are clamped to the edge. */
double
InterpolateInPlane(const ffdp::VolumeView<const float> & image, double x, double y, std::int64_t z)
{
  const double lowX = std::floor(x), lowY = std::floor(y);
  const auto   clamp = [](double at, std::int64_t size) {
    return std::min(size - 1, std::max<std::int64_t>(0, std::int64_t(at)));
  };
  const std::int64_t x0 = clamp(lowX, image.domain.x), x1 = clamp(lowX + 1, image.domain.x);
  const float *      row0 = image.Row(clamp(lowY, image.domain.y), z);
  const float *      row1 = image.Row(clamp(lowY + 1, image.domain.y), z);
  const double       front = row0[x0] + (x - lowX) * (double(row0[x1]) - row0[x0]);
  const double       back = row1[x0] + (x - lowX) * (double(row1[x1]) - row1[x0]);
  return front + (y - lowY) * (back - front);
}

std::int64_t
SizeAlong(const ffdp::Extent & size, int axis)
{
  return axis == 0 ? size.x : axis == 1 ? size.y : size.z;
}

void
FitPicture(SlicePlane & plane, const FloatImage * image)
{
  const auto   columns = SizeAlong(plane.size, plane.across), rows = SizeAlong(plane.size, plane.down);
  const double shrink = std::max(1.0, double(std::max(columns, rows)) / LargestPicture);
  plane.width = std::max(1, int(double(columns) / shrink));
  plane.height = std::max(1, int(double(rows) / shrink));
  plane.voxelsPerColumn = double(columns) / plane.width;
  plane.voxelsPerRow = double(rows) / plane.height;
  const double aspect = double(columns) * image->GetSpacing()[static_cast<unsigned int>(plane.across)] /
                        (double(rows) * image->GetSpacing()[static_cast<unsigned int>(plane.down)]);
  plane.aspect = std::min(LargestAspect, std::max(1 / LargestAspect, aspect));
}

/** The plane that is perpendicular to an axis of the grid. */
SlicePlane
LookAlong(int normal, const FloatImage * image, const Triple & patientAxes)
{
  const char * const titles[3] = { "Sagittal", "Coronal", "Axial" };
  const char * const low[3] = { "R", "A", "I" };
  const char * const high[3] = { "L", "P", "S" };
  SlicePlane         plane;
  plane.normal = normal;
  plane.title = titles[patientAxes[std::size_t(normal)]];
  plane.across = (normal + 1) % 3;
  plane.down = (normal + 2) % 3;
  if (patientAxes[std::size_t(plane.across)] > patientAxes[std::size_t(plane.down)])
  {
    std::swap(plane.across, plane.down);
  }
  const auto axisAcross = static_cast<unsigned int>(patientAxes[std::size_t(plane.across)]);
  const auto axisDown = static_cast<unsigned int>(patientAxes[std::size_t(plane.down)]);
  const auto direction = image->GetDirection();
  plane.flipAcross = direction[axisAcross][static_cast<unsigned int>(plane.across)] < 0;
  plane.left = low[axisAcross];
  plane.right = high[axisAcross];
  const bool headUp = axisDown == 2;
  plane.flipDown = (direction[axisDown][static_cast<unsigned int>(plane.down)] < 0) != headUp;
  plane.top = headUp ? high[2] : low[axisDown];
  plane.bottom = headUp ? low[2] : high[axisDown];
  return plane;
}

} // namespace

double
SlicePlane::SquaresAcross(double count) const
{
  return count * std::min(1.0, aspect);
}

std::array<std::int64_t, 3>
SlicePlane::VoxelAt(int column, int row) const
{
  const auto pick = [&](int axis, bool flip, int pixel, double step) {
    const std::int64_t last = SizeAlong(size, axis) - 1;
    const auto         at = std::min(last, std::int64_t((pixel + 0.5) * step));
    return flip ? last - at : at;
  };
  std::array<std::int64_t, 3> voxel;
  voxel[std::size_t(normal)] = position;
  voxel[std::size_t(across)] = pick(across, flipAcross, column, voxelsPerColumn);
  voxel[std::size_t(down)] = pick(down, flipDown, row, voxelsPerRow);
  return voxel;
}

std::vector<SlicePlane>
ChoosePlanes(const FloatImage * fixed, ffdp::Communicator & communicator)
{
  const ffdp::Extent      size = ExtentOf(fixed);
  const auto              center = CenterVoxel(fixed, communicator);
  const Triple            patientAxes = PatientAxes(fixed);
  std::vector<SlicePlane> planes;
  if (size.z == 1)
  {
    planes.emplace_back();
    planes.back().title = "Plane";
  }
  else
  {
    for (const int patientAxis : { 2, 1, 0 })
    {
      const auto normal = std::find(patientAxes.begin(), patientAxes.end(), patientAxis) - patientAxes.begin();
      planes.push_back(LookAlong(int(normal), fixed, patientAxes));
    }
  }
  const auto isLine = [&](const SlicePlane & plane) {
    return SizeAlong(size, plane.across) == 1 || SizeAlong(size, plane.down) == 1;
  };
  if (!std::all_of(planes.begin(), planes.end(), isLine)) // of an image that is a line there is nothing else
  {
    planes.erase(std::remove_if(planes.begin(), planes.end(), isLine), planes.end());
  }
  for (SlicePlane & plane : planes)
  {
    plane.size = size;
    plane.position = center[std::size_t(plane.normal)];
    FitPicture(plane, fixed);
  }
  return planes;
}

std::string
NameOrientation(const FloatImage * image)
{
  const char * const toHigh = "LPS";
  const char * const toLow = "RAI";
  const Triple       patientAxes = PatientAxes(image);
  std::string        name;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    const auto patientAxis = static_cast<unsigned int>(patientAxes[axis]);
    name += image->GetDirection()[patientAxis][axis] < 0 ? toLow[patientAxis] : toHigh[patientAxis];
  }
  return name;
}

void
JoinSlice(Slice & slice, ffdp::Communicator & communicator)
{
  Join(slice, communicator);
}

Slice
CutSlice(const FloatImage * fixed, const SlicePlane & plane, ffdp::Communicator & communicator)
{
  const auto voxels = PlaceImage(fixed).voxels;
  return CutOwn(plane, PlanesOf(fixed), communicator, [&](const auto & at) { return voxels.Row(at[1], at[2])[at[0]]; });
}

WarpSlice
CutSlice(const ffdp::WarpView<const float> & warp, const SlicePlane & plane, ffdp::Communicator & communicator)
{
  WarpSlice slices;
  for (int c = 0; c < 3; ++c)
  {
    slices[std::size_t(c)] = CutOwn(plane, { warp.firstPlane, warp.EndPlane() }, communicator, [&](const auto & at) {
      return warp.Row(c, at[1], at[2])[at[0]];
    });
  }
  return slices;
}

Slice
CutSlice(const FloatImage *      moving,
         const FloatImage *      fixed,
         const SlicePlane &      plane,
         const ffdp::AffineMap & map,
         const WarpSlice &       warp,
         ffdp::Communicator &    communicator)
{
  const ffdp::PlacedImage image = PlaceImage(moving);
  const ffdp::AffineMap   toMoving =
    ffdp::Compose(image.indexToPhysical.Inverse(), ffdp::Compose(map, IndexToPhysical(fixed)));
  const ffdp::Extent size = image.voxels.domain;
  const auto         count = std::size_t(plane.width) * std::size_t(plane.height);
  // What the two planes around each point have there: they may be with two ranks. A point outside has no share.
  std::vector<double> lower(count), upper(count), share(count, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < count; ++i)
  {
    const auto            at = plane.VoxelAt(int(i) % plane.width, int(i) / plane.width);
    std::array<double, 3> x{ { double(at[0]), double(at[1]), double(at[2]) } };
    for (std::size_t c = 0; c < 3 && !warp[0].empty(); ++c)
    {
      x[c] += warp[c][i];
    }
    const auto moved = toMoving(x);
    const bool inside = moved[0] >= -0.5 && moved[0] < double(size.x) - 0.5 && moved[1] >= -0.5 &&
                        moved[1] < double(size.y) - 0.5 && moved[2] >= -0.5 && moved[2] < double(size.z) - 0.5;
    if (!inside)
    {
      continue;
    }
    const double low = std::floor(moved[2]);
    const auto   valueAt = [&](double z) {
      const auto k = std::min(size.z - 1, std::max<std::int64_t>(0, std::int64_t(z)));
      const bool own = k >= image.voxels.firstPlane && k < image.voxels.EndPlane();
      return own ? InterpolateInPlane(image.voxels, moved[0], moved[1], k) : 0.0;
    };
    lower[i] = valueAt(low);
    upper[i] = valueAt(low + 1);
    share[i] = moved[2] - low;
  }
  Join(lower, communicator);
  Join(upper, communicator);
  Slice slice(count);
  for (std::size_t i = 0; i < count; ++i)
  {
    slice[i] = float(lower[i] + share[i] * (upper[i] - lower[i]));
  }
  return slice;
}
