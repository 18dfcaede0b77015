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
#ifndef itkGridParallelTestSupport_h
#define itkGridParallelTestSupport_h

#include "itkFFDPTestGeometry.h"
#include "itkGridParallelImageRegistrationMethod.h"

#include "itkImageRegionIteratorWithIndex.h"

#include <array>
#include <cmath>

/** A world to register: an organ, a known transform, and grids to look at them. */
namespace ffdp
{
namespace test
{

using Place = std::array<double, 3>;

/** Blobs and a texture inside an ellipsoid, exactly 0 outside, as a function of mm. 2-D images are a slice of it. */
inline double
Organ(const Place & p)
{
  const double r = std::sqrt(p[0] * p[0] / 324 + p[1] * p[1] / 256 + p[2] * p[2] / 225);
  const double edge = std::min(1.0, std::max(0.0, (1.08 - r) / 0.16));
  double value = 100 + 18 * std::sin(p[0] / 2.1 + std::sin(p[1] / 4)) * std::sin(p[1] / 2.4 + std::sin(p[2] / 5)) *
                         std::cos(p[2] / 2.2 + std::sin(p[0] / 3));
  const double blobs[5][5] = {
    { 6, 4, -3, 4, 60 }, { -8, 3, 4, 5, -50 }, { 2, -8, 2, 3, 70 }, { -3, -5, -6, 4, 40 }, { 10, -4, 1, 3, -60 }
  };
  for (const auto & b : blobs)
  {
    const double d = (p[0] - b[0]) * (p[0] - b[0]) + (p[1] - b[1]) * (p[1] - b[1]) + (p[2] - b[2]) * (p[2] - b[2]);
    value += b[4] * std::exp(-d / (2 * b[3] * b[3]));
  }
  return edge * edge * (3 - 2 * edge) * value;
}

/** The transform to be found: a warp of up to 2 mm, then a rotation in the first plane and a shift. */
struct KnownTransform
{
  double angle = 0.08;
  double shift = 1.5;
  double size = 2;
  bool   planar = false;

