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
#include "ffdpTransformFiles.h"

#include "ffdpCommandError.h"
#include "ffdpHdf5TransformReading.h"
#include "ffdpImageGrid.h"
#include "ffdpImageReading.h"
#include "ffdpPlanarTransforms.h"
#include "ffdpRegularFile.h"
#include "ffdpStageText.h"
#include "ffdpStoredTransform.h"
#include "ffdpTransformMatlab.h"
#include "ffdpTransformText.h"

#include "itkAffineTransform.h"
#include "itkDisplacementFieldTransform.h"

#include <algorithm>
#include <filesystem>
#include <new>

namespace
{

using Affine = itk::AffineTransform<double, 3>;
using Field = itk::DisplacementFieldTransform<double, 3>;
using Base = TransformType;

using AnyTransform = itk::TransformBaseTemplate<double>;
using BasePointers = std::vector<Base::Pointer>;

/** All that is in a file, whatever its format; empty for a format that is not known here. */
std::vector<StoredTransform>
LoadTransforms(const std::string & file)
{
  if (IsHdf5File(file))
  {
    return ReadHdf5Transforms(file);
  }
  if (EndsWith(file, ".mat"))
  {
    return ReadTransformMatlab(file);
  }
  if (EndsWith(file, ".xfm"))
  {
    RequireRegularFile(file, "transform");
    throw CommandError("transform '" + file +
                       "' is one of MINC, which cannot be read here: save it as a .mat, .tfm or .h5 file first");
  }
  return ReadTransformText(file);
}

/** A transform of the plane as one of space. */
Base::Pointer
Lift(const PlanarTransform * transform, const std::string & file)
{
  const auto lifted = LiftTransform(transform);
  if (!lifted)
  {
    throw CommandError("transform '" + file + "' holds a " + transform->GetNameOfClass() +
                       " of two dimensions, which cannot be read here: make a displacement field of it first");
  }
  return lifted;
}

/** The transforms of a file, in the order in which a composite holds them, and the dimension that all of them have. */
BasePointers
ReadTransformFile(const std::string & file, unsigned int & dimension)
{
  BasePointers found;
  try
  {
    for (const AnyTransform::Pointer & item : MakeTransforms(LoadTransforms(file), file))
    {
      const auto * planar = dynamic_cast<const PlanarTransform *>(item.GetPointer());
      found.push_back(planar ? Lift(planar, file) : Base::Pointer(dynamic_cast<Base *>(item.GetPointer())));
      dimension = planar ? PlaneDimension : SpaceDimension;
    }
  }
  catch (const std::bad_alloc &)
  {
    throw CommandError("transform '" + file + "' cannot be read: there is not enough memory");
  }
  return found;
}

Base::Pointer
InverseOf(const Base * transform, const std::string & file)
{
  if (!transform->IsLinear())
  {
    throw CommandError("transform '" + file +
                       "' is not linear and cannot be inverted here: take the file of its inverse, or ffdp invert");
  }
  Base::Pointer inverse = transform->GetInverseTransform();
  if (!inverse)
  {
    throw CommandError("transform '" + file + "' is singular: it has no inverse");
  }
  return inverse;
}

/** FILE, [FILE,0] or [FILE,1], with spaces anywhere: a file and whether its inverse is meant. */
std::pair<std::string, bool>
ParseEntry(const std::string & item)
{
  const std::string entry = Trim(item);
  if (entry.empty() || entry.front() != '[' || std::filesystem::exists(entry))
  {
    return { entry, false };
  }
  const auto        comma = entry.rfind(',');
  const std::string end =
    comma == std::string::npos || entry.back() != ']' ? "" : Trim(entry.substr(comma + 1, entry.size() - comma - 2));
  if (end != "1" && end != "0")
  {
    throw CommandError("'" + entry + "' is not of the form [FILE,1] or [FILE,0]");
  }
  return { Trim(entry.substr(1, comma - 1)), end == "1" };
}

/** ANTs' word for no transform at all. */
bool
IsIdentity(const std::string & file)
{
  return LowerCase(file) == "identity";
}

/** The transforms that a name stands for, in the order in which a composite holds them. */
BasePointers
ReadEntry(const std::string & file, DimensionedFile & found)
{
  if (IsIdentity(file))
  {
    return { MakeTransform(ffdp::AffineMap()) };
  }
  if (IsTransformFile(file))
  {
    found.name = "transform '" + file + "'";
    return ReadTransformFile(file, found.dimension);
  }
  found = ReadFieldDimension(file);
  return { MakeTransform(ReadField(file)) };
}

} // namespace

bool
IsHdf5File(const std::string & file)
{
  return EndsWith(file, ".h5") || EndsWith(file, ".hdf5");
}

bool
IsTransformFile(const std::string & file)
{
  const auto endsSo = [&](const char * end) { return EndsWith(file, end); };
  return IsHdf5File(file) || endsSo(".mat") || endsSo(".txt") || endsSo(".tfm") || endsSo(".xfm");
}

