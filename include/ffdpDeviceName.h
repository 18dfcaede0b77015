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
#ifndef ffdpDeviceName_h
#define ffdpDeviceName_h

#include "FFDPExport.h"
#include "ffdpBackend.h"

#include <memory>
#include <string>

namespace ffdp
{

/** A device as users name it: cpu, cuda (a GPU), or cuda:N (that one). */
struct DeviceName
{
  bool cuda = false;
  int  index = -1; ///< of a GPU; -1: not said
};

/** Throws std::invalid_argument for any other text. */
FFDP_EXPORT DeviceName
ParseDeviceName(const std::string & text);

/** The backend of the device with that name; the first GPU where the name does not say which. `threads` are those of
 * the CPU. Throws std::invalid_argument for what is not a name, std::runtime_error with the reason for a device that is
 * not there. */
FFDP_EXPORT std::unique_ptr<Backend>
            MakeBackend(const std::string & name, unsigned threads = 0);

/** What SetDevice() of an ITK class sets: that backend, or null for the CPU, where the classes have threads of their
 * own choice. Throws likewise. */
FFDP_EXPORT std::shared_ptr<Backend>
            MakeDeviceBackend(const std::string & name);

} // namespace ffdp

#endif
