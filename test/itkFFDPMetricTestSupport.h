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
#ifndef itkFFDPMetricTestSupport_h
#define itkFFDPMetricTestSupport_h

#include "itkFFDPTestGeometry.h"

#include "itkAffineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkEuler2DTransform.h"
#include "itkEuler3DTransform.h"
#include "itkIdentityTransform.h"
#include "itkImageMaskSpatialObject.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkImageToImageMetricv4.h"
#include "itkSimilarity2DTransform.h"
#include "itkSimilarity3DTransform.h"
#include "itkTranslationTransform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

/** Pairs of images, transforms and masks on which fused metrics are compared with those of ITK. */
namespace ffdp
{
namespace test
{

enum class Geometry
{
  Plain,    ///< one grid, spacing 1
  Oblique,  ///< one grid with oblique axes, anisotropic spacing, an index that does not start at 0
  Different ///< fixed, moving and virtual grid differ in all of these, and in size
};

enum class TransformKind
{
  Identity,
  Translation,
  Rigid,
  Similarity,
  Affine,
  LinearComposite, ///< two linear transforms, both optimized
  Field,
  AffineAfterField,   ///< the field is optimized and applied first
  FieldsOnBothSides,  ///< the fixed transform is a field on the virtual domain, too
  FieldOnCoarserGrid, ///< the fixed transform is an affine transform and a field on another grid
};

struct MaskChoice
{
  bool fixed = false;
  bool moving = false;
};

/** A smooth texture, a function of the physical point: waves of 5 to 12 mm in all directions, from about 0 to 100. */
template <typename TImage>
void
FillTexture(TImage * image, unsigned int seed)
{
  constexpr unsigned int                 dimension = TImage::ImageDimension;
  constexpr int                          waves = 12;
  std::mt19937                           generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  double                                 frequency[waves][3];
  double                                 phase[waves];
  for (int w = 0; w < waves; ++w)
  {
    for (double & f : frequency[w])
    {
      f = uniform(generator);
    }
    phase[w] = 3 * uniform(generator);
  }
  for (itk::ImageRegionIteratorWithIndex<TImage> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    typename TImage::PointType point;
    image->TransformIndexToPhysicalPoint(it.GetIndex(), point);
    double value = 50;
    for (int w = 0; w < waves; ++w)
    {
      double angle = phase[w];
      for (unsigned int c = 0; c < dimension; ++c)
      {
        angle += frequency[w][c] * point[c];
      }
      value += 8 * std::sin(angle);
    }
    it.Set(static_cast<typename TImage::PixelType>(value));
  }
}

/** What is compared: two images with all that belongs to them. T is the type of a metric's numbers. */
template <unsigned int VDimension, typename TPixel, typename T = double>
struct MetricCase
{
  using ImageType = itk::Image<TPixel, VDimension>;
  using TransformType = itk::Transform<T, VDimension, VDimension>;
  using FieldTransformType = itk::DisplacementFieldTransform<T, VDimension>;
  using FieldType = typename FieldTransformType::DisplacementFieldType;
  using AffineType = itk::AffineTransform<T, VDimension>;
  using CompositeType = itk::CompositeTransform<T, VDimension>;
  using MaskType = itk::ImageMaskSpatialObject<VDimension>;

  typename ImageType::Pointer     fixed;
  typename ImageType::Pointer     moving;
  typename ImageType::Pointer     grid; ///< the virtual domain
  typename TransformType::Pointer fixedTransform;
  typename TransformType::Pointer movingTransform;
  typename MaskType::Pointer      fixedMask;
  typename MaskType::Pointer      movingMask;

  MetricCase(Geometry geometry, TransformKind kind, const MaskChoice & masks, int size = 16)
  {
    GridSpec fixedSpec{ size, 0, 1, 0, 0, false };
    GridSpec movingSpec = fixedSpec;
    GridSpec gridSpec = fixedSpec;
    if (geometry != Geometry::Plain)
    {
      fixedSpec = { size, -5, 0.9, 0.3, -4, true };
      movingSpec = gridSpec = fixedSpec;
    }
    if (geometry == Geometry::Different)
    {
      movingSpec = { size + 3, 7, 0.8, -0.2, -3, true };
      gridSpec = { size - 3, 2, 1.1, 0.1, -2, true };
    }
    fixed = MakeImage<ImageType>(fixedSpec);
    moving = MakeImage<ImageType>(movingSpec);
    grid = MakeImage<ImageType>(gridSpec);
    if (geometry == Geometry::Different)
    {
      MoveOnto(fixed.GetPointer(), moving.GetPointer());
      MoveOnto(fixed.GetPointer(), grid.GetPointer());
    }
    FillTexture(fixed.GetPointer(), 1);
    FillTexture(moving.GetPointer(), 2);
    fixedTransform = itk::IdentityTransform<T, VDimension>::New();
    SetTransforms(kind, gridSpec);
    fixedMask = masks.fixed ? MakeMask(fixed.GetPointer(), fixedSpec, 0.1) : nullptr;
    movingMask = masks.moving ? MakeMask(moving.GetPointer(), movingSpec, -0.2) : nullptr;
  }

