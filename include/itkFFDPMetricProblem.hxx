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
#ifndef itkFFDPMetricProblem_hxx
#define itkFFDPMetricProblem_hxx

#include <algorithm>
#include <cmath>
#include <limits>
#include <typeinfo>

namespace itk
{
namespace FFDPMetricDetail
{

template <unsigned int VDimension>
bool
ReadMask(const SpatialObject<VDimension> * mask,
         const ImageBase<VDimension> *     image,
         ffdp::MetricImage &               result,
         std::string &                     whyNot)
{
  using namespace FFDPTransformStackDetail;
  using MaskType = ImageMaskSpatialObject<VDimension>;
  if (mask == nullptr)
  {
    return true;
  }
  if (typeid(*mask) != typeid(MaskType)) // a subclass may have another idea of inside
  {
    whyNot = std::string("a mask is a ") + mask->GetNameOfClass() + ", not an ImageMaskSpatialObject of unsigned char";
    return false;
  }
  const auto * const maskImage = static_cast<const MaskType *>(mask)->GetImage();
  if (maskImage == nullptr || maskImage->GetBufferPointer() == nullptr)
  {
    whyNot = "a mask has no image";
    return false;
  }
  const auto * const toObject = mask->GetObjectToWorldTransformInverse();
  ffdp::AffineMap    worldToObject;
  for (unsigned int r = 0; r < VDimension; ++r)
  {
    worldToObject.offset[r] = toObject->GetOffset()[r];
    for (unsigned int c = 0; c < VDimension; ++c)
    {
      worldToObject.matrix[3 * r + c] = toObject->GetMatrix()[r][c];
    }
  }
  result.mask = ViewPixels(static_cast<const typename MaskType::ImageType *>(maskImage));
  const auto toWorld = IndexToPoint<VDimension>(image, image->GetBufferedRegion().GetIndex());
  const auto toMask = PointToIndex<VDimension>(maskImage, maskImage->GetBufferedRegion().GetIndex());
  result.toMask = ffdp::Compose(toMask, ffdp::Compose(worldToObject, toWorld));
  return true;
}

template <typename TImage, typename TGrid, typename TParametersValueType, unsigned int VDimension>
bool
ReadImage(const TImage *                                                  image,
          const SpatialObject<VDimension> *                               mask,
          const Transform<TParametersValueType, VDimension, VDimension> * transform,
          const TGrid *                                                   grid,
          ffdp::MetricImage &                                             result,
          std::string &                                                   whyNot)
{
  FFDPTransformStack                  stack;
  const ImageBase<VDimension> * const gridBase = grid;
  const ImageBase<VDimension> * const imageBase = image;
  if (!ReadMask(mask, imageBase, result, whyNot) ||
      !ReadTransformStack<TParametersValueType, VDimension>(
        transform, gridBase, grid->GetBufferedRegion(), imageBase, stack, whyNot))
  {
    return false;
  }
  result.image = ViewPixels(image);
  result.map = stack.map;
  result.warp = stack.warp;
  result.chain = std::move(stack.chain);
  return true;
}

template <unsigned int VDimension>
ffdp::ImageDifferences
ReadDifferences(const ImageBase<VDimension> * image)
{
  ffdp::ImageDifferences differences;
  differences.dimension = static_cast<int>(VDimension);
  const ffdp::AffineMap toIndex =
    FFDPTransformStackDetail::PointToIndex<VDimension>(image, image->GetBufferedRegion().GetIndex());
  for (unsigned int c = 0; c < VDimension; ++c)
  {
    differences.distance[c] = image->GetSpacing()[c];
    for (unsigned int r = 0; r < VDimension; ++r)
    {
      differences.step[c][r] = 0.5 * image->GetSpacing()[c] * toIndex.matrix[3 * r + c];
    }
  }
  return differences;
}

template <unsigned int VDimension>
void
ReadMatrixAfterField(const ffdp::MetricImage & moving, const ImageBase<VDimension> * image, double * matrix)
{
  const double * const after = moving.chain.steps.empty() ? moving.map.S : moving.chain.steps.back().after.matrix;
  const auto toPoint = FFDPTransformStackDetail::IndexToPoint<VDimension>(image, image->GetBufferedRegion().GetIndex());
  for (unsigned int r = 0; r < 3; ++r)
  {
    for (unsigned int c = 0; c < 3; ++c)
    {
      double sum = 0;
      for (unsigned int k = 0; k < 3; ++k)
      {
        sum += toPoint.matrix[3 * r + k] * after[3 * k + c];
      }
      const double whole = std::round(sum);
      matrix[3 * r + c] = std::abs(sum - whole) < 1e-12 ? whole : sum; // the identity, free of rounding
    }
  }
}

template <typename TParametersValueType, unsigned int VDimension>
auto
LinearJacobian<TParametersValueType, VDimension>::JacobianAt(const TransformType *         transform,
                                                             const ImageBase<VDimension> * grid,
                                                             const Offset<VDimension> &    from) -> JacobianType
{
  Point<double, VDimension> point;
  grid->TransformIndexToPhysicalPoint(grid->GetBufferedRegion().GetIndex() + from, point);
  typename TransformType::InputPointType input;
  input.CastFrom(point);
  JacobianType jacobian;
  transform->ComputeJacobianWithRespectToParameters(input, jacobian);
  return jacobian;
}

template <typename TParametersValueType, unsigned int VDimension>
LinearJacobian<TParametersValueType, VDimension>::LinearJacobian(const TransformType *         transform,
                                                                 const ImageBase<VDimension> * grid)
{
  if (transform->GetNumberOfParameters() == 0) // the identity
  {
    return;
  }
  const auto         size = grid->GetBufferedRegion().GetSize();
  Offset<VDimension> farthest;
  m_First = JacobianAt(transform, grid, Offset<VDimension>{ { 0 } });
  JacobianType expected = m_First;
  for (unsigned int c = 0; c < VDimension; ++c)
  {
    Offset<VDimension> step{ { 0 } };
    farthest[c] = step[c] = std::max<OffsetValueType>(1, static_cast<OffsetValueType>(size[c]) - 1);
    m_Slope[c] = JacobianAt(transform, grid, step);
    m_Slope[c] -= m_First;
    expected += m_Slope[c];
    m_Slope[c] /= static_cast<TParametersValueType>(step[c]);
  }
  const JacobianType found = JacobianAt(transform, grid, farthest);
  double             largest = 0;
  double             error = 0;
  for (unsigned int r = 0; r < found.rows(); ++r)
  {
    for (unsigned int p = 0; p < found.cols(); ++p)
    {
      largest = std::max({ largest, std::abs(double(found(r, p))), std::abs(double(m_First(r, p))) });
      error = std::max(error, std::abs(double(found(r, p)) - double(expected(r, p))));
    }
  }
  m_IsAffine = error <= 1e3 * std::numeric_limits<TParametersValueType>::epsilon() * largest;
}

template <typename TParametersValueType, unsigned int VDimension>
template <typename TDerivative>
void
LinearJacobian<TParametersValueType, VDimension>::Multiply(const ffdp::MapGradient & moments,
                                                           double                    scale,
                                                           TDerivative &             derivative) const
{
  for (unsigned int p = 0; p < m_First.cols(); ++p)
  {
    double sum = 0;
    for (unsigned int r = 0; r < VDimension; ++r)
    {
      sum += moments[9 + r] * m_First(r, p);
      for (unsigned int c = 0; c < VDimension; ++c)
      {
        sum += moments[3 * r + c] * m_Slope[c](r, p);
      }
    }
    derivative[p] = static_cast<typename TDerivative::ValueType>(scale * sum);
  }
}

} // end namespace FFDPMetricDetail
} // end namespace itk

#endif
