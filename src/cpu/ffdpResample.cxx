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
#include "ffdpResample.h"

#include "ffdpAlignedBuffer.h"
#include "ffdpCheck.h"
#include "ffdpParallel.h"
#include "ffdpResampleArguments.h"
#include "ffdpResamplePixels.h"
#include "ffdpResamplePlan.h"

#include <algorithm>
#include <cmath>
#include <memory>

#define FFDP_KERNEL_FILE "ffdpSamplerBlockKernel.h"
#include "ffdpForEachInstructionSet.h"
#define FFDP_KERNEL_FILE "ffdpCellBlockKernel.h"
#include "ffdpForEachInstructionSet.h"
#define FFDP_KERNEL_FILE "ffdpResampleKernel.h"
#include "ffdpForEachInstructionSet.h"

namespace ffdp
{
namespace
{

/** Row y, plane z of a box, from its first column on. */
char *
RowOf(const PixelView & view, std::size_t pixelSize, std::int64_t y, std::int64_t z)
{
  const std::int64_t offset = (z - view.box.first[2]) * view.planeStride + (y - view.box.first[1]) * view.rowStride;
  return static_cast<char *>(view.data) + offset * std::int64_t(pixelSize);
}

/** One call: which functions it runs, on what. */
struct ResampleTask
{
  using LocateFunction =
    void(const BlockMap &, const WarpRow &, std::int64_t, std::int64_t, std::int64_t, int, int, BlockPositions &);
  using FindFunction = void(const BlockGrid &, const BlockPositions &, int, int, BlockCells &);
  using ReadFunction = void(const BlockVolume &, const BlockCells &, int, int, double *);
  using WriteFunction = void(const double *, const std::int32_t *, int, int, int, const void *, void *);
  using FloatFunction =
    int(const FloatPlan &, const WarpRow &, std::int64_t, std::int64_t, std::int64_t, int, float *, bool *);

