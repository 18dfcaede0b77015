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
#include "ffdpImageReading.h"
#include "ffdpRegisterStart.h"
#include "ffdpStageText.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

namespace
{

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

/** An image as its header describes it, without axes of one voxel. */
struct ImageSize
{
  std::string name;
  double      largest = 0;       ///< side of the image, mm
  double      smallestVoxel = 0; ///< side of a voxel, mm
};

ImageSize
ReadSize(const std::string & file, const std::string & what)
{
  const auto         grid = ReadGrid(file, what);
  std::ostringstream sides;
  ImageSize          size;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    const auto   voxels = grid->GetLargestPossibleRegion().GetSize(axis);
    const double voxel = grid->GetSpacing()[axis], side = voxel * double(voxels);
    if (voxels > 1)
    {
      size.largest = std::max(size.largest, side);
      size.smallestVoxel = size.smallestVoxel > 0 ? std::min(size.smallestVoxel, voxel) : voxel;
      sides << (sides.tellp() > 0 ? " x " : "") << side;
    }
  }
  size.name = what + " '" + file + "' (" + sides.str() + " mm)";
  return size;
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

void
RequireOneDimension(const RegisterOptions & options, const std::vector<ImageNames> & pairs)
{
  const DimensionedFile first = ReadDimension(pairs.front().fixed, "fixed image");
  for (const ImageNames & names : pairs)
  {
    RequireOneDimension(ReadDimension(names.fixed, "fixed image"), first);
    RequireOneDimension(ReadDimension(names.moving, "moving image"), first);
  }
  const MaskNames masks = FindMasks(options);
  if (!masks.fixed.empty())
  {
    RequireOneDimension(ReadDimension(masks.fixed, "fixed mask"), first);
  }
  if (!masks.moving.empty())
  {
    RequireOneDimension(ReadDimension(masks.moving, "moving mask"), first);
  }
  const std::string warp = FindStartWarp(options);
  if (!warp.empty())
  {
    RequireOneDimension(ReadFieldDimension(warp), first);
  }
}

void
RequireMasksOnGrids(const RegisterOptions & options, const ImageNames & images)
{
  const MaskNames masks = FindMasks(options);
  const auto      require = [](const std::string & kind, const std::string & mask, const std::string & image) {
    if (!mask.empty() && !AreOnOneGrid(ReadGrid(mask, kind + " mask"), ReadGrid(image, kind + " image")))
    {
      throw CommandError(kind + " mask '" + mask + "' is not on the grid of '" + image + "'");
    }
  };
  require("fixed", masks.fixed, images.fixed);
  require("moving", masks.moving, images.moving);
}

std::string
CompareSizes(const RegisterOptions & options, const std::vector<ImageNames> & pairs)
{
  constexpr double Far = 100;
  std::string      warning;
  for (const ImageNames & names : options.start.empty() ? pairs : std::vector<ImageNames>())
  {
    ImageSize small = ReadSize(names.fixed, "fixed image"), large = ReadSize(names.moving, "moving image");
    if (small.largest > large.largest)
    {
      std::swap(small, large);
    }
    const std::string question = large.name + ": are the units in their headers right?";
    if (small.largest < large.smallestVoxel)
    {
      throw CommandError(small.name + " is smaller than a voxel of " + question);
    }
    if (Far * small.largest < large.largest)
    {
      warning = small.name + " is far smaller than " + question;
    }
  }
  return warning;
}

RegisterInputs
ReadRegisterInputs(const RegisterOptions &         options,
                   const std::vector<ImageNames> & pairs,
                   ffdp::Communicator &            communicator)
{
  RegisterInputs inputs;
  DoTogether(communicator, [&] { inputs.file = ReadDimension(pairs.front().fixed, "fixed image"); });
  ReadPairs(pairs, FindMasks(options).moving, communicator, inputs);
  ReadMasks(options, communicator, inputs);
  ReadStart(options, communicator, inputs);
  return inputs;
}
