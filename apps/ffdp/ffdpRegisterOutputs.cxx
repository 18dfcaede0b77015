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

#include "ffdpAgreement.h"
#include "ffdpInterruption.h"
#include "ffdpPartition.h"
#include "ffdpRegisterFiles.h"
#include "ffdpTransformWriting.h"
#include "ffdpWarpedImages.h"


namespace
{

/** The planes of all ranks of a warp, on rank 0; nothing on the others. */
std::vector<float>
GatherWarp(const std::vector<float> & own, const ffdp::RegistrationResult & result, ffdp::Communicator & communicator)
{
  const ffdp::Extent         size = result.warpSize;
  const std::int64_t         plane = size.x * size.y, ownCount = std::int64_t(own.size() / 3);
  std::vector<float>         whole;
  std::vector<ffdp::Message> sends, receives;
  DoOnFirst(communicator, [&] { whole.resize(std::size_t(3 * size.Voxels())); });
  if (communicator.Rank() > 0 && ownCount > 0)
  {
    sends.push_back({ 0, {} });
    for (int c = 0; c < 3; ++c)
    {
      sends[0].blocks.push_back(
        { const_cast<float *>(own.data() + c * ownCount), std::size_t(ownCount) * sizeof(float) });
    }
  }
  for (int rank = 1; rank < communicator.Size() && communicator.Rank() == 0; ++rank)
  {
    const ffdp::PlaneRange planes = ffdp::Partition(size.z, communicator.Size()).Owned(rank);
    ffdp::Message          message{ rank, {} };
    for (int c = 0; c < 3 && planes.first < planes.end; ++c)
    {
      message.blocks.push_back({ whole.data() + c * size.Voxels() + planes.first * plane,
                                 std::size_t((planes.end - planes.first) * plane) * sizeof(float) });
    }
    if (!message.blocks.empty())
    {
      receives.push_back(std::move(message));
    }
  }
  const auto underWay = communicator.Start(sends, receives);
  for (int c = 0; c < 3 && communicator.Rank() == 0; ++c)
  {
    std::copy_n(own.data() + c * ownCount, ownCount, whole.data() + c * size.Voxels()); // its planes are the first
  }
  underWay->Wait();
  return whole;
}

/** ITK's composite transform holds its field as a whole, so rank 0 gets all of it. */
void
WriteCompositeOnFirst(const ffdp::AffineMap &          map,
                      const std::vector<float> &       warp,
                      const ffdp::RegistrationResult & result,
                      const FloatImage *               fixed,
                      unsigned int                     dimension,
                      bool                             fieldFirst,
                      const std::string &              file,
                      ffdp::Communicator &             communicator)
{
  const std::vector<float> whole = result.hasWarp ? GatherWarp(warp, result, communicator) : std::vector<float>();
  DoOnFirst(communicator, [&] {
    const auto field = result.hasWarp ? MakeField(whole, fixed) : FieldImage::Pointer();
    WriteTransforms(MakeComposite(map, field, fieldFirst), file, dimension);
  });
}

} // namespace

/** One direction after the other, so that the memory of one warp is free for the next. */
void
WriteRegistration(const RegisterOptions &    options,
                  ffdp::RegistrationResult & result,
                  const RegisterInputs &     inputs,
                  ffdp::Backend &            backend,
                  ffdp::Communicator &       communicator)
{
  const std::string & prefix = options.output;
  const std::string   ending = options.uncompressed ? ".nii" : ".nii.gz";
  const unsigned int  dimension = inputs.file.Dimension();
  FloatImage * const  fixed = inputs.fixed;
  FloatImage * const  moving = inputs.moving;
  DoOnFirst(communicator, [&] { WriteLinear(result.affine, prefix + "0GenericAffine.mat", dimension); });
  for (const bool forward : { true, false })
  {
    const std::string    inverse = forward ? "" : "Inverse";
    std::vector<float> & warp = forward ? result.warp : result.inverseWarp;
    if (result.hasWarp)
    {
      WriteWarp(warp, fixed, prefix + "1" + inverse + "Warp" + ending, communicator, dimension);
      StopIfInterrupted(communicator);
    }
    const auto makeWarped = forward ? WarpMoving : WarpFixed;
    WriteImage(makeWarped(result, fixed, moving, backend, communicator),
               NameOfWarped(options, forward),
               communicator,
               dimension);
    StopIfInterrupted(communicator);
    if (options.composite)
    {
      WriteCompositeOnFirst(forward ? result.affine : result.affine.Inverse(),
                            warp,
                            result,
                            fixed,
                            dimension,
                            forward,
                            prefix + inverse + "Composite.h5",
                            communicator);
      StopIfInterrupted(communicator);
    }
    std::vector<float>().swap(warp);
  }
}
