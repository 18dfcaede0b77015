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
#include "ffdpCommandError.h"
#include "ffdpCommands.h"
#include "ffdpImageFiles.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <map>
#include <memory>

namespace
{

struct Options
{
  std::string fixedLabels, movedLabels, json;
};

struct Overlap
{
  double fixed = 0, moved = 0, both = 0;

  double
  Dice() const
  {
    return 2 * both / (fixed + moved);
  }
};

std::map<int, Overlap>
CompareLabels(const FloatImage * fixed, const FloatImage * moved)
{
  std::map<int, Overlap> overlaps;
  const auto             count = fixed->GetBufferedRegion().GetNumberOfPixels();
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    const int a = int(std::lround(fixed->GetBufferPointer()[i]));
    const int b = int(std::lround(moved->GetBufferPointer()[i]));
    overlaps[a].fixed += 1;
    overlaps[b].moved += 1;
    overlaps[a].both += a == b ? 1 : 0;
  }
  overlaps.erase(0);
  return overlaps;
}

void
RunEvaluate(const Options & options)
{
  const auto fixed = ReadImage(options.fixedLabels, "fixed labels");
  const auto moved = ReadImage(options.movedLabels, "moved labels");
  if (fixed->GetLargestPossibleRegion().GetSize() != moved->GetLargestPossibleRegion().GetSize())
  {
    throw CommandError("the label maps differ in size: apply the transform to the moving one first");
  }
  nlohmann::json perLabel = nlohmann::json::array();
  double         sum = 0, weighted = 0, weights = 0;
  int            count = 0;
  std::printf("%8s %12s %12s %8s\n", "label", "fixed", "moved", "Dice");
  for (const auto & entry : CompareLabels(fixed, moved))
  {
    const Overlap & overlap = entry.second;
    std::printf("%8d %12.0f %12.0f %8.4f\n", entry.first, overlap.fixed, overlap.moved, overlap.Dice());
    perLabel.push_back({ { "label", entry.first },
                         { "dice", overlap.Dice() },
                         { "fixed_voxels", overlap.fixed },
                         { "moved_voxels", overlap.moved } });
    if (overlap.fixed > 0)
    {
      sum += overlap.Dice();
      weighted += overlap.Dice() / overlap.fixed;
      weights += 1 / overlap.fixed;
      ++count;
    }
  }
  if (count == 0)
  {
    throw CommandError("the fixed labels are empty: there is no label but 0");
  }
  std::printf(
    "mean Dice %.4f, weighted by the inverse of volume %.4f, over %d labels\n", sum / count, weighted / weights, count);
  if (!options.json.empty())
  {
    const nlohmann::json all = { { "labels", perLabel },
                                 { "mean_dice", sum / count },
                                 { "inverse_volume_weighted_dice", weighted / weights } };
    WriteText(all.dump(2) + "\n", options.json);
  }
}

} // namespace

void
AddEvaluateCommand(CLI::App & program)
{
  auto   options = std::make_shared<Options>();
  auto * command = program.add_subcommand("evaluate", "Compare label maps: Dice per label, and means");
  command->add_option("--fixed-labels", options->fixedLabels, "Label map of the fixed image")->required();
  command->add_option("--moved-labels", options->movedLabels, "Label map that was brought to its grid")->required();
  command->add_option("--json", options->json, "Also write the figures to this file");
  command->callback([options] { RunEvaluate(*options); });
}
