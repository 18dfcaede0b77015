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
#include "ffdpProblem.h"

#include "ffdpCommandError.h"
#include "ffdpDevice.h"
#include "ffdpImageFiles.h"
#include "ffdpImageGrid.h"
#include "ffdpMemory.h"
#include "ffdpPlaneSource.h"
#include "ffdpRegisterInputs.h"
#include "ffdpRegisterStart.h"

#include "ffdpCudaBackend.h"
#include "ffdpPartition.h"

#include <algorithm>
#include <cstdio>
#include <set>

namespace
{

/** What the program and its libraries take by themselves, and small things like tables and the report. */
constexpr double ProgramBytes = 35e6;
constexpr double MpiBytes = 10e6; ///< of MPI, on each rank

/** What is being compressed at a time, before and after, and what is on its way to that, of files that are larger. */
double
CompressionOf(double fileBytes)
{
  return std::min(33e6, 4 * fileBytes);
}

/** Of a voxel of a composite transform while it is written: floats as they are gathered and as a field, doubles that
 * the transform holds. */
constexpr double CompositeBytes = 12 + 12 + 24;

/** The same of one to start from, while ITK reads it: doubles of the file, as parameters and of the transform. */
constexpr double StartCompositeBytes = 24 + 24 + 24;

/** Voxels of the planes that the rank with the most of them owns. */
double
MostVoxels(const ffdp::Extent & size, int ranks)
{
  return double(ffdp::Partition(size.z, ranks).ThickestSlab()) * double(size.x * size.y);
}

class FileSizes
{
public:
  explicit FileSizes(int ranks)
    : m_Ranks(ranks)
  {}

  /** The grid of an image; its voxels count once, however often it is named. */
  FloatImage::Pointer
  Add(const std::string & file, const std::string & what)
  {
    const ImageHeader header = ReadImageHeader(file, what);
    const auto        grid = GridOf(header, file, what);
    if (m_Seen.insert(file).second)
    {
      const bool whole = NeedsWholeImage(file, header);
      inMemory += 4 * MostVoxels(ExtentOf(grid), m_Ranks);
      whileReading = std::max(whileReading, inMemory + (whole ? double(header.Bytes()) : 0.0));
    }
    return grid;
  }

  double inMemory = 0;
  double whileReading = 0; ///< with the whole of a file that only rank 0 reads

private:
  int                   m_Ranks;
  std::set<std::string> m_Seen;
};

/** A GPU need not be there. Those of several ranks are taken to be alike. */
ffdp::EstimatedDevice
DescribeDevice(const ffdp::DeviceName & name)
{
  ffdp::EstimatedDevice device;
  device.cuda = name.cuda;
  if (name.cuda)
  {
    const auto        found = ffdp::FindCudaDevices().devices;
    const std::size_t index = name.index >= 0 ? std::size_t(name.index) : 0;
    device.multiprocessors = index < found.size() ? found[index].multiprocessors : device.multiprocessors;
  }
  return device;
}

std::string
Gigabytes(double bytes)
{
  char text[32];
  std::snprintf(text, sizeof(text), bytes < 0.95e9 ? "%.2f GB" : "%.1f GB", bytes / 1e9);
  return text;
}

} // namespace

