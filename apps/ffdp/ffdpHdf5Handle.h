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
#ifndef ffdpHdf5Handle_h
#define ffdpHdf5Handle_h

#include "itk_H5Cpp.h"

#include <exception>
#include <stdexcept>
#include <string>

/** Throws std::runtime_error with a reason for the negative numbers by which HDF5 says that it failed. */
template <typename TResult>
TResult
RequireHdf5(TResult result, const std::string & reason)
{
  if (result < 0)
  {
    throw std::runtime_error(reason);
  }
  return result;
}

/** An object of HDF5, which is closed at the end of its life. While an exception is on its way it is left open: to
 * close what could not be read or written is where the library crashes, and the process that uses it is about to end.
 */
class Hdf5Handle
{
public:
  Hdf5Handle(hid_t id, herr_t (*close)(hid_t), const std::string & reason)
    : m_Id(RequireHdf5(id, reason))
    , m_Close(close)
    , m_Exceptions(std::uncaught_exceptions())
  {}
  ~Hdf5Handle()
  {
    if (m_Id >= 0 && std::uncaught_exceptions() == m_Exceptions)
    {
      m_Close(m_Id);
    }
  }
  Hdf5Handle(const Hdf5Handle &) = delete;
  Hdf5Handle &
  operator=(const Hdf5Handle &) = delete;

  operator hid_t() const { return m_Id; }

  /** Closes it now, and throws if that fails: it may be when bytes are written. */
  void
  Close(const std::string & reason)
  {
    const hid_t id = m_Id;
    m_Id = -1;
    RequireHdf5(m_Close(id), reason);
  }

private:
  hid_t m_Id;
  herr_t (*m_Close)(hid_t);
  int m_Exceptions;
};

#endif
