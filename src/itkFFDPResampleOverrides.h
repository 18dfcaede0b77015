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
#ifndef itkFFDPResampleOverrides_h
#define itkFFDPResampleOverrides_h

#include "itkFFDPOverrides.h"

#include "itkFusedResampleImageFilter.h"
#include "itkImage.h"
#include "itkVector.h"

namespace itk
{
namespace ffdpFactories
{

template <typename TPixel, unsigned int VDimension>
void
OverrideResampleOf(const AddOverride & add)
{
  using ImageType = Image<TPixel, VDimension>;
  Override<ResampleImageFilter<ImageType, ImageType, double, double>,
           FusedResampleImageFilter<ImageType, ImageType, double, double>>(add);
  Override<ResampleImageFilter<ImageType, ImageType, float, float>,
           FusedResampleImageFilter<ImageType, ImageType, float, float>>(add);
}

template <unsigned int VDimension>
void
OverrideResampleOfNumbers(const AddOverride & add)
{
  OverrideResampleOf<unsigned char, VDimension>(add);
  OverrideResampleOf<signed char, VDimension>(add);
  OverrideResampleOf<unsigned short, VDimension>(add);
  OverrideResampleOf<short, VDimension>(add);
  OverrideResampleOf<unsigned int, VDimension>(add);
  OverrideResampleOf<int, VDimension>(add);
  OverrideResampleOf<float, VDimension>(add);
  OverrideResampleOf<double, VDimension>(add);
}

template <unsigned int VDimension>
void
OverrideResampleOfVectors(const AddOverride & add)
{
  OverrideResampleOf<Vector<float, VDimension>, VDimension>(add);
  OverrideResampleOf<Vector<double, VDimension>, VDimension>(add);
}

} // namespace ffdpFactories
} // end namespace itk

#endif
