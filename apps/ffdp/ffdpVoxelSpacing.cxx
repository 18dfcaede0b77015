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
#include "ffdpVoxelSpacing.h"

#include "ffdpCommandError.h"
#include "ffdpGivenSpacing.h"
#include "ffdpImageHeader.h"
#include "ffdpMicroscopyMetadata.h"
#include "ffdpTiffTags.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace
{

constexpr const char * Remedy = ": give --spacing, as in --spacing 0.65x0.65x2um";
constexpr const char * TakenAsPixels = ": its pixels are taken as 1x1 mm; --spacing says how large they are";

/** A file that is being judged. */
struct Picture
{
  std::string   file; ///< as in: 'a.tif'
  std::string   name; ///< as in: fixed image 'a.tif'
  ImageHeader & header;

  double &
  Spacing(unsigned int axis) const
  {
    return header.axes[axis].spacing;
  }
  [[noreturn]] void
  Refuse(const std::string & reason) const
  {
    throw CommandError(name + " " + reason);
  }
};

std::string
Text(double number)
{
  std::ostringstream text;
  text << number;
  return text.str();
}

/** As in: 3 channels of 4 time points of 10 planes each. */
std::string
DescribeStacks(const MicroscopyMetadata & metadata)
{
  std::string text;
  const auto  add = [&](std::uint64_t count, const char * name) {
    text += count > 1 ? (text.empty() ? "" : " and ") + std::to_string(count) + name : "";
  };
  add(metadata.channels, " channels");
  add(metadata.times, " time points");
  return text + (metadata.slices > 1 ? " of " + std::to_string(metadata.slices) + " planes each" : "");
}

/** Throws if a program wrote several stacks. volume: the user says that there is one. */
void
RequireOneStack(const Picture & picture, const TiffTags & tags, const MicroscopyMetadata & metadata, bool volume)
{
  const std::string writer = "(" + metadata.writer + ")";
  if (metadata.images > 1)
  {
    picture.Refuse("holds " + std::to_string(metadata.images) + " images " + writer +
                   ": save the one that is meant as a file of its own");
  }
  if ((metadata.width != 0 && metadata.width != picture.header.Size(0)) ||
      (metadata.height != 0 && metadata.height != picture.header.Size(1)))
  {
    picture.Refuse("has pages of " + std::to_string(picture.header.Size(0)) + "x" +
                   std::to_string(picture.header.Size(1)) + " pixels, and its metadata " + writer + " say " +
                   std::to_string(metadata.width) + "x" + std::to_string(metadata.height));
  }
  // Programs that do not know better count the planes of a volume as channels or as time points.
  const bool          onlyOne = (metadata.slices > 1) + (metadata.channels > 1) + (metadata.times > 1) <= 1;
  const std::uint64_t largest = std::max({ metadata.slices, metadata.channels, metadata.times });
  if ((metadata.channels > 1 || metadata.times > 1) && !(onlyOne && volume))
  {
    picture.Refuse("holds " + DescribeStacks(metadata) + " " + writer +
                   ": save the one that is meant as a file of its own" +
                   (onlyOne ? ", or give --spacing AxBxC if they are the planes of a volume" : ""));
  }
  if (largest != 0 && largest != tags.pages)
  {
    picture.Refuse("holds " + std::to_string(largest) + (largest == 1 ? " plane" : " planes") + " by its metadata " +
                   writer + ", and has " + std::to_string(tags.pages) + (tags.pages == 1 ? " page" : " pages") +
                   ": the others are in other files, or in a form that cannot be read here");
  }
  if (!metadata.inOrder && metadata.slices > 1)
  {
    picture.Refuse("has its planes in another order than its pages " + writer + ": save it anew, in order");
  }
}

/** ITK reads all pages as planes of one volume: throws unless they are, and are read as they are. */
void
RequireReadablePages(const Picture & picture, const TiffTags & tags)
{
  if (!tags.alike)
  {
    picture.Refuse("has pages of different sizes: save the one stack that is meant as a file of its own");
  }
  if (tags.pages != picture.header.Size(2))
  {
    picture.Refuse("has " + std::to_string(tags.pages) + " pages, of which " + std::to_string(picture.header.Size(2)) +
                   " can be read here: save it as .nii.gz or .nrrd");
  }
  if (tags.tiled && tags.samples == 1)
  {
    picture.Refuse("is stored in tiles, which ITK reads as colors of 8 bits: save it in strips, as .nii.gz or .nrrd");
  }
}

TiffTags
ReadTags(const Picture & picture, const std::string & file)
{
  try
  {
    const auto tags = ReadTiffTags(file);
    if (tags)
    {
      return *tags;
    }
  }
  catch (const std::runtime_error & error)
  {
    picture.Refuse(error.what());
  }
  picture.Refuse("is not the TIFF file that it was when it was opened");
}

/** What a program wrote about the pages; nothing if none did. Damaged metadata are an error unless the user says how
 * large voxels are. */
std::optional<MicroscopyMetadata>
ReadMetadata(const Picture & picture, const TiffTags & tags, bool given)
{
  try
  {
    const auto ome = ParseOme(tags.description, tags.samples);
    return ome ? ome : ParseImageJ(tags.description, tags.xResolution, tags.yResolution, tags.pages);
  }
  catch (const std::runtime_error & error)
  {
    if (!given)
    {
      picture.Refuse(error.what() + std::string(Remedy));
    }
    return std::nullopt;
  }
}

/** Whether pixels of this size come from a number of dots per inch, or of 1 per centimeter, that nobody measured. */
bool
IsTypographic(double spacing)
{
  constexpr double LargestPixel = 10, Tolerance = 0.05; // BMP has whole numbers of dots per meter
  const double     dots[] = { 72, 90, 96, 100, 120, 150, 180, 200, 240, 300, 350 };
  return spacing >= LargestPixel || std::any_of(std::begin(dots), std::end(dots), [&](double dpi) {
           return std::abs(25.4 / spacing - dpi) < Tolerance;
         });
}

bool
HasTypographicPixels(const Picture & picture)
{
  return IsTypographic(picture.Spacing(0)) || IsTypographic(picture.Spacing(1));
}

/** Pixels are taken as 1 mm where nobody measured them, as those of pictures that say nothing. */
void
TakePixels(const Picture & picture)
{
  if (HasTypographicPixels(picture))
  {
    AddSpacingNote(picture.file + " says " + Text(25.4 / picture.Spacing(0)) + "x" + Text(25.4 / picture.Spacing(1)) +
                   " dots per inch, which programs write without a measurement" + TakenAsPixels);
    picture.Spacing(0) = picture.Spacing(1) = 1;
  }
}

/** The same where a TIFF says how many pixels there are in a unit, and not which unit. */
void
NoteMissingUnit(const Picture & picture, const TiffTags & tags)
{
  const auto isMeant = [](double resolution) {
    return resolution > 0 && resolution != 1 && !IsTypographic(25.4 / resolution);
  };
  if (tags.resolutionUnit <= 1 && isMeant(tags.xResolution) && isMeant(tags.yResolution))
  {
    AddSpacingNote(picture.file + " says " + Text(tags.xResolution) + "x" + Text(tags.yResolution) +
                   " pixels per unit, and not which unit" + TakenAsPixels);
  }
}

void
SettleTiff(const Picture & picture, const TiffTags & tags, const std::optional<MicroscopyMetadata> & metadata)
{
  constexpr int     Inch = 2, Centimeter = 3;
  const bool        stack = picture.header.Dimensions() > 2;
  const VoxelSide   unknown;
  const VoxelSide * sides[3] = { &unknown, &unknown, &unknown };
  for (std::size_t axis = 0; metadata && axis < (stack ? 3 : 2); ++axis)
  {
    sides[axis] = &metadata->sides[axis];
    if (!sides[axis]->wrong.empty())
    {
      picture.Refuse("makes no sense: " + sides[axis]->wrong + " (" + metadata->writer + ")" + Remedy);
    }
  }
  const bool hasSides = sides[0]->mm > 0 && sides[1]->mm > 0;
  if (hasSides)
  {
    picture.Spacing(0) = sides[0]->mm;
    picture.Spacing(1) = sides[1]->mm;
  }
  const bool hasResolution =
    tags.xResolution > 0 && tags.yResolution > 0 && (tags.resolutionUnit == Inch || tags.resolutionUnit == Centimeter);
  const bool measured =
    (hasSides && metadata->writer == "OME") || ((hasSides || hasResolution) && !HasTypographicPixels(picture));
  if (stack && sides[2]->mm > 0 && measured)
  {
    picture.Spacing(2) = sides[2]->mm;
  }
  else if (stack && measured)
  {
    picture.Refuse("does not say how far apart its planes are (its pixels are " + Text(picture.Spacing(0)) + "x" +
                   Text(picture.Spacing(1)) + " mm)" + Remedy);
  }
  else if (stack)
  {
    picture.Refuse(std::string("does not say how large its voxels are") + Remedy);
  }
  else if (!measured)
  {
    NoteMissingUnit(picture, tags);
    TakePixels(picture);
  }
  if (metadata && !metadata->notes.empty())
  {
    AddSpacingNote(picture.file + " " + metadata->notes);
  }
}

/** Whether a format of pictures, which programs like to give a number of dots per inch. */
bool
IsPicture(const std::string & format)
{
  return format == "JPEGImageIO" || format == "BMPImageIO" || format == "PNGImageIO";
}

} // namespace

