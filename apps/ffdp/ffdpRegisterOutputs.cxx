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
#include "ffdpResampling.h"
#include "ffdpTransformFiles.h"

/** One direction after the other: a warp and ITK's copy of it in doubles are large. */
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
    FieldImage::Pointer  field;
    if (!warp.empty())
    {
      WriteWarp(warp, fixed, prefix + "1" + inverse + "Warp.nii.gz");
      field = MakeField(warp, fixed);
      std::vector<float>().swap(warp);
    }
    StopIfInterrupted();
    const auto composite = MakeComposite(forward ? result.affine : result.affine.Inverse(), field, forward);
    field = nullptr;
    if (options.composite)
    {
      WriteComposite(composite, prefix + inverse + "Composite.h5");
      StopIfInterrupted();
    }
    const auto warped =
      forward ? ResampleImage(moving, fixed, composite, "linear") : ResampleImage(fixed, moving, composite, "linear");
    WriteImage(warped, prefix + inverse + "Warped.nii.gz");
    StopIfInterrupted();
  }
}
