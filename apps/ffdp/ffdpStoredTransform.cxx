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
#include "ffdpStoredTransform.h"

#include "ffdpCommandError.h"
#include "ffdpDimension.h"
#include "ffdpImageFiles.h"
#include "ffdpTextLines.h"

#include "itkBSplineBaseTransform.h"
#include "itkConstantVelocityFieldTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkEuler3DTransform.h"
#include "itkMatrixOffsetTransformBase.h"
#include "itkTransformFactory.h"
#include "itkVelocityFieldTransform.h"

#include <algorithm>
#include <cmath>

namespace
{

using AnyTransform = itk::TransformBaseTemplate<double>;

/** The name of the class of doubles, for one of floats. */
std::string
NameInDoubles(std::string type)
{
  const std::string floats = "_float_";
  const auto        at = type.rfind(floats);
  return at == std::string::npos ? type : type.replace(at, floats.size(), "_double_");
}

bool
IsComposite(const StoredTransform & stored)
{
  const std::string name = NameInDoubles(stored.type);
  return name == "CompositeTransform_double_3_3" || name == "CompositeTransform_double_2_2";
}

/** 2 or 3, as the type says; 0 for any other. */
unsigned int
DimensionOfType(const std::string & type)
{
  return EndsWith(type, "_2_2") ? PlaneDimension : EndsWith(type, "_3_3") ? SpaceDimension : 0;
}

/** A transform of the type, as it is before anything is set. */
AnyTransform::Pointer
MakeDefault(const StoredTransform & stored, const std::string & file)
{
  // c3d_affine_tool, greedy and ITK-SNAP write these, and ITK knows only what derives from them
  itk::TransformFactory<itk::MatrixOffsetTransformBase<double, 3, 3>>::RegisterTransform();
  itk::TransformFactory<itk::MatrixOffsetTransformBase<double, 2, 2>>::RegisterTransform();
  const std::string name = NameInDoubles(stored.type);
  const auto        known = itk::TransformFactoryBase::GetFactory()->GetClassOverrideWithNames();
  if (std::find(known.begin(), known.end(), name) == known.end())
  {
    ThrowBadTransform(file, stored.place, Quote(stored.type) + " is no type of transform that is known here");
  }
  const itk::LightObject::Pointer object = itk::ObjectFactoryBase::CreateInstance(name.c_str());
  const AnyTransform::Pointer     transform = dynamic_cast<AnyTransform *>(object.GetPointer());
  if (!transform || DimensionOfType(name) == 0)
  {
    ThrowBadTransform(file, stored.place, Quote(stored.type) + " is not one of two or three dimensions");
  }
  object->UnRegister(); // CreateInstance() counts one reference too many, and ITK's readers take it back so, too
  return transform;
}

void
RequireCount(const StoredTransform & stored,
             const StoredNumbers &   numbers,
             std::size_t             needed,
             const std::string &     what,
             const std::string &     file)
{
  if (numbers.count != needed)
  {
    ThrowBadTransform(file,
                      numbers.place,
                      stored.type + " needs " + std::to_string(needed) + " " + what + ", there are " +
                        std::to_string(numbers.count) + (numbers.count < needed ? "; is the file cut off?" : ""));
  }
}

void
RequireFinite(const StoredTransform & stored, const StoredNumbers & numbers, const std::string & file)
{
  const double * const values = numbers.values.get();
  if (!std::all_of(values, values + numbers.count, [](double value) { return std::isfinite(value); }))
  {
    ThrowBadTransform(file, numbers.place, stored.type + " has parameters that are infinite or not a number");
  }
  constexpr double Largest = 1e18; // where points are taken to by more cannot be written as floats
  if (!std::all_of(values, values + numbers.count, [](double value) { return std::abs(value) <= Largest; }))
  {
    ThrowBadTransform(file, numbers.place, stored.type + " has parameters beyond 1e18");
  }
}

/** Fixed parameters of a transform with a grid: sizes, origin, spacing, direction. */
template <unsigned int VDimension>
struct Grid
{
  using ImageType = typename itk::DisplacementFieldTransform<double, VDimension>::DisplacementFieldType;

  typename ImageType::SizeType      size;
  typename ImageType::PointType     origin;
  typename ImageType::SpacingType   spacing;
  typename ImageType::DirectionType direction;

