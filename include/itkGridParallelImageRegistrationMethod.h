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
#ifndef itkGridParallelImageRegistrationMethod_h
#define itkGridParallelImageRegistrationMethod_h

#include "itkFFDPCompatibility.h"
#include "itkFFDPRegistrationProcess.h"

#include "itkCompositeTransform.h"
#include "itkDataObjectDecorator.h"
#include "itkDisplacementFieldTransform.h"
#include "itkImage.h"

#include <list>
#include <string>
#include <type_traits>
#include <vector>

namespace itk
{

/** \class GridParallelImageRegistrationMethod
 * \brief Registers a moving to a fixed image: linear and diffeomorphic stages in one run, from images to transforms.
 *
 * The outputs are CompositeTransforms of double. The forward one,
 *
 *   phi(x) = A (x + u(x)) + t,
 *
 * takes a point of the fixed image to the moving one, as ResampleImageFilter wants it: u is a
 * DisplacementFieldTransform on the grid of the fixed image, applied first; (A, t) is an AffineTransform, applied
 * second. The inverse output takes points of the moving image to the fixed one. Without a deformable stage there is no
 * u. The region of a field starts at index 0 wherever that of the fixed image does, because files of transforms keep no
 * index.
 *
 * What is done is a list of stages, plain structs with defaults (ffdp::RegistrationStage), each of which starts where
 * the one before ended. Without a list: ffdp::MakeStages(), with all image pairs at equal weights; an initial
 * transform then leaves out the search for a start, and one with a displacement field leaves out all linear stages.
 *
 * <b>Images</b> are itk::Image of numbers, 2-D or 3-D, on any grids: index, spacing, direction and size may differ.
 * Fixed images of all pairs are on one grid. Masks are on the grids of their images, inside is what is not 0; they hold
 * for all pairs.
 *
 * <b>Memory</b> during a deformable stage: ten floats per voxel of the fixed image (SyN: twenty) above the images.
 * Float images are used in place; of others a float copy (4 bytes per voxel) lives as long as Update() runs, and so it
 * is with masks. The outputs hold 2 x 24 bytes (2-D: 2 x 16) per voxel of the fixed image, since ITK's field transforms
 * keep doubles; while they are made, 12 bytes more.
 *
 * <b>Results</b> are the same to the last bit for any number of work units. Their number is the number of threads; it
 * starts as that of ITK's threads.
 *
 * <b>Events.</b> IterationEvent after each iteration, with GetCurrent...() for observers, and ProgressEvent.
 * AbortGenerateDataOn() in an observer stops after that iteration: Update() throws ProcessAborted, and there is no
 * output. Moments are searched without iterations.
 *
 * <b>Errors</b> are ExceptionObjects that name what is wrong: an input that is missing, constant, not finite or not on
 * the grid it has to be on, an empty mask, images that do not overlap, a transform or a list of stages that cannot be
 * used.
 *
 * \ingroup FFDP
 * \ingroup RegistrationFilters
 * \sa ImageRegistrationMethodv4
 */
template <typename TFixedImage,
          typename TMovingImage = TFixedImage,
          typename TMaskImage = Image<unsigned char, TFixedImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT GridParallelImageRegistrationMethod : public FFDPRegistrationProcess
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(GridParallelImageRegistrationMethod);

  using Self = GridParallelImageRegistrationMethod;
  using Superclass = FFDPRegistrationProcess;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(GridParallelImageRegistrationMethod);

  static constexpr unsigned int ImageDimension = TFixedImage::ImageDimension;
  static_assert(ImageDimension == 2 || ImageDimension == 3, "Images have two or three dimensions");

  /** An itk::Image of numbers; a VectorImage is not. */
  template <typename TImage>
  static constexpr bool IsScalarImage =
    std::is_base_of<Image<typename TImage::PixelType, ImageDimension>, TImage>::value &&
      std::is_arithmetic<typename TImage::PixelType>::value;
  static_assert(IsScalarImage<TFixedImage> && IsScalarImage<TMovingImage> && IsScalarImage<TMaskImage>,
                "Images and masks are itk::Image of numbers, of one dimension");

  using FixedImageType = TFixedImage;
  using MovingImageType = TMovingImage;
  using MaskImageType = TMaskImage;
  using InitialTransformType = Transform<double, ImageDimension, ImageDimension>;
  using OutputTransformType = CompositeTransform<double, ImageDimension>;
  using DecoratedOutputTransformType = DataObjectDecorator<OutputTransformType>;
  using DisplacementFieldTransformType = DisplacementFieldTransform<double, ImageDimension>;
  using DataObjectPointer = ProcessObject::DataObjectPointer;
  using DataObjectPointerArraySizeType = ProcessObject::DataObjectPointerArraySizeType;

