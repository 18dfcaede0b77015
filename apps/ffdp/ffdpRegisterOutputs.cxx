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
#include "ffdpRegisterOutputs.h"

#include "ffdpInterruption.h"
#include "ffdpResample.h"
#include "ffdpTransformFiles.h"

namespace
{

FloatImage::Pointer
MakeImageLike(const FloatImage * grid)
{
  auto image = FloatImage::New();
  image->CopyInformation(grid);
  image->SetRegions(grid->GetLargestPossibleRegion());
  image->Allocate();
  return image;
}

ffdp::PixelView
Pixels(FloatImage * image)
{
  return ffdp::PixelView(image->GetBufferPointer(), PlaceImage(image).voxels.domain);
}

/** The moving image on the fixed grid: M(A (x + u(x)) + t), straight from the warp as the engine has it. */
FloatImage::Pointer
WarpMoving(const ffdp::RegistrationResult & result, const FloatImage * fixed, const FloatImage * moving)
{
  const ffdp::PlacedImage from = PlaceImage(moving), to = PlaceImage(fixed);
  const ffdp::AffineMap   map = Compose(from.indexToPhysical.Inverse(), Compose(result.affine, to.indexToPhysical));
  ffdp::CompositeMap      composite;
  std::copy(map.matrix, map.matrix + 9, composite.A);
  std::copy(map.matrix, map.matrix + 9, composite.S);
  std::copy(map.offset, map.offset + 3, composite.t);
  ffdp::WarpInput warp;
  if (!result.warp.empty())
  {
    warp = ffdp::WarpView<const float>::Planar(result.warp.data(), to.voxels.domain);
  }
  const auto warped = MakeImageLike(fixed);
  ffdp::Resample(from.voxels, composite, warp, Pixels(warped));
  return warped;
}

/** The fixed image on the moving grid: the affine's inverse, then that of the warp, which lies on the fixed grid. */
FloatImage::Pointer
WarpFixed(const ffdp::RegistrationResult & result, const FloatImage * fixed, const FloatImage * moving)
{
  const ffdp::PlacedImage from = PlaceImage(fixed), to = PlaceImage(moving);
  ffdp::WarpChain         chain;
  chain.start = Compose(from.indexToPhysical.Inverse(), Compose(result.affine.Inverse(), to.indexToPhysical));
  if (!result.inverseWarp.empty())
  {
    ffdp::WarpStep step;
    step.warp = ffdp::WarpView<const float>::Planar(result.inverseWarp.data(), from.voxels.domain);
    chain.steps.push_back(step);
  }
  const auto warped = MakeImageLike(moving);
  ffdp::ResampleChain(from.voxels, ffdp::LinearPart(chain), chain, Pixels(warped));
  return warped;
}

} // namespace

/** One direction after the other, so that the memory of one warp is free for the next. */
void
WriteRegistration(const RegisterOptions & options, ffdp::RegistrationResult & result, const RegisterInputs & inputs)
{
  const std::string & prefix = options.output;
  FloatImage * const  fixed = inputs.fixed;
  FloatImage * const  moving = inputs.moving;
  WriteLinear(result.affine, prefix + "0GenericAffine.mat");
  for (const bool forward : { true, false })
  {
    const std::string    inverse = forward ? "" : "Inverse";
    std::vector<float> & warp = forward ? result.warp : result.inverseWarp;
    if (!warp.empty())
    {
      WriteWarp(warp, fixed, prefix + "1" + inverse + "Warp.nii.gz");
      StopIfInterrupted();
    }
    WriteImage(forward ? WarpMoving(result, fixed, moving) : WarpFixed(result, fixed, moving),
               prefix + inverse + "Warped.nii.gz");
    StopIfInterrupted();
    if (options.composite)
    {
      const auto field = warp.empty() ? FieldImage::Pointer() : MakeField(warp, fixed);
      WriteComposite(MakeComposite(forward ? result.affine : result.affine.Inverse(), field, forward),
                     prefix + inverse + "Composite.h5");
      StopIfInterrupted();
    }
    std::vector<float>().swap(warp);
  }
}
