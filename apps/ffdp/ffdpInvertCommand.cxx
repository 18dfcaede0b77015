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
#include "ffdpCommonOptions.h"
#include "ffdpFields.h"
#include "ffdpImageReading.h"
#include "ffdpMemoryNeeds.h"
#include "ffdpOutputNames.h"
#include "ffdpRawImages.h"
#include "ffdpTransformWriting.h"

#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>

namespace
{

struct Options : CommonOptions
{
  std::string transform, output;
};

/** Inverts a field, says how well, and warns where there is no inverse. */
FieldImage::Pointer
InvertAndTell(const Options & options, const FieldImage * field)
{
  const std::string & file = options.transform;
  const InvertedField inverse = InvertField(field);
  if (!std::isfinite(inverse.residual))
  {
    throw CommandError("displacement field '" + file + "' could not be inverted");
  }
  if (inverse.folds > 0)
  {
    Warn(options,
         "'" + file + "' folds in " + std::to_string(inverse.folds) +
           " voxels; it has no inverse there, and what is written is wrong around them");
  }
  if (!options.quiet)
  {
    std::printf("inverse within %.4g voxels everywhere\n", inverse.residual);
  }
  return inverse.field;
}

TransformType::Pointer
InvertOne(const Options & options, const TransformType * transform)
{
  const std::string & file = options.transform;
  if (transform->IsLinear())
  {
    const ffdp::AffineMap map = LinearMapOf(transform);
    if (!(std::abs(map.Determinant()) > 1e-12))
    {
      throw CommandError("transform '" + file + "' is singular: it has no inverse");
    }
    return MakeTransform(map.Inverse());
  }
  const auto field = FieldOf(transform);
  if (!field)
  {
    throw CommandError("transform '" + file + "' holds a " + transform->GetNameOfClass() +
                       ", which cannot be inverted here: make a field of it with ffdp compose first");
  }
  return MakeTransform(InvertAndTell(options, field));
}

void
RunInvert(const Options & options)
{
  const std::string & file = options.transform;
  RequireOwnNames({ options.output }, { file });
  if (!IsTransformFile(options.output))
  {
    RequireWritableField(options.output);
    if (IsTransformFile(file))
    {
      throw CommandError("the inverse of '" + file + "' is not written as a field: write a file of the same kind" +
                         ", and make a field of it with ffdp compose");
    }
    const unsigned int dimension = ReadFieldDimension(file).Dimension();
    RequireMemory(NeedOfInvert(file, options.output), options);
    WriteField(InvertAndTell(options, ReadField(file)), options.output, dimension);
    return;
  }
  RequireWritableTransform(options.output);
  RequireTransforms({ file });
  RequireMemory(NeedOfInvert(file, options.output), options);
  const TransformList list = ReadTransforms({ file });
  const auto &        transform = list.transform;
  RequireHolds(transform, options.output);
  auto inverse = CompositeType::New();
  // what is applied last is undone first, and a composite applies what was added last first
  for (auto n = transform->GetNumberOfTransforms(); n-- > 0;)
  {
    inverse->AddTransform(InvertOne(options, transform->GetNthTransformConstPointer(n)));
  }
  WriteTransforms(inverse, options.output, list.file.Dimension());
}

} // namespace

void
AddInvertCommand(CLI::App & program)
{
  auto   options = std::make_shared<Options>();
  auto * command = AddCommand(program, "invert", "Invert a transform", options, [options] { RunInvert(*options); });
  command
    ->add_option(
      "-t,--transform", options->transform, "A linear transform, a displacement field (.nii.gz) or a composite (.h5)")
    ->required();
  command->add_option("-o,--output", options->output, "File to write: .nii.gz for a field, .mat for a linear one, .h5")
    ->required();
}
