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
#include "ffdpReportCharts.h"

#include "ffdpHtml.h"
#include "ffdpReportPictures.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace
{

constexpr double Left = 58, Right = 12, Top = 22, Bottom = 26; // margins of a chart
constexpr double Width = 460, Height = 220;

std::string
Label(double x, double y, const std::string & anchor, const std::string & text)
{
  return "<text x=\"" + Print("%.1f", x) + "\" y=\"" + Print("%.1f", y) + "\" text-anchor=\"" + anchor + "\">" +
         EscapeHtml(text) + "</text>";
}

std::string
Line(double x1, double y1, double x2, double y2, const std::string & kind)
{
  return "<line class=\"" + kind + "\" x1=\"" + Print("%.1f", x1) + "\" y1=\"" + Print("%.1f", y1) + "\" x2=\"" +
         Print("%.1f", x2) + "\" y2=\"" + Print("%.1f", y2) + "\"/>";
}

std::string
BeginChart(const std::string & description)
{
  return "<svg class=\"chart\" viewBox=\"0 0 " + Print("%.0f", Width) + " " + Print("%.0f", Height) +
         "\" role=\"img\" aria-label=\"" + EscapeHtml(description) + "\">";
}

/** Round numbers between low and high, about `count` of them. */
std::vector<double>
RoundNumbers(double low, double high, int count)
{
  const double        rough = (high - low) / count;
  const double        power = std::pow(10.0, std::floor(std::log10(rough)));
  const double        step = power * (rough < 1.5 * power ? 1 : rough < 3.5 * power ? 2 : rough < 7.5 * power ? 5 : 10);
  std::vector<double> numbers;
  for (double k = std::ceil(low / step); k * step <= high; ++k)
  {
    numbers.push_back(k * step);
  }
  return numbers;
}

std::string
SizeText(const ffdp::Extent & size)
{
  return std::to_string(size.x) + "x" + std::to_string(size.y) + (size.z > 1 ? "x" + std::to_string(size.z) : "");
}

} // namespace

std::string
DrawConvergence(const std::vector<IterationRecord> & iterations, int stage)
{
  std::vector<IterationRecord> own;
  std::copy_if(iterations.begin(), iterations.end(), std::back_inserter(own), [stage](const IterationRecord & record) {
    return record.progress.stage == stage;
  });
  if (own.empty())
  {
    return "";
  }
  const auto byValue = [](const IterationRecord & a, const IterationRecord & b) {
    return a.progress.value < b.progress.value;
  };
  const auto   range = std::minmax_element(own.begin(), own.end(), byValue);
  double       low = range.first->progress.value, high = range.second->progress.value;
  const double margin = std::max(0.04 * (high - low), 1e-6);
  low -= margin;
  high += margin;
  const double last = std::max(1.0, double(own.size()) - 1);
  const auto   x = [&](double i) { return Left + (Width - Left - Right) * i / last; };
  const auto   y = [&](double v) { return Top + (Height - Top - Bottom) * (high - v) / (high - low); };

  std::string chart = BeginChart("loss of a stage over its iterations");
  for (const double value : RoundNumbers(low, high, 4))
  {
    chart +=
      Line(Left, y(value), Width - Right, y(value), "rule") + Label(Left - 6, y(value) + 4, "end", Print("%g", value));
  }
  for (const double i : RoundNumbers(0, last, 6))
  {
    chart += Label(x(i), Height - 8, "middle", Print("%.0f", i));
  }
  std::string points;
  for (std::size_t i = 0; i < own.size(); ++i)
  {
    if (i == 0 || own[i].progress.level != own[i - 1].progress.level)
    {
      chart += points.empty() ? "" : "<polyline class=\"curve\" points=\"" + points + "\"/>";
      chart += i == 0 ? "" : Line(x(double(i) - 0.5), Top, x(double(i) - 0.5), Height - Bottom, "divide");
      chart += Label(x(double(i)) + 3, Top - 8, "start", SizeText(own[i].progress.levelSize));
      points.clear();
    }
    points += Print("%.1f", x(double(i))) + "," + Print("%.1f ", y(own[i].progress.value));
  }
  return chart + "<polyline class=\"curve\" points=\"" + points + "\"/></svg>";
}

double
ChooseJacobianRange(const JacobianMap & map)
{
  constexpr double NearlyAll = 0.98;
  const double     all = double(std::accumulate(map.histogram.begin(), map.histogram.end(), std::int64_t(0)));
  const auto       bins = map.histogram.size();
  for (const double range : { 1.5, 2.0, 4.0 })
  {
    const double share = std::log2(range) / JacobianMap::Octaves;
    const auto   first = std::size_t(double(bins) * 0.5 * (1 - share));
    const auto   inside = std::accumulate(
      map.histogram.begin() + std::ptrdiff_t(first), map.histogram.end() - std::ptrdiff_t(first), std::int64_t(0));
    if (double(inside) >= NearlyAll * all)
    {
      return range;
    }
  }
  return 8;
}

