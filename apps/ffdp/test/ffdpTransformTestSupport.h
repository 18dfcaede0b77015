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
#ifndef ffdpTransformTestSupport_h
#define ffdpTransformTestSupport_h

#include "ffdpProgramTestSupport.h"

#include "itkAffineTransform.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkTransformFileReader.h"
#include "itkTransformFileWriter.h"

#include <vector>

/** Transforms for the tests of the program, and ITK's reading of what it wrote. */
namespace programtest
{

using Affine = itk::AffineTransform<double, 3>;
using Composite = itk::CompositeTransform<double, 3>;
using FieldTransform = itk::DisplacementFieldTransform<double, 3>;
using Field = itk::Image<itk::Vector<float, 3>, 3>;
using Point = itk::Point<double, 3>;

/** A rotation with scales and a shift. */
inline Affine::Pointer
MakeAffine(double angle)
{
  auto                           affine = Affine::New();
  const Affine::OutputVectorType axis(1.0);
  const double                   shift[3] = { 1.5, -2.0, 0.7 };
  affine->Rotate3D(axis, angle);
  affine->Scale(1.05);
  affine->Translate(Affine::OutputVectorType(shift));
  return affine;
}

/** Smooth displacements of up to `height` mm on the grid of an image, none of them at its border. */
inline Field::Pointer
MakeField(const Image * grid, double height)
{
  auto field = Field::New();
  field->CopyInformation(grid);
  field->SetRegions(grid->GetBufferedRegion());
  field->Allocate();
  const auto                               size = grid->GetBufferedRegion().GetSize();
  itk::ImageRegionIteratorWithIndex<Field> voxel(field, field->GetBufferedRegion());
  for (; !voxel.IsAtEnd(); ++voxel)
  {
    double bump = height;
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      bump *= std::sin(3.14159265358979 * double(voxel.GetIndex()[axis]) / double(size[axis] - 1));
    }
    const double     z = double(voxel.GetIndex()[2]);
    Field::PixelType u;
    u[0] = float(bump * std::cos(z / 9));
    u[1] = float(bump * std::sin(z / 9));
    u[2] = float(-0.5 * bump);
    voxel.Set(u);
  }
  return field;
}

inline void
WriteTransform(const itk::TransformBaseTemplate<double> * transform, const std::string & file)
{
  auto writer = itk::TransformFileWriter::New();
  writer->SetInput(transform);
  writer->SetFileName(file);
  writer->Update();
}

/** The only transform of a file, by ITK. */
inline itk::Transform<double, 3, 3>::Pointer
ReadTransform(const std::string & file)
{
  auto reader = itk::TransformFileReader::New();
  reader->SetFileName(file);
  reader->Update();
  EXPECT_EQ(reader->GetTransformList()->size(), 1u) << file;
  return dynamic_cast<itk::Transform<double, 3, 3> *>(reader->GetModifiableTransformList()->front().GetPointer());
}

inline FieldTransform::Pointer
ReadFieldTransform(const std::string & file)
{
  auto transform = FieldTransform::New();
  transform->SetDisplacementField(Read<FieldTransform::DisplacementFieldType>(file));
  return transform;
}

/** Places within an image, none of them a voxel. */
inline std::vector<Point>
PointsIn(const Image * image)
{
  std::vector<Point> points;
  for (int i = 0; i < 60; ++i)
  {
    itk::ContinuousIndex<double, 3> at;
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      const double share = std::fmod(0.37 * (i + 1) * (axis + 1) + 0.11 * i, 1.0);
      at[axis] = (0.2 + 0.6 * share) * double(image->GetBufferedRegion().GetSize(axis) - 1);
    }
    Point point;
    image->TransformContinuousIndexToPhysicalPoint(at, point);
    points.push_back(point);
  }
  return points;
}

} // namespace programtest

#endif
