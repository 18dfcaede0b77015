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
#include "ffdpDeviceName.h"

#include "ffdpCudaBackend.h"

#include <algorithm>
#include <stdexcept>

namespace ffdp
{

DeviceName
ParseDeviceName(const std::string & text)
{
  DeviceName        name;
  const std::string prefix = "cuda:";
  const bool        numbered = text.compare(0, prefix.size(), prefix) == 0;
  const std::string number = numbered ? text.substr(prefix.size()) : std::string();
  name.cuda = text == "cuda" || numbered;
  if (numbered && !number.empty() && number.size() < 4 && number.find_first_not_of("0123456789") == std::string::npos)
  {
    name.index = std::stoi(number);
  }
  else if (numbered || (text != "cpu" && text != "cuda"))
  {
    throw std::invalid_argument("device '" + text + "': neither cpu, cuda nor cuda:N");
  }
  return name;
}

std::unique_ptr<Backend>
MakeBackend(const std::string & text, unsigned threads)
{
  const DeviceName name = ParseDeviceName(text);
  return name.cuda ? MakeCudaBackend(std::max(0, name.index)) : MakeCpuBackend(threads);
}

std::shared_ptr<Backend>
MakeDeviceBackend(const std::string & name)
{
  return ParseDeviceName(name).cuda ? MakeBackend(name) : nullptr;
}

} // namespace ffdp