  explicit Grid(const double * fixed)
  {
    for (unsigned int i = 0; i < VDimension; ++i)
    {
      size[i] = itk::SizeValueType(fixed[i]);
      origin[i] = fixed[VDimension + i];
      spacing[i] = fixed[2 * VDimension + i];
      for (unsigned int j = 0; j < VDimension; ++j)
      {
        direction[i][j] = fixed[3 * VDimension + i * VDimension + j];
      }
    }
  }
};

/** Throws unless the parameters are one vector for each point of the grid, and the grid has a place in space. */
template <unsigned int VDimension>
void
RequireGrid(const StoredTransform & stored, double smallestSize, const std::string & file)
{
  const double * const fixed = stored.fixedParameters.values.get();
  const std::size_t    vectors = stored.parameters.count / VDimension;
  std::size_t          points = 1; // never more than there are vectors
  bool                 fits = points <= vectors && stored.parameters.count % VDimension == 0;
  for (unsigned int i = 0; i < VDimension; ++i)
  {
    if (!(fixed[i] >= smallestSize) || fixed[i] != std::floor(fixed[i]))
    {
      ThrowBadTransform(file, stored.fixedParameters.place, stored.type + " has a grid of no possible size");
    }
    fits = fits && fixed[i] <= double(vectors / points);
    points *= fits ? std::size_t(fixed[i]) : 1;
  }
  if (!fits || points != vectors)
  {
    std::string sizes;
    for (unsigned int i = 0; i < VDimension; ++i)
    {
      sizes += (i > 0 ? " x " : "") + std::to_string(std::uint64_t(std::min(fixed[i], 1e18)));
    }
    ThrowBadTransform(file,
                      stored.parameters.place,
                      stored.type + " has a grid of " + sizes +
                        " points, which needs another number of parameters than " +
                        std::to_string(stored.parameters.count));
  }
  // ITK inverts the axes of grids by a library that prints what it makes of numbers whose squares are infinite or 0
  const bool             ordinary = std::all_of(fixed, fixed + stored.fixedParameters.count, [](double value) {
    return value == 0 || (std::abs(value) > 1e-150 && std::abs(value) < 1e150);
  });
  const Grid<VDimension> grid(fixed);
  bool                   sound = ordinary && std::abs(vnl_determinant(grid.direction.GetVnlMatrix())) > 1e-9;
  for (unsigned int i = 0; i < VDimension; ++i)
  {
    sound = sound && grid.spacing[i] > 0;
  }
  if (!sound)
  {
    ThrowBadTransform(
      file,
      stored.fixedParameters.place,
      stored.type +
        " has a grid in no possible place: with a spacing that is not positive, axes in one plane, or numbers "
        "beyond all sizes");
  }
}

/** The same for any transform: its numbers are as many as it needs, and those that are not its parameters make sense.
 */
template <unsigned int VDimension>
void
RequireSound(const StoredTransform & stored, AnyTransform * transform, const std::string & file)
{
  using Field = itk::DisplacementFieldTransform<double, VDimension>;
  using Spline = itk::BSplineBaseTransform<double, VDimension, 3>;
  if (dynamic_cast<itk::VelocityFieldTransform<double, VDimension> *>(transform) ||
      dynamic_cast<itk::ConstantVelocityFieldTransform<double, VDimension> *>(transform))
  {
    ThrowBadTransform(file,
                      stored.place,
                      stored.type +
                        " is a field of velocities, which cannot be read here: make a displacement field of it first");
  }
  const StoredNumbers & fixed = stored.fixedParameters;
  std::size_t           needed = transform->GetFixedParameters().Size();
  if (dynamic_cast<itk::Euler3DTransform<double> *>(transform) && fixed.count == VDimension)
  {
    needed = VDimension; // older ones do not say in which order the axes come
  }
  RequireCount(stored, fixed, needed, "fixed parameters", file);
  RequireFinite(stored, fixed, file);
  if (dynamic_cast<Field *>(transform))
  {
    RequireGrid<VDimension>(stored, 1, file);
  }
  else if (dynamic_cast<Spline *>(transform))
  {
    RequireGrid<VDimension>(stored, 1 + Spline::SplineOrder, file);
  }
  else
  {
    RequireCount(stored, stored.parameters, transform->GetNumberOfParameters(), "parameters", file);
  }
}

template <unsigned int VDimension>
AnyTransform::Pointer
MakeField(const StoredTransform & stored)
{
  using Field = itk::DisplacementFieldTransform<double, VDimension>;
  const Grid<VDimension> grid(stored.fixedParameters.values.get());
  auto                   image = Field::DisplacementFieldType::New();
  image->SetRegions(grid.size);
  image->SetOrigin(grid.origin);
  image->SetSpacing(grid.spacing);
  image->SetDirection(grid.direction);
  image->Allocate();
  const double * next = stored.parameters.values.get();
  const auto     points = image->GetBufferedRegion().GetNumberOfPixels();
  for (itk::SizeValueType i = 0; i < points; ++i, next += VDimension)
  {
    std::copy_n(next, VDimension, image->GetBufferPointer()[i].GetDataPointer());
  }
  auto transform = Field::New();
  transform->SetDisplacementField(image);
  return transform.GetPointer();
}

template <typename TArray>
TArray
ArrayOf(const StoredNumbers & numbers)
{
  TArray array(numbers.count);
  std::copy_n(numbers.values.get(), numbers.count, array.data_block());
  return array;
}

/** Of a transform that RequireSound() lets through. */
template <unsigned int VDimension>
AnyTransform::Pointer
MakeOne(const StoredTransform & stored, AnyTransform * transform, const std::string & file)
{
  RequireFinite(stored, stored.parameters, file);
  if (dynamic_cast<itk::DisplacementFieldTransform<double, VDimension> *>(transform))
  {
    return MakeField<VDimension>(stored);
  }
  transform->SetFixedParameters(ArrayOf<AnyTransform::FixedParametersType>(stored.fixedParameters));
  RequireCount(stored, stored.parameters, transform->GetNumberOfParameters(), "parameters", file);
  transform->SetParametersByValue(ArrayOf<AnyTransform::ParametersType>(stored.parameters));
  if (auto * linear = dynamic_cast<itk::MatrixOffsetTransformBase<double, VDimension, VDimension> *>(transform))
  {
    // Some kinds (VersorTransform of 5.2) do not take a new matrix into account when parameters are set: their offset
    // is still that of the identity, whatever the center.
    linear->SetCenter(linear->GetCenter());
  }
  return transform;
}

/** One after the other, without the composite: `use` gets each, and an empty transform of its type. */
template <typename TUse>
void
ForEach(const std::vector<StoredTransform> & list, const std::string & file, TUse && use)
{
  for (const StoredTransform & stored : list)
  {
    if (!IsComposite(stored))
    {
      use(stored, MakeDefault(stored, file).GetPointer());
    }
  }
}

} // namespace

