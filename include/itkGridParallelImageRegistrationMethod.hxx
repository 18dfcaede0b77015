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

#include "itkFFDPPixelLayout.h"
#include "itkFFDPTransformStack.h"

#include "itkAffineTransform.h"

#include <algorithm>
#include <string>

namespace itk
{
namespace GridParallelImageRegistrationMethodDetail
{

/** Where the largest possible region of an image lies, without voxels. */
template <unsigned int VDimension>
ffdp::PlacedImage
PlaceGrid(const ImageBase<VDimension> * image)
{
  const ImageRegion<VDimension> & region = image->GetLargestPossibleRegion();
  ffdp::PlacedImage               placed;
  placed.voxels = ffdp::VolumeView<const float>(nullptr, FFDPExtentOf(region));
  placed.indexToPhysical = FFDPTransformStackDetail::IndexToPoint<VDimension>(image, region.GetIndex());
  return placed;
}

/** Floats in place; of other pixels a copy in `copies`. */
template <typename TImage>
ffdp::PlacedImage
PlaceImage(const TImage * image, std::list<std::vector<float>> & copies)
{
  ffdp::PlacedImage placed = PlaceGrid<TImage::ImageDimension>(image);
  const auto *      pixels = image->GetBufferPointer();
  if constexpr (std::is_same<typename TImage::PixelType, float>::value)
  {
    placed.voxels.data = pixels;
  }
  else
  {
    const auto count = image->GetBufferedRegion().GetNumberOfPixels();
    copies.emplace_back(count);
    std::transform(pixels, pixels + count, copies.back().begin(), [](auto pixel) { return static_cast<float>(pixel); });
    placed.voxels.data = copies.back().data();
  }
  return placed;
}

/** A copy that is 1 where the mask is not 0. */
template <typename TMaskImage>
ffdp::VolumeView<const float>
PlaceMask(const TMaskImage * mask, std::list<std::vector<float>> & copies)
{
  const auto * pixels = mask->GetBufferPointer();
  const auto   count = mask->GetBufferedRegion().GetNumberOfPixels();
  copies.emplace_back(count);
  std::transform(pixels, pixels + count, copies.back().begin(), [](auto pixel) { return pixel != 0 ? 1.0f : 0.0f; });
  return ffdp::VolumeView<const float>(copies.back().data(), FFDPExtentOf(mask->GetLargestPossibleRegion()));
}

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
std::vector<ffdp::ImagePair>
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::MakePairs(
  std::list<FloatsType> & copies) const
{
  using namespace GridParallelImageRegistrationMethodDetail;
  const auto place = [&](const auto * image, const std::string & name) {
    if (image->GetBufferedRegion() != image->GetLargestPossibleRegion() || image->GetBufferPointer() == nullptr ||
        image->GetBufferedRegion().GetNumberOfPixels() == 0)
    {
      itkExceptionMacro("The " << name << " has no voxels, or not all of them are in memory");
    }
    const ffdp::PlacedImage placed = PlaceImage(image, copies);
    this->RequireContrast(placed, name);
    return placed;
  };
  const auto placeMask = [&](const MaskImageType * mask, const std::string & name) {
    if (mask == nullptr)
    {
      return ffdp::VolumeView<const float>();
    }
    if (mask->GetBufferedRegion() != mask->GetLargestPossibleRegion() || mask->GetBufferPointer() == nullptr)
    {
      itkExceptionMacro("The " << name << " is not in memory as a whole");
    }
    const ffdp::VolumeView<const float> view = PlaceMask(mask, copies);
    const FloatsType &                  voxels = copies.back();
    if (std::find(voxels.begin(), voxels.end(), 1.0f) == voxels.end())
    {
      itkExceptionMacro("The " << name << " is empty");
    }
    return view;
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
  const ffdp::PlacedImage grid = GridParallelImageRegistrationMethodDetail::PlaceGrid<ImageDimension>(fixed);
  try
  {
    start = ffdp::MakeWarpedStart(
      stack.map, stack.warp, stack.chain, grid.voxels.domain, grid.indexToPhysical, this->GetNumberOfWorkUnits());
  }
  catch (const std::invalid_argument & error)
  {
    itkExceptionMacro("Cannot start from the initial transform: " << error.what());
  }
  return true;
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
    result = this->RunStages(pairs, hasStart ? &start : nullptr);
  }
  this->MakeTransforms(result);
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
void
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::MakeTransforms(
  ffdp::RegistrationResult & result)
{
  const typename FieldType::Pointer field = this->MakeField(result.warp);
  const typename FieldType::Pointer inverseField = this->MakeField(result.inverseWarp);
  this->GetOutput()->Set(this->MakeComposite(result.affine, field, inverseField, true));
  this->GetInverseOutput()->Set(this->MakeComposite(result.affine.Inverse(), inverseField, field, false));
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
auto
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::MakeField(FloatsType & warp) const ->
  typename FieldType::Pointer
{
  if (warp.empty())
  {
    return nullptr;
  }
  const FixedImageType * const           fixed = this->GetFixedImage();
  const typename FieldType::RegionType & region = fixed->GetLargestPossibleRegion();
  typename FieldType::PointType          first;
  fixed->TransformIndexToPhysicalPoint(region.GetIndex(), first);
  auto field = FieldType::New();
  field->SetRegions(region.GetSize()); // at index 0: the parameters of a field transform have no place for another
  field->SetOrigin(first);
  field->SetSpacing(fixed->GetSpacing());
  field->SetDirection(fixed->GetDirection());
  field->Allocate();
  const ffdp::PlacedImage grid = GridParallelImageRegistrationMethodDetail::PlaceGrid<ImageDimension>(fixed);
  ffdp::WarpToVectors(warp,
                      grid.voxels.domain,
                      grid.indexToPhysical,
                      int(ImageDimension),
                      reinterpret_cast<double *>(field->GetBufferPointer()),
                      this->GetNumberOfWorkUnits());
  FloatsType().swap(warp);
  return field;
}

template <typename TFixedImage, typename TMovingImage, typename TMaskImage>
auto
GridParallelImageRegistrationMethod<TFixedImage, TMovingImage, TMaskImage>::MakeComposite(
  const ffdp::AffineMap & affine,
  FieldType *             field,
  FieldType *             inverseField,
  bool                    fieldFirst) const -> typename OutputTransformType::Pointer
{
  using AffineType = AffineTransform<double, ImageDimension>;
  const auto                            linear = AffineType::New();
  typename AffineType::MatrixType       matrix;
  typename AffineType::OutputVectorType offset;
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
}

} // namespace itk

#endif
