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
#include "ffdpMemoryNeeds.h"

#include "ffdpHdf5TransformReading.h"
#include "ffdpImageFiles.h"
#include "ffdpStageText.h"
#include "ffdpTransformFiles.h"

#include <algorithm>
#include <filesystem>

namespace
{

constexpr double FloatVector = 12, DoubleVector = 24; ///< bytes of a voxel of a field, as it is read and in a transform

/** Tables, buffers of files and heaps of threads. */
constexpr double SmallThings = 2e6;

/** What is being compressed at a time by our writer of .nii.gz, before and after. */
constexpr double CompressionBytes = 36e6;

/** An image as its header describes it. */
struct ImageSize
{
  std::string name;                                                           ///< with its size, as messages say it
  double      voxels = 1, volumes = 1, plane = 1, values = 1, valueBytes = 4; ///< voxels of all volumes

  double
  Bytes() const
  {
    return voxels * values * valueBytes;
  }
};

ImageSize
SizeOf(const std::string & file, const std::string & what)
{
  const auto  header = ReadImageHeader(file, what, true);
  ImageSize   size;
  std::string text;
  for (unsigned int axis = 0; axis < header.Dimensions(); ++axis)
  {
    const double length = double(header.Size(axis));
    size.voxels *= length;
    size.plane *= axis < 2 ? length : 1;
    size.volumes *= axis > 2 ? length : 1;
    text += (axis > 0 ? "x" : "") + std::to_string(header.Size(axis));
  }
  size.values = double(header.components);
  size.valueBytes = double(::SizeOf(header.component));
  size.name = what + " '" + file + "' of " + text + " voxels";
  return size;
}

/** FILE or [FILE,1]. */
std::string
FileOf(const std::string & entry)
{
  const std::string text = Trim(entry);
  const auto        comma = text.rfind(',');
  return !text.empty() && text[0] == '[' && text.back() == ']' && comma != std::string::npos &&
             !std::filesystem::exists(text)
           ? Trim(text.substr(1, comma - 1))
           : text;
}

/** A transform: what it keeps, and what there is beside that while it is read. */
struct TransformSize
{
  MemoryItem kept;
  double     reading = 0;
  double     voxels = 0; ///< of its field
};

/** From the tables of an HDF5 file; other files spell numbers in more bytes than they take. */
double
BytesOfParameters(const std::string & file)
{
  if (!IsHdf5File(file))
  {
    std::error_code unknown;
    const auto      bytes = std::filesystem::file_size(file, unknown);
    return unknown ? 0 : double(bytes);
  }
  double bytes = 0;
  for (const StoredTransform & transform : DescribeHdf5Transforms(file))
  {
    bytes += sizeof(double) * double(transform.parameters.count + transform.fixedParameters.count);
  }
  return bytes;
}

TransformSize
SizeOfTransform(const std::string & entry)
{
  const std::string file = FileOf(entry);
  TransformSize     size;
  if (LowerCase(file) == "identity")
  {
    return size;
  }
  if (!IsTransformFile(file))
  {
    const ImageSize field = SizeOf(file, "displacement field");
    size.voxels = field.voxels;
    size.kept = { field.name, DoubleVector * field.voxels };
    size.reading = FloatVector * field.voxels;
    return size;
  }
  // A file of parameters: they are there as they are read, and as the transform holds them.
  size.kept = { "transform '" + file + "'", BytesOfParameters(file) };
  size.reading = size.kept.bytes;
  size.voxels = size.kept.bytes / DoubleVector;
  return size;
}

/** All transforms of a list are held at the end, and while the last one is read. */
MemoryItems
AddTransforms(const std::vector<std::string> & transforms, MemoryNeed & need)
{
  MemoryItems held = { { "", SmallThings } };
  for (auto entry = transforms.rbegin(); entry != transforms.rend(); ++entry)
  {
    const TransformSize size = SizeOfTransform(*entry);
    held.push_back(size.kept);
    need.phases.push_back(held);
    need.phases.back().back().bytes += size.reading;
  }
  return held;
}

MemoryItems
With(MemoryItems items, const std::string & name, double bytes)
{
  items.push_back({ name, bytes });
  return items;
}

bool
EndsLike(const std::string & file, std::initializer_list<const char *> ends)
{
  return std::any_of(ends.begin(), ends.end(), [&](const char * end) { return EndsWith(file, end); });
}

/** What ITK's writers hold beside the image: NIfTI's the vectors in another order, MetaImage's and others the
 * compressed voxels, of which they may make two copies. */
double
LibraryWriting(const std::string & output, double bytes, bool vectors)
{
  if (EndsLike(output, { ".nii", ".nii.gz", ".hdr", ".img", ".img.gz" }))
  {
    return vectors ? bytes : 0;
  }
  return EndsLike(output, { ".nrrd", ".nhdr" }) ? 0 : 2 * bytes;
}

/** The same of WriteImage() and WriteField(), which compress .nii.gz by pieces. */
double
OwnWriting(const std::string & output, double bytes, bool vectors)
{
  return EndsWith(output, ".nii.gz") ? std::min(CompressionBytes, 4 * bytes) : LibraryWriting(output, bytes, vectors);
}

std::string
ResultName(const ImageSize & reference)
{
  return "a result on the grid of " + reference.name;
}

} // namespace

