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
#include "ffdpReport.h"

#include "ffdpCommandLine.h"
#include "ffdpHtml.h"
#include "ffdpImageGrid.h"
#include "ffdpWarpedImages.h"
#include "ffdpReportCharts.h"
#include "ffdpReportPictures.h"
#include "ffdpReportStyle.h"

#include "itkFFDPConfiguration.h"
#include "itkVersion.h"

namespace
{

using Warp = ffdp::WarpView<const float>;

std::string
SizeText(const ffdp::Extent & size)
{
  return std::to_string(size.x) + " × " + std::to_string(size.y) + (size.z > 1 ? " × " + std::to_string(size.z) : "");
}

/** A picture of a plane in its true proportions, with letters of the directions and perhaps a drawing on top. */
std::string
MakeFigure(const SlicePlane &  plane,
           const Picture &     picture,
           const std::string & description,
           const std::string & caption,
           const std::string & drawing = "")
{
  constexpr double LargestHeight = 560; // pixels of the page
  std::string      figure = "<figure><div class=\"slice\" style=\"aspect-ratio:" + Print("%.4f", plane.aspect) +
                       ";max-width:" + Print("%.0fpx", LargestHeight * plane.aspect) + "\"><img alt=\"" +
                       EscapeHtml(plane.title + ": " + description) + "\" src=\"" + MakeDataUrl(picture) + "\"/>" +
                       drawing;
  const std::pair<const char *, const std::string &> letters[] = {
    { "left", plane.left }, { "right", plane.right }, { "top", plane.top }, { "bottom", plane.bottom }
  };
  for (const auto & letter : letters)
  {
    if (!letter.second.empty())
    {
      figure += std::string("<span class=\"") + letter.first + "\">" + letter.second + "</span>";
    }
  }
  return figure + "</div>" + (caption.empty() ? "" : "<figcaption>" + EscapeHtml(caption) + "</figcaption>") +
         "</figure>\n";
}

/** The moving image at a step of the way. */
struct State
{
  std::string        name;
  std::vector<Slice> slices;