RegistrationProblem
DescribeProblem(const RegisterOptions & options, const StageList & list, int ranks)
{
  RequireOneDimension(options, list.pairs);
  RegistrationProblem problem;
  FileSizes           files(ranks);
  const MaskNames     masks = FindMasks(options);
  for (const ImageNames & names : list.pairs)
  {
    const auto         fixed = PlaceImage(files.Add(names.fixed, "fixed image"));
    const auto         moving = PlaceImage(files.Add(names.moving, "moving image"));
    ffdp::PairGeometry pair;
    pair.fixedSize = fixed.voxels.domain;
    pair.fixedToPhysical = fixed.indexToPhysical;
    pair.movingSize = moving.voxels.domain;
    pair.movingToPhysical = moving.indexToPhysical;
    pair.hasFixedMask = !masks.fixed.empty();
    pair.hasMovingMask = !masks.moving.empty();
    problem.pairs.push_back(pair);
  }
  for (const std::string & mask : { masks.fixed, masks.moving })
  {
    if (!mask.empty())
    {
      files.Add(mask, "mask");
    }
  }
  const bool                  fromWarp = StartsFromWarp(options);
  const ffdp::EstimatedDevice device = DescribeDevice(ParseDevice(options.device));
  problem.estimate = ffdp::EstimateRegistration(problem.pairs, fromWarp, list.stages, options.threads, ranks, device);
  problem.deviceBytes = device.cuda ? files.inMemory + problem.estimate.peakBytes : 0;
  const double fixedVoxels = MostVoxels(problem.pairs.front().fixedSize, ranks);
  if (fromWarp && FindStartWarp(options).empty())
  {
    files.whileReading = std::max(
      files.whileReading, files.inMemory + StartCompositeBytes * double(problem.pairs.front().fixedSize.Voxels()));
  }
  problem.imageBytes = files.inMemory + (fromWarp ? 12 * fixedVoxels : 0);
  // While outputs are written: both warps, the warped moving image, and what is being compressed; then the inverse warp
  // and either what it is on the moving grid, with the fixed image that this warps, or that image being compressed.
  const double movingVoxels = MostVoxels(problem.pairs.front().movingSize, ranks);
  const bool   deformable = problem.estimate.resultBytes > 0;
  const double warp = deformable ? 12 * fixedVoxels : 0;
  const double compression = CompressionOf(std::max(warp, 4 * fixedVoxels));
  const double forward = 2 * warp + 4 * fixedVoxels + compression;
  const double backward =
    warp + 4 * movingVoxels + std::max(deformable ? 12 * movingVoxels : 0, CompressionOf(4 * movingVoxels));
  const double writing = problem.imageBytes + std::max(forward, backward);
  // From a GPU both warps come home.
  problem.engineBytes = problem.imageBytes + (device.cuda ? 2 * warp : problem.estimate.peakBytes);
  const double each = std::max(problem.engineBytes, writing);
  // Rank 0 alone reads some files as a whole, and puts composite transforms together, when both warps are there.
  const double allFixedVoxels = double(problem.pairs.front().fixedSize.Voxels());
  const double composite =
    options.composite && deformable ? problem.imageBytes + 2 * warp + CompositeBytes * allFixedVoxels + compression : 0;
  const double first = std::max({ each, composite, files.whileReading });
  problem.peakBytes = ProgramBytes + (ranks > 1 ? MpiBytes + each : first);
  problem.firstBytes = ranks > 1 ? first - each : 0;
  return problem;
}

void
RequireMemory(const RegistrationProblem & problem, const ImageNames & images, int processes)
{
  const double available = AvailableBytes();
  const double needed = processes * problem.peakBytes + problem.firstBytes;
  KeepNeededBytes(needed);
  if (needed > available)
  {
    // Voxels twice as large along each axis: an eighth of everything that grows with the images.
    const double coarser = processes * ProgramBytes + (needed - processes * ProgramBytes) / 8;
    const auto   describe = [](const std::string & what, const std::string & file, const ffdp::Extent & size) {
      return what + " image '" + file + "' of " + std::to_string(size.x) + "x" + std::to_string(size.y) + "x" +
             std::to_string(size.z) + " voxels";
    };
    throw CommandError("the registration of " + describe("fixed", images.fixed, problem.pairs.front().fixedSize) +
                       " and " + describe("moving", images.moving, problem.pairs.front().movingSize) + " needs " +
                       Gigabytes(needed) + " of memory, and " + Gigabytes(available) +
                       " are free: images with voxels of twice the size would need " + Gigabytes(coarser) +
                       "; --ignore-memory runs it all the same");
  }
}