StoredNumbers::StoredNumbers(const std::string & where, std::vector<double> numbers)
  : place(where)
  , count(numbers.size())
{
  const auto kept = std::make_shared<const std::vector<double>>(std::move(numbers));
  values = std::shared_ptr<const double>(kept, kept->data());
}

void
ThrowBadTransform(const std::string & file, const std::string & place, const std::string & reason)
{
  throw CommandError("transform '" + file + "', " + place + ": " + reason);
}

void
RequireSoundTransforms(const std::vector<StoredTransform> & list, const std::string & file)
{
  if (list.empty())
  {
    throw CommandError("transform '" + file + "' holds no transform");
  }
  for (const StoredTransform & stored : list)
  {
    if (IsComposite(stored) && &stored != &list.front())
    {
      ThrowBadTransform(file, stored.place, "a composite can only be the first transform of a file");
    }
    if (DimensionOfType(stored.type) != 0 && DimensionOfType(stored.type) != DimensionOfType(list.front().type))
    {
      ThrowBadTransform(file, stored.place, "here are transforms of two and of three dimensions");
    }
  }
  if (IsComposite(list.front()))
  {
    if (list.front().parameters.count > 0 || list.front().fixedParameters.count > 0)
    {
      ThrowBadTransform(
        file,
        list.front().place,
        "the composite has numbers instead of parts, as ITK writes it to a .mat file: write a .h5 file");
    }
    if (list.size() == 1)
    {
      ThrowBadTransform(file, list.front().place, "the composite has no parts; is the file cut off?");
    }
  }
  ForEach(list, file, [&](const StoredTransform & stored, AnyTransform * transform) {
    DimensionOfType(stored.type) == PlaneDimension ? RequireSound<PlaneDimension>(stored, transform, file)
                                                   : RequireSound<SpaceDimension>(stored, transform, file);
  });
}

std::vector<AnyTransform::Pointer>
MakeTransforms(const std::vector<StoredTransform> & list, const std::string & file)
{
  RequireSoundTransforms(list, file);
  std::vector<AnyTransform::Pointer> made;
  try
  {
    ForEach(list, file, [&](const StoredTransform & stored, AnyTransform * transform) {
      made.push_back(DimensionOfType(stored.type) == PlaneDimension ? MakeOne<PlaneDimension>(stored, transform, file)
                                                                    : MakeOne<SpaceDimension>(stored, transform, file));
    });
  }
  catch (const itk::ExceptionObject & error)
  {
    throw CommandError("transform '" + file + "' cannot be read: " + OneLine(error));
  }
  return made;
}