  /** The virtual domain, the images and all that belongs to them, for a metric. */
  template <typename TMetric>
  void
  Connect(TMetric * metric) const
  {
    metric->SetFixedImage(fixed);
    metric->SetMovingImage(moving);
    metric->SetVirtualDomainFromImage(grid);
    metric->SetFixedTransform(fixedTransform);
    metric->SetMovingTransform(movingTransform);
    metric->SetFixedImageMask(fixedMask.GetPointer());
    metric->SetMovingImageMask(movingMask.GetPointer());
    metric->SetUseMovingImageGradientFilter(false);
    metric->SetUseFixedImageGradientFilter(false);
    metric->SetMaximumNumberOfWorkUnits(2);
  }

  /** The field has the origin of the virtual domain. */
  typename FieldTransformType::Pointer
  MakeFieldTransform(const GridSpec & spec, double amplitude, unsigned int seed) const
  {
    auto field = MakeImage<FieldType>(spec);
    field->SetOrigin(grid->GetOrigin());
    FillField(field.GetPointer(), amplitude, seed);
    auto transform = FieldTransformType::New();
    transform->SetDisplacementField(field);
    return transform;
  }

  /** Turns by `angle`, grows by `scale` and shears a little about a center near the middle of the images. */
  static typename AffineType::Pointer
  MakeAffine(double angle, double scale)
  {
    auto                                transform = AffineType::New();
    typename AffineType::InputPointType center;
    center.Fill(6);
    transform->SetCenter(center);
    typename AffineType::OutputVectorType shift;
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      shift[c] = static_cast<T>(0.37 - 0.21 * c);
    }
    auto matrix = transform->GetMatrix();
    matrix.SetIdentity();
    matrix[0][0] = matrix[1][1] = static_cast<T>(scale * std::cos(angle));
    matrix[0][1] = static_cast<T>(-scale * std::sin(angle));
    matrix[1][0] = static_cast<T>(scale * std::sin(angle) + 0.01);
    transform->SetMatrix(matrix);
    transform->SetTranslation(shift);
    return transform;
  }

  /** Parameters differ from those of the identity by up to `step`. */
  static typename TransformType::Pointer
  MakeRigid(double step)
  {
    typename TransformType::Pointer transform;
    if constexpr (VDimension == 2)
    {
      transform = itk::Euler2DTransform<T>::New();
    }
    else
    {
      transform = itk::Euler3DTransform<T>::New();
    }
    SetSmallParameters(transform.GetPointer(), step);
    return transform;
  }

private:
  static typename ImageType::PointType
  MiddleOf(const ImageType * image)
  {
    itk::ContinuousIndex<double, VDimension> middle;
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      middle[c] = double(image->GetBufferedRegion().GetIndex(c)) + 0.47 * double(image->GetBufferedRegion().GetSize(c));
    }
    typename ImageType::PointType point;
    image->TransformContinuousIndexToPhysicalPoint(middle, point);
    return point;
  }

  static void
  MoveOnto(const ImageType * target, ImageType * image)
  {
    image->SetOrigin(image->GetOrigin() + (MiddleOf(target) - MiddleOf(image)));
  }

  void
  SetTransforms(TransformKind kind, const GridSpec & gridSpec)
  {
    typename TransformType::Pointer transform;
    switch (kind)
    {
      case TransformKind::Identity:
        transform = itk::IdentityTransform<T, VDimension>::New();
        break;
      case TransformKind::Translation:
        transform = itk::TranslationTransform<T, VDimension>::New();
        SetSmallParameters(transform.GetPointer(), 0.7);
        break;
      case TransformKind::Rigid:
        transform = MakeRigid(0.06);
        break;
      case TransformKind::Similarity:
        transform = MakeSimilarity();
        SetSmallParameters(transform.GetPointer(), 0.05);
        break;
      case TransformKind::Affine:
        transform = MakeAffine(0.07, 1.03);
        break;
      case TransformKind::Field:
        transform = MakeFieldTransform(gridSpec, 0.8, 3);
        break;
      case TransformKind::FieldsOnBothSides:
        fixedTransform = MakeFieldTransform(gridSpec, 0.6, 4);
        transform = MakeFieldTransform(gridSpec, 0.8, 3);
        break;
      default:
        transform = MakeComposite(kind, gridSpec);
        break;
    }
    movingTransform = transform;
  }