void
SettleSpacing(ImageHeader & header, const std::string & file, const std::string & what)
{
  const Picture      picture{ "'" + file + "'", what + " '" + file + "'", header };
  const GivenSpacing given = FindGivenSpacing(file);
  const unsigned int axes = std::min(3u, header.Dimensions());
  if (!given.mm.empty() && given.mm.size() != axes)
  {
    throw UsageError(given.option + " '" + given.text + "' has " + (given.mm.size() == 2 ? "two" : "three") +
                     " numbers, and " + picture.name + " is of " + (axes == 2 ? "two" : "three") + " dimensions");
  }
  if (header.format == "TIFFImageIO")
  {
    const TiffTags tags = ReadTags(picture, file);
    const auto     metadata = ReadMetadata(picture, tags, !given.mm.empty());
    if (metadata)
    {
      RequireOneStack(picture, tags, *metadata, given.mm.size() == 3);
    }
    RequireReadablePages(picture, tags);
    if (given.mm.empty())
    {
      SettleTiff(picture, tags, metadata);
    }
  }
  else if (given.mm.empty() && axes == 2 && IsPicture(header.format))
  {
    TakePixels(picture);
  }
  for (std::size_t axis = 0; axis < given.mm.size(); ++axis)
  {
    header.axes[axis].spacing = given.mm[axis];
  }
}