MemoryNeed
NeedOfTransforms(const std::vector<std::string> & transforms)
{
  MemoryNeed need;
  AddTransforms(transforms, need);
  return need;
}

MemoryNeed
NeedOfApply(const std::string &              image,
            const std::string &              reference,
            const std::vector<std::string> & transforms,
            bool                             asFloats,
            const std::string &              output)
{
  MemoryNeed        need;
  const ImageSize   from = SizeOf(image, "image"), grid = SizeOf(reference, "reference image");
  const MemoryItems held = AddTransforms(transforms, need);
  const double      result = grid.voxels * from.volumes * from.values * (asFloats ? 4 : from.valueBytes);
  need.phases.push_back(With(held, from.name, 2 * from.Bytes())); // ITK holds it once more while it is read
  need.phases.push_back(With(
    With(With(held, from.name, from.Bytes()), grid.name, result), "", LibraryWriting(output, result, from.values > 1)));
  return need;
}

MemoryNeed
NeedOfCompose(const std::vector<std::string> & transforms, const std::string & reference, const std::string & output)
{
  MemoryNeed        need;
  const MemoryItems held = AddTransforms(transforms, need);
  if (!IsTransformFile(output))
  {
    const ImageSize grid = SizeOf(reference, "reference image");
    const double    field = FloatVector * grid.voxels;
    need.phases.push_back(With(With(held, ResultName(grid), field), "", OwnWriting(output, field, true)));
  }
  return need;
}

MemoryNeed
NeedOfInvert(const std::string & transform, const std::string & output)
{
  MemoryNeed          need;
  const MemoryItems   held = AddTransforms({ transform }, need);
  const TransformSize size = SizeOfTransform(transform);
  const double        field = FloatVector * size.voxels;
  if (!IsTransformFile(transform))
  {
    // The field, its copy in voxels, the inverse in voxels and the inverse; or the last of these while it is written.
    need.phases = { { { "", SmallThings }, { size.kept.name, 4 * field } },
                    { { "", SmallThings }, { size.kept.name, field + OwnWriting(output, field, true) } } };
    return need;
  }
  // Beside the transform: the same, or what ITK makes of the inverse.
  need.phases.push_back(With(held, size.kept.name, 4 * field));
  return need;
}

MemoryNeed
NeedOfJacobian(const std::vector<std::string> & transforms, const std::string & reference, const std::string & output)
{
  MemoryNeed need;
  double     voxels = 0;
  MemoryItem map;
  if (reference.empty())
  {
    const TransformSize size = SizeOfTransform(transforms.front());
    voxels = size.voxels;
    map.name = size.kept.name;
  }
  else
  {
    const ImageSize   grid = SizeOf(reference, "reference image");
    const MemoryItems held = AddTransforms(transforms, need);
    voxels = grid.voxels;
    map.name = ResultName(grid);
    need.phases.push_back(With(held, map.name, FloatVector * voxels));
  }
  map.bytes = (2 * FloatVector + 4) * voxels; // the field in mm and in voxels, and the map
  need.phases.push_back({ { "", SmallThings }, map });
  map.bytes = 4 * voxels + OwnWriting(output, 4 * voxels, false);
  need.phases.push_back({ { "", SmallThings }, map });
  return need;
}