  Place
  operator()(const Place & p) const
  {
    const double fade = size * std::exp(-(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) / 300);
    const Place  q{ { p[0] + fade * std::sin(p[1] / 7 + 0.5),
                      p[1] + fade * std::cos(p[0] / 8),
                      p[2] + (planar ? 0 : fade * std::sin(p[0] / 6)) } };
    return { { std::cos(angle) * q[0] - std::sin(angle) * q[1] + shift,
               std::sin(angle) * q[0] + std::cos(angle) * q[1] - 0.5 * shift,
               q[2] + (planar ? 0 : 0.5 * shift) } };
  }
};

/** A grid whose center is at the origin of space. */
struct CenteredGrid
{
  std::array<unsigned int, 3> size{ { 44, 40, 38 } };
  Place                       spacing{ { 1, 1, 1 } };
  double                      angle = 0; ///< of the direction
  int                         start = 0; ///< index of the first voxel
};

template <unsigned int VDimension>
Place
ToPlace(const itk::Point<double, VDimension> & point)
{
  Place place{};
  std::copy(point.Begin(), point.End(), place.begin());
  return place;
}

/** Gives an image the place of a grid, without voxels. */
template <typename TImage>
void
PlaceOnGrid(TImage * image, const CenteredGrid & grid)
{
  constexpr unsigned int         dimension = TImage::ImageDimension;
  typename TImage::RegionType    region;
  typename TImage::SpacingType   spacing;
  itk::Vector<double, dimension> toCenter;
  for (unsigned int c = 0; c < dimension; ++c)
  {
    region.SetSize(c, grid.size[c]);
    region.SetIndex(c, grid.start == 0 ? 0 : grid.start + 5 * int(c));
    spacing[c] = grid.spacing[c];
    toCenter[c] = spacing[c] * (double(region.GetIndex(c)) + 0.5 * double(grid.size[c] - 1));
  }
  image->SetLargestPossibleRegion(region);
  image->SetSpacing(spacing);
  image->SetDirection(ObliqueDirection<dimension>(grid.angle));
  typename TImage::PointType origin;
  origin.Fill(0);
  image->SetOrigin(origin - image->GetDirection() * toCenter);
}

/** Fills what an image has in memory. */
template <typename TImage, typename TFunction>
void
PaintVoxels(TImage * image, const TFunction & value)
{
  for (itk::ImageRegionIteratorWithIndex<TImage> it(image, image->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    typename TImage::PointType point;
    image->TransformIndexToPhysicalPoint(it.GetIndex(), point);
    it.Set(static_cast<typename TImage::PixelType>(value(ToPlace<TImage::ImageDimension>(point))));
  }
}

template <typename TImage, typename TFunction>
typename TImage::Pointer
Paint(const CenteredGrid & grid, const TFunction & value)
{
  auto image = TImage::New();
  PlaceOnGrid<TImage>(image, grid);
  image->SetRegions(image->GetLargestPossibleRegion());
  image->Allocate();
  PaintVoxels<TImage>(image, value);
  return image;
}

/** Mean distance, over the organ in the fixed image, between where a transform and `known` take a point. */
template <typename TImage, typename TTransform, typename TKnown>
double
MeanError(const TImage * fixed, const TTransform * transform, const TKnown & known)
{
  constexpr unsigned int dimension = TImage::ImageDimension;
  double                 sum = 0, count = 0;
  for (itk::ImageRegionConstIteratorWithIndex<TImage> it(fixed, fixed->GetBufferedRegion()); !it.IsAtEnd(); ++it)
  {
    if (it.Get() > 60)
    {
      typename TImage::PointType point;
      fixed->TransformIndexToPhysicalPoint(it.GetIndex(), point);
      const Place found = ToPlace<dimension>(transform->TransformPoint(point));
      const Place truth = known(ToPlace<dimension>(point));
      sum += std::hypot(found[0] - truth[0], found[1] - truth[1], dimension == 3 ? found[2] - truth[2] : 0);
      count += 1;
    }
  }
  return sum / count;
}

/** Largest distance between where two transforms take points of the organ. */
template <typename TFirst, typename TSecond>
double
LargestDifference(const TFirst & first, const TSecond & second)
{
  double largest = 0;
  for (const double x : { -9.3, 0.4, 8.1 })
    for (const double y : { -7.2, 0.7, 6.6 })
      for (const double z : { -5.5, 0.2, 7.7 })
      {
        const Place a = first({ { x, y, z } }), b = second({ { x, y, z } });
        largest = std::max(largest, std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]));
      }
  return largest;
}

inline Place
Move(const itk::Transform<double, 3, 3> * transform, const Place & p)
{
  return ToPlace<3>(transform->TransformPoint(itk::Point<double, 3>(p.data())));
}

inline RegistrationStage
ShortStage(RegistrationStage::Kind kind, RegistrationMetric::Kind metric = RegistrationMetric::Kind::LocalCorrelation)
{
  RegistrationStage stage;
  stage.kind = kind;
  stage.metrics.front().kind = metric;
  stage.shrinkFactors = { 2, 1 };
  stage.iterations = { 50, 30 };
  stage.learningRate = 0.5;
  stage.gradientSigma = 1.7;
  stage.warpSigma = 0.5;
  return stage;
}

/** A registration of the organ, seen through the known transform, to itself. */
template <typename TImage>
struct OrganPair
{
  using MethodType = itk::GridParallelImageRegistrationMethod<TImage>;

  KnownTransform               known;
  typename TImage::Pointer     fixed;
  typename TImage::Pointer     moving;
  typename MethodType::Pointer method = MethodType::New();

  explicit OrganPair(const CenteredGrid & fixedGrid = {},
                     const CenteredGrid & movingGrid = {},
                     KnownTransform       truth = {})
    : known(truth)
  {
    known.planar = TImage::ImageDimension == 2;
    fixed = Paint<TImage>(fixedGrid, [this](const Place & p) { return Organ(known(p)); });
    moving = Paint<TImage>(movingGrid, Organ);
    method->SetFixedImage(fixed);
    method->SetMovingImage(moving);
    method->SetNumberOfWorkUnits(2);
  }
  double
  Error() const
  {
    return MeanError(fixed.GetPointer(), method->GetTransform(), known);
  }
};

} // namespace test
} // namespace ffdp

#endif