  BlockMap                   map;
  BlockGrid                  grid;
  std::vector<BlockVolume>   volumes; ///< one per component
  LocateFunction *           locate;
  FindFunction *             find;
  ReadFunction *             read;
  WriteFunction *            write;
  std::size_t                pixelSize; ///< bytes of a pixel of the output
  std::vector<char>          outside;
  std::unique_ptr<FloatPlan> floats;      ///< null: everything in double
  FloatFunction *            floatKernel; ///< used with floats
};

ResampleTask
MakeTask(const ConstPixelView &     image,
         const CompositeMap &       map,
         const PixelView &          output,
         const ResampleParameters & parameters)
{
  CheckResample(image, output, parameters);
  ResampleTask task;
  task.grid = MakeBlockGrid(image);
  task.map = MakeBlockMap(map);
  const auto componentSize = WithComponentType(image.type, [](auto t) { return sizeof(t); });
  for (int c = 0; c < image.components; ++c)
  {
    task.volumes.push_back({ static_cast<const char *>(image.data) + std::size_t(c) * componentSize,
                             image.components,
                             image.components * image.rowStride,
                             image.components * image.planeStride });
  }

  const bool nearest = parameters.interpolation == Interpolation::Nearest;
  task.locate = FFDP_SELECT_KERNEL(LocateInDouble);
  task.find = nearest ? FFDP_SELECT_KERNEL(FindCells<true>) : FFDP_SELECT_KERNEL(FindCells<false>);
  task.read = WithComponentType(image.type, [&](auto t) -> ResampleTask::ReadFunction * {
    using T = decltype(t);
    return nearest ? FFDP_SELECT_KERNEL(PickCells<T>) : FFDP_SELECT_KERNEL(InterpolateCells<T>);
  });
  task.write =
    WithComponentType(output.type, [](auto t) -> ResampleTask::WriteFunction * { return &WriteBlock<decltype(t)>; });
  task.pixelSize = PixelSizeOf(output);
  task.outside = MakeOutsidePixel(output, parameters);
  if (IsResampledInFloat(image, output, parameters))
  {
    task.floats = std::make_unique<FloatPlan>(MakeFloatPlan(image, map, task.outside));
    task.floatKernel = FFDP_SELECT_KERNEL(ResampleFloatBlock);
  }
  return task;
}

/** Voxels [begin, end) of the block that starts at column x, in double. `values` has a block per component. */
void
ResampleInDouble(const ResampleTask & task,
                 const WarpRow &      u,
                 std::int64_t         x,
                 std::int64_t         y,
                 std::int64_t         z,
                 int                  begin,
                 int                  end,
                 double *             values,
                 void *               to)
{
  BlockPositions positions;
  BlockCells     cells;
  task.locate(task.map, u, x, y, z, begin, end, positions);
  task.find(task.grid, positions, begin, end, cells);
  for (std::size_t c = 0; c < task.volumes.size(); ++c)
  {
    task.read(task.volumes[c], cells, begin, end, values + c * SamplerBlock);
  }
  task.write(values, cells.inside, begin, end, int(task.volumes.size()), task.outside.data(), to);
}

void
ResampleBlock(const ResampleTask & task,
              const WarpRow &      u,
              std::int64_t         x,
              std::int64_t         y,
              std::int64_t         z,
              int                  begin,
              int                  end,
              double *             values,
              char *               to)
{
  if (!task.floats)
  {
    ResampleInDouble(task, u, x, y, z, begin, end, values, to);
    return;
  }
  alignas(64) float result[SamplerBlock];
  bool              done[SamplerBlock];
  const int         left = task.floatKernel(*task.floats, u, x, y, z, end, result, done);
  for (int k = begin; left > 0 && k < end;)
  {
    int next = k + 1;
    while (next < end && done[next] == done[k])
    {
      ++next;
    }
    if (!done[k])
    {
      ResampleInDouble(task, u, x, y, z, k, next, values, result + k);
    }
    k = next;
  }
  std::copy(result + begin, result + end, reinterpret_cast<float *>(to));
}

void
ResampleBox(const ConstPixelView &     image,
            const CompositeMap &       map,
            const DisplacementRows &   displacements,
            const PixelView &          output,
            const ResampleParameters & parameters,
            unsigned                   threads)
{
  const ResampleTask  task = MakeTask(image, map, output, parameters);
  const PixelBox &    box = output.box;
  const std::int64_t  firstColumn = box.first[0];
  const std::int64_t  endColumn = box.first[0] + box.count[0];
  const SamplerStrips strips{ box.count[1], box.first[2], box.count[2] };
  if (box.IsEmpty())
  {
    return;
  }
  std::vector<AlignedBuffer<double>> values(ResolveThreads(threads));
  std::vector<AlignedBuffer<double>> residuals(values.size());
  ParallelFor(strips.Pieces(), threads, [&](std::int64_t piece, unsigned worker) {
    if (values[worker].Count() == 0)
    {
      values[worker] = AlignedBuffer<double>(std::size_t(SamplerBlock) * std::size_t(image.components));
      residuals[worker] = AlignedBuffer<double>(displacements.Scratch(endColumn));
    }
    strips.ForEachRow(piece, [&](std::int64_t row, std::int64_t z, std::int64_t) {
      const std::int64_t y = box.first[1] + row;
      const WarpRow      u = displacements.Row(FirstOfBlock(firstColumn), endColumn, y, z, residuals[worker].Data());
      char * const       to = RowOf(output, task.pixelSize, y, z);
      for (std::int64_t x = FirstOfBlock(firstColumn); x < endColumn; x += SamplerBlock)
      {
        const int begin = int(std::max<std::int64_t>(firstColumn - x, 0));
        const int end = int(std::min<std::int64_t>(endColumn - x, SamplerBlock));
        ResampleBlock(task,
                      u,
                      x,
                      y,
                      z,
                      begin,
                      end,
                      values[worker].Data(),
                      to + (x + begin - firstColumn) * std::int64_t(task.pixelSize));
      }
    });
  });
}

/** The lowest and highest coordinate along each axis. */
struct Reach
{
  double low[3] = { INFINITY, INFINITY, INFINITY };
  double high[3] = { -INFINITY, -INFINITY, -INFINITY };

