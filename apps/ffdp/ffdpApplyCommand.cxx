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
#include "ffdpResampling.h"

#include <fstream>
#include <memory>
#include <sstream>

namespace
{

struct Options
{
  std::string              image, reference, output, interpolation = "linear";
  std::vector<std::string> transforms;
};

/** Points in mm (LPS), one per line as x,y,z with anything behind them; a first line without numbers is a header. */
void
ApplyToPoints(const Options & options, const CompositeType * transform)
{
  std::ifstream in(options.image);
  if (!in)
  {
    throw CommandError("points '" + options.image + "' cannot be opened");
  }
  std::ostringstream out;
  out.precision(10);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number)
  {
    std::istringstream            fields(line);
    CompositeType::InputPointType point;
    char                          comma = ',';
    bool                          good = true;
    for (unsigned int c = 0; c < 3 && good; ++c)
    {
      good = bool(fields >> point[c]) && (c == 2 || bool(fields >> comma));
    }
    if (!good || comma != ',')
    {
      if (number == 1 && !line.empty())
      {
        out << line << "\n";
        continue;
      }
      if (line.find_first_not_of(" \t\r") == std::string::npos)
      {
        continue;
      }
      throw CommandError("points '" + options.image + "', line " + std::to_string(number) + ": not of the form x,y,z");
    }
    std::string rest;
    std::getline(fields, rest);
    const auto moved = transform->TransformPoint(point);
    out << moved[0] << "," << moved[1] << "," << moved[2] << rest << "\n";
  }
  WriteText(out.str(), options.output);
}

void
RunApply(const Options & options)
{
  RequireWritable(options.output);
  if (EndsWith(options.image, ".csv"))
  {
    ApplyToPoints(options, ReadTransforms(options.transforms));
    return;
  }
  if (options.reference.empty())
  {
    throw CommandError("an image needs a grid to be resampled on: give --reference");
  }
  const auto image = ReadImage(options.image, "image");
  const auto reference = ReadImage(options.reference, "reference image");
  const auto transform = ReadTransforms(options.transforms);
  WriteImage(ResampleImage(image, reference, transform, options.interpolation), options.output);
}

} // namespace

void
AddApplyCommand(CLI::App & program)
{
  auto   options = std::make_shared<Options>();
  auto * command = program.add_subcommand("apply", "Apply transforms to an image, a label map or points");
  command->add_option("-i,--input", options->image, "Image, or points as x,y,z in mm in a .csv file")->required();
  command->add_option("-r,--reference", options->reference, "Image whose grid the result has (not for points)");
  command
    ->add_option("-t,--transform",
                 options->transforms,
                 "Transforms in ANTs' order: 1Warp.nii.gz 0GenericAffine.mat; [FILE,1] inverts a linear one")
    ->required();
  command->add_option("-n,--interpolation", options->interpolation, "linear, nearest or label")
    ->check(CLI::IsMember({ "linear", "nearest", "label" }))
    ->capture_default_str();
  command->add_option("-o,--output", options->output, "File to write")->required();
  command->callback([options] { RunApply(*options); });
}