MemoryNeed
NeedOfEvaluate(const EvaluatedFiles & files)
{
  constexpr double Label = 2;           // bytes of a voxel of a label map
  constexpr double Surfaces = 5.5;      // places and distances of surfaces, per voxel of a usual map
  constexpr double PlanesAtATime = 16;  // of a map of determinants
  constexpr double WindowOfPlanes = 40; // of sums of products in local correlation
  MemoryNeed       need = NeedOfTransforms(files.transforms);
  if (!files.fixedLabels.empty() && !files.movedLabels.empty())
  {
    const ImageSize fixed = SizeOf(files.fixedLabels, "fixed labels"),
                    moved = SizeOf(files.movedLabels, "moved labels");
    const auto reading = [&](const ImageSize & size) {
      return std::max(2 * size.Bytes(), size.Bytes() + Label * size.voxels);
    };
    need.phases.push_back({ { "", SmallThings }, { fixed.name, reading(fixed) } });
    need.phases.push_back(
      { { "", SmallThings }, { fixed.name, Label * fixed.voxels }, { moved.name, reading(moved) } });
    need.phases.push_back({ { "", SmallThings },
                            { fixed.name, Label * fixed.voxels },
                            { moved.name, Label * moved.voxels },
                            { "", files.surfaces ? (Surfaces + 1.5) * fixed.voxels : 0 } });
  }
  if (!files.fixed.empty() && !files.moved.empty())
  {
    const ImageSize fixed = SizeOf(files.fixed, "fixed image"), moved = SizeOf(files.moved, "moved image");
    MemoryItems     items = { { "", SmallThings + 4 * WindowOfPlanes * fixed.plane },
                              { fixed.name, 4 * fixed.voxels },
                              { moved.name, 4 * moved.voxels } };
    if (!files.mask.empty())
    {
      const ImageSize mask = SizeOf(files.mask, "mask");
      items.push_back({ mask.name, 4 * mask.voxels });
    }
    need.phases.push_back(items);
  }
  if (!files.warp.empty())
  {
    const ImageSize warp = SizeOf(files.warp, "displacement field");
    need.phases.push_back(
      { { "", SmallThings + 4 * PlanesAtATime * warp.plane }, { warp.name, 2 * FloatVector * warp.voxels } });
  }
  return need;
}

MemoryNeed
NeedOfSynthesize(const SyntheticSizes & sizes)
{
  constexpr double Label = 2, Planes = 24; // labels of a voxel; planes that are being painted and blurred
  MemoryNeed       need;
  MemoryItems      held = { { "", SmallThings + 4 * Planes * sizes.plane } };
  if (!sizes.labels.empty())
  {
    const ImageSize map = SizeOf(sizes.labels, "label map");
    need.phases.push_back(With(held, map.name, std::max(2 * map.Bytes(), map.Bytes() + Label * map.voxels)));
    held = With(held, map.name, Label * map.voxels);
  }
  need.phases.push_back(With(held, "", 3 * FloatVector * sizes.nodes)); // velocities, what they become, and the field
  held = With(held, "", FloatVector * sizes.nodes + (Label + 4) * sizes.result);
  need.phases.push_back(With(held, "", OwnWriting(sizes.output, 4 * sizes.result, false)));
  return need;
}

MemoryNeed
NeedOfBench(double voxels)
{
  constexpr double Floats = 26; // images, warps and gradients, and a stage that registers them
  MemoryNeed       need;
  need.phases.push_back({ { "", 4 * SmallThings + 4 * Floats * voxels } });
  return need;
}
