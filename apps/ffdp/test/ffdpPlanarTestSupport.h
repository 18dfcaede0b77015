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
#ifndef ffdpPlanarTestSupport_h
#define ffdpPlanarTestSupport_h

#include "ffdpTransformTestSupport.h"

#include "itkImageIOFactory.h"
#include "itkResampleImageFilter.h"

#include <limits>

/** Images and transforms of two dimensions, by ITK's own classes. */
namespace programtest
{

using PlanarImage = itk::Image<float, 2>;
using PlanarField = itk::Image<itk::Vector<float, 2>, 2>;
using PlanarTransform = itk::Transform<double, 2, 2>;
using PlanarAffine = itk::AffineTransform<double, 2>;
using PlanarComposite = itk::CompositeTransform<double, 2>;
using PlanarFieldTransform = itk::DisplacementFieldTransform<double, 2>;

/** A slice of an organ on a turned grid with unequal spacing. */
inline PlanarImage::Pointer
MakePlanarImage(double bend, double angle, double shift)
{
  auto                        image = PlanarImage::New();
  const PlanarImage::SizeType size = { { 60, 48 } };
  const double                spacing[2] = { 0.8, 1.1 };
  PlanarImage::DirectionType  direction;
  PlanarImage::PointType      origin;
  direction[0][0] = direction[1][1] = std::cos(angle);
  direction[0][1] = -std::sin(angle);
  direction[1][0] = std::sin(angle);
  for (unsigned int i = 0; i < 2; ++i)
  {
    origin[i] = 0;
    for (unsigned int j = 0; j < 2; ++j)
    {
      origin[i] -= direction[i][j] * spacing[j] * 0.5 * double(size[j] - 1);
    }
  }
  image->SetRegions(size);
  image->SetSpacing(spacing);
  image->SetDirection(direction);
  image->SetOrigin(origin);
  image->Allocate();
  for (itk::ImageRegionIteratorWithIndex<PlanarImage> pixel(image, image->GetBufferedRegion()); !pixel.IsAtEnd();
       ++pixel)
  {
    PlanarImage::PointType p;
    image->TransformIndexToPhysicalPoint(pixel.GetIndex(), p);
    pixel.Set(Organ(p[0] + shift, p[1], 1, bend));
  }
  return image;
}

inline PlanarAffine::Pointer
MakePlanarAffine()
{
  auto         affine = PlanarAffine::New();
  const double shift[2] = { 1.5, -2.0 }, center[2] = { 3, 1 };
  affine->SetCenter(PlanarAffine::InputPointType(center));
  affine->Rotate2D(0.1);
  affine->Translate(PlanarAffine::OutputVectorType(shift));
  return affine;
}

/** Smooth displacements of up to `height` mm, none at the border. */
inline PlanarField::Pointer
MakePlanarField(const PlanarImage * grid, double height)
{
  auto field = PlanarField::New();
  field->CopyInformation(grid);
  field->SetRegions(grid->GetBufferedRegion());
  field->Allocate();
  const auto size = grid->GetBufferedRegion().GetSize();
  for (itk::ImageRegionIteratorWithIndex<PlanarField> pixel(field, field->GetBufferedRegion()); !pixel.IsAtEnd();
       ++pixel)
  {
    double bump = height;
    for (unsigned int axis = 0; axis < 2; ++axis)
    {
      bump *= std::sin(3.14159265358979 * double(pixel.GetIndex()[axis]) / double(size[axis] - 1));
    }
    PlanarField::PixelType u;
    u[0] = float(bump);
    u[1] = float(-0.5 * bump);
    pixel.Set(u);
  }
  return field;
}

/** The only transform of a file, by ITK; null unless it is of two dimensions. */
inline PlanarTransform::Pointer
ReadPlanarTransform(const std::string & file)
{
  auto reader = itk::TransformFileReader::New();
  reader->SetFileName(file);
  reader->Update();
  EXPECT_EQ(reader->GetTransformList()->size(), 1u) << file;
  return dynamic_cast<PlanarTransform *>(reader->GetModifiableTransformList()->front().GetPointer());
}

inline PlanarFieldTransform::Pointer
ReadPlanarField(const std::string & file)
{
  auto transform = PlanarFieldTransform::New();
  transform->SetDisplacementField(Read<PlanarFieldTransform::DisplacementFieldType>(file));
  return transform;
}

/** As antsApplyTransforms does it. */
inline PlanarImage::Pointer
ResamplePlanar(const PlanarImage * image, const PlanarImage * reference, const PlanarTransform * transform)
{
  auto resampler = itk::ResampleImageFilter<PlanarImage, PlanarImage>::New();
  resampler->SetInput(image);
  resampler->SetReferenceImage(reference);
  resampler->UseReferenceImageOn();
  resampler->SetTransform(transform);
  resampler->Update();
  return resampler->GetOutput();
}

inline double
LargestDifference(const PlanarImage * a, const PlanarImage * b)
{
  if (a->GetBufferedRegion().GetSize() != b->GetBufferedRegion().GetSize())
  {
    return std::numeric_limits<double>::infinity();
  }
  double largest = 0;
  for (itk::SizeValueType i = 0; i < a->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    largest = std::max(largest, double(std::abs(a->GetBufferPointer()[i] - b->GetBufferPointer()[i])));
  }
  return largest;
}

/** Dimensions of an image as its file has them. */
inline unsigned int
DimensionsInFile(const std::string & file)
{
  const auto io = itk::ImageIOFactory::CreateImageIO(file.c_str(), itk::ImageIOFactory::FileModeEnum::ReadMode);
  io->SetFileName(file);
  io->ReadImageInformation();
  return io->GetNumberOfDimensions();
}

} // namespace programtest

#endif
