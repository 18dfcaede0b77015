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
#ifndef ffdpFuzzFile_h
#define ffdpFuzzFile_h

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

/** A file in memory that holds what the fuzzer made. The same one is written anew each time; each process has its own.
 */
class FuzzFile
{
public:
  explicit FuzzFile(const std::string & ending)
    : m_Name(Folder() + "/x" + ending)
  {}

  const std::string &
  Write(const std::uint8_t * bytes, std::size_t count) const
  {
    std::FILE * file = std::fopen(m_Name.c_str(), "wb");
    if (!file || std::fwrite(bytes, 1, count, file) != count || std::fclose(file) != 0)
    {
      std::perror(m_Name.c_str());
      std::abort();
    }
    return m_Name;
  }

  const std::string &
  Name() const
  {
    return m_Name;
  }

  /** Goes when the process ends. */
  static const std::string &
  Folder()
  {
    static const std::string folder = [] {
      std::string name = (access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + std::string("/ffdp-fuzz-XXXXXX");
      if (!mkdtemp(&name[0]))
      {
        std::perror(name.c_str());
        std::abort();
      }
      theFolder() = name;
      std::atexit([] { std::system(("rm -rf " + theFolder()).c_str()); });
      return name;
    }();
    return folder;
  }

private:
  static std::string &
  theFolder()
  {
    static auto * const name = new std::string; // outlives the functions of atexit()
    return *name;
  }

  std::string m_Name;
};

#endif