  typename TransformType::Pointer
  MakeComposite(TransformKind kind, const GridSpec & gridSpec)
  {
    auto composite = CompositeType::New();
    composite->AddTransform(MakeAffine(-0.05, 0.97)); // applied last
    if (kind == TransformKind::LinearComposite)
    {
      composite->AddTransform(MakeRigid(0.04));
      return composite.GetPointer();
    }
    composite->AddTransform(MakeFieldTransform(gridSpec, 0.8, 3));
    composite->SetOnlyMostRecentTransformToOptimizeOn();
    if (kind == TransformKind::FieldOnCoarserGrid)
    {
      auto     before = CompositeType::New();
      GridSpec coarse = gridSpec;
      coarse.size = gridSpec.size / 2;
      coarse.spacing = 2.1 * gridSpec.spacing;
      before->AddTransform(MakeFieldTransform(coarse, 0.5, 5));
      before->AddTransform(MakeAffine(0.02, 1.01));
      fixedTransform = before.GetPointer();
    }
    return composite.GetPointer();
  }

  static typename TransformType::Pointer
  MakeSimilarity()
  {
    if constexpr (VDimension == 2)
    {
      return itk::Similarity2DTransform<T>::New().GetPointer();
    }
    else
    {
      return itk::Similarity3DTransform<T>::New().GetPointer();
    }
  }

  /** Parameters that differ from those of the identity by up to `step`. */
  static void
  SetSmallParameters(TransformType * transform, double step)
  {
    auto parameters = transform->GetParameters();
    for (unsigned int p = 0; p < parameters.Size(); ++p)
    {
      parameters[p] += static_cast<T>(step * (p % 2 ? 1 - 0.1 * p : -0.8 + 0.1 * p));
    }
    transform->SetParameters(parameters);
  }

  /** A ball in the middle of the image, on a coarser grid of another orientation, moved by the object's transform. */
  static typename MaskType::Pointer
  MakeMask(const ImageType * image, GridSpec spec, double angle)
  {
    const double width = spec.spacing * spec.size;
    const auto   center = MiddleOf(image);
    spec.spacing *= 1.4;
    spec.angle += angle;
    auto maskImage = MakeImage<typename MaskType::ImageType>(spec);
    maskImage->SetOrigin(image->GetOrigin());
    using IteratorType = itk::ImageRegionIteratorWithIndex<typename MaskType::ImageType>;
    for (IteratorType it(maskImage, maskImage->GetBufferedRegion()); !it.IsAtEnd(); ++it)
    {
      typename MaskType::ImageType::PointType point;
      maskImage->TransformIndexToPhysicalPoint(it.GetIndex(), point);
      it.Set(point.EuclideanDistanceTo(center) < 0.4 * width ? 3 : 0);
    }
    auto mask = MaskType::New();
    mask->SetImage(maskImage);
    auto                                               toWorld = MaskType::TransformType::New();
    typename MaskType::TransformType::OutputVectorType shift;
    shift.Fill(0.31);
    toWorld->Translate(shift);
    mask->SetObjectToWorldTransform(toWorld);
    mask->Update();
    return mask;
  }
};

/** What an evaluation gives. */
template <typename TMetric>
struct Evaluation
{
  typename TMetric::MeasureType    value = 0;
  typename TMetric::DerivativeType derivative;
  itk::SizeValueType               points = 0;

  explicit Evaluation(const TMetric * metric)
  {
    metric->GetValueAndDerivative(value, derivative);
    points = metric->GetNumberOfValidPoints();
  }
};

template <typename TArray>
double
LargestMagnitude(const TArray & values)
{
  double largest = 0;
  for (unsigned int i = 0; i < values.Size(); ++i)
  {
    largest = std::max(largest, std::abs(double(values[i])));
  }
  return largest;
}

template <typename TArray, typename TOther>
double
LargestDifference(const TArray & a, const TOther & b)
{
  double largest = a.Size() == b.Size() ? 0 : 1e30;
  for (unsigned int i = 0; i < a.Size() && i < b.Size(); ++i)
  {
    largest = std::max(largest, std::abs(double(a[i]) - double(b[i])));
  }
  return largest;
}

} // namespace test
} // namespace ffdp

#endif