  /** One slice of the warp for each plane, or none. */
  State(const std::string &             text,
        const RegisterInputs &          inputs,
        const std::vector<SlicePlane> & planes,
        const ffdp::AffineMap &         map,
        const std::vector<WarpSlice> &  warp,
        ffdp::Communicator &            communicator)
    : name(text)
  {
    for (std::size_t k = 0; k < planes.size(); ++k)
    {
      slices.push_back(
        CutSlice(inputs.moving, inputs.fixed, planes[k], map, warp.empty() ? WarpSlice() : warp[k], communicator));
    }
  }
};

std::vector<WarpSlice>
CutSlices(const Warp & warp, const std::vector<SlicePlane> & planes, ffdp::Communicator & communicator)
{
  std::vector<WarpSlice> slices;
  for (const SlicePlane & plane : planes)
  {
    slices.push_back(CutSlice(warp, plane, communicator));
  }
  return slices;
}

/** One for all steps, so that they can be compared. */
Window
ChooseCommonWindow(const std::vector<State> & states)
{
  std::vector<Slice> all;
  for (const State & state : states)
  {
    all.insert(all.end(), state.slices.begin(), state.slices.end());
  }
  return ChooseWindow(all);
}

std::string
MakeSlices(const std::vector<Slice> &      fixed,
           const std::vector<SlicePlane> & planes,
           const std::vector<State> &      states,
           const Window &                  movingWindow)
{
  const Window window = ChooseWindow(fixed);
  std::string  page;
  for (std::size_t k = 0; k < planes.size(); ++k)
  {
    const SlicePlane & plane = planes[k];
    const std::int64_t ends[3] = { plane.size.x, plane.size.y, plane.size.z };
    page += "<h3>" + plane.title + " <small>slice " + std::to_string(plane.position + 1) + " of " +
            std::to_string(ends[plane.normal]) + "</small></h3>\n<div class=\"grid columns" +
            std::to_string(states.size() + 1) + "\">\n";
    page += MakeFigure(plane, PaintGray(plane, fixed[k], window), "fixed", "Fixed");
    for (const State & state : states)
    {
      page += MakeFigure(plane, PaintGray(plane, state.slices[k], movingWindow), state.name, state.name);
    }
    page += "<div class=\"legend\"><b>Overlay</b><p><span class=\"fixed\">fixed in green</span>, <span "
            "class=\"moving\">moving in magenta</span>; gray where they agree, black where the moving image has "
            "ended.</p></div>\n";
    for (const State & state : states)
    {
      page += MakeFigure(
        plane, PaintOverlay(plane, fixed[k], window, state.slices[k], movingWindow), "overlay, " + state.name, "");
    }
    page +=
      "<div class=\"legend\"><b>Checkerboard</b><p>Tiles of the fixed and of the moving image; edges go on across "
      "tiles where they agree.</p></div>\n";
    for (const State & state : states)
    {
      page += MakeFigure(plane,
                         PaintCheckerboard(plane, fixed[k], window, state.slices[k], movingWindow),
                         "checkerboard, " + state.name,
                         "");
    }
    page += "</div>\n";
  }
  return page;
}

std::string
MakeDeformation(const JacobianMap &             map,
                const std::vector<SlicePlane> & planes,
                const State &                   linear,
                Window                          dim,
                const std::vector<WarpSlice> &  warp)
{
  dim.high += dim.high - dim.low; // so that lines stand out
  const double range = ChooseJacobianRange(map);
  std::string  page = "<div class=\"grid columns3\">\n";
  for (std::size_t k = 0; k < planes.size(); ++k)
  {
    page += MakeFigure(planes[k],
                       PaintGray(planes[k], linear.slices[k], dim),
                       "grid",
                       planes[k].title + ": the fixed grid, where it lies in the moving image",
                       DrawGrid(planes[k], warp[k]));
  }
  for (std::size_t k = 0; k < planes.size(); ++k)
  {
    page += MakeFigure(planes[k],
                       PaintJacobian(planes[k], map.slices[k], range),
                       "Jacobian",
                       planes[k].title + ": Jacobian determinant");
  }
  page += "</div>\n<div class=\"charts\"><figure>" + DrawJacobianHistogram(map, range) +
          "<figcaption>Below 1 the warp shrinks, above it stretches; folds are yellow in the maps.</figcaption>"
          "</figure>\n<figure><table><tr><th>Jacobian determinant</th><th></th></tr>\n";
  const auto line = [](const std::string & name, const std::string & value) {
    return "<tr><td>" + name + "</td><td>" + value + "</td></tr>\n";
  };
  for (const int percent : { 1, 25, 50, 75, 99 })
  {
    page += line(std::to_string(percent) + " % of voxels below", Print("%.2f", map.Quantile(0.01 * percent)));
  }
  page += "<tr><th>Displacement by the warp</th><th></th></tr>\n";
  page += line("mean", Print("%.2f mm", map.meanDisplacement));
  page += line("largest", Print("%.2f mm", map.largestDisplacement));
  return page +
         "</table><figcaption>All where the fixed image is brighter than its mean.</figcaption></figure></div>\n";
}

std::string
MakeCard(const std::string & value, const std::string & name)
{
  return "<div class=\"card\"><b>" + EscapeHtml(value) + "</b><span>" + EscapeHtml(name) + "</span></div>\n";
}

std::string
MakeCards(const ReportFacts & facts, bool deformable)
{
  std::string cards = "<div class=\"cards\">\n";
  cards += MakeCard(Print("%.1f s", facts.secondsReading + facts.secondsStages + facts.secondsWriting), "whole run");
  cards += MakeCard(Print("%.0f MB", facts.peakMegabytes),
                    facts.ranks == 1 ? "peak memory" : "peak memory of a rank, of " + std::to_string(facts.ranks));
  if (deformable)
  {
    cards += MakeCard(std::to_string(facts.result.folds + facts.result.inverseFolds), "folded voxels, either way");
    cards += MakeCard(Print("%.3f", facts.result.smallestJacobian), "smallest Jacobian");
    cards += MakeCard(Print("%.4f voxels", facts.result.inverseResidual), "error of the inverse");
  }
  return cards + "</div>\n";
}

const char *
NameOf(const ffdp::RegistrationMetric & metric)
{
  switch (metric.kind)
  {
    case ffdp::RegistrationMetric::Kind::LocalCorrelation:
      return metric.ofEdges ? "local correlation of edges" : "local correlation";
    case ffdp::RegistrationMetric::Kind::MutualInformation:
      return "mutual information";
    case ffdp::RegistrationMetric::Kind::MeanSquares:
      return "mean squares";
  }
  return "";
}

std::string
MakeCurves(const ReportFacts & facts)
{
  std::string page = "<div class=\"charts\">\n";
  for (std::size_t i = 0; i < facts.list.stages.size(); ++i)
  {
    if (facts.list.stages[i].kind == ffdp::RegistrationStage::Kind::Moments)
    {
      continue; // a search does not converge
    }
    const std::string chart = DrawConvergence(facts.iterations, int(i));
    std::string       name;
    for (const IterationRecord & record : facts.iterations)
    {
      name = record.progress.stage == int(i) ? record.progress.stageName : name;
    }
    for (const ffdp::RegistrationMetric & metric : facts.list.stages[i].metrics)
    {
      name += (&metric == &facts.list.stages[i].metrics.front() ? ": " : " + ") + std::string(NameOf(metric));
    }
    page += chart.empty() ? "" : "<figure>" + chart + "<figcaption>" + EscapeHtml(name) + "</figcaption></figure>\n";
  }
  return page + "</div>\n";
}

/** Memory at the end of a level. */
double
PeakOfLevel(const std::vector<IterationRecord> & iterations, int stage, int level)
{
  double peak = 0;
  for (const IterationRecord & record : iterations)
  {
    peak = record.progress.stage == stage && record.progress.level == level ? record.peakMegabytes : peak;
  }
  return peak;
}

std::string
MakeTimes(const ReportFacts & facts)
{
  const auto   cell = [](const std::string & text) { return "<td>" + text + "</td>"; };
  const double whole = std::max(1e-9, facts.secondsReading + facts.secondsStages + facts.secondsWriting);
  const auto   time = [&](double seconds) {
    return cell(Print("%.2f", seconds)) + "<td class=\"bar\"><i style=\"width:" + Print("%.1f", 100 * seconds / whole) +
           "%\"></i></td>";
  };
  const auto plain = [&](const std::string & name, double seconds) {
    return "<tr>" + cell(name) + "<td colspan=\"4\"></td>" + time(seconds) + cell("") + "</tr>\n";
  };
  std::string page = "<table><tr><th>stage</th><th>size</th><th>iterations</th><th>first loss</th><th>last "
                     "loss</th><th>seconds</th><th></th><th>peak MB so far</th></tr>\n" +
                     plain("reading", facts.secondsReading);
  double rest = facts.secondsStages;
  int    stage = -1, level = 0;
  for (const ffdp::LevelReport & report : facts.result.levels)
  {
    level = report.stage == stage ? level + 1 : 0;
    stage = report.stage;
    rest -= report.seconds;
    page += "<tr>" + cell(report.stageName) + cell(SizeText(report.size)) + cell(std::to_string(report.iterations)) +
            cell(Print("%.5f", report.firstValue)) + cell(Print("%.5f", report.lastValue)) + time(report.seconds) +
            cell(Print("%.0f", PeakOfLevel(facts.iterations, stage, level))) + "</tr>\n";
  }
  return page + plain("inverse and the rest", rest) + plain("writing", facts.secondsWriting) + "</table>\n";
}

std::string
MakeInput(const std::string & what, const std::string & file, const FloatImage * image)
{
  const auto  spacing = image->GetSpacing();
  const auto  size = ExtentOf(image);
  std::string text = Print("%.4g", spacing[0]) + " × " + Print("%.4g", spacing[1]);
  text += size.z > 1 ? " × " + Print("%.4g", spacing[2]) : "";
  return "<tr><td>" + what + "</td><td>" + EscapeHtml(file) + "</td><td>" + SizeText(size) + "</td><td>" + text +
         " mm</td><td>" + (size.z > 1 ? NameOrientation(image) : std::string("2-D")) + "</td></tr>\n";
}

std::string
MakeMatrix(const ffdp::AffineMap & map)
{
  std::string text = "<pre>";
  for (int row = 0; row < 3; ++row)
  {
    for (int column = 0; column < 3; ++column)
    {
      text += Print("%11.6f", map.matrix[3 * row + column]);
    }
    text += Print("  |%11.4f mm\n", map.offset[row]);
  }
  return text + "</pre>\n";
}

} // namespace

