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
#include "ffdpImageGrid.h"
#include "ffdpLabelPainting.h"
#include "ffdpOutputNames.h"
#include "ffdpProceduralHead.h"
#include "ffdpRandomWarp.h"
#include "ffdpRawImages.h"
#include "ffdpSpacingOptions.h"
#include "ffdpTransformWriting.h"

#include <cmath>
#include <iostream>
#include <memory>
#include <unistd.h>

namespace
{

constexpr double RadiansPerDegree = 0.017453292519943295;

/** Where the procedural head fits in, mm. */
constexpr double HeadExtent[3] = { 168, 208, 176 };

/** NIfTI holds no more voxels along an axis. */
constexpr std::int64_t LongestAxis = 32767;

struct Options
{
  std::string               labels, output, labelsOut, warpOut, rigidOut, table, contrast = "t1";
  std::vector<double>       spacing, rotation = { 0, 0, 0 }, translation = { 0, 0, 0 };
  std::vector<std::int64_t> size;
  double                    crop = -1, blur = 0.75, noise = 0, bias = 0, warpSize = 0, warpSmoothness = 12;
  std::uint64_t             seed = 1;
  unsigned                  threads = 0;
  bool                      head = false, skullStrip = false, quiet = false;
};

/** The part of space that the result shows, in voxels of a lattice. */
struct Frame
{
  FloatImage::Pointer lattice; ///< not allocated
  double              center[3];
  double              voxels[3];
  bool                keepLattice = false; ///< voxels of the lattice's spacing are voxels of the lattice

  itk::Point<double, 3>
  CenterInMillimeters() const
  {
    itk::ContinuousIndex<double, 3> index(center);
    itk::Point<double, 3>           point;
    lattice->TransformContinuousIndexToPhysicalPoint(index, point);
    return point;
  }
};

void
CheckNumbers(const Options & options)
{
  if (options.head != options.labels.empty())
  {
    throw UsageError("give either --labels FILE or --head");
  }
  const auto require = [](bool good, const std::string & text) {
    if (!good)
    {
      throw UsageError(text);
    }
  };
  require(options.spacing.size() != 2, "--spacing takes one number or three");
  for (const double spacing : options.spacing)
  {
    require(spacing > 0 && std::isfinite(spacing), "--spacing must be above 0");
  }
  for (const std::int64_t size : options.size)
  {
    require(size > 0 && size <= LongestAxis, "--size must be from 1 to " + std::to_string(LongestAxis) + " voxels");
  }
  require(options.blur >= 0 && options.blur <= 100, "--blur must be from 0 to 100 voxels");
  require(options.noise >= 0 && std::isfinite(options.noise), "--noise must not be negative");
  require(options.bias >= 0 && options.bias < 1, "--bias must be at least 0 and below 1");
  require(options.warpSize >= 0 && std::isfinite(options.warpSize), "--warp-size must not be negative");
  require(options.warpSize == 0 || (options.warpSmoothness > 0 && std::isfinite(options.warpSmoothness)),
          "--warp-smoothness must be above 0");
  require(options.warpOut.empty() || options.warpSize > 0, "--warp-out needs a --warp-size above 0");
  require(options.crop < 0 || !options.head, "--crop is for label maps: a head has --size");
  require(std::isfinite(options.crop), "--crop must be a number");
  for (const double number : { options.rotation[0],
                               options.rotation[1],
                               options.rotation[2],
                               options.translation[0],
                               options.translation[1],
                               options.translation[2] })
  {
    require(std::isfinite(number), "--rotate and --translate must be numbers");
  }
}

/** Before the work: names that can be written, each once. */
void
CheckOutputs(const Options & options)
{
  const std::vector<std::string> outputs = { options.output, options.labelsOut, options.warpOut, options.rigidOut };
  RequireOwnNames(outputs, { options.labels, options.table });
  RawImageKind labels;
  labels.component = itk::IOComponentEnum::SHORT;
  for (const std::string & file : outputs)
  {
    if (file.empty())
    {
      continue;
    }
    file == options.rigidOut  ? RequireWritableTransform(file)
    : file == options.warpOut ? RequireWritableField(file)
                              : RequireWritableKind(file == options.output ? RawImageKind() : labels, file);
  }
}

/** A lattice of 1 mm around 0. */
Frame
FrameOfHead()
{
  Frame frame;
  frame.lattice = FloatImage::New();
  for (int c = 0; c < 3; ++c)
  {
    frame.center[c] = 0;
    frame.voxels[c] = HeadExtent[c];
  }
  return frame;
}

/** The whole map, or the part with labels and `crop` mm, rounded up to voxels, around it. */
Frame
FrameOfMap(const LabelMapSource & source, double crop)
{
  const LabelImage * image = source.Image();
  const LabelBox     box = source.FindBox();
  Frame              frame;
  frame.lattice = FloatImage::New();
  frame.lattice->CopyInformation(image);
  frame.keepLattice = true;
  for (unsigned int c = 0; c < 3; ++c)
  {
    const double size = double(image->GetLargestPossibleRegion().GetSize(c));
    const double margin = std::ceil(crop / image->GetSpacing()[c] - 1e-6);
    frame.center[c] = crop < 0 ? 0.5 * (size - 1) : 0.5 * double(box.first[c] + box.end[c] - 1);
    frame.voxels[c] = crop < 0 ? size : double(box.end[c] - box.first[c]) + 2 * margin;
  }
  return frame;
}

/** A grid in the middle of the frame: of the size asked for, or as many voxels as cover it. Not allocated. */
FloatImage::Pointer
MakeGrid(const Frame & frame, const Options & options)
{
  FloatImage::SizeType            size;
  FloatImage::SpacingType         spacing = frame.lattice->GetSpacing();
  itk::ContinuousIndex<double, 3> first;
  double                          bytes = sizeof(float) + sizeof(LabelSource::Label);
  for (unsigned int c = 0; c < 3; ++c)
  {
    const double lattice = spacing[c];
    spacing[c] = options.spacing.empty() ? lattice : options.spacing[options.spacing.size() == 1 ? 0 : c];
    // A hundredth of a voxel is not worth another one: spacing in files is rounded.
    const double voxels = std::max(1.0, std::ceil(frame.voxels[c] * lattice / spacing[c] - 0.01));
    if (options.size.empty() && voxels > double(LongestAxis))
    {
      throw CommandError("--spacing " + std::to_string(spacing[c]) + " is too fine: more than " +
                         std::to_string(LongestAxis) + " voxels along an axis");
    }
    size[c] = itk::SizeValueType(options.size.empty() ? voxels : double(options.size[c]));
    bytes *= double(size[c]);
    first[c] = frame.center[c] - 0.5 * double(size[c] - 1) * spacing[c] / lattice;
    if (frame.keepLattice && std::abs(spacing[c] - lattice) < 1e-4 * lattice)
    {
      spacing[c] = lattice;
      first[c] = std::floor(first[c] + 0.1);
    }
  }
  const double there = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGE_SIZE));
  if (bytes > there)
  {
    throw CommandError("the result needs " + std::to_string(std::llround(bytes / 1e6)) +
                       " MB of memory, and this machine has " + std::to_string(std::llround(there / 1e6)) + " MB");
  }
  FloatImage::PointType origin;
  frame.lattice->TransformContinuousIndexToPhysicalPoint(first, origin);
  auto grid = FloatImage::New();
  grid->SetRegions(size);
  grid->SetSpacing(spacing);
  grid->SetDirection(frame.lattice->GetDirection());
  grid->SetOrigin(origin);
  return grid;
}

