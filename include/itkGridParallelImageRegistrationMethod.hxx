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
#ifndef itkGridParallelImageRegistrationMethod_hxx
#define itkGridParallelImageRegistrationMethod_hxx

#include "itkGridParallelImageRegistrationMethod.h"

#include "itkFFDPOwnedPlanes.h"

#include <algorithm>
#include <string>

namespace itk
{
namespace GridParallelImageRegistrationMethodDetail
{

inline std::string
NameInWords(const char * role, SizeValueType pair)
{
  return std::string(role) + " image" + (pair == 0 ? "" : " of pair " + std::to_string(pair));
}

} // namespace GridParallelImageRegistrationMethodDetail

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::GridParallelImageRegistrationMethod()
{
  this->SetPrimaryInputName("Fixed");
  this->AddRequiredInputName("Moving", 1);
  this->SetNumberOfRequiredInputs(2);
  this->SetPrimaryOutputName("Transform");
  this->SetNumberOfRequiredOutputs(2);
  this->SetNthOutput(0, this->MakeOutput(0));
  this->SetNthOutput(1, this->MakeOutput(1));
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
auto
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::MakeOutput(DataObjectPointerArraySizeType)
  -> DataObjectPointer
{
  return DecoratedOutputTransformType::New().GetPointer();
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
SizeValueType
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::AddImagePair(const FixedImageType *  fixed,
                                                                                         const MovingImageType * moving)
{
  using namespace GridParallelImageRegistrationMethodDetail;
  if (fixed == nullptr || moving == nullptr)
  {
    itkExceptionMacro("An image of the pair to add is missing");
  }
  const SizeValueType pair = m_NumberOfImagePairs++;
  this->SetInput(Self::NameOfInput("Fixed", pair), const_cast<FixedImageType *>(fixed));
  this->SetInput(Self::NameOfInput("Moving", pair), const_cast<MovingImageType *>(moving));
  return pair;
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
void
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::ClearImagePairs()
{
  using namespace GridParallelImageRegistrationMethodDetail;
  while (m_NumberOfImagePairs > 1)
  {
    --m_NumberOfImagePairs;
    this->RemoveInput(Self::NameOfInput("Fixed", m_NumberOfImagePairs));
    this->RemoveInput(Self::NameOfInput("Moving", m_NumberOfImagePairs));
  }
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
void
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::VerifyInputInformation() const
{
  using namespace GridParallelImageRegistrationMethodDetail;
  using FFDPOwnedPlanesDetail::PlaceGrid;
  Superclass::VerifyInputInformation();
  const auto check = [this](auto * image, const std::string & name, auto * other, const std::string & otherName) {
    if (image == nullptr || other == nullptr)
    {
      itkExceptionMacro("The " << (image == nullptr ? name : otherName) << " is missing or of another type");
    }
    this->RequireOneGrid(PlaceGrid<ImageDimension>(image), name, PlaceGrid<ImageDimension>(other), otherName);
  };
  if (this->ProcessObject::GetInput("FixedMask") != nullptr)
  {
    check(this->GetFixedMask(), "fixed mask", this->GetFixedImage(), NameInWords("fixed", 0));
  }
  for (SizeValueType pair = 0; pair < m_NumberOfImagePairs; ++pair)
  {
    const MovingImageType * const moving = this->GetMovingImage(pair);
    check(this->GetFixedImage(pair), NameInWords("fixed", pair), this->GetFixedImage(), NameInWords("fixed", 0));
    check(moving, NameInWords("moving", pair), moving, "");
    if (this->ProcessObject::GetInput("MovingMask") != nullptr)
    {
      check(this->GetMovingMask(), "moving mask", moving, NameInWords("moving", pair));
    }
  }
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
auto
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::GetOwnedRegion() const -> RegionType
{
  return FFDPOwnedPlanesDetail::RegionOfPlanes(this->RequireFixedImage()->GetLargestPossibleRegion(),
                                               this->PlanesOf(this->RequireFixedImage()));
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
void
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::GenerateInputRequestedRegion()
{
  Superclass::GenerateInputRequestedRegion();
  for (const auto & name : this->GetInputNames())
  {
    auto * const image = dynamic_cast<ImageBase<ImageDimension> *>(this->ProcessObject::GetInput(name));
    if (image != nullptr)
    {
      image->SetRequestedRegion(
        FFDPOwnedPlanesDetail::RegionToRequest(image->GetLargestPossibleRegion(), this->PlanesOf(image)));
    }
  }
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
std::vector<ffdp::ImagePair>
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::MakePairs(
  std::list<FloatsType> & copies) const
{
  using namespace GridParallelImageRegistrationMethodDetail;
  const auto planesInMemory = [&](const auto * image, const std::string & name) {
    const ffdp::PlaneRange planes = this->PlanesOf(image);
    if (!FFDPOwnedPlanesDetail::HasPlanes(image, planes))
    {
      itkExceptionMacro("The " << name << " has no voxels, or not all that this process owns are in memory");
    }
    return planes;
  };
  const auto place = [&](const auto * image, const std::string & name) {
    return FFDPOwnedPlanesDetail::PlaceImage(image, planesInMemory(image, name), copies);
  };
  const auto placeMask = [&](const MaskImageType * mask, const std::string & name) {
    return mask == nullptr ? ffdp::VolumeView<const float>()
                           : FFDPOwnedPlanesDetail::PlaceMask(mask, planesInMemory(mask, name), copies);
  };
  std::vector<ffdp::ImagePair> pairs;
  for (SizeValueType pair = 0; pair < m_NumberOfImagePairs; ++pair)
  {
    ffdp::ImagePair images;
    images.fixed = place(this->GetFixedImage(pair), NameInWords("fixed", pair));
    images.moving = place(this->GetMovingImage(pair), NameInWords("moving", pair));
    images.fixedMask = pair == 0 ? placeMask(this->GetFixedMask(), "fixed mask") : pairs.front().fixedMask;
    images.movingMask = pair == 0 ? placeMask(this->GetMovingMask(), "moving mask") : pairs.front().movingMask;
    pairs.push_back(images);
  }
  return pairs;
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
void
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::RequireUsable(
  const std::vector<ffdp::ImagePair> & pairs) const
{
  using namespace GridParallelImageRegistrationMethodDetail;
  for (SizeValueType pair = 0; pair < m_NumberOfImagePairs; ++pair)
  {
    this->RequireContrast(pairs[pair].fixed, NameInWords("fixed", pair));
    this->RequireContrast(pairs[pair].moving, NameInWords("moving", pair));
  }
  this->RequireInside(pairs.front().fixedMask, "fixed mask");
  this->RequireInside(pairs.front().movingMask, "moving mask");
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
bool
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::MakeStart(ffdp::WarpedStart & start) const
{
  const InitialTransformType * const transform = this->GetInitialTransform();
  if (transform == nullptr)
  {
    return false;
  }
  const ImageBase<ImageDimension> * const fixed = this->GetFixedImage();
  const ImageRegion<ImageDimension> &     region = fixed->GetLargestPossibleRegion();
  FFDPTransformStack                      stack;
  std::string                             whyNot;
  if (!ReadTransformStack<double, ImageDimension>(transform, fixed, region, fixed, region, stack, whyNot))
  {
    itkExceptionMacro("Cannot start from the initial transform: " << whyNot);
  }
  const ffdp::PlacedImage grid = FFDPOwnedPlanesDetail::PlaceGrid<ImageDimension>(fixed);
  try
  {
    start = ffdp::MakeWarpedStart(stack.map,
                                  stack.warp,
                                  stack.chain,
                                  grid.voxels.domain,
                                  this->PlanesOf(fixed),
                                  grid.indexToPhysical,
                                  this->GetNumberOfWorkUnits());
  }
  catch (const std::invalid_argument & error)
  {
    itkExceptionMacro("Cannot start from the initial transform: " << error.what());
  }
  return true;
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
void
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::PrepareOutputs()
{
  Superclass::PrepareOutputs();
  m_LinearTransform = nullptr;
  m_InverseLinearTransform = nullptr;
  m_ForwardField = nullptr;
  m_InverseField = nullptr;
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
void
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::GenerateData()
{
  ffdp::RegistrationResult result;
  {
    std::list<FloatsType>              copies;
    const std::vector<ffdp::ImagePair> pairs = this->MakePairs(copies);
    ffdp::WarpedStart                  start;
    const bool                         hasStart = this->MakeStart(start);
    this->MeetOtherRanks(pairs, hasStart ? &start : nullptr);
    this->RequireUsable(pairs);
    result = this->RunStages(pairs, hasStart ? &start : nullptr);
  }
  if (result.hasWarp)
  {
    // at index 0: the parameters of a field transform have no place for another
    m_FieldRegion = RegionType(this->GetFixedImage()->GetLargestPossibleRegion().GetSize());
    typename FieldType::Pointer fields[2];
    this->DoOnAllRanks([&] {
      fields[0] = this->MakeField(result.warp);
      fields[1] = this->MakeField(result.inverseWarp);
    });
    m_ForwardField = fields[0];
    m_InverseField = fields[1];
  }
  m_LinearTransform = Self::MakeLinear(result.affine);
  m_InverseLinearTransform = Self::MakeLinear(result.affine.Inverse());
  if (!result.hasWarp || this->GetRanks().Size() == 1)
  {
    this->MakeTransforms(m_ForwardField, m_InverseField);
  }
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
void
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::GatherTransforms(int rank)
{
  if (m_LinearTransform.IsNull())
  {
    itkExceptionMacro("There are no transforms to gather: call Update() first");
  }
  const ffdp::Communicator & ranks = this->GetRanks();
  if (rank != AllRanks && (rank < 0 || rank >= ranks.Size()))
  {
    itkExceptionMacro("There is no rank " << rank << " to gather transforms on: there are " << ranks.Size());
  }
  if (m_ForwardField.IsNull())
  {
    return; // they are complete
  }
  const bool                  wanted = rank == AllRanks || rank == ranks.Rank();
  const ffdp::Extent          size = FFDPExtentOf(m_FieldRegion);
  typename FieldType::Pointer fields[2];
  this->DoOnAllRanks([&] {
    if (m_ForwardField->GetBufferedRegion() !=
        FFDPOwnedPlanesDetail::RegionOfPlanes(m_FieldRegion, this->GetOwnedPlanes(size.z)))
    {
      itkExceptionMacro("The communicator is another one than during Update()");
    }
    if (wanted && ranks.Size() > 1)
    {
      fields[0] = this->AllocateWholeField();
      fields[1] = this->AllocateWholeField();
    }
  });
  if (ranks.Size() == 1)
  {
    return; // they are complete
  }
  for (int i = 0; i < 2; ++i)
  {
    const FieldType * const own = i == 0 ? m_ForwardField : m_InverseField;
    this->GatherPlanes(reinterpret_cast<const double *>(own->GetBufferPointer()),
                       wanted ? reinterpret_cast<double *>(fields[i]->GetBufferPointer()) : nullptr,
                       size.z,
                       size.x * size.y * ImageDimension);
  }
  if (wanted)
  {
    this->MakeTransforms(fields[0], fields[1]);
  }
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
void
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::MakeTransforms(FieldType * field,
                                                                                           FieldType * inverseField)
{
  this->GetOutput()->Set(Self::MakeComposite(m_LinearTransform, field, inverseField, true));
  this->GetInverseOutput()->Set(Self::MakeComposite(m_InverseLinearTransform, inverseField, field, false));
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
auto
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::MakeField(FloatsType & warp) const ->
  typename FieldType::Pointer
{
  const FixedImageType * const  fixed = this->GetFixedImage();
  const ffdp::PlacedImage       grid = FFDPOwnedPlanesDetail::PlaceGrid<ImageDimension>(fixed);
  const ffdp::PlaneRange        planes = this->PlanesOf(fixed);
  typename FieldType::PointType first;
  fixed->TransformIndexToPhysicalPoint(fixed->GetLargestPossibleRegion().GetIndex(), first);
  auto field = FieldType::New();
  field->SetRegions(FFDPOwnedPlanesDetail::RegionOfPlanes(m_FieldRegion, planes));
  field->SetLargestPossibleRegion(m_FieldRegion);
  field->SetOrigin(first);
  field->SetSpacing(fixed->GetSpacing());
  field->SetDirection(fixed->GetDirection());
  field->Allocate();
  ffdp::WarpToVectors(warp,
                      { grid.voxels.domain.x, grid.voxels.domain.y, planes.end - planes.first },
                      grid.indexToPhysical,
                      int(ImageDimension),
                      reinterpret_cast<double *>(field->GetBufferPointer()),
                      this->GetNumberOfWorkUnits());
  FloatsType().swap(warp);
  return field;
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
auto
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::AllocateWholeField() const ->
  typename FieldType::Pointer
{
  auto field = FieldType::New();
  field->CopyInformation(m_ForwardField);
  field->SetRegions(m_FieldRegion);
  field->Allocate();
  return field;
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
auto
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::MakeLinear(const ffdp::AffineMap & affine)
  -> typename LinearTransformType::Pointer
{
  const auto                                     linear = LinearTransformType::New();
  typename LinearTransformType::MatrixType       matrix;
  typename LinearTransformType::OutputVectorType offset;
  for (unsigned int r = 0; r < ImageDimension; ++r)
  {
    for (unsigned int c = 0; c < ImageDimension; ++c)
    {
      matrix[r][c] = affine.matrix[3 * r + c];
    }
    offset[r] = affine.offset[r];
  }
  linear->SetMatrix(matrix);
  linear->SetOffset(offset);
  return linear;
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
auto
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::MakeComposite(LinearTransformType * linear,
                                                                                          FieldType *           field,
                                                                                          FieldType * inverseField,
                                                                                          bool        fieldFirst) ->
  typename OutputTransformType::Pointer
{
  const auto composite = OutputTransformType::New();
  if (field == nullptr)
  {
    composite->AddTransform(linear);
    return composite;
  }
  const auto warp = DisplacementFieldTransformType::New();
  warp->SetDisplacementField(field);
  warp->SetInverseDisplacementField(inverseField); // so that ITK can invert it, too
  // a composite applies what was added last first
  if (fieldFirst)
  {
    composite->AddTransform(linear);
    composite->AddTransform(warp);
  }
  else
  {
    composite->AddTransform(warp);
    composite->AddTransform(linear);
  }
  return composite;
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
void
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::PrintSelf(std::ostream & os,
                                                                                      Indent         indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "NumberOfImagePairs: " << m_NumberOfImagePairs << std::endl;
  itkPrintSelfObjectMacro(LinearTransform);
  itkPrintSelfObjectMacro(InverseLinearTransform);
  os << indent << "FieldRegion: " << m_FieldRegion << std::endl;
  itkPrintSelfObjectMacro(ForwardField);
  itkPrintSelfObjectMacro(InverseField);
}

} // namespace itk

#endif
