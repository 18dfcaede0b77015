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
#ifndef ffdpResample_h
#define ffdpResample_h

#include "FFDPExport.h"
#include "ffdpPixels.h"
#include "ffdpSampler.h"
#include "ffdpWarpChain.h"

#include <vector>

/** The composite implicit sampler for pixels of any type: what itk::ResampleImageFilter does.
 *
 *   out(x) = I(X),   X = A x + t + S u(x)
 *
 * Border and rounding are ITK's: X in [-0.5, n - 0.5) on every axis is inside, corners are clamped to the edge, the
 * nearest voxel of a half is the upper one, results are cut to the range of the output's type and integers are cut
 * towards zero. Not a number is zero in an integer.
 *
 * Positions and interpolation are in double, in the form v0 + (v1 - v0) d, exact on constants; a corner of weight zero
 * does not count, even if it is not a number. Linear interpolation from float to float (one component) has the
 * precision of Sample(), where a coordinate is known to 2^-23 (2 + |S u|) voxels; only within 1e-3 voxels of the border
 * positions are in double, so that inside and outside are told apart as ITK does.
 *
 * Bytes do not depend on the number of threads, on the instruction set, or on the box of the output that is computed.
 * Extra memory: some 20 KB of stack, 130 doubles per component and three doubles per column of the output per thread.
 */
namespace ffdp
{

struct ResampleParameters
{
  Interpolation interpolation = Interpolation::Linear; ///< Nearest: halves go up here
  /** Per component, cast like any other value; empty: zero. */
  std::vector<double> outside;
  /** One pixel of the output's type instead: a 64-bit integer need not be a double. */
  const void * outsidePixel = nullptr;
};

/** Computes the box of pixels that `output` holds; `image` must hold what FindReachedBox() says. The field lies on the
 * grid of the output: it holds the planes of the box, all rows and columns of the grid. */
FFDP_EXPORT void
Resample(const ConstPixelView &     image,
         const CompositeMap &       map,
         const WarpInput &          u,
         const PixelView &          output,
         const ResampleParameters & parameters = {},
         unsigned                   threads = 0);

/** The same for a chain of fields: `map` is LinearPart(chain), u its residual, which is computed row by row. */
FFDP_EXPORT void
ResampleChain(const ConstPixelView &     image,
              const CompositeMap &       map,
              const WarpChain &          chain,
              const PixelView &          output,
              const ResampleParameters & parameters = {},
              unsigned                   threads = 0);

/** The pixels of an image of size `imageSize` that Resample() may read for the pixels `outputBox` of a grid of size
 * `gridSize`: a box, with one pixel to spare. Empty if no point is inside the image. */
FFDP_EXPORT PixelBox
FindReachedBox(const Extent &       imageSize,
               const CompositeMap & map,
               const WarpInput &    u,
               const Extent &       gridSize,
               const PixelBox &     outputBox,
               unsigned             threads = 0);

FFDP_EXPORT PixelBox
FindReachedBoxOfChain(const Extent &       imageSize,
                      const CompositeMap & map,
                      const WarpChain &    chain,
                      const Extent &       gridSize,
                      const PixelBox &     outputBox,
                      unsigned             threads = 0);

} // namespace ffdp

#endif