/** Where a point of the moved head was before: the inverse of turning it about x, then y, then z, and shifting it. */
ffdp::AffineMap
WhereItWas(const Options & options, const Frame & frame)
{
  ffdp::AffineMap moved;
  for (int axis = 0; axis < 3; ++axis)
  {
    const double    c = std::cos(options.rotation[std::size_t(axis)] * RadiansPerDegree);
    const double    s = std::sin(options.rotation[std::size_t(axis)] * RadiansPerDegree);
    const int       i = (axis + 1) % 3, j = (axis + 2) % 3;
    ffdp::AffineMap turn;
    turn.matrix[3 * i + i] = turn.matrix[3 * j + j] = c;
    turn.matrix[3 * i + j] = -s;
    turn.matrix[3 * j + i] = s;
    moved = ffdp::Compose(turn, moved);
  }
  const auto center = frame.CenterInMillimeters();
  double     turned[3];
  moved.Apply(center.GetDataPointer(), turned);
  for (int c = 0; c < 3; ++c)
  {
    moved.offset[c] = center[c] - turned[c] + options.translation[std::size_t(c)];
  }
  return moved.Inverse();
}

struct Scene
{
  std::unique_ptr<LabelSource> source;
  Frame                        frame;
  FloatImage::Pointer          grid;
};

Scene
MakeScene(const Options & options)
{
  Scene scene;
  if (options.head)
  {
    scene.source = std::make_unique<ProceduralHead>(options.seed);
    scene.frame = FrameOfHead();
    scene.grid = MakeGrid(scene.frame, options);
    return scene;
  }
  auto map = std::make_unique<LabelMapSource>(options.labels);
  if (options.skullStrip)
  {
    map->Keep(BrainLabels());
    if (map->Labels().empty())
    {
      throw CommandError("label map '" + options.labels + "' has no label of a brain as FreeSurfer numbers them");
    }
  }
  scene.frame = FrameOfMap(*map, options.crop);
  scene.grid = MakeGrid(scene.frame, options);
  double                steps[3][3];
  const ffdp::AffineMap toPhysical = IndexToPhysical(scene.grid);
  for (int j = 0; j < 3; ++j)
  {
    for (int i = 0; i < 3; ++i)
    {
      steps[j][i] = toPhysical.matrix[3 * i + j];
    }
  }
  map->SetSteps(steps);
  scene.source = std::move(map);
  return scene;
}

