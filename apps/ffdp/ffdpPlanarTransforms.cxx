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
#include "ffdpPlanarTransforms.h"

#include "ffdpImageGrid.h"

#include "itkAffineTransform.h"
#include "itkDisplacementFieldTransform.h"

namespace
{

using PlanarAffine = itk::AffineTransform<double, 2>;
using PlanarComposite = itk::CompositeTransform<double, 2>;
using PlanarField = itk::DisplacementFieldTransform<double, 2>;
using SpaceField = itk::DisplacementFieldTransform<double, 3>;

template <typename TTo, typename TFrom>
typename TTo::Pointer
ChangeDimension(const TFrom * transform)
{
  auto result = TTo::New();
  result->SetDisplacementField(ConvertField<typename TTo::DisplacementFieldType>(transform->GetDisplacementField()));
  return result;
}

TransformType::Pointer
LiftLinear(const PlanarTransform * transform)
{
  PlanarTransform::InputPointType place;
  place.Fill(0);
  const auto      origin = transform->TransformPoint(place);
  ffdp::AffineMap map; // the identity
  for (unsigned int j = 0; j < 2; ++j)
  {
    place.Fill(0);
    place[j] = 1;
    const auto moved = transform->TransformPoint(place);
    for (unsigned int i = 0; i < 2; ++i)
    {
      map.matrix[3 * i + j] = moved[i] - origin[i];
      map.offset[i] = origin[i];
    }
  }
  return MakeTransform(map);
}

PlanarTransform::Pointer
LowerLinear(const TransformType * transform)
{
  const ffdp::AffineMap          map = LinearMapOf(transform);
  PlanarAffine::MatrixType       matrix;
  PlanarAffine::OutputVectorType offset;
  for (unsigned int i = 0; i < 2; ++i)
  {
    for (unsigned int j = 0; j < 2; ++j)
    {
      matrix[i][j] = map.matrix[3 * i + j];
    }
    offset[i] = map.offset[i];
  }
  auto affine = PlanarAffine::New();
  affine->SetMatrix(matrix);
  affine->SetOffset(offset);
  return affine.GetPointer();
}

} // namespace

TransformType::Pointer
LiftTransform(const PlanarTransform * transform)
{
  if (const auto * parts = dynamic_cast<const PlanarComposite *>(transform))
  {
    auto composite = CompositeType::New();
    for (itk::SizeValueType n = 0; n < parts->GetNumberOfTransforms(); ++n)
    {
      const auto part = LiftTransform(parts->GetNthTransformConstPointer(n));
      if (!part)
      {
        return nullptr;
      }
      composite->AddTransform(part);
    }
    return composite.GetPointer();
  }
  if (const auto * field = dynamic_cast<const PlanarField *>(transform))
  {
    return ChangeDimension<SpaceField>(field).GetPointer();
  }
  return transform->IsLinear() ? LiftLinear(transform) : nullptr;
}

PlanarTransform::Pointer
LowerTransform(const TransformType * transform)
{
  if (const auto * parts = dynamic_cast<const CompositeType *>(transform))
  {
    auto composite = PlanarComposite::New();
    for (itk::SizeValueType n = 0; n < parts->GetNumberOfTransforms(); ++n)
    {
      composite->AddTransform(LowerTransform(parts->GetNthTransformConstPointer(n)));
    }
    return composite.GetPointer();
  }
  if (const auto * field = dynamic_cast<const SpaceField *>(transform))
  {
    return ChangeDimension<PlanarField>(field).GetPointer();
  }
  return LowerLinear(transform);
}
