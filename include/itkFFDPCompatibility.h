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
#ifndef itkFFDPCompatibility_h
#define itkFFDPCompatibility_h

#include "itkMacro.h"

/** What differs between the versions of ITK that this module is written for (5.2.1, 5.4 and 6.0), in one place. */

/** Arrived with ITK 5.4; itkTypeMacro, which did this before, leaves with ITK 6. */
#ifndef itkOverrideGetNameOfClassMacro
#  define itkOverrideGetNameOfClassMacro(thisClass)                                                                    \
    const char * GetNameOfClass() const override                                                                       \
    {                                                                                                                  \
      return #thisClass;                                                                                               \
    }                                                                                                                  \
    ITK_MACROEND_NOOP_STATEMENT
#endif

/** Since ITK 5.3 DisplacementFieldTransform::ComputeJacobianWithRespectToPosition() is that of physical space, and
 * stays within the field. Before, it turned displacements instead of differences by the direction, divided by the
 * spacing of the component instead of that of the axis, and counted indices from 0, wherever the region of the field
 * starts. */
#if ITK_VERSION_MAJOR > 5 || (ITK_VERSION_MAJOR == 5 && ITK_VERSION_MINOR >= 3)
#  define FFDP_ITK_FIELD_JACOBIAN_IS_PHYSICAL 1
#else
#  define FFDP_ITK_FIELD_JACOBIAN_IS_PHYSICAL 0
#endif

#endif
