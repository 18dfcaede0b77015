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
#include "itkFFDPPixelLayout.h"
#include "itkFFDPRegistrationProcess.h"

#include "itkAffineTransform.h"
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
 * <b>Memory</b> during a deformable stage: seven floats per voxel of the fixed image (SyN: ten) above the images, and
 * some planes; where a metric compares edges, those of each image as well. Float images are used in place; of others a float copy (4 bytes per voxel) lives as long as Update()
 * runs, and so it is with masks. The outputs hold 2 x 24 bytes (2-D: 2 x 16) per voxel of the fixed image, since ITK's
 * field transforms keep doubles; while they are made, 12 bytes more.
 *
 * <b>Results</b> are the same to the last bit for any number of work units. Their number is the number of threads; it
 * starts as that of ITK's threads.
 *
 * <b>Several processes</b> (SetCommunicator()) solve the problem together, to the bytes that one alone would find. Each
 * is a rank and owns some planes along the last axis, ffdp::Partition says which; of 2-D images the first rank owns
 * all. It asks upstream for its own planes of each image, so a reader that streams reads no more, and memory is as
 * above for these planes alone (for each pair of images two floats per voxel more, with a moving mask three, where
 * their last axes lie across each other). The initial transform is whole on each rank. All ranks call Update(), with
 * the same settings. Each then has GetLinearTransform() and its planes of GetForwardField() and GetInverseField(). A
 * DisplacementFieldTransform of some planes would be wrong elsewhere, so the outputs stay null until
 * GatherTransforms(), unless there is no field.
 *
 * <b>Events.</b> IterationEvent after each iteration, with GetCurrent...() for observers, and ProgressEvent.
 * AbortGenerateDataOn() in an observer stops after that iteration, on all ranks if on one: Update() throws
 * ProcessAborted, and there is no output. A search by moments counts as a stage with some iterations, too.
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
  using LinearTransformType = AffineTransform<double, ImageDimension>;
  using DisplacementFieldTransformType = DisplacementFieldTransform<double, ImageDimension>;
  using FieldType = typename DisplacementFieldTransformType::DisplacementFieldType;
  using RegionType = typename TFixedImage::RegionType;
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

  /** From the fixed to the moving image, and back. The transforms in them are null before Update(), and with several
   * ranks and a deformable stage also after it, until GatherTransforms(). */
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

  /** The part of the fixed image that this rank owns, and asks upstream for; it may be empty. Known when the fixed
   * image is: after its UpdateOutputInformation(). */
  RegionType
  GetOwnedRegion() const;

  /** What Update() found on the planes that this rank owns: phi(x) = A (x + u(x)) + t. u in mm and its inverse are null
   * without a deformable stage. They have the whole grid as largest possible region, which starts at index 0, and the
   * owned planes in memory. They have no source, so a filter that they are given to takes these planes for the whole.
   */
  itkGetConstObjectMacro(LinearTransform, LinearTransformType);
  itkGetConstObjectMacro(ForwardField, FieldType);
  itkGetConstObjectMacro(InverseField, FieldType);

  /** Makes GetTransform() and GetInverseTransform() complete, on one rank or on all, after Update(). All ranks make the
   * call. Where they are made they take 2 x 24 bytes (2-D: 2 x 16) per voxel of the whole fixed image. */
  static constexpr int AllRanks = -1;
  void
  GatherTransforms(int rank = AllRanks);

  void
  PrepareOutputs() override;

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

  /** Of each image the planes that this rank owns. */
  void
  GenerateInputRequestedRegion() override;

  void
  GenerateData() override;

private:
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

  const FixedImageType *
  RequireFixedImage() const
  {
    if (this->GetFixedImage() == nullptr)
    {
      itkExceptionMacro("The fixed image is missing");
    }
    return this->GetFixedImage();
  }

  /** The planes of an image that this rank owns. */
  ffdp::PlaneRange
  PlanesOf(const ImageBase<ImageDimension> * image) const
  {
    return this->GetOwnedPlanes(FFDPExtentOf(image->GetLargestPossibleRegion()).z);
  }

  /** Images in place or as floats in `copies`, which must live as long as the pairs. */
  std::vector<ffdp::ImagePair>
  MakePairs(std::list<FloatsType> & copies) const;

  /** Throws, on all ranks, where voxels cannot be registered. */
  void
  RequireUsable(const std::vector<ffdp::ImagePair> & pairs) const;

  /** The initial transform as registration wants it; false if there is none. */
  bool
  MakeStart(ffdp::WarpedStart & start) const;

  /** Makes the outputs, of fields that are whole or null. */
  void
  MakeTransforms(FieldType * field, FieldType * inverseField);
  /** The planes of a field that this rank owns; empties the warp. */
  typename FieldType::Pointer
  MakeField(FloatsType & warp) const;
  typename FieldType::Pointer
  AllocateWholeField() const;
  static typename LinearTransformType::Pointer
  MakeLinear(const ffdp::AffineMap & affine);
  static typename OutputTransformType::Pointer
  MakeComposite(LinearTransformType * linear, FieldType * field, FieldType * inverseField, bool fieldFirst);

  SizeValueType                         m_NumberOfImagePairs{ 1 };
  typename LinearTransformType::Pointer m_LinearTransform;
  typename LinearTransformType::Pointer m_InverseLinearTransform;
  RegionType                            m_FieldRegion; ///< whole; a filter may have changed what the fields say of it
  typename FieldType::Pointer           m_ForwardField;
  typename FieldType::Pointer           m_InverseField;
};

} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkGridParallelImageRegistrationMethod.hxx"
#endif

#endif