Base::Pointer
MakeTransform(const FieldImage * field)
{
  auto transform = Field::New();
  transform->SetDisplacementField(ConvertField<Field::DisplacementFieldType>(field));
  return transform.GetPointer();
}

Base::Pointer
MakeTransform(const ffdp::AffineMap & map)
{
  auto                     transform = Affine::New();
  Affine::MatrixType       matrix;
  Affine::OutputVectorType offset;
  for (unsigned int i = 0; i < 3; ++i)
  {
    for (unsigned int j = 0; j < 3; ++j)
    {
      matrix[i][j] = map.matrix[3 * i + j];
    }
    offset[i] = map.offset[i];
  }
  transform->SetMatrix(matrix);
  transform->SetOffset(offset);
  return transform.GetPointer();
}

FieldImage::Pointer
FieldOf(const Base * transform)
{
  const auto * fieldTransform = dynamic_cast<const Field *>(transform);
  if (!fieldTransform)
  {
    return nullptr;
  }
  const auto * doubles = fieldTransform->GetDisplacementField();
  auto         field = FieldImage::New();
  field->CopyInformation(doubles);
  field->SetRegions(doubles->GetBufferedRegion());
  field->Allocate();
  const auto count = doubles->GetBufferedRegion().GetNumberOfPixels();
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    field->GetBufferPointer()[i].CastFrom(doubles->GetBufferPointer()[i]);
  }
  return field;
}

void
RequireTransforms(const std::vector<std::string> & list)
{
  for (const std::string & item : list)
  {
    const std::string file = ParseEntry(item).first;
    if (IsIdentity(file))
    {
      continue;
    }
    if (!IsTransformFile(file))
    {
      ReadImageHeader(file, "displacement field");
    }
    else if (IsHdf5File(file))
    {
      RequireSoundTransforms(DescribeHdf5Transforms(file), file);
    }
    else
    {
      MakeTransforms(LoadTransforms(file), file);
    }
  }
}

TransformList
ReadTransforms(const std::vector<std::string> & list)
{
  TransformList result;
  result.transform = CompositeType::New();
  // A composite applies to a point what was added to it last first, and the list begins with what comes first.
  for (auto item = list.rbegin(); item != list.rend(); ++item)
  {
    const auto          entry = ParseEntry(*item);
    const std::string & file = entry.first;
    DimensionedFile     dimensioned;
    BasePointers        found = ReadEntry(file, dimensioned);
    RequireOneDimension(dimensioned, result.file);
    result.file = dimensioned.dimension != 0 ? dimensioned : result.file;
    if (entry.second)
    {
      std::reverse(found.begin(), found.end());
    }
    for (const Base::Pointer & transform : found)
    {
      result.transform->AddTransform(entry.second ? InverseOf(transform, file) : transform);
    }
  }
  result.transform->FlattenTransformQueue();
  return result;
}

ffdp::AffineMap
LinearMapOf(const Base * transform)
{
  const auto      origin = transform->TransformPoint(Base::InputPointType());
  ffdp::AffineMap map;
  for (unsigned int j = 0; j < 3; ++j)
  {
    Base::InputPointType unit;
    unit.Fill(0);
    unit[j] = 1;
    const auto moved = transform->TransformPoint(unit);
    for (unsigned int i = 0; i < 3; ++i)
    {
      map.matrix[3 * i + j] = moved[i] - origin[i];
      map.offset[i] = origin[i];
    }
  }
  return map;
}

FieldImage::Pointer
MakeField(const std::vector<float> & warp, const FloatImage * grid)
{
  const ffdp::AffineMap toMm = IndexToPhysical(grid);
  auto                  field = FieldImage::New();
  field->CopyInformation(grid);
  field->SetRegions(grid->GetLargestPossibleRegion());
  field->Allocate();
  const auto     count = std::size_t(ExtentOf(grid).Voxels());
  const double * A = toMm.matrix;
  auto *         vectors = field->GetBufferPointer();
  for (std::size_t i = 0; i < count; ++i)
  {
    const double u[3] = { warp[i], warp[count + i], warp[2 * count + i] };
    for (unsigned int c = 0; c < 3; ++c)
    {
      vectors[i][c] = float(A[3 * c] * u[0] + A[3 * c + 1] * u[1] + A[3 * c + 2] * u[2]);
    }
  }
  return field;
}

CompositeType::Pointer
MakeComposite(const ffdp::AffineMap & map, const FieldImage * field, bool fieldFirst)
{
  auto          composite = CompositeType::New();
  Base::Pointer fieldTransform;
  if (field)
  {
    fieldTransform = MakeTransform(field);
  }
  // a composite applies what was added last first
  if (field && !fieldFirst)
  {
    composite->AddTransform(fieldTransform);
  }
  composite->AddTransform(MakeTransform(map));
  if (field && fieldFirst)
  {
    composite->AddTransform(fieldTransform);
  }
  return composite;
}
