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
#ifndef ffdpDevice_h
#define ffdpDevice_h

#include "ffdpDeviceName.h"
#include "ffdpLaunch.h"

#include <memory>
#include <string>

/** What --device says. Throws CommandError for what is not the name of a device. */
ffdp::DeviceName
ParseDevice(const std::string & text);

/** Throws CommandError, with the reason, if a device that the user names is not there. Before any long work. */
void
RequireDevice(const ffdp::DeviceName & name, const Launch & launch);

/** Throws CommandError if a GPU that is there has less memory than this. */
void
RequireDeviceMemory(const ffdp::DeviceName & name, double bytes, const Launch & launch);

/** Where a registration runs: the backend, and the ranks as they reach each other's memory there. */
class RegistrationDevice
{
public:
  RegistrationDevice(const ffdp::DeviceName & name, unsigned threads, const Launch & launch);

  ffdp::Backend &
  Backend() const
  {
    return *m_Backend;
  }
  ffdp::Communicator &
  Ranks() const
  {
    return *m_Ranks;
  }

private:
  std::unique_ptr<ffdp::Backend>      m_Backend;
  std::unique_ptr<ffdp::Communicator> m_BetweenDevices; ///< none on the CPU, and for one rank
  ffdp::Communicator *                m_Ranks;
};

#endif