RegistrationReport::RegistrationReport(const RegisterInputs &           inputs,
                                       const ffdp::RegistrationResult & result,
                                       ffdp::Communicator &             communicator)
  : m_Inputs(inputs)
{
  const auto             planes = ChoosePlanes(inputs.fixed, communicator);
  std::vector<WarpSlice> startWarp, warp;
  std::vector<State>     states;
  if (inputs.start.warp)
  {
    startWarp = CutSlices(inputs.start.warp, planes, communicator);
  }
  states.emplace_back("Moving, at the start", inputs, planes, inputs.start.affine, startWarp, communicator);
  if (result.hasWarp)
  {
    warp = CutSlices(OwnWarp(result.warp, result), planes, communicator);
    states.emplace_back("Moving, linear part", inputs, planes, result.affine, std::vector<WarpSlice>(), communicator);
  }
  states.emplace_back("Moving, registered", inputs, planes, result.affine, warp, communicator);
  const Window movingWindow = ChooseCommonWindow(states);
  if (result.hasWarp)
  {
    m_Deformation = MakeDeformation(MapJacobian(OwnWarp(result.warp, result), inputs.fixed, planes, communicator),
                                    planes,
                                    states[1],
                                    movingWindow,
                                    warp);
  }
  std::vector<Slice> fixed;
  for (const SlicePlane & plane : planes)
  {
    fixed.push_back(CutSlice(inputs.fixed, plane, communicator));
  }
  m_Slices = MakeSlices(fixed, planes, states, movingWindow);
}

