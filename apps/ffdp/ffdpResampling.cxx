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
#include "ffdpResampling.h"

#include "itkFusedResampleImageFilter.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkMultiThreaderBase.h"
#include "itkNearestNeighborInterpolateImageFunction.h"

#include <cmath>

namespace
{

/** The label with the largest sum of linear weights among the corners around a point; the first of them, x fastest,
 * where two are equal. 0 outside the image. */
float
VoteLabel(const FloatImage * image, const itk::ContinuousIndex<double, 3> & at)
{
  const auto region = image->GetBufferedRegion();
  if (!region.IsInside(at))
  {
    return 0;
  }
  float  label[8];
  double weight[8];
  int    labels = 0;
  for (int corner = 0; corner < 8; ++corner)
  {
    FloatImage::IndexType index;
    double                share = 1;
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      const double low = std::floor(at[axis]);
      const bool   upper = (corner >> axis) & 1;
      const auto   first = region.GetIndex(axis);
      const auto   last = first + itk::IndexValueType(region.GetSize(axis)) - 1;
      share *= upper ? at[axis] - low : 1 - (at[axis] - low);
      index[axis] = std::min(last, std::max(first, itk::IndexValueType(low) + (upper ? 1 : 0)));
    }
    const float value = image->GetPixel(index);
    int         k = 0;
    while (k < labels && label[k] != value)
    {
      ++k;
    }
    if (k == labels)
    {
      label[labels] = value;
      weight[labels++] = 0;
    }
    weight[k] += share;
  }
  return label[std::max_element(weight, weight + labels) - weight];
}

FloatImage::Pointer
ResampleLabels(const FloatImage * image, const FloatImage * reference, const CompositeType * transform)
{
  auto result = FloatImage::New();
  result->CopyInformation(reference);
  result->SetRegions(reference->GetLargestPossibleRegion());
  result->Allocate();
  itk::MultiThreaderBase::New()->ParallelizeImageRegion<3>(
    result->GetBufferedRegion(),
    [&](const FloatImage::RegionType & part) {
      itk::ImageRegionIteratorWithIndex<FloatImage> voxel(result, part);
      for (; !voxel.IsAtEnd(); ++voxel)
      {
        FloatImage::PointType point;
        result->TransformIndexToPhysicalPoint(voxel.GetIndex(), point);
        itk::ContinuousIndex<double, 3> at;
        image->TransformPhysicalPointToContinuousIndex(transform->TransformPoint(point), at);
        voxel.Set(VoteLabel(image, at));
      }
    },
    nullptr);
  return result;
}

} // namespace

FloatImage::Pointer
ResampleImage(FloatImage *        image,
              const FloatImage *  reference,
              CompositeType *     transform,
              const std::string & interpolation)
{
  if (interpolation == "label")
  {
    return ResampleLabels(image, reference, transform);
  }
  auto filter = itk::FusedResampleImageFilter<FloatImage, FloatImage>::New();
  filter->SetInput(image);
  filter->SetReferenceImage(reference);
  filter->UseReferenceImageOn();
  filter->SetTransform(transform);
  if (interpolation == "nearest")
  {
    filter->SetInterpolator(itk::NearestNeighborInterpolateImageFunction<FloatImage, double>::New());
  }
  filter->Update();
  FloatImage::Pointer result = filter->GetOutput();
  result->DisconnectPipeline();
  return result;
}
