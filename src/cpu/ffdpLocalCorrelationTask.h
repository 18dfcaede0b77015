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
#ifndef ffdpLocalCorrelationTask_h
#define ffdpLocalCorrelationTask_h

#include "ffdpCorrelationTerms.h"
#include "ffdpLocalCorrelation.h"

#include <cstdint>

/** What the kernels of local correlation are told: the same for every instruction set. */
namespace ffdp
{

/** How many neighboring windows of this radius are summed at a time (see ffdpWindowSumsKernel.h). With planes, the
 * first of a group must be in the halo of the last, because its mean is subtracted from all. */
constexpr int
WindowGroup(int radius)
{
  return radius >= 3 ? 4 : radius >= 1 ? 2 : 1;
}

/** How many rows or planes the windows of a group touch. */
constexpr int
GroupLength(int radius)
{
  return 2 * radius + WindowGroup(radius);
}

/** One evaluation. */
struct CorrelationTask
{
  VolumeView<const float>        fixed;
  VolumeView<const float>        moving;
  VolumeView<const std::uint8_t> mask;
  LocalCorrelationOutputs        outputs;
  int                            radius[3];
  const float *                  taps[3];          ///< weights of the window per axis; null: all are 1
  const float *                  inverseWeight[3]; ///< per axis and index: 1 / sum of the taps inside the volume
  CorrelationConstants           constants;
  float                          gradientScale; ///< -1 / voxels in the mean
  bool                           maskWindows;
  bool                           exact; ///< a gradient is asked for, and not ANTs'

  /** Fields that the exact gradient sums over windows: gamma, then two for each image asked for. */
  int
  Fields() const
  {
    return exact ? 1 + (outputs.movingGradient ? 2 : 0) + (outputs.fixedGradient ? 2 : 0) : 0;
  }
  bool
  WindowsAreMasked() const
  {
    return mask && maskWindows;
  }
};

/** A column of voxels that one thread sweeps in z. */
struct CorrelationPiece
{
  std::int64_t   x0, x1, y0, y1, z0, z1;
  double *       sums; ///< sum of n_i of plane z at [(z - z0) * stride]
  std::int64_t * counts;
  std::int64_t   stride;
  float *        scratch; ///< CorrelationScratch::total floats
  const float ** rows;    ///< room for three windows of rows
};

/** Extent of a piece in x: rows are cut evenly. Narrow enough that the sums of a group of rows of one plane stay in the
 * first level cache (22 KB). The window of planes takes 1.6 MB with radius 3, more than some second level caches:
 * narrower or lower pieces would fit, but were slower, since they read and write short stretches of memory or compute
 * more rows beyond their ends. The exact gradient keeps more planes, of more than the images, so its pieces are
 * smaller: 1.4 MB if they are 128 columns wide and one image has a gradient. A multiple of RowSum::Lanes, if there is
 * more than one. */
constexpr std::int64_t
CorrelationTileX(bool exact, std::int64_t columns)
{
  const std::int64_t widest = exact ? 192 : 256;
  const std::int64_t tiles = (columns + widest - 1) / widest;
  return tiles == 1 ? columns : ((columns + tiles - 1) / tiles + 15) / 16 * 16;
}

/** Largest extent of a piece in y. */
constexpr std::int64_t
CorrelationTileY(bool exact)
{
  return exact ? 32 : 64;
}

/** Where things are in the scratch memory of a piece, in floats.
 *
 * Every row is kept as its even columns followed by its odd ones, so that the sum along x can take two
 * windows at a time as the sums along y and z do. Column 0 of image rows and of their sums is as far left of
 * the piece as windows (and windows of windows) reach, whether the volume goes that far or not. */
struct CorrelationScratch
{
  static constexpr std::int64_t MostLanes = 16; ///< of a vector; the last one of a row is read together with the next
  std::int64_t channels;    ///< rows of products or fields, of all planes of a group, that are summed side by side
  std::int64_t half;        ///< from the even to the odd columns of a row
  std::int64_t pitch;       ///< of a row
  std::int64_t imagePlanes; ///< planes in the ring of image planes
  std::int64_t imageRows;   ///< rows of a plane in that ring
  std::int64_t imagePitch;  ///< from an image to the next: a ring, and one row for what is outside the volume
  std::int64_t fieldPlanes; ///< planes in the ring of fields
  std::int64_t fieldRows;   ///< rows of a plane in that ring
  std::int64_t productRing, fieldRing, rowSums, zeros, inverseX, correlationRows, gradientRow;
  std::int64_t images, fields, total;

  CorrelationScratch(const CorrelationTask & task, std::int64_t tileX, std::int64_t tileY)
  {
    const int *        r = task.radius;
    const std::int64_t reach = task.exact ? 2 : 1;
    const int          products = task.WindowsAreMasked() ? 6 : 5; // there are at most five fields
    channels = WindowGroup(r[2]) * products;
    half = (tileX + 2 * reach * r[0] + 2 + 31) / 32 * 16; // all rows begin at a cache line, their odd columns as well
    pitch = 2 * half;
    // While stage 2 works on the group of planes at z, stage 1 is done with the groups before z + group + r.
    const int group = WindowGroup(r[2]);
    const int ready = (group + r[2] + group - 1) / group * group;
    imagePlanes = task.exact ? ready + r[2] : 2 * r[2] + group;
    imageRows = tileY + 2 * reach * r[1];
    fieldPlanes = ready + r[2];
    fieldRows = tileY + 2 * r[1];

    std::int64_t next = 0;
    const auto   take = [&](std::int64_t rows) {
      const std::int64_t at = next;
      next += rows * pitch;
      return at;
    };
    productRing = take(GroupLength(r[1]) * channels);
    fieldRing = take(task.exact ? GroupLength(r[1]) * channels : 0);
    rowSums = take(WindowGroup(r[1]) * products); // of one plane at a time
    zeros = take(channels);
    inverseX = take(1);
    correlationRows = take(3);
    gradientRow = take(2);
    imagePitch = (imagePlanes * imageRows + 1) * pitch;
    images = take((task.mask ? 3 : 2) * (imagePlanes * imageRows + 1));
    fields = take(task.Fields() * fieldPlanes * fieldRows);
    total = next + 2 * MostLanes;
  }
};

} // namespace ffdp

#endif