std::string
DrawJacobianHistogram(const JacobianMap & map, double range)
{
  constexpr double Bar = 14; // height of the color bar
  const double     all =
    std::max(1.0, double(std::accumulate(map.histogram.begin(), map.histogram.end(), std::int64_t(0))));
  const auto   bins = map.histogram.size();
  const double octaves = std::log2(range);
  const double bottom = Height - Bottom - Bar - 2;
  const auto   x = [&](double octave) { return Left + (Width - Left - Right) * (octave / octaves + 1) * 0.5; };
  const auto   octaveOf = [&](double bin) { return (2 * bin / double(bins) - 1) * JacobianMap::Octaves; };
  const double most = double(*std::max_element(map.histogram.begin(), map.histogram.end())) / all;

  std::string chart = BeginChart("histogram of Jacobian determinants");
  for (const double share : RoundNumbers(0, 100 * most, 4))
  {
    const double height = bottom - (bottom - Top) * share / std::max(100 * most, 1e-9);
    chart +=
      Line(Left, height, Width - Right, height, "rule") + Label(Left - 6, height + 4, "end", Print("%g %%", share));
  }
  for (std::size_t i = 0; i < bins; ++i)
  {
    const double from = std::max(-octaves, octaveOf(double(i))), to = std::min(octaves, octaveOf(double(i) + 1));
    if (to > from && map.histogram[i] > 0)
    {
      const double height = (bottom - Top) * double(map.histogram[i]) / (all * std::max(most, 1e-9));
      chart += "<rect class=\"bin\" x=\"" + Print("%.1f", x(from)) + "\" y=\"" + Print("%.1f", bottom - height) +
               "\" width=\"" + Print("%.1f", std::max(0.5, x(to) - x(from) - 0.5)) + "\" height=\"" +
               Print("%.1f", height) + "\"/>";
    }
  }
  constexpr int Steps = 48;
  for (int i = 0; i < Steps; ++i)
  {
    const double octave = octaves * (2 * (i + 0.5) / Steps - 1);
    const Color  color = JacobianColor(std::exp2(octave), range);
    chart += "<rect x=\"" + Print("%.1f", x(octave - octaves / Steps)) + "\" y=\"" + Print("%.1f", bottom + 2) +
             "\" width=\"" + Print("%.1f", (Width - Left - Right) / Steps + 0.5) + "\" height=\"" + Print("%.0f", Bar) +
             "\" fill=\"rgb(" + Print("%.0f,", 255 * color.red) + Print("%.0f,", 255 * color.green) +
             Print("%.0f", 255 * color.blue) + ")\"/>";
  }
  const int ticks = octaves > 2 ? 3 : 2; // on each side
  for (int i = -ticks; i <= ticks; ++i)
  {
    const double octave = octaves * i / ticks;
    chart += Label(x(octave), Height - 8, "middle", Print("%.3g", std::exp2(octave)));
  }
  return chart + Label(Left, Top - 8, "start", "share of voxels by Jacobian determinant") + "</svg>";
}

std::string
DrawGrid(const SlicePlane & plane, const WarpSlice & warp)
{
  constexpr double Lines = 30; // along the longer side
  constexpr double PointsBetweenLines = 4;
  const double     columns = plane.width / plane.SquaresAcross(Lines); // from line to line
  const double     rows = columns * plane.aspect * plane.height / plane.width;
  const auto       move = [&](double x, double y) {
    const int    column = std::min(plane.width - 1, int(x)), row = std::min(plane.height - 1, int(y));
    const auto   pixel = std::size_t(row) * std::size_t(plane.width) + std::size_t(column);
    const double across = warp[std::size_t(plane.across)][pixel] / plane.voxelsPerColumn;
    const double down = warp[std::size_t(plane.down)][pixel] / plane.voxelsPerRow;
    return Print("%.1f ", x + (plane.flipAcross ? -across : across)) +
           Print("%.1f", y + (plane.flipDown ? -down : down));
  };
  std::string path;
  for (double y = 0.5 * rows; y < plane.height; y += rows)
  {
    for (double x = 0; x <= plane.width; x += columns / PointsBetweenLines)
    {
      path += (x == 0 ? "M" : "L") + move(x, y);
    }
  }
  for (double x = 0.5 * columns; x < plane.width; x += columns)
  {
    for (double y = 0; y <= plane.height; y += rows / PointsBetweenLines)
    {
      path += (y == 0 ? "M" : "L") + move(x, y);
    }
  }
  return "<svg class=\"lines\" viewBox=\"0 0 " + std::to_string(plane.width) + " " + std::to_string(plane.height) +
         "\" preserveAspectRatio=\"none\"><path d=\"" + path + "\"/></svg>";
}
