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
#include "ffdpFields.h"

#include "ffdpImageGrid.h"
#include "ffdpInverse.h"
#include "ffdpJacobian.h"

#include "itkImageRegionIteratorWithIndex.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace
{

template <typename TImage>
void
AllocateOn(TImage * image, const itk::ImageBase<3> * grid)
{
  image->CopyInformation(grid);
  image->SetRegions(grid->GetLargestPossibleRegion());
  image->Allocate();
}

void
MeasureDisplacements(const FieldImage * field, FieldMeasure & measure)
{
  const ffdp::Extent extent = ExtentOf(field);
  const std::int64_t plane = extent.x * extent.y;
  const auto *       vectors = field->GetBufferPointer();
  double             sum = 0;
  for (std::int64_t z = 0; z < extent.z; ++z)
  {
    double planeSum = 0;
    for (std::int64_t i = z * plane; i < (z + 1) * plane; ++i)
    {
      const double length = vectors[i].GetNorm();
      planeSum += length;
      measure.largestDisplacement = std::max(measure.largestDisplacement, length);
    }
    sum += planeSum;
  }
  measure.meanDisplacement = sum / double(extent.Voxels());
}

} // namespace

std::vector<float>
ToVoxels(const FieldImage * field)
{
  const auto      count = std::size_t(ExtentOf(field).Voxels());
  ffdp::AffineMap toMm = IndexToPhysical(field);
  std::fill_n(toMm.offset, 3, 0.0); // vectors have no place
  const ffdp::AffineMap toVoxels = toMm.Inverse();
  const auto *          vectors = field->GetBufferPointer();
  std::vector<float>    warp(3 * count);
  for (std::size_t i = 0; i < count; ++i)
  {
    const double mm[3] = { vectors[i][0], vectors[i][1], vectors[i][2] };
    double       voxels[3];
    toVoxels.Apply(mm, voxels);
    for (std::size_t c = 0; c < 3; ++c)
    {
      warp[c * count + i] = float(voxels[c]);
    }
  }
  return warp;
}

FieldMeasure
MeasureField(const FieldImage * field, FloatImage * map)
{
  const ffdp::Extent       extent = ExtentOf(field);
  const std::vector<float> voxels = ToVoxels(field);
  const auto               warp = ffdp::WarpView<const float>::Planar(voxels.data(), extent);
  FieldMeasure             measure;
  measure.voxels = extent.Voxels();
  measure.smallestJacobian = std::numeric_limits<double>::infinity();
  measure.largestJacobian = -std::numeric_limits<double>::infinity();
  if (map)
  {
    AllocateOn(map, field);
  }
  constexpr std::int64_t PlanesAtATime = 16; // no second volume where the map is not asked for
  std::vector<float>     few(map ? 0 : std::size_t(extent.x * extent.y * PlanesAtATime));
  ffdp::PlaneSums        sums;
  for (std::int64_t first = 0; first < extent.z; first += PlanesAtATime)
  {
    const std::int64_t planes = std::min(PlanesAtATime, extent.z - first);
    float * const      data = map ? map->GetBufferPointer() + first * extent.x * extent.y : few.data();
    const auto         result =
      ffdp::JacobianDeterminant(warp, first, planes, ffdp::VolumeView<float>(data, extent, first, planes));
    sums.Append(result);
    measure.notPositive += result.notPositive;
    measure.smallestJacobian = std::min(measure.smallestJacobian, result.minimum);
    measure.largestJacobian =
      std::max(measure.largestJacobian, double(*std::max_element(data, data + extent.x * extent.y * planes)));
  }
  measure.meanJacobian = sums.Mean();
  MeasureDisplacements(field, measure);
  return measure;
}

FieldImage::Pointer
SampleTransform(const CompositeType * transform, const itk::ImageBase<3> * grid)
{
  auto field = FieldImage::New();
  AllocateOn(field.GetPointer(), grid);
  itk::MultiThreaderBase::New()->ParallelizeImageRegion<3>(
    field->GetBufferedRegion(),
    [&](const FieldImage::RegionType & part) {
      for (itk::ImageRegionIteratorWithIndex<FieldImage> voxel(field, part); !voxel.IsAtEnd(); ++voxel)
      {
        CompositeType::InputPointType point;
        field->TransformIndexToPhysicalPoint(voxel.GetIndex(), point);
        const auto            moved = transform->TransformPoint(point);
        FieldImage::PixelType displacement;
        for (unsigned int c = 0; c < 3; ++c)
        {
          displacement[c] = float(moved[c] - point[c]);
        }
        voxel.Set(displacement);
      }
    },
    nullptr);
  return field;
}

InvertedField
InvertField(const FieldImage * field)
{
  const ffdp::Extent       extent = ExtentOf(field);
  const std::vector<float> voxels = ToVoxels(field);
  std::vector<float>       inverse(voxels.size());
  const auto               u = ffdp::WarpView<const float>::Planar(voxels.data(), extent);
  const auto               w = ffdp::WarpView<float>::Planar(inverse.data(), extent);
  InvertedField            result;
  result.folds = ffdp::JacobianDeterminant(u, 0, extent.z).notPositive;
  ffdp::InvertWarp(u, w);
  result.residual = ffdp::RefineInverse(u, w);
  auto grid = FloatImage::New();
  grid->CopyInformation(field);
  grid->SetRegions(field->GetBufferedRegion());
  result.field = MakeField(inverse, grid);
  return result;
}