  void
  SetFixedImage(const FixedImageType * image)
  {
    this->SetInput("Fixed", const_cast<FixedImageType *>(image));
  }
  const FixedImageType *
  GetFixedImage(SizeValueType pair = 0) const
  {
    return this->template GetImage<FixedImageType>(NameOfInput("Fixed", pair));
  }
  void
  SetMovingImage(const MovingImageType * image)
  {
    this->SetInput("Moving", const_cast<MovingImageType *>(image));
  }
  const MovingImageType *
  GetMovingImage(SizeValueType pair = 0) const
  {
    return this->template GetImage<MovingImageType>(NameOfInput("Moving", pair));
  }

  /** Images that are compared beside the first ones (pair 0), by metrics that name the pair. Returns its number. */
  SizeValueType
  AddImagePair(const FixedImageType * fixed, const MovingImageType * moving);
  /** Takes back all that AddImagePair() added. */
  void
  ClearImagePairs();
  itkGetConstMacro(NumberOfImagePairs, SizeValueType);

  /** Only what is inside is compared. A moving mask needs moving images that are all on one grid. */
  void
  SetFixedMask(const MaskImageType * mask)
  {
    this->SetInput("FixedMask", const_cast<MaskImageType *>(mask));
  }
  const MaskImageType *
  GetFixedMask() const
  {
    return this->template GetImage<MaskImageType>("FixedMask");
  }
  void
  SetMovingMask(const MaskImageType * mask)
  {
    this->SetInput("MovingMask", const_cast<MaskImageType *>(mask));
  }
  const MaskImageType *
  GetMovingMask() const
  {
    return this->template GetImage<MaskImageType>("MovingMask");
  }

  /** Where the first stage starts: a linear transform, a displacement field with linear interpolation on any grid, or
   * (nested) composites of them. It is read, not changed. */
  itkSetGetDecoratedObjectInputMacro(InitialTransform, InitialTransformType);

  /** From the fixed to the moving image, and back. The transforms in them are null before Update(). */
  DecoratedOutputTransformType *
  GetOutput()
  {
    return static_cast<DecoratedOutputTransformType *>(this->ProcessObject::GetOutput(0));
  }
  DecoratedOutputTransformType *
  GetInverseOutput()
  {
    return static_cast<DecoratedOutputTransformType *>(this->ProcessObject::GetOutput(1));
  }
  const OutputTransformType *
  GetTransform() const
  {
    return static_cast<const DecoratedOutputTransformType *>(this->ProcessObject::GetOutput(0))->Get();
  }
  const OutputTransformType *
  GetInverseTransform() const
  {
    return static_cast<const DecoratedOutputTransformType *>(this->ProcessObject::GetOutput(1))->Get();
  }

protected:
  GridParallelImageRegistrationMethod();
  ~GridParallelImageRegistrationMethod() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

  using Superclass::MakeOutput;
  DataObjectPointer MakeOutput(DataObjectPointerArraySizeType) override;

  /** Refuses grids that do not belong together, before any input is computed. */
  void
  VerifyInputInformation() const override;

  void
  GenerateData() override;

private:
  using FieldType = typename DisplacementFieldTransformType::DisplacementFieldType;
  using FloatsType = std::vector<float>;

  static std::string
  NameOfInput(const char * role, SizeValueType pair)
  {
    return pair == 0 ? role : role + std::to_string(pair);
  }
  template <typename TImage>
  const TImage *
  GetImage(const std::string & name) const
  {
    return dynamic_cast<const TImage *>(this->ProcessObject::GetInput(name));
  }

  /** Images in place or as floats in `copies`, which must live as long as the pairs. */
  std::vector<ffdp::ImagePair>
  MakePairs(std::list<FloatsType> & copies) const;

  /** The initial transform as registration wants it; false if there is none. */
  bool
  MakeStart(ffdp::WarpedStart & start) const;

  /** Makes the outputs; empties the warps of the result as it goes. */
  void
  MakeTransforms(ffdp::RegistrationResult & result);
  typename FieldType::Pointer
  MakeField(FloatsType & warp) const;
  typename OutputTransformType::Pointer
  MakeComposite(const ffdp::AffineMap & affine, FieldType * field, FieldType * inverseField, bool fieldFirst) const;

  SizeValueType m_NumberOfImagePairs{ 1 };
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGridParallelImageRegistrationMethod.hxx"
#endif

#endif