void
RunSynthesize(const Options & options)
{
  CheckNumbers(options);
  CheckOutputs(options);
  const LabelTable table = options.table.empty() ? BuiltInTable(options.contrast) : ReadLabelTable(options.table);
  const Scene      scene = MakeScene(options);
  RequireEntries(
    table, scene.source->Labels(), options.table.empty() ? "the built-in table" : "table '" + options.table + "'");

  FieldImage::Pointer field;
  if (options.warpSize > 0)
  {
    RandomWarpParameters warp;
    warp.size = options.warpSize;
    warp.smoothness = options.warpSmoothness;
    warp.seed = options.seed;
    field = MakeRandomWarp(scene.grid, warp, options.threads);
  }
  const ffdp::AffineMap rigid = WhereItWas(options, scene.frame);
  const auto            labels = DrawLabels(*scene.source, scene.grid, field, rigid, options.threads);
  if (options.skullStrip)
  {
    KeepLabels(labels, BrainLabels());
  }
  PaintParameters paint;
  paint.blur = options.blur;
  paint.noise = options.noise;
  paint.bias = options.bias;
  paint.seed = options.seed;
  paint.contrast = options.contrast;
  const auto self = ffdp::MakeSelfCommunicator();
  OutputSet  outputs(options.output, *self);
  WriteImage(PaintLabels(labels, table, paint, options.threads), options.output);
  if (!options.labelsOut.empty())
  {
    WriteLabels(labels, options.labelsOut);
  }
  if (!options.warpOut.empty())
  {
    WriteField(field, options.warpOut);
  }
  if (!options.rigidOut.empty())
  {
    WriteLinear(rigid, options.rigidOut);
  }
  outputs.Commit();
  if (!options.quiet)
  {
    const auto size = labels->GetLargestPossibleRegion().GetSize();
    std::cout << "written: " << options.output << ", " << size[0] << " x " << size[1] << " x " << size[2]
              << " voxels\n";
  }
}

} // namespace

void
AddSynthesizeCommand(CLI::App & program)
{
  auto   options = std::make_shared<Options>();
  auto * command =
    program.add_subcommand("synthesize", "Make a T1- or T2-like image with labels, from a label map or from nothing");
  command->add_option("--labels", options->labels, "Label map to paint");
  AddSpacingOption(
    *command, "--labels-spacing", "the label map", [options] { return std::vector<std::string>{ options->labels }; });
  command->add_flag("--head", options->head, "Paint a procedural head instead; its shape depends on the seed");
  command->add_option("-o,--output", options->output, "Image to write")->required();
  command->add_option("--labels-out", options->labelsOut, "Also write the labels of its voxels");
  command->add_option("--spacing", options->spacing, "Voxels in mm: one number or three (that of the map; head: 1)")
    ->expected(1, 3);
  command->add_option("--size", options->size, "Voxels along each axis, around the middle (as many as cover all)")
    ->expected(3);
  command->add_option("--crop", options->crop, "Show only the part of the map with labels and so many mm around it");
  command->add_flag("--skull-strip", options->skullStrip, "Only the labels of the brain");
  command->add_option("--seed", options->seed, "The same seed and options give the same bytes")
    ->check(CLI::NonNegativeNumber)
    ->capture_default_str();
  command->add_option("--contrast", options->contrast, "t1 or t2")
    ->check(CLI::IsMember({ "t1", "t2" }))
    ->capture_default_str();
  command->add_option("--table", options->table, "Intensities from a .csv file with label,mean,sd instead");
  command->add_option("--blur", options->blur, "Sigma of the blur after painting, in voxels")->capture_default_str();
  command->add_option("--bias", options->bias, "Smooth change of brightness, up to this part of it; 0.3 is much")
    ->capture_default_str();
  command->add_option("--noise", options->noise, "Noise of the scanner, its deviation; white matter in T1 is 105")
    ->capture_default_str();
  command->add_option("--warp-size", options->warpSize, "Deform by a random warp that moves points so many mm at most")
    ->capture_default_str();
  command->add_option("--warp-smoothness", options->warpSmoothness, "Sigma of the smoothing of that warp, in mm")
    ->capture_default_str();
  command->add_option("--warp-out", options->warpOut, "Write the warp: from points of the result to where they were");
  command->add_option("--rotate", options->rotation, "Turn by so many degrees about the x, then y, then z axis (LPS)")
    ->expected(3);
  command->add_option("--translate", options->translation, "Then shift by so many mm along x, y, z (LPS)")->expected(3);
  command->add_option("--rigid-out", options->rigidOut, "Write where points were before turning and shifting (.mat)");
  command->add_option("--threads", options->threads, "0: all, or what ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS says");
  command->add_flag("-q,--quiet", options->quiet, "Print nothing but errors");
  command->callback([options] { RunSynthesize(*options); });
}
