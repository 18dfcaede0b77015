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
#include "ffdpImageScores.h"
#include "ffdpLabelScores.h"
#include "ffdpLandmarks.h"
#include "ffdpMemoryNeeds.h"
#include "ffdpOutputNames.h"
#include "ffdpSpacingOptions.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>

namespace
{

using Json = nlohmann::ordered_json;

struct Options : CommonOptions
{
  std::string              fixedLabels, movedLabels, fixed, moved, mask, warp, fixedPoints, movingPoints, json;
  std::vector<std::string> transforms;
  bool                     withoutSurfaces = false;
};

/** Voxels are compared one by one, so sizes must agree; what the headers say of their place is the user's business. */
void
RequireOneSize(const Options &           options,
               const itk::ImageBase<3> * fixed,
               const std::string &       fixedFile,
               const itk::ImageBase<3> * moved,
               const std::string &       movedFile)
{
  if (fixed->GetLargestPossibleRegion().GetSize() != moved->GetLargestPossibleRegion().GetSize())
  {
    throw CommandError("'" + fixedFile + "' and '" + movedFile +
                       "' differ in size: apply the transform to the moving one first");
  }
  if (!AreOnOneGrid(moved, fixed))
  {
    Warn(options,
         "the headers of '" + fixedFile + "' and '" + movedFile +
           "' place them differently; they are compared voxel by voxel, on the grid of the first");
  }
}

void
EvaluateLabels(const Options & options, Json & json)
{
  LabelMap fixed = ReadLabelMap(options.fixedLabels, "fixed labels");
  LabelMap moved = ReadLabelMap(options.movedLabels, "moved labels");
  RequireOneSize(options, fixed.image, options.fixedLabels, moved.image, options.movedLabels);
  if (fixed.labels.size() == 1 && fixed.labels[0] == 0)
  {
    throw CommandError("fixed labels '" + options.fixedLabels + "' are empty: there is no label but 0");
  }
  const LabelScores scores = CompareLabelMaps(fixed, moved, !options.withoutSurfaces);
  Json              perLabel = Json::array();
  std::printf("%12s %12s %12s %8s %10s\n", "label", "fixed", "moved", "Dice", "HD90 (mm)");
  for (const LabelScore & score : scores.labels)
  {
    char hd90[32] = "-";
    if (std::isfinite(score.hd90))
    {
      std::snprintf(hd90, sizeof(hd90), "%.4f", score.hd90);
    }
    std::printf("%12lld %12lld %12lld %8.4f %10s\n",
                static_cast<long long>(score.label),
                static_cast<long long>(score.fixedVoxels),
                static_cast<long long>(score.movedVoxels),
                score.Dice(),
                hd90);
    perLabel.push_back({ { "label", score.label },
                         { "dice", score.Dice() },
                         { "fixed_voxels", score.fixedVoxels },
                         { "moved_voxels", score.movedVoxels },
                         { "hd90_mm", score.hd90 } });
  }
  std::printf("mean Dice %.4f, weighted by the inverse of volume %.4f, over %d labels\n",
              scores.meanDice,
              scores.inverseVolumeWeightedDice,
              scores.count);
  json["labels"] = perLabel;
  json["label_count"] = scores.count;
  json["mean_dice"] = scores.meanDice;
  json["inverse_volume_weighted_dice"] = scores.inverseVolumeWeightedDice;
  if (!options.withoutSurfaces)
  {
    if (scores.hd90Count > 0)
    {
      std::printf("mean cumulative HD90 %.4f mm, over %d labels\n", scores.meanHd90, scores.hd90Count);
    }
    else
    {
      std::printf("mean cumulative HD90 n/a: no label is in both maps\n");
    }
    json["mean_hd90_mm"] = scores.meanHd90;
    json["hd90_label_count"] = scores.hd90Count;
  }
}

void
EvaluateImages(const Options & options, Json & json)
{
  const auto          fixed = ReadImageWithContrast(options.fixed, "fixed image");
  const auto          moved = ReadImageWithContrast(options.moved, "moved image");
  FloatImage::Pointer mask;
  RequireOneSize(options, fixed, options.fixed, moved, options.moved);
  if (!options.mask.empty())
  {
    mask = ReadMask(options.mask, "mask", fixed);
  }
  const ImageScores scores = CompareImages(fixed, moved, mask);
  std::printf("NCC %.5f, LNCC %.5f, MI %.5f nats, over %lld voxels\n",
              scores.correlation,
              scores.localCorrelation,
              scores.mutualInformation,
              static_cast<long long>(scores.voxels));
  json["images"] = { { "voxels", scores.voxels },
                     { "ncc", scores.correlation },
                     { "lncc", scores.localCorrelation },
                     { "mi_nats", scores.mutualInformation } };
}

void
EvaluateWarp(const Options & options, Json & json)
{
  const FieldMeasure measure = MeasureField(ReadField(options.warp));
  const double       share = double(measure.notPositive) / double(measure.voxels);
  std::printf("Jacobian determinant %.5f to %.5f, mean %.5f; not positive in %lld of %lld voxels (%.4g %%)\n",
              measure.smallestJacobian,
              measure.largestJacobian,
              measure.meanJacobian,
              static_cast<long long>(measure.notPositive),
              static_cast<long long>(measure.voxels),
              100 * share);
  std::printf(
    "displacement %.4f mm on average, %.4f mm at most\n", measure.meanDisplacement, measure.largestDisplacement);
  json["warp"] = { { "voxels", measure.voxels },
                   { "smallest_jacobian", measure.smallestJacobian },
                   { "largest_jacobian", measure.largestJacobian },
                   { "mean_jacobian", measure.meanJacobian },
                   { "not_positive_voxels", measure.notPositive },
                   { "not_positive_share", share },
                   { "mean_displacement_mm", measure.meanDisplacement },
                   { "largest_displacement_mm", measure.largestDisplacement } };
}

void
EvaluateLandmarks(const Options & options, Json & json)
{
  const PointTable    fixed = ReadPoints(options.fixedPoints, "fixed points");
  const PointTable    moving = ReadPoints(options.movingPoints, "moving points");
  const TransformList list = ReadTransforms(options.transforms);
  RequireFits(list, fixed, "file of points '" + options.fixedPoints + "'");
  RequireFits(list, moving, "file of points '" + options.movingPoints + "'");
  if (fixed.rows.size() != moving.rows.size())
  {
    throw CommandError("there are " + std::to_string(fixed.rows.size()) + " fixed points but " +
                       std::to_string(moving.rows.size()) + " moving ones: '" + options.fixedPoints + "' and '" +
                       options.movingPoints + "'");
  }
  const LandmarkErrors errors = CompareLandmarks(fixed, moving, list);
  std::printf("landmark error %.4f mm on average, median %.4f, largest %.4f, over %zu points\n",
              errors.mean,
              errors.median,
              errors.largest,
              errors.errors.size());
  json["landmarks"] = { { "count", errors.errors.size() },
                        { "mean_mm", errors.mean },
                        { "median_mm", errors.median },
                        { "largest_mm", errors.largest },
                        { "errors_mm", errors.errors } };
}

/** All that is read, as the options name it. */
std::vector<std::string>
ListInputs(const Options & options)
{
  std::vector<std::string> inputs = options.transforms;
  inputs.insert(inputs.end(),
                { options.fixedLabels,
                  options.movedLabels,
                  options.fixed,
                  options.moved,
                  options.mask,
                  options.warp,
                  options.fixedPoints,
                  options.movingPoints });
  return inputs;
}

/** What can be known to be wrong before anything is computed, of all parts: headers, points, names. */
void
CheckInputs(const Options & options)
{
  const std::pair<const std::string &, const char *> images[] = { { options.fixedLabels, "fixed labels" },
                                                                  { options.movedLabels, "moved labels" },
                                                                  { options.fixed, "fixed image" },
                                                                  { options.moved, "moved image" },
                                                                  { options.mask, "mask" },
                                                                  { options.warp, "displacement field" } };
  for (const auto & image : images)
  {
    if (!image.first.empty())
    {
      ReadImageHeader(image.first, image.second);
    }
  }
  if (!options.fixedPoints.empty())
  {
    ReadPoints(options.fixedPoints, "fixed points");
    ReadPoints(options.movingPoints, "moving points");
    RequireTransforms(options.transforms);
  }
  if (!options.json.empty())
  {
    RequireWritableText(options.json);
  }
}

void
RunEvaluate(const Options & options)
{
  const struct
  {
    bool asked;
    void (*evaluate)(const Options &, Json &);
  } parts[] = { { !options.fixedLabels.empty(), EvaluateLabels },
                { !options.fixed.empty(), EvaluateImages },
                { !options.warp.empty(), EvaluateWarp },
                { !options.fixedPoints.empty(), EvaluateLandmarks } };
  bool any = false;
  Json json;
  RequireOwnNames({ options.json }, ListInputs(options));
  CheckInputs(options);
  RequireMemory(NeedOfEvaluate({ options.fixedLabels,
                                 options.movedLabels,
                                 options.fixed,
                                 options.moved,
                                 options.mask,
                                 options.warp,
                                 options.transforms,
                                 !options.withoutSurfaces }),
                options);
  for (const auto & part : parts)
  {
    if (part.asked)
    {
      part.evaluate(options, json);
      any = true;
    }
  }
  if (!any)
  {
    throw CommandError("there is nothing to evaluate: give label maps, images, a warp or points (see --help)");
  }
  if (!options.json.empty())
  {
    WriteText(json.dump(2) + "\n", options.json);
  }
}

} // namespace

