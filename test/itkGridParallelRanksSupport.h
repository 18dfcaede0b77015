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
#ifndef itkGridParallelRanksSupport_h
#define itkGridParallelRanksSupport_h

#include "ffdpTestRanks.h"
#include "itkGridParallelTestSupport.h"

#include "itkImageSource.h"

#include <functional>
#include <vector>

/** What a rank has of a world to register: sources that paint what they are asked for, as a reader that streams. */
namespace ffdp
{
namespace test
{

/** Paints the region that is asked for, or more, and remembers what was asked for. */
template <typename TImage>
class PaintedSource : public itk::ImageSource<TImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(PaintedSource);

  using Self = PaintedSource;
  using Superclass = itk::ImageSource<TImage>;
  using Pointer = itk::SmartPointer<Self>;
  using RegionType = typename TImage::RegionType;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(PaintedSource);

  CenteredGrid                         grid;
  std::function<double(const Place &)> value = Organ;
  bool                                 paintsAll = false; ///< as a reader that cannot stream
  unsigned int                         margin = 0;        ///< painted all around, also where the image has ended
  bool                                 fails = false;
  std::vector<RegionType>              requests;

protected:
  PaintedSource() = default;
  ~PaintedSource() override = default;

  void
  GenerateOutputInformation() override
  {
    PlaceOnGrid<TImage>(this->GetOutput(), grid);
  }
  void
  GenerateData() override
  {
    TImage * const output = this->GetOutput();
    requests.push_back(output->GetRequestedRegion());
    if (fails)
    {
      itkExceptionMacro("the disk is on fire");
    }
    RegionType region = paintsAll ? output->GetLargestPossibleRegion() : output->GetRequestedRegion();
    region.PadByRadius(margin);
    output->SetBufferedRegion(region);
    output->Allocate();
    PaintVoxels<TImage>(output, value);
  }
};

/** The organ and its transform as one rank sees them. */
template <unsigned int VDimension>
struct RankPair
{
  using FixedType = itk::Image<float, VDimension>;
  using MovingType = itk::Image<short, VDimension>;
  using MethodType = itk::GridParallelImageRegistrationMethod<FixedType, MovingType>;
  using FixedSource = PaintedSource<FixedType>;
  using MovingSource = PaintedSource<MovingType>;

  typename FixedSource::Pointer  fixed = FixedSource::New();
  typename MovingSource::Pointer moving = MovingSource::New();
  typename MethodType::Pointer   method = MethodType::New();

  /** Without a communicator: one process by itself. */
  explicit RankPair(Communicator * communicator = nullptr)
  {
    KnownTransform known;
    known.planar = VDimension == 2;
    fixed->value = [known](const Place & p) { return Organ(known(p)); };
    // 41 planes make at most five slabs, 37 four: of eight ranks some own nothing, and not the same of both images
    fixed->grid.size = { { 20, 18, 41 } };
    fixed->grid.spacing = { { 2, 2, 0.9 } };
    fixed->grid.start = 3;
    fixed->grid.angle = 0.1;
    moving->grid.size = { { 22, 19, 37 } };
    moving->grid.spacing = { { 1.9, 2, 1 } };
    method->SetFixedImage(fixed->GetOutput());
    method->SetMovingImage(moving->GetOutput());
    method->SetCommunicator(communicator);
    method->SetNumberOfWorkUnits(1);
  }
};

inline RegistrationStage
FewIterations(RegistrationStage::Kind kind)
{
  RegistrationStage stage = ShortStage(kind);
  stage.iterations = { 5, 3 };
  stage.tolerance = -1; // all of them
  return stage;
}

} // namespace test
} // namespace ffdp

#endif