  void
  Include(int c, double value)
  {
    low[c] = value < low[c] ? value : low[c]; // not a number reaches nothing
    high[c] = value > high[c] ? value : high[c];
  }
};

PixelBox
FindBox(const Extent &           imageSize,
        const CompositeMap &     map,
        const DisplacementRows & displacements,
        const PixelBox &         outputBox,
        bool                     straight,
        unsigned                 threads)
{
  const BlockMap     plan = MakeBlockMap(map);
  const auto         locate = FFDP_SELECT_KERNEL(LocateInDouble);
  const std::int64_t firstColumn = outputBox.first[0];
  const std::int64_t endColumn = firstColumn + outputBox.count[0];

  const std::int64_t                 rows = outputBox.IsEmpty() ? 0 : outputBox.count[1] * outputBox.count[2];
  std::vector<AlignedBuffer<double>> residuals(ResolveThreads(threads));
  std::vector<Reach>                 reached(residuals.size());
  ParallelFor(rows, threads, [&](std::int64_t piece, unsigned worker) {
    if (residuals[worker].Count() == 0)
    {
      residuals[worker] = AlignedBuffer<double>(displacements.Scratch(endColumn));
    }
    const std::int64_t y = outputBox.first[1] + piece % outputBox.count[1];
    const std::int64_t z = outputBox.first[2] + piece / outputBox.count[1];
    const WarpRow      u = displacements.Row(firstColumn, endColumn, y, z, residuals[worker].Data());
    BlockPositions     positions;
    // without a field the ends of a row are its extremes
    const std::int64_t step = straight ? std::max<std::int64_t>(1, endColumn - 1 - firstColumn) : 1;
    for (std::int64_t x = firstColumn; x < endColumn; x += step * (straight ? 1 : SamplerBlock))
    {
      const int count = straight ? 1 : int(std::min<std::int64_t>(SamplerBlock, endColumn - x));
      locate(plan, u, x, y, z, 0, count, positions);
      for (int c = 0; c < 3; ++c)
      {
        for (int k = 0; k < count; ++k)
        {
          reached[worker].Include(c, positions.at[c][k]);
        }
      }
    }
  });

  PixelBox           box;
  const std::int64_t size[3] = { imageSize.x, imageSize.y, imageSize.z };
  for (int c = 0; c < 3; ++c)
  {
    Reach all;
    for (const Reach & part : reached)
    {
      all.low[c] = std::min(all.low[c], part.low[c]);
      all.high[c] = std::max(all.high[c], part.high[c]);
    }
    const double limit = double(size[c]) + 2;
    const double low = std::max(-2.0, std::min(limit, std::floor(all.low[c]))) - 1;
    const double high = std::max(-2.0, std::min(limit, std::floor(all.high[c]))) + 3;
    const bool   isSomewhere = all.low[c] < double(size[c]) - 0.5 && all.high[c] >= -0.5;
    const auto   first = std::max<std::int64_t>(0, std::int64_t(low));
    box.first[c] = isSomewhere ? first : 0;
    box.count[c] = isSomewhere ? std::min(size[c], std::int64_t(high)) - first : 0;
  }
  return box.IsEmpty() ? PixelBox() : box;
}

void
RequireBox(const Extent & size, const PixelBox & box)
{
  Require(box.first[0] >= 0 && box.first[1] >= 0 && box.first[2] >= 0 && box.first[0] + box.count[0] <= size.x &&
            box.first[1] + box.count[1] <= size.y && box.first[2] + box.count[2] <= size.z,
          "the box lies outside the grid of the output");
}

} // namespace

void
Resample(const ConstPixelView &     image,
         const CompositeMap &       map,
         const WarpInput &          u,
         const PixelView &          output,
         const ResampleParameters & parameters,
         unsigned                   threads)
{
  CheckFieldOfResample(u, output);
  ResampleBox(image, map, DisplacementRows(u, nullptr, map), output, parameters, threads);
}

void
ResampleChain(const ConstPixelView &     image,
              const CompositeMap &       map,
              const WarpChain &          chain,
              const PixelView &          output,
              const ResampleParameters & parameters,
              unsigned                   threads)
{
  RequireChain(chain);
  ResampleBox(image, map, DisplacementRows({}, &chain, map), output, parameters, threads);
}

PixelBox
FindReachedBox(const Extent &       imageSize,
               const CompositeMap & map,
               const WarpInput &    u,
               const Extent &       gridSize,
               const PixelBox &     outputBox,
               unsigned             threads)
{
  RequireBox(gridSize, outputBox);
  RequireFixedGrid(u, gridSize, outputBox.first[2], outputBox.first[2] + outputBox.count[2]);
  return FindBox(imageSize, map, DisplacementRows(u, nullptr, map), outputBox, !u, threads);
}

PixelBox
FindReachedBoxOfChain(const Extent &       imageSize,
                      const CompositeMap & map,
                      const WarpChain &    chain,
                      const Extent &       gridSize,
                      const PixelBox &     outputBox,
                      unsigned             threads)
{
  RequireBox(gridSize, outputBox);
  RequireChain(chain);
  return FindBox(imageSize, map, DisplacementRows({}, &chain, map), outputBox, false, threads);
}

} // namespace ffdp
