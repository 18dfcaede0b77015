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

#include "itkLinearInterpolateImageFunction.h"

#include <algorithm>
#include <cmath>

namespace
{

constexpr int LargestPicture = 400; // pixels

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
CenterVoxel(const FloatImage * image)
{
  const auto   voxels = PlaceImage(image).voxels;
  const auto   range = std::minmax_element(voxels.data, voxels.data + voxels.domain.Voxels());
  const double threshold = 0.8 * double(*range.first) + 0.2 * double(*range.second);
  double       count = 0, sum[3] = { 0, 0, 0 };
  for (std::int64_t z = 0; z < voxels.domain.z; ++z)
  {
    for (std::int64_t y = 0; y < voxels.domain.y; ++y)
    {
      const float * row = voxels.Row(y, z);
      for (std::int64_t x = 0; x < voxels.domain.x; ++x)
      {
        const double inside = row[x] > threshold ? 1 : 0;
        count += inside;
        sum[0] += inside * double(x);
        sum[1] += inside * double(y);
        sum[2] += inside * double(z);
      }
    }
  }
  count = std::max(count, 1.0);
  return { { std::int64_t(sum[0] / count), std::int64_t(sum[1] / count), std::int64_t(sum[2] / count) } };
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
  plane.aspect = double(columns) * image->GetSpacing()[static_cast<unsigned int>(plane.across)] /
                 (double(rows) * image->GetSpacing()[static_cast<unsigned int>(plane.down)]);
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
ChoosePlanes(const FloatImage * fixed)
{
  const ffdp::Extent      size = PlaceImage(fixed).voxels.domain;
  const auto              center = CenterVoxel(fixed);
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

Slice
CutSlice(const FloatImage * fixed, const SlicePlane & plane)
{
  const auto voxels = PlaceImage(fixed).voxels;
  Slice      slice;
  for (int row = 0; row < plane.height; ++row)
  {
    for (int column = 0; column < plane.width; ++column)
    {
      const auto at = plane.VoxelAt(column, row);
      slice.push_back(voxels.Row(at[1], at[2])[at[0]]);
    }
  }
  return slice;
}

Slice
CutSlice(const FloatImage *                  moving,
         const FloatImage *                  fixed,
         const SlicePlane &                  plane,
         const ffdp::AffineMap &             map,
         const ffdp::WarpView<const float> & warp)
{
  auto interpolate = itk::LinearInterpolateImageFunction<FloatImage, double>::New();
  interpolate->SetInputImage(moving);
  const ffdp::AffineMap toMoving =
    ffdp::Compose(PlaceImage(moving).indexToPhysical.Inverse(), ffdp::Compose(map, PlaceImage(fixed).indexToPhysical));
  Slice slice;
  for (int row = 0; row < plane.height; ++row)
  {
    for (int column = 0; column < plane.width; ++column)
    {
      const auto            at = plane.VoxelAt(column, row);
      std::array<double, 3> x{ { double(at[0]), double(at[1]), double(at[2]) } };
      for (int c = 0; c < 3 && warp; ++c)
      {
        x[std::size_t(c)] += warp.Row(c, at[1], at[2])[at[0]];
      }
      const auto                      moved = toMoving(x);
      itk::ContinuousIndex<double, 3> index;
      for (unsigned int c = 0; c < 3; ++c)
      {
        index[c] = moved[c];
      }
      slice.push_back(interpolate->IsInsideBuffer(index) ? float(interpolate->EvaluateAtContinuousIndex(index)) : 0.0f);
    }
  }
  return slice;
}
