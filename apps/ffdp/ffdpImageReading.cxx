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
#include "ffdpImageReading.h"

#include "ffdpAgreement.h"
#include "ffdpCommandError.h"
#include "ffdpImageGrid.h"
#include "ffdpPlaneDelivery.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace
{

/** A file as its header describes it. */
struct OpenImage
{
  FloatImage::Pointer          grid;
  itk::IOComponentEnum         component = itk::IOComponentEnum::UNKNOWNCOMPONENTTYPE;
  std::unique_ptr<PlaneSource> planes;
};

/** components: 1, or 3 for a displacement field, which may have two dimensions and two of them. */
OpenImage
Open(const std::string & file, const std::string & what, unsigned int components)
{
  const ImageHeader header = ReadImageHeader(file, what);
  if (components != 1)
  {
    ReadFieldDimension(file);
  }
  else if (header.components != 1)
  {
    throw CommandError(what + " '" + file + "' has " + std::to_string(header.components) +
                       " values per voxel; a scalar image is needed");
  }
  OpenImage image;
  image.grid = GridOf(header, file, what);
  image.component = header.component;
  image.planes = OpenPlanes(file, what, header);
  return image;
}

/** Ranks on other machines may see other files under the same name. */
void
RequireEqualFiles(ffdp::Communicator & communicator,
                  const OpenImage &    image,
                  const std::string &  file,
                  const std::string &  what)
{
  const ffdp::Extent    size = ExtentOf(image.grid);
  const ffdp::AffineMap place = IndexToPhysical(image.grid);
  std::vector<double>   own = { double(size.x),
                                double(size.y),
                                double(size.z),
                                double(image.component),
                                double(image.planes->Volumes()),
                                double(image.planes->IsRandomAccess()) };
  own.insert(own.end(), place.matrix, place.matrix + 9);
  own.insert(own.end(), place.offset, place.offset + 3);
  const std::vector<double> all = communicator.Gather(own);
  for (std::size_t rank = 1; rank * own.size() < all.size(); ++rank)
  {
    if (!std::equal(
          all.begin(), all.begin() + std::ptrdiff_t(own.size()), all.begin() + std::ptrdiff_t(rank * own.size())))
    {
      throw CommandError(what + " '" + file + "' is not the same on all ranks: its size, place or type on rank " +
                         std::to_string(rank) + " is not that on rank 0");
    }
  }
}

/** The planes that this rank owns of an image with TImage's number of values per voxel; those that it lacks are 0. */
template <typename TImage>
typename TImage::Pointer
ReadOwnPlanes(const std::string & file, const std::string & what, ffdp::Communicator & communicator)
{
  constexpr std::int64_t Components = sizeof(typename TImage::PixelType) / sizeof(float);
  OpenImage              opened;
  DoTogether(communicator, [&] { opened = Open(file, what, static_cast<unsigned int>(Components)); });
  RequireEqualFiles(communicator, opened, file, what);
  const ffdp::Extent       size = ExtentOf(opened.grid);
  typename TImage::Pointer image;
  DoTogether(communicator, [&] { image = MakeOwnPlanes<TImage>(opened.grid, communicator); });
  const std::int64_t firstPlane = PlanesOf(image).first;
  const std::int64_t together = opened.planes->ValuesPerVoxel(); // of the values of a voxel, side by side in the file
  auto * const       values = reinterpret_cast<float *>(image->GetBufferPointer());
  if (together * opened.planes->Volumes() < Components)
  {
    std::fill_n(values, Components * std::int64_t(image->GetBufferedRegion().GetNumberOfPixels()), 0.0f);
  }
  constexpr float LargestDisplacement = 1e18f; // sums and squares of larger ones are no floats
  constexpr float Largest = Components == 1 ? std::numeric_limits<float>::max() : LargestDisplacement;
  bool            finite = true;
  DeliverPlanes(
    communicator, *opened.planes, size, [&](int volume, const ffdp::PlaneRange & planes, const float * from) {
      const std::int64_t voxels = (planes.end - planes.first) * size.x * size.y;
      float *            to = values + (planes.first - firstPlane) * size.x * size.y * Components + volume;
      for (std::int64_t i = 0; i < voxels; ++i, from += together, to += Components)
      {
        for (std::int64_t c = 0; c < together; ++c)
        {
          to[c] = from[c];
          finite &= std::abs(from[c]) <= Largest; // which is false for what is not a number
        }
      }
    });
  double broken = finite ? 0 : 1;
  communicator.Maximum(&broken, 1);
  if (broken != 0)
  {
    throw CommandError(what + " '" + file + "' has voxels that are infinite or not a number" +
                       (Components == 1 ? "" : ", or displacements beyond 1e18"));
  }
  return image;
}

} // namespace

FloatImage::Pointer
ReadImage(const std::string & file, const std::string & what, ffdp::Communicator & communicator)
{
  return ReadOwnPlanes<FloatImage>(file, what, communicator);
}

FloatImage::Pointer
ReadImageWithContrast(const std::string & file, const std::string & what, ffdp::Communicator & communicator)
{
  auto             image = ReadImage(file, what, communicator);
  const float *    voxels = image->GetBufferPointer();
  const auto       count = image->GetBufferedRegion().GetNumberOfPixels();
  const auto       range = std::minmax_element(voxels, voxels + count);
  constexpr double None = -std::numeric_limits<double>::infinity();
  double           ends[2] = { count > 0 ? -double(*range.first) : None, count > 0 ? double(*range.second) : None };
  communicator.Maximum(ends, 2);
  if (!(-ends[0] < ends[1]))
  {
    throw CommandError(what + " '" + file + "' is constant: there is nothing to align");
  }
  constexpr double Largest = 1e18; // squares must be floats
  if (std::max(ends[0], ends[1]) > Largest)
  {
    throw CommandError(what + " '" + file + "' has voxels beyond 1e18: they cannot be squared in single precision");
  }
  return image;
}

FloatImage::Pointer
ReadMask(const std::string &  file,
         const std::string &  what,
         const FloatImage *   image,
         ffdp::Communicator & communicator)
{
  auto mask = ReadImage(file, what, communicator);
  if (!AreOnOneGrid(mask, image))
  {
    throw CommandError(what + " '" + file + "' is not on the grid of its image");
  }
  float *      voxels = mask->GetBufferPointer();
  const auto   count = mask->GetBufferedRegion().GetNumberOfPixels();
  std::int64_t inside = 0;
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    inside += voxels[i] != 0 ? 1 : 0;
    voxels[i] = voxels[i] != 0 ? 1.0f : 0.0f;
  }
  communicator.Sum(&inside, 1);
  if (inside == 0)
  {
    throw CommandError(what + " '" + file + "' is empty");
  }
  return mask;
}

FieldImage::Pointer
ReadField(const std::string & file, ffdp::Communicator & communicator)
{
  return ReadOwnPlanes<FieldImage>(file, "displacement field", communicator);
}

FloatImage::Pointer
ReadImage(const std::string & file, const std::string & what)
{
  return ReadImage(file, what, *ffdp::MakeSelfCommunicator());
}

FloatImage::Pointer
ReadImageWithContrast(const std::string & file, const std::string & what)
{
  return ReadImageWithContrast(file, what, *ffdp::MakeSelfCommunicator());
}

FloatImage::Pointer
ReadMask(const std::string & file, const std::string & what, const FloatImage * image)
{
  return ReadMask(file, what, image, *ffdp::MakeSelfCommunicator());
}

FieldImage::Pointer
ReadField(const std::string & file)
{
  return ReadField(file, *ffdp::MakeSelfCommunicator());
}
