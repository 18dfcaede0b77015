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
#ifndef ffdpTestFolder_h
#define ffdpTestFolder_h

#include <filesystem>
#include <string>
#include <unistd.h>

namespace ffdp
{
namespace test
{

/** An empty folder that only this process uses, and that goes with this object: other tests run at the same time, and
 * so may the tests of another build. */
class TestFolder
{
public:
  explicit TestFolder(const std::string & name)
    : m_Path(std::filesystem::temp_directory_path() / ("ffdp-test-" + std::to_string(getpid()) + "-" + name))
  {
    std::filesystem::remove_all(m_Path);
    std::filesystem::create_directories(m_Path);
  }
  ~TestFolder()
  {
    std::error_code ignored;
    std::filesystem::remove_all(m_Path, ignored);
  }
  TestFolder(const TestFolder &) = delete;
  TestFolder &
  operator=(const TestFolder &) = delete;

  std::string
  Path() const
  {
    return m_Path.string();
  }

private:
  std::filesystem::path m_Path;
};

} // namespace test
} // namespace ffdp

#endif
