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

#include "itkAffineTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkTransformFileReader.h"
#include "itkTransformFileWriter.h"

#include <algorithm>
#include <filesystem>

namespace
{

using Affine = itk::AffineTransform<double, 3>;
using Field = itk::DisplacementFieldTransform<double, 3>;
using Base = itk::Transform<double, 3, 3>;

bool
IsTransformFile(const std::string & file)
{
  for (const char * end : { ".mat", ".txt", ".tfm", ".h5", ".hdf5", ".xfm" })
  {
    if (EndsWith(file, end))
    {
      return true;
    }
  }
  return false;
}

/** The transforms of a file, in the order in which a composite holds them. */
std::vector<Base::Pointer>
ReadTransformFile(const std::string & file)
{
  if (!std::filesystem::exists(file))
  {
    throw CommandError("transform '" + file + "' does not exist");
  }
  auto reader = itk::TransformFileReaderTemplate<double>::New();
  reader->SetFileName(file);
  try
  {
    reader->Update();
  }
  catch (const itk::ExceptionObject & error)
  {
    throw CommandError("transform '" + file + "' cannot be read: " + error.GetDescription());
  }
  std::vector<Base::Pointer> found;
  for (const auto & item : *reader->GetModifiableTransformList())
  {
    auto * transform = dynamic_cast<Base *>(item.GetPointer());
    if (!transform)
    {
      throw CommandError("transform '" + file + "' is not one of three dimensions");
    }
    found.emplace_back(transform);
  }
  if (found.empty())
  {
    throw CommandError("transform '" + file + "' holds no transform");
  }
  return found;
}

/** ITK's field transforms hold doubles. */
Field::Pointer
MakeFieldTransform(const FieldImage * field)
{
  auto converted = Field::DisplacementFieldType::New();
  converted->CopyInformation(field);
  converted->SetRegions(field->GetBufferedRegion());
  converted->Allocate();
  const auto count = field->GetBufferedRegion().GetNumberOfPixels();
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    for (unsigned int c = 0; c < 3; ++c)
    {
      converted->GetBufferPointer()[i][c] = field->GetBufferPointer()[i][c];
    }
  }
  auto transform = Field::New();
  transform->SetDisplacementField(converted);
  return transform;
}

Base::Pointer
InverseOf(const Base * transform, const std::string & file)
{
  Base::Pointer inverse = transform->IsLinear() ? transform->GetInverseTransform() : nullptr;
  if (!inverse)
  {
    throw CommandError("transform '" + file +
                       "' cannot be inverted here: only linear ones can, a warp has its inverse in a file");
  }
  return inverse;
}

} // namespace

CompositeType::Pointer
ReadTransforms(const std::vector<std::string> & list)
{
  auto composite = CompositeType::New();
  // A composite applies to a point what was added to it last first, and the list begins with what comes first.
  for (auto item = list.rbegin(); item != list.rend(); ++item)
  {
    const std::string entry = item->substr(std::min(item->size(), item->find_first_not_of(' ')));
    std::string       file = entry;
    bool              invert = false;
    if (entry.size() > 1 && entry.front() == '[' && entry.back() == ']')
    {
      const auto comma = entry.rfind(',');
      if (comma == std::string::npos || (entry.substr(comma + 1) != "1]" && entry.substr(comma + 1) != "0]"))
      {
        throw CommandError("'" + entry + "' is not of the form [FILE,1] or [FILE,0]");
      }
      file = entry.substr(1, comma - 1);
      invert = entry[comma + 1] == '1';
    }
    if (!IsTransformFile(file))
    {
      const Base::Pointer field(MakeFieldTransform(ReadField(file)).GetPointer());
      composite->AddTransform(invert ? InverseOf(field, file) : field);
      continue;
    }
    for (const Base::Pointer & transform : ReadTransformFile(file))
    {
      composite->AddTransform(invert ? InverseOf(transform, file) : transform);
    }
  }
  return composite;
}

ffdp::AffineMap
ReadLinear(const std::string & file)
{
  ffdp::AffineMap map;
  for (const Base::Pointer & transform : ReadTransformFile(file))
  {
    if (!transform->IsLinear())
    {
      throw CommandError("transform '" + file + "' is not linear, so no stage can start from it");
    }
    const auto      origin = transform->TransformPoint(Base::InputPointType());
    ffdp::AffineMap own;
    for (unsigned int j = 0; j < 3; ++j)
    {
      Base::InputPointType unit;
      unit.Fill(0);
      unit[j] = 1;
      const auto moved = transform->TransformPoint(unit);
      for (unsigned int i = 0; i < 3; ++i)
      {
        own.matrix[3 * i + j] = moved[i] - origin[i];
        own.offset[i] = origin[i];
      }
    }
    map = ffdp::Compose(map, own);
  }
  return map;
}

namespace
{

Affine::Pointer
MakeAffine(const ffdp::AffineMap & map)
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
  return transform;
}

void
WriteTransform(const itk::TransformBaseTemplate<double> * transform, const std::string & file)
{
  WriteAtomically(file, [&](const std::string & name) {
    auto writer = itk::TransformFileWriterTemplate<double>::New();
    writer->SetInput(transform);
    writer->SetFileName(name);
    writer->SetUseCompression(true);
    writer->Update();
  });
}

} // namespace

void
WriteLinear(const ffdp::AffineMap & map, const std::string & file)
{
  WriteTransform(MakeAffine(map), file);
}

FieldImage::Pointer
MakeField(const std::vector<float> & warp, const FloatImage * grid)
{
  const ffdp::PlacedImage placed = PlaceImage(grid);
  auto                    field = FieldImage::New();
  field->CopyInformation(grid);
  field->SetRegions(grid->GetBufferedRegion());
  field->Allocate();
  const auto     count = std::size_t(placed.voxels.domain.Voxels());
  const double * A = placed.indexToPhysical.matrix;
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

void
WriteComposite(const CompositeType * composite, const std::string & file)
{
  WriteTransform(composite, file);
}

CompositeType::Pointer
MakeComposite(const ffdp::AffineMap & map, const FieldImage * field, bool fieldFirst)
{
  auto           composite = CompositeType::New();
  Field::Pointer fieldTransform;
  if (field)
  {
    fieldTransform = MakeFieldTransform(field);
  }
  // a composite applies what was added last first
  if (field && !fieldFirst)
  {
    composite->AddTransform(fieldTransform);
  }
  composite->AddTransform(MakeAffine(map));
  if (field && fieldFirst)
  {
    composite->AddTransform(fieldTransform);
  }
  return composite;
}
