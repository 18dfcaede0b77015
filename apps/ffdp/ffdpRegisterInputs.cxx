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
#include "ffdpRegisterInputs.h"

#include "ffdpAgreement.h"
#include "ffdpCommandError.h"
#include "ffdpImageGrid.h"
#include "ffdpImageReading.h"
#include "ffdpStageText.h"
#include "ffdpTransformFiles.h"

#include <algorithm>
#include <limits>
#include <map>

namespace
{

using Point = std::array<double, 3>;

const char * const StartOption = "--initial-moving-transform";

/** Each file is read once, however many pairs it is in. */
class ImageShelf
{
public:
  ImageShelf(std::vector<FloatImage::Pointer> & keep, ffdp::Communicator & communicator)
    : m_Keep(keep)
    , m_Communicator(communicator)
  {}
  FloatImage::Pointer
  Get(const std::string & file, const std::string & what)
  {
    FloatImage::Pointer & image = m_Images[file];
    if (!image)
    {
      image = ReadImageWithContrast(file, what, m_Communicator);
      m_Keep.push_back(image);
    }
    return image;
  }

private:
  std::map<std::string, FloatImage::Pointer> m_Images;
  std::vector<FloatImage::Pointer> &         m_Keep;
  ffdp::Communicator &                       m_Communicator;
};

/** A mask of moving images is for all pairs: their moving images must be on one grid then, as fixed ones always are. */
void
ReadPairs(const std::vector<ImageNames> & names,
          const std::string &             movingMask,
          ffdp::Communicator &            communicator,
          RegisterInputs &                inputs)
{
  ImageShelf shelf(inputs.others, communicator);
  for (const ImageNames & files : names)
  {
    const auto fixed = shelf.Get(files.fixed, "fixed image");
    const auto moving = shelf.Get(files.moving, "moving image");
    if (!inputs.fixed)
    {
      inputs.fixed = fixed;
      inputs.moving = moving;
    }
    else if (!AreOnOneGrid(fixed, inputs.fixed))
    {
      throw CommandError("fixed image '" + files.fixed + "' is not on the grid of '" + names.front().fixed + "'");
    }
    if (!movingMask.empty() && !AreOnOneGrid(moving, inputs.moving))
    {
      throw CommandError("moving mask '" + movingMask + "' is not on the grid of '" + files.moving + "'");
    }
    ffdp::ImagePair pair;
    pair.fixed = PlaceImage(fixed);
    pair.moving = PlaceImage(moving);
    inputs.pairs.push_back(pair);
  }
}

/** Where the comparison is made, in all pairs. */
void
ReadMasks(const RegisterOptions & options, ffdp::Communicator & communicator, RegisterInputs & inputs)
{
  const MaskNames masks = FindMasks(options);
  if (!masks.fixed.empty())
  {
    inputs.others.push_back(ReadMask(masks.fixed, "fixed mask", inputs.fixed, communicator));
    for (ffdp::ImagePair & pair : inputs.pairs)
    {
      pair.fixedMask = PlaceImage(inputs.others.back()).voxels;
    }
  }
  if (!masks.moving.empty())
  {
    inputs.others.push_back(ReadMask(masks.moving, "moving mask", inputs.moving, communicator));
    const auto placed = PlaceImage(inputs.others.back());
    for (ffdp::ImagePair & pair : inputs.pairs)
    {
      pair.movingMask = placed.voxels;
    }
  }
}

Point
PhysicalOf(const FloatImage * image, const Point & index)
{
  return PlaceImage(image).indexToPhysical(index);
}

Point
MiddleOf(const FloatImage * image)
{
  const ffdp::Extent size = ExtentOf(image);
  return PhysicalOf(image, { { 0.5 * double(size.x - 1), 0.5 * double(size.y - 1), 0.5 * double(size.z - 1) } });
}

/** Of the intensities above the smallest. Sums per plane are added in the order of planes, for any number of ranks. */
Point
CenterOfMass(const FloatImage * image, ffdp::Communicator & communicator)
{
  const auto    voxels = PlaceImage(image).voxels;
  const float * begin = voxels.data;
  const float * end = begin + voxels.planes * voxels.planeStride;
  double smallest = begin < end ? -double(*std::min_element(begin, end)) : -std::numeric_limits<double>::infinity();
  communicator.Maximum(&smallest, 1);
  smallest = -smallest;
  std::vector<double> planeSums; // mass and the three moments of each
  for (std::int64_t z = voxels.firstPlane; z < voxels.EndPlane(); ++z)
  {
    double mass = 0, moment[2] = { 0, 0 };
    for (std::int64_t y = 0; y < voxels.domain.y; ++y)
    {
      const float * row = voxels.Row(y, z);
      double        rowMass = 0, rowMoment = 0;
      for (std::int64_t x = 0; x < voxels.domain.x; ++x)
      {
        const double weight = double(row[x]) - smallest;
        rowMass += weight;
        rowMoment += weight * double(x);
      }
      mass += rowMass;
      moment[0] += rowMoment;
      moment[1] += rowMass * double(y);
    }
    planeSums.insert(planeSums.end(), { mass, moment[0], moment[1], mass * double(z) });
  }
  double                    sum[4] = { 0, 0, 0, 0 };
  const std::vector<double> all = communicator.Gather(planeSums);
  for (std::size_t i = 0; i < all.size(); ++i)
  {
    sum[i % 4] += all[i];
  }
  return PhysicalOf(image, { { sum[1] / sum[0], sum[2] / sum[0], sum[3] / sum[0] } });
}

/** The shift that brings a place of the fixed image to that of the moving one: ANTs' 0 middles, 1 centers of mass, 2
 * origins. */
ffdp::AffineMap
AlignPlaces(const Source &       source,
            const std::string &  which,
            const FloatImage *   fixed,
            const FloatImage *   moving,
            ffdp::Communicator & communicator)
{
  const auto place = [&](const FloatImage * image) {
    return which == "0"   ? MiddleOf(image)
           : which == "1" ? CenterOfMass(image, communicator)
                          : PhysicalOf(image, { { 0, 0, 0 } });
  };
  if (which != "0" && which != "1" && which != "2")
  {
    source.Refuse("the last number is 0 (middles of the images), 1 (centers of mass) or 2 (origins)");
  }
  const Point     from = place(fixed), to = place(moving);
  ffdp::AffineMap map;
  for (int i = 0; i < 3; ++i)
  {
    map.offset[i] = to[std::size_t(i)] - from[std::size_t(i)];
  }
  return map;
}

/** Rank 0 reads the file, for all. */
ffdp::AffineMap
ReadLinearForAll(const std::string & file, ffdp::Communicator & communicator)
{
  ffdp::AffineMap     map;
  std::vector<double> numbers;
  DoOnFirst(communicator, [&] {
    map = ReadLinear(file);
    numbers.assign(map.matrix, map.matrix + 9);
    numbers.insert(numbers.end(), map.offset, map.offset + 3);
  });
  numbers = communicator.Gather(numbers);
  std::copy_n(numbers.begin(), 9, map.matrix);
  std::copy_n(numbers.begin() + 9, 3, map.offset);
  return map;
}

/** FILE, [FILE,1] for its inverse, [FIXED,MOVING,0|1|2] or [0|1|2]. */
ffdp::AffineMap
ReadLinearStart(const Source & source, ffdp::Communicator & communicator, RegisterInputs & inputs)
{
  if (source.text.front() != '[')
  {
    return ReadLinearForAll(source.text, communicator);
  }
  const Words fields = SplitList(source.text);
  if (fields.size() == 1)
  {
    return AlignPlaces(source, fields[0], inputs.fixed, inputs.moving, communicator);
  }
  if (fields.size() == 3)
  {
    const auto fixed = ReadImage(fields[0], "fixed image", communicator);
    const auto moving = ReadImage(fields[1], "moving image", communicator);
    return AlignPlaces(source, fields[2], fixed, moving, communicator);
  }
  if (fields.size() != 2 || (fields[1] != "0" && fields[1] != "1"))
  {
    source.Refuse("is not of the form FILE, [FILE,1] or [FIXED,MOVING,1]");
  }
  const ffdp::AffineMap map = ReadLinearForAll(fields[0], communicator);
  return fields[1] == "1" ? map.Inverse() : map;
}

bool
IsWarp(const std::string & file)
{
  for (const char * end : { ".nii", ".nii.gz", ".mha", ".mhd", ".nrrd" })
  {
    if (EndsWith(file, end))
    {
      return true;
    }
  }
  return false;
}

/** From a field in mm to planar displacements in voxels. */
void
ReadStartWarp(const std::string & file, ffdp::Communicator & communicator, RegisterInputs & inputs)
{
  const auto field = ReadField(file, communicator);
  if (!AreOnOneGrid(field, inputs.fixed))
  {
    throw CommandError("displacement field '" + file + "' is not on the grid of the fixed image");
  }
  const ffdp::PlacedImage fixed = PlaceImage(inputs.fixed);
  const ffdp::AffineMap   toVoxels = fixed.indexToPhysical.Inverse();
  const auto              count = std::size_t(fixed.voxels.planes * fixed.voxels.planeStride);
  inputs.startWarp.resize(std::max<std::size_t>(1, 3 * count)); // a rank without planes has a warp all the same
  for (std::size_t i = 0; i < count; ++i)
  {
    const auto & v = field->GetBufferPointer()[i];
    for (std::size_t c = 0; c < 3; ++c)
    {
      const double * row = toVoxels.matrix + 3 * c;
      inputs.startWarp[c * count + i] = float(row[0] * v[0] + row[1] * v[1] + row[2] * v[2]);
    }
  }
  const float * const u = inputs.startWarp.data();
  inputs.start.warp = ffdp::WarpView<const float>::Planar(
    u, u + count, u + 2 * count, fixed.voxels.domain, fixed.voxels.firstPlane, fixed.voxels.planes);
}

/** In the order of `ffdp apply`: what stands first is applied to a point of the fixed image first. */
void
ReadStart(const std::vector<std::string> & entries, ffdp::Communicator & communicator, RegisterInputs & inputs)
{
  for (std::size_t i = 0; i < entries.size(); ++i)
  {
    const Source source{ StartOption, Trim(entries[i]) };
    if (source.text.empty())
    {
      source.Refuse("is empty");
    }
    if (!IsWarp(source.text))
    {
      inputs.start.affine = ffdp::Compose(ReadLinearStart(source, communicator, inputs), inputs.start.affine);
    }
    else if (i > 0)
    {
      source.Refuse("a displacement field must come first: it is applied before linear transforms");
    }
    else
    {
      ReadStartWarp(source.text, communicator, inputs);
    }
  }
}

} // namespace

MaskNames
FindMasks(const RegisterOptions & options)
{
  MaskNames masks{ options.fixedMask, options.movingMask };
  if (!options.masks.empty())
  {
    const Source source{ "--masks", Trim(options.masks) };
    Words        files = SplitList(source.text);
    if (files.size() > 2 || !masks.fixed.empty() || !masks.moving.empty())
    {
      source.Refuse("is [FIXED,MOVING], and takes the place of --fixed-mask and --moving-mask");
    }
    files.resize(2);
    for (std::string & file : files)
    {
      file = file == "NULL" || file == "NA" ? "" : file; // ANTs' words for none
    }
    masks = { files[0], files[1] };
  }
  return masks;
}

bool
StartsFromWarp(const RegisterOptions & options)
{
  return !options.start.empty() && IsWarp(Trim(options.start.front()));
}

RegisterInputs
ReadRegisterInputs(const RegisterOptions &         options,
                   const std::vector<ImageNames> & pairs,
                   ffdp::Communicator &            communicator)
{
  RegisterInputs inputs;
  ReadPairs(pairs, FindMasks(options).moving, communicator, inputs);
  ReadMasks(options, communicator, inputs);
  ReadStart(options.start, communicator, inputs);
  return inputs;
}
