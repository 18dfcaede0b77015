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
#ifndef ffdpImageGrid_h
#define ffdpImageGrid_h

#include "ffdpAffineMap.h"

#include "itkImageBase.h"

/** From a voxel index to mm (LPS). */
inline ffdp::AffineMap
IndexToPhysical(const itk::ImageBase<3> * image)
{
  const auto      direction = image->GetDirection();
  const auto      spacing = image->GetSpacing();
  const auto      origin = image->GetOrigin();
  ffdp::AffineMap map;
  for (unsigned int i = 0; i < 3; ++i)
  {
    for (unsigned int j = 0; j < 3; ++j)
    {
      map.matrix[3 * i + j] = direction[i][j] * spacing[j];
    }
    map.offset[i] = origin[i];
  }
  return map;
}

#endif
