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
#include "ffdpReportPictures.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace
{

/** color(i) is that of pixel i. */
template <typename TColor>
Picture
Paint(const SlicePlane & plane, const TColor & color)
{
  Picture picture(plane.width, plane.height);
  for (int row = 0; row < plane.height; ++row)
  {
    for (int column = 0; column < plane.width; ++column)
    {
      picture.Set(column, row, color(std::size_t(row) * std::size_t(plane.width) + std::size_t(column)));
    }
  }
  return picture;
}

} // namespace

Window
ChooseWindow(const std::vector<Slice> & slices)
{
  Slice all;
  for (const Slice & slice : slices)
  {
    std::copy_if(slice.begin(), slice.end(), std::back_inserter(all), [](float value) { return !std::isnan(value); });
  }
  if (all.empty())
  {
    return Window();
  }
  const auto quantile = [&](double share) {
    const auto place = all.begin() + std::ptrdiff_t(share * double(all.size() - 1));
    std::nth_element(all.begin(), place, all.end());
    return *place;
  };
  Window window;
  window.low = quantile(0.005);
  window.high = quantile(0.995);
  return window;
}

Picture
PaintGray(const SlicePlane & plane, const Slice & slice, const Window & window)
{
  return Paint(plane, [&](std::size_t i) {
    const double level = window(slice[i]);
    return Color{ level, level, level };
  });
}

Picture
PaintOverlay(const SlicePlane & plane,
             const Slice &      fixed,
             const Window &     fixedWindow,
             const Slice &      moving,
             const Window &     movingWindow)
{
  return Paint(plane, [&](std::size_t i) {
    const double movingLevel = movingWindow(moving[i]);
    return std::isnan(moving[i]) ? Color() : Color{ movingLevel, fixedWindow(fixed[i]), movingLevel };
  });
}

Picture
PaintCheckerboard(const SlicePlane & plane,
                  const Slice &      fixed,
                  const Window &     fixedWindow,
                  const Slice &      moving,
                  const Window &     movingWindow)
{
  constexpr double Tiles = 10; // along the longer side; they are squares
  const double     columnTiles = plane.SquaresAcross(Tiles), rowTiles = columnTiles / plane.aspect;
  return Paint(plane, [&](std::size_t i) {
    const int    row = int(i) / plane.width, column = int(i) % plane.width;
    const bool   odd = (int(columnTiles * column / plane.width) + int(rowTiles * row / plane.height)) % 2 != 0;
    const double level = odd ? movingWindow(moving[i]) : fixedWindow(fixed[i]);
    return Color{ level, level, level };
  });
}

Color
JacobianColor(double determinant, double range)
{
  if (!(determinant > 0))
  {
    return { 1, 0.85, 0 };
  }
  const Color  blue{ 0.13, 0.32, 0.72 }, neutral{ 0.94, 0.94, 0.93 }, red{ 0.76, 0.15, 0.14 };
  const double place = std::log(determinant) / std::log(range);
  const double share = std::min(1.0, std::abs(place));
  const Color  end = place < 0 ? blue : red;
  return { neutral.red + share * (end.red - neutral.red),
           neutral.green + share * (end.green - neutral.green),
           neutral.blue + share * (end.blue - neutral.blue) };
}

Picture
PaintJacobian(const SlicePlane & plane, const Slice & determinants, double range)
{
  return Paint(plane, [&](std::size_t i) { return JacobianColor(double(determinants[i]), range); });
}
