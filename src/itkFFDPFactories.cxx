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
#include "itkFFDPFactories.h"

#include "itkFFDPCompatibility.h"
#include "itkFFDPOverrides.h"
#include "itkObjectFactoryBase.h"
#include "itkVersion.h"

#include <mutex>

namespace itk
{
namespace
{

class FFDPObjectFactory : public ObjectFactoryBase
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(FFDPObjectFactory);

  using Self = FFDPObjectFactory;
  using Superclass = ObjectFactoryBase;
  using Pointer = SmartPointer<Self>;

  itkFactorylessNewMacro(Self);
  itkOverrideGetNameOfClassMacro(FFDPObjectFactory);

  const char *
  GetITKSourceVersion() const override
  {
    return ITK_SOURCE_VERSION;
  }
  const char *
  GetDescription() const override
  {
    return "Fused metrics and resampling of FFDP in place of ITK's";
  }

protected:
  FFDPObjectFactory()
  {
    const auto add = [this](const char * replaced, const char * with, CreateObjectFunctionBase * maker) {
      this->RegisterOverride(replaced, with, "fused by FFDP", true, maker);
    };
    ffdpFactories::OverrideMetrics2D(add);
    ffdpFactories::OverrideMetrics3D(add);
    ffdpFactories::OverrideResample2D(add);
    ffdpFactories::OverrideResample3D(add);
  }
  ~FFDPObjectFactory() override = default;
};

std::mutex &
FactoryMutex()
{
  static std::mutex mutex;
  return mutex;
}

/** Looked up in ITK's list rather than remembered: ObjectFactoryBase::UnRegisterAllFactories() may have removed it. */
ObjectFactoryBase *
FindRegisteredFactory()
{
  for (ObjectFactoryBase * factory : ObjectFactoryBase::GetRegisteredFactories())
  {
    if (dynamic_cast<FFDPObjectFactory *>(factory))
    {
      return factory;
    }
  }
  return nullptr;
}

} // namespace

void
FFDPFactories::Register()
{
  const std::lock_guard<std::mutex> lock(FactoryMutex());
  if (!FindRegisteredFactory())
  {
    ObjectFactoryBase::RegisterFactory(FFDPObjectFactory::New(),
                                       ObjectFactoryBase::InsertionPositionEnum::INSERT_AT_FRONT);
  }
}

void
FFDPFactories::UnRegister()
{
  const std::lock_guard<std::mutex> lock(FactoryMutex());
  if (ObjectFactoryBase * factory = FindRegisteredFactory())
  {
    ObjectFactoryBase::UnRegisterFactory(factory);
  }
}

bool
FFDPFactories::IsRegistered()
{
  const std::lock_guard<std::mutex> lock(FactoryMutex());
  return FindRegisteredFactory() != nullptr;
}

} // end namespace itk