std::string
RegistrationReport::MakePage(const ReportFacts & facts) const
{
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><meta name=\"viewport\" "
                     "content=\"width=device-width, initial-scale=1\"/>\n<title>Registration report</title>\n<style>";
  page += std::string(ReportStyle) + "</style></head>\n<body><main>\n<h1>Registration</h1>\n";
  page += "<p class=\"sub\">" + EscapeHtml(facts.list.pairs.front().moving) + " <b>→</b> " +
          EscapeHtml(facts.list.pairs.front().fixed) + "</p>\n";
  page += MakeCards(facts, !m_Deformation.empty());
  page += "<h2>Before and after</h2>\n" + m_Slices;
  page += m_Deformation.empty() ? "" : "<h2>Deformation</h2>\n" + m_Deformation;
  page += "<h2>Convergence</h2>\n<p>Loss by iteration; smaller is more similar. Above: the size of each level.</p>\n";
  page += MakeCurves(facts) + "<h2>Time and memory</h2>\n" + MakeTimes(facts) + "<h2>What was run</h2>\n";
  page += "<pre class=\"command\">" + EscapeHtml(GetCommandLine()) + "</pre>\n";
  page += "<table><tr><th></th><th>file</th><th>size</th><th>voxel</th><th>axes run to</th></tr>\n";
  page += MakeInput("fixed", facts.list.pairs.front().fixed, m_Inputs.fixed);
  page += MakeInput("moving", facts.list.pairs.front().moving, m_Inputs.moving) + "</table>\n";
  for (const std::string & note : facts.result.notes)
  {
    page += "<p>Note: " + EscapeHtml(note) + "</p>\n";
  }
  page += "<p>Linear part, fixed to moving (LPS):</p>\n" + MakeMatrix(facts.result.affine);
  page += std::string("<footer>ffdp ") + FFDP_VERSION_STRING + ", ITK " + itk::Version::GetITKVersion() +
          "</footer>\n</main></body></html>\n";
  return page;
}