void
AddEvaluateCommand(CLI::App & program)
{
  auto   options = std::make_shared<Options>();
  auto * command =
    AddCommand(program, "evaluate", "Say how good a registration is; any of the parts below", options, [options] {
      RunEvaluate(*options);
    });
  auto * fixedLabels = command->add_option("--fixed-labels", options->fixedLabels, "Label map of the fixed image");
  auto * movedLabels =
    command->add_option("--moved-labels", options->movedLabels, "Label map that was brought to its grid");
  command->add_flag("--no-surfaces", options->withoutSurfaces, "Leave HD90 of the labels out, which takes longest")
    ->needs(fixedLabels);
  auto * fixed = command->add_option("--fixed", options->fixed, "The fixed image");
  auto * moved = command->add_option("--moved", options->moved, "An image that was brought to its grid");
  command->add_option("--mask", options->mask, "Compare the images only where this is not 0")->needs(fixed);
  command->add_option("--warp", options->warp, "A displacement field: folding and size");
  AddSpacingOption(*command, "--spacing", "all images, label maps and the mask", [options] {
    return std::vector<std::string>{
      options->fixedLabels, options->movedLabels, options->fixed, options->moved, options->mask
    };
  });
  auto * fixedPoints = command->add_option("--fixed-points", options->fixedPoints, "Landmarks as x,y,z in mm (.csv)");
  auto * movingPoints =
    command->add_option("--moving-points", options->movingPoints, "Where they are in the moving image");
  command
    ->add_option("-t,--transform",
                 options->transforms,
                 "What takes the fixed points there, in ANTs' order: 1Warp.nii.gz 0GenericAffine.mat")
    ->needs(fixedPoints);
  command->add_option("--json", options->json, "Also write all figures to this file");
  fixedLabels->needs(movedLabels);
  movedLabels->needs(fixedLabels);
  fixed->needs(moved);
  moved->needs(fixed);
  fixedPoints->needs(movingPoints);
  movingPoints->needs(fixedPoints);
}
