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
#include "ffdpCommandLine.h"

#include <algorithm>
#include <cctype>

namespace
{

std::string theCommandLine;

/** In quotes if a shell would change it. */
std::string
Quote(const std::string & argument)
{
  const std::string harmless = "_-+=./,:@%";
  bool              plain = !argument.empty();
  std::string       quoted = "'";
  for (const char c : argument)
  {
    plain = plain && (std::isalnum(static_cast<unsigned char>(c)) || harmless.find(c) != std::string::npos);
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return plain ? argument : quoted + "'";
}

} // namespace

std::vector<std::string>
KeepCommandLine(int argc, char ** argv)
{
  theCommandLine.clear();
  for (int i = 0; i < argc; ++i)
  {
    theCommandLine += (i > 0 ? " " : "") + Quote(argv[i]);
  }
  return std::vector<std::string>(argv + std::min(argc, 1), argv + argc);
}

const std::string &
GetCommandLine()
{
  return theCommandLine;
}
