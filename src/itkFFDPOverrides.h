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
#ifndef itkFFDPOverrides_h
#define itkFFDPOverrides_h

#include "itkCreateObjectFunction.h"

#include <functional>
#include <typeinfo>

/** What the factories override, in files of their own: each instantiates many templates. */
namespace itk
{
namespace ffdpFactories
{

/** Takes the name of a class, the name and the maker of what replaces it. */
using AddOverride = std::function<void(const char * replaced, const char * with, CreateObjectFunctionBase * maker)>;

template <typename TReplaced, typename TFused>
void
Override(const AddOverride & add)
{
  add(typeid(TReplaced).name(), typeid(TFused).name(), CreateObjectFunction<TFused>::New());
}

void
OverrideMetrics2D(const AddOverride & add);
void
OverrideMetrics3D(const AddOverride & add);
void
OverrideResample2D(const AddOverride & add);
void
OverrideResample3D(const AddOverride & add);

} // namespace ffdpFactories
} // end namespace itk

#endif
