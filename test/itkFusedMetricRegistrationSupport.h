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
#ifndef itkFusedMetricRegistrationSupport_h
#define itkFusedMetricRegistrationSupport_h

#include "itkAffineTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkMath.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

/** Pairs of images whose transform is known, for tests that run whole registrations. Images are functions of the
 * physical point, sampled; so nothing is interpolated twice, and errors are errors of the registration. */
namespace ffdp
{
namespace test
{

/** Structure in every direction, waves of 12 mm and longer: a registration may start a few mm off. */
template <typename TPoint>
double
Anatomy(const TPoint & p)
{
  const double z = TPoint::PointDimension > 2 ? p[TPoint::PointDimension - 1] : 4.0;
  return 50 + 20 * std::sin(0.45 * p[0] + 0.6 * std::sin(0.2 * z)) * std::cos(0.38 * p[1]) +
         20 * std::cos(0.41 * z + 0.15 * p[1]) * std::sin(0.33 * p[0] + 0.4) + 8 * std::sin(0.5 * p[1] - 0.2 * z);
}

/** An image of size^D voxels of 1 mm, with f(point) at each. */
template <typename TImage, typename TFunction>
typename TImage::Pointer
MakeImageOf(int size, TFunction && f)
{
  typename TImage::SizeType sizes;
  sizes.Fill(itk::SizeValueType(size));
  const auto image = TImage::New();
  image->SetRegions(sizes);
  image->Allocate();
  for (itk::ImageRegionIteratorWithIndex<TImage> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    typename TImage::PointType point;
    image->TransformIndexToPhysicalPoint(it.GetIndex(), point);
    it.Set(static_cast<typename TImage::PixelType>(f(point)));
  }
  return image;
}

/** Root mean square of a vector-valued error over the voxels of an image, in mm; `margin` voxels at the border are left
 * out. */
template <typename TImage, typename TError>
double
RootMeanSquare(const TImage * image, int margin, TError && error)
{
  auto region = image->GetBufferedRegion();
  region.ShrinkByRadius(itk::SizeValueType(margin));
  double sum = 0;
  for (itk::ImageRegionConstIteratorWithIndex<TImage> it(image, region); !it.IsAtEnd(); ++it)
  {
    typename TImage::PointType point;
    image->TransformIndexToPhysicalPoint(it.GetIndex(), point);
    sum += error(point).GetSquaredNorm();
  }
  return std::sqrt(sum / double(region.GetNumberOfPixels()));
}

/** Two images that differ by an affine transform A: moving(A x) = fixed(x). */
template <unsigned int VDimension>
struct AffineProblem
{
  using ImageType = itk::Image<float, VDimension>;
  using AffineType = itk::AffineTransform<double, VDimension>;

  typename ImageType::Pointer           fixed;
  typename ImageType::Pointer           moving;
  typename AffineType::Pointer          known = AffineType::New();
  typename AffineType::InputPointType   center;
  typename AffineType::OutputVectorType shift;

  explicit AffineProblem(int size, bool translationOnly = false)
  {
    center.Fill((size - 1) / 2.0);
    known->SetCenter(center);
    if (!translationOnly)
    {
      auto matrix = known->GetMatrix();
      matrix[0][0] = 1.05;
      matrix[0][1] = -0.06;
      matrix[1][0] = 0.04;
      matrix[1][1] = 0.96;
      known->SetMatrix(matrix);
    }
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      shift[c] = 1.3 - 1.1 * c;
    }
    known->SetTranslation(shift);
    const auto inverse = AffineType::New();
    known->GetInverse(inverse);
    fixed = MakeImageOf<ImageType>(size, [](const auto & p) { return Anatomy(p); });
    moving = MakeImageOf<ImageType>(size, [&](const auto & p) { return Anatomy(inverse->TransformPoint(p)); });
  }

  template <typename TTransform>
  double
  Error(const TTransform * transform) const
  {
    return RootMeanSquare(
      fixed.GetPointer(), 0, [&](const auto & p) { return transform->TransformPoint(p) - known->TransformPoint(p); });
  }
};

/** Two images that differ by a known deformation v, which vanishes at the border: moving(y) = fixed(y + v(y)). */
template <unsigned int VDimension>
struct DeformableProblem
{
  using ImageType = itk::Image<float, VDimension>;
  using PointType = typename ImageType::PointType;

  double                      extent;
  typename ImageType::Pointer fixed;
  typename ImageType::Pointer moving;

  explicit DeformableProblem(int size)
    : extent(size - 1)
    , fixed(MakeImageOf<ImageType>(size, [](const auto & p) { return Anatomy(p); }))
    , moving(MakeImageOf<ImageType>(size, [this](const auto & p) { return Anatomy(Displace(p)); }))
  {}

  /** y + v(y); components up to 3 mm. */
  PointType
  Displace(const PointType & p) const
  {
    double window = 3;
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      window *= std::sin(itk::Math::pi * std::min(std::max(p[c] / extent, 0.0), 1.0));
    }
    PointType displaced = p;
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      displaced[c] += (c % 2 ? -window : window) * std::cos(0.06 * p[(c + 1) % VDimension] + 0.3 * c);
    }
    return displaced;
  }

  /** A transform is right if T(x) + v(T(x)) = x. */
  template <typename TTransform>
  double
  Error(const TTransform * transform) const
  {
    return RootMeanSquare(
      fixed.GetPointer(), 3, [&](const auto & p) { return Displace(transform->TransformPoint(p)) - p; });
  }

  double
  InitialError() const
  {
    return RootMeanSquare(fixed.GetPointer(), 3, [&](const auto & p) { return Displace(p) - p; });
  }
};

/** A displacement field of zeros on the grid of an image. */
template <typename TField, typename TImage>
typename TField::Pointer
MakeZeroField(const TImage * grid)
{
  const auto field = TField::New();
  field->CopyInformation(grid);
  field->SetRegions(grid->GetBufferedRegion());
  field->Allocate(true);
  return field;
}

/** What a registration left behind. */
struct Outcome
{
  double error = 0; ///< in mm
  double value = 0; ///< of the metric, at the end
};

/** Ours is as close to the known transform as ITK's, and close. The slack of a tenth and of a hundredth of a voxel is
 * for the ways of two optimizations whose values differ in the last digits of a float. */
inline void
ExpectAsCloseAsItk(const Outcome & ours, const Outcome & itk, double bound)
{
  EXPECT_LT(ours.error, 1.1 * itk.error + 0.01);
  EXPECT_LT(ours.error, bound);
  EXPECT_LT(itk.error, bound); // else the test would say nothing about ours
}

/** The metric did not leave the work to ITK's. */
template <typename TFusedMetric>
void
ExpectFastPath(const TFusedMetric * metric)
{
  EXPECT_TRUE(metric->GetUsedFastPath()) << metric->GetNameOfClass() << ": " << metric->GetFallbackReason();
}

} // namespace test
} // namespace ffdp

#endif
