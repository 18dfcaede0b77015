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
#include "itkFusedMeanSquaresImageToImageMetricv4.h"
#include "itkImage.h"
#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"

#include <iostream>

/** Writes an image, reads it again and compares it with itself: ITK's readers and writers are registered, and linked,
 * beside FFDP's classes. */
int
main()
{
  using ImageType = itk::Image<float, 3>;
  const auto image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { 5, 6, 7 } });
  image->Allocate();
  for (itk::SizeValueType i = 0; i < 5 * 6 * 7; ++i)
  {
    image->GetBufferPointer()[i] = float(i);
  }
  itk::WriteImage(image, "image.nii.gz");
  const auto read = itk::ReadImage<ImageType>("image.nii.gz");

  using MetricType = itk::FusedMeanSquaresImageToImageMetricv4<ImageType, ImageType>;
  const auto metric = MetricType::New();
  metric->SetFixedImage(image);
  metric->SetMovingImage(read);
  metric->Initialize();
  const auto value = metric->GetValue();
  std::cout << "mean squares of an image and the file that it was written to: " << value << "\n";
  return value == 0 ? 0 : 1;
}
