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
#include "ffdpImageReading.h"
#include "ffdpOutputNames.h"
#include "ffdpRawImages.h"
#include "ffdpSpacingOptions.h"

#include <cmath>
#include <cstdio>
#include <iostream>
#include <limits>
#include <memory>

namespace
{

struct Options
{
  std::string              reference, output;
  std::vector<std::string> transforms;
  bool                     logarithm = false;
};

/** A field on its own grid is taken as it is; anything else is sampled on the grid of the reference. */
FieldImage::Pointer
ReadDisplacements(const Options & options, unsigned int & dimension)
{
  if (options.reference.empty())
  {
    if (options.transforms.size() != 1 || IsTransformFile(options.transforms.front()))
    {
      throw CommandError("only one displacement field has a grid of its own: give --reference");
    }
    dimension = ReadFieldDimension(options.transforms.front()).Dimension();
    return ReadField(options.transforms.front());
  }
  const auto grid = ReadGrid(options.reference, "reference image");
  const auto file = ReadDimension(options.reference, "reference image");
  const auto list = ReadTransforms(options.transforms);
  RequireOneDimension(list.file, file);
  dimension = file.Dimension();
  return SampleTransform(list.transform, grid);
}

void
TakeLogarithm(FloatImage * map)
{
  const auto count = map->GetBufferedRegion().GetNumberOfPixels();
  float *    voxels = map->GetBufferPointer();
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    voxels[i] = voxels[i] > 0 ? std::log(voxels[i]) : std::numeric_limits<float>::quiet_NaN();
  }
}

void
RunJacobian(const Options & options)
{
  std::vector<std::string> inputs = options.transforms;
  inputs.push_back(options.reference);
  RequireOwnNames({ options.output }, inputs);
  RequireWritableKind(RawImageKind(), options.output);
  unsigned int       dimension = SpaceDimension;
  const auto         map = FloatImage::New();
  const FieldMeasure measure = MeasureField(ReadDisplacements(options, dimension), map);
  std::printf("Jacobian determinant %.5f to %.5f, mean %.5f; not positive in %lld of %lld voxels\n",
              measure.smallestJacobian,
              measure.largestJacobian,
              measure.meanJacobian,
              static_cast<long long>(measure.notPositive),
              static_cast<long long>(measure.voxels));
  if (options.logarithm)
  {
    TakeLogarithm(map);
    if (measure.notPositive > 0)
    {
      std::cerr << "ffdp: warning: " << measure.notPositive
                << " voxels have no logarithm and are written as not a number\n";
    }
  }
  WriteImage(map, options.output, dimension);
}

} // namespace

void
AddJacobianCommand(CLI::App & program)
{
  auto   options = std::make_shared<Options>();
  auto * command = program.add_subcommand("jacobian", "Map how transforms stretch, shrink and fold");
  command
    ->add_option("-t,--transform",
                 options->transforms,
                 "A displacement field, or transforms in ANTs' order: 1Warp.nii.gz 0GenericAffine.mat")
    ->required();
  command->add_option("-r,--reference", options->reference, "Image whose grid the map has; else that of the field");
  AddSpacingOption(*command, "--reference-spacing", "the reference", [options] {
    return std::vector<std::string>{ options->reference };
  });
  command->add_flag("--log", options->logarithm, "Write logarithms: 0 where volume is kept");
  command->add_option("-o,--output", options->output, "Image to write")->required();
  command->callback([options] { RunJacobian(*options); });
}
