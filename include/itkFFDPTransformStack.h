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
#ifndef itkFFDPTransformStack_h
#define itkFFDPTransformStack_h

#include "ffdpSampler.h"
#include "ffdpWarpChain.h"

#include "itkImageBase.h"
#include "itkTransform.h"

#include <string>

namespace itk
{

/** \class FFDPTransformStack
 * \brief What a transform does to the points of a grid, in the form that the samplers of ffdp take.
 *
 * The continuous index in an image (relative to the start of a region of it) of grid point x (relative to the start of
 * a region of the grid) is
 *
 *   X(x) = A x + t + S u(x)
 *
 * with (A, t, S) in `map`. Three cases:
 * - no displacement field: `warp` is empty and u = 0;
 * - one field that is applied first and lies on the grid: `warp` is ITK's own memory, interleaved vectors in
 *   physical units, and S holds what is applied after the field;
 * - everything else (a field on another grid, after a linear step, several fields): HasResiduals() is true, S is the
 *   identity, and u is the residual that FillResiduals() writes in voxels of the image, for as many planes at a time as
 *   the caller likes (`chain` gives it row by row).
 *
 * In 2-D the third axis maps to itself. Nothing is copied: the transform must outlive the stack, and a field whose
 * buffer is replaced needs a new one.
 *
 * \ingroup FFDP
 */
struct FFDPTransformStack
{
  ffdp::CompositeMap map;
  ffdp::WarpInput    warp;
  std::uint64_t      warpVersion = 0; ///< the later modified time of the field of `warp` and of its transform
  ffdp::WarpChain    chain;           ///< has steps only if HasResiduals()

  bool
  HasResiduals() const
  {
    return !chain.steps.empty();
  }

  /** u for the planes of the grid that `residuals` holds: three planar components. */
  void
  FillResiduals(const ffdp::WarpView<float> & residuals, unsigned int threads = 0) const
  {
    ffdp::FillResiduals(chain, map, residuals, threads);
  }
};

/** Reads a stack of linear transforms and displacement fields, nested composites included, for the points of
 * `gridRegion` and positions in `imageRegion`. Returns false and says in `whyNot` what is not such a stack: a transform
 * of another kind, a field without linear interpolation, more than three dimensions. Cost: a few calls of
 * TransformPoint; no pixel of the grid or of the image is looked at. */
template <typename TParametersValueType, unsigned int VDimension>
bool
ReadTransformStack(const Transform<TParametersValueType, VDimension, VDimension> * transform,
                   const ImageBase<VDimension> *                                   grid,
                   const ImageRegion<VDimension> &                                 gridRegion,
                   const ImageBase<VDimension> *                                   image,
                   const ImageRegion<VDimension> &                                 imageRegion,
                   FFDPTransformStack &                                            stack,
                   std::string &                                                   whyNot);

/** The same, for positions in the buffered region of the image. */
template <typename TParametersValueType, unsigned int VDimension>
bool
ReadTransformStack(const Transform<TParametersValueType, VDimension, VDimension> * transform,
                   const ImageBase<VDimension> *                                   grid,
                   const ImageRegion<VDimension> &                                 gridRegion,
                   const ImageBase<VDimension> *                                   image,
                   FFDPTransformStack &                                            stack,
                   std::string &                                                   whyNot)
{
  return ReadTransformStack(transform, grid, gridRegion, image, image->GetBufferedRegion(), stack, whyNot);
}

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkFFDPTransformStack.hxx"
#endif

#endif
