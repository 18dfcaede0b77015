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
#include "ffdpLandmarks.h"
#include "ffdpOutputNames.h"
#include "ffdpPointFiles.h"
#include "ffdpRawImages.h"
#include "ffdpResampling.h"
#include "ffdpSpacingOptions.h"

#include <algorithm>
#include <map>
#include <memory>

namespace
{

struct Options
{
  std::string              image, reference, output, interpolation = "linear";
  std::vector<std::string> transforms;
};

void
ApplyToPoints(const Options & options)
{
  PointTable table = ReadPoints(options.image, "points");
  const auto list = ReadTransforms(options.transforms);
  RequireFits(list, table, "file of points '" + options.image + "'");
  for (PointTable::Row & row : table.rows)
  {
    row.point = MovePoint(list, row.point);
  }
  WritePoints(table, options.output);
}

/** Names of antsApplyTransforms, and other spellings, for those of this program. */
std::map<std::string, std::string>
AntsInterpolations()
{
  return { { "linear", "linear" },           { "nearest", "nearest" },    { "label", "label" },
           { "nearestneighbor", "nearest" }, { "genericlabel", "label" }, { "genericlabel[linear]", "label" } };
}

/** Volume by volume; vectors are resampled like any values, and not turned. */
void
ApplyToImage(const Options & options)
{
  const auto file = ReadDimension(options.image, "image");
  RequireOneDimension(file, ReadDimension(options.reference, "reference image"));
  const auto   grid = ReadGrid(options.reference, "reference image");
  RawImageKind kind = ReadRawImageKind(options.image, "image", true);
  if (kind.components != 1 && options.interpolation == "label")
  {
    throw CommandError("image '" + options.image + "' has " + std::to_string(kind.components) +
                       " values per voxel; a label map has one");
  }
  if (options.interpolation == "linear")
  {
    kind.component = itk::IOComponentEnum::FLOAT;
    // colors are bytes
    kind.pixel = kind.components == 1 ? itk::IOPixelEnum::SCALAR : itk::IOPixelEnum::VECTOR;
  }
  RequireWritableKind(kind, options.output, grid->GetLargestPossibleRegion().GetSize(2));
  RequireTransforms(options.transforms);
  const auto list = ReadTransforms(options.transforms);
  RequireOneDimension(list.file, file);
  RawImage image = ReadRawImage(options.image, "image", true);
  RawImage result = MakeRawImage(kind, grid);
  for (itk::SizeValueType v = 0; v < image.volumes; ++v)
  {
    ResamplePixels(image.Volume(v), image.grid, list.transform, options.interpolation, result.Volume(v), grid);
  }
  WriteRawImage(result, options.output);
}

void
RunApply(const Options & options)
{
  std::vector<std::string> inputs = options.transforms;
  inputs.insert(inputs.end(), { options.image, options.reference });
  RequireOwnNames({ options.output }, inputs);
  if (EndsWith(options.image, ".csv"))
  {
    RequireWritableText(options.output);
    ApplyToPoints(options);
    return;
  }
  if (options.reference.empty())
  {
    throw CommandError("an image needs a grid to be resampled on: give --reference");
  }
  ApplyToImage(options);
}

} // namespace

void
AddApplyCommand(CLI::App & program)
{
  auto   options = std::make_shared<Options>();
  auto * command = program.add_subcommand("apply", "Apply transforms to an image, a label map or points");
  command
    ->add_option("-i,--input",
                 options->image,
                 "Image (2-D, 3-D, also 4-D or of vectors), or points as x,y,z or x,y in mm (LPS) in a .csv file")
    ->required();
  command->add_option("-r,--reference", options->reference, "Image whose grid the result has (not for points)");
  AddSpacingOption(
    *command, "--spacing", "the input", [options] { return std::vector<std::string>{ options->image }; });
  AddSpacingOption(*command, "--reference-spacing", "the reference", [options] {
    return std::vector<std::string>{ options->reference };
  });
  command
    ->add_option(
      "-t,--transform",
      options->transforms,
      "Transforms in ANTs' order: 1Warp.nii.gz 0GenericAffine.mat; [FILE,1] inverts a linear one; identity: none")
    ->required();
  command
    ->add_option(
      "-n,--interpolation",
      options->interpolation,
      "linear (writes floats), nearest or label (the label with most weight); these keep the type. Also as ANTs "
      "spells them: Linear, NearestNeighbor, GenericLabel")
    ->transform(CLI::Transformer(AntsInterpolations(), CLI::ignore_case))
    ->check(CLI::IsMember({ "linear", "nearest", "label" }))
    ->capture_default_str();
  command->add_option("-o,--output", options->output, "File to write")->required();
  command->callback([options] { RunApply(*options); });
}
