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
#include "ffdpLibraryChatter.h"

#include <exception>
#include <iostream>
#include <unistd.h>

namespace
{

std::recursive_mutex theStderr;

} // namespace

LibraryChatter::LibraryChatter()
  : m_Alone(theStderr)
  , m_Kept(std::tmpfile())
  , m_Exceptions(std::uncaught_exceptions())
{
  if (m_Kept)
  {
    std::fflush(stderr);
    m_Stderr = dup(STDERR_FILENO);
    dup2(fileno(m_Kept), STDERR_FILENO);
  }
}

LibraryChatter::~LibraryChatter()
{
  if (!m_Kept)
  {
    return;
  }
  std::cerr.flush();
  std::fflush(stderr);
  dup2(m_Stderr, STDERR_FILENO);
  close(m_Stderr);
  if (std::uncaught_exceptions() == m_Exceptions)
  {
    std::rewind(m_Kept);
    for (int c = std::fgetc(m_Kept); c != EOF; c = std::fgetc(m_Kept))
    {
      std::fputc(c, stderr);
    }
  }
  std::fclose(m_Kept);
}
