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
#include "ffdpFields.h"
#include "ffdpOutputNames.h"
#include "ffdpRawImages.h"
#include "ffdpSpacingOptions.h"
#include "ffdpTransformWriting.h"

#include <iostream>
#include <memory>

namespace
{

struct Options
{
  std::string              reference, output;
  std::vector<std::string> transforms;
};

void
RunCompose(const Options & options)
{
  std::vector<std::string> inputs = options.transforms;
  inputs.push_back(options.reference);
  RequireOwnNames({ options.output }, inputs);
  const bool asField = !IsTransformFile(options.output);
  if (asField && options.reference.empty())
  {
    throw CommandError("a displacement field needs a grid: give --reference, or write a .h5 or .mat file");
  }
  asField ? RequireWritableField(options.output) : RequireWritableTransform(options.output);
  FloatImage::Pointer grid;
  DimensionedFile     file;
  if (!options.reference.empty())
  {
    grid = ReadGrid(options.reference, "reference image");
    file = ReadDimension(options.reference, "reference image");
  }
  const auto list = ReadTransforms(options.transforms);
  RequireOneDimension(list.file, file);
  if (asField)
  {
    WriteField(SampleTransform(list.transform, grid), options.output, file.Dimension());
    return;
  }
  const DimensionedFile & known = list.file.dimension == 0 ? file : list.file; // nothing but "identity" has none
  WriteTransforms(list.transform, options.output, known.Dimension());
}

} // namespace

void
AddComposeCommand(CLI::App & program)
{
  auto   options = std::make_shared<Options>();
  auto * command = program.add_subcommand("compose", "Put several transforms into one file");
  command->add_option("-r,--reference", options->reference, "Image whose grid a displacement field has");
  AddSpacingOption(*command, "--reference-spacing", "the reference", [options] {
    return std::vector<std::string>{ options->reference };
  });
  command
    ->add_option("-t,--transform",
                 options->transforms,
                 "Transforms in ANTs' order: 1Warp.nii.gz 0GenericAffine.mat; [FILE,1] inverts a linear one")
    ->required();
  command
    ->add_option(
      "-o,--output",
      options->output,
      "An image (.nii.gz): displacements in mm; .h5: all of them, one after the other; .mat, .txt, .tfm: one "
      "affine transform, if all are linear")
    ->required();
  command->callback([options] { RunCompose(*options); });
}
