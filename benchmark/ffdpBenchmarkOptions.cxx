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
#include "ffdpBenchmarkOptions.h"

#include <cctype>
#include <ostream>
#include <stdexcept>

namespace ffdp
{
namespace benchmark
{
namespace
{

std::int64_t
ParseInteger(const std::string & option, const std::string & text, std::int64_t least, std::int64_t most)
{
  std::int64_t number = 0;
  bool         good = !text.empty() && text.size() <= 6;
  for (const char c : text)
  {
    good = good && std::isdigit(static_cast<unsigned char>(c));
    number = good ? 10 * number + (c - '0') : 0;
  }
  if (!good || number < least || number > most)
  {
    throw std::invalid_argument(option + " needs a whole number from " + std::to_string(least) + " to " +
                                std::to_string(most) + ", not '" + text + "'");
  }
  return number;
}

} // namespace

BenchmarkOptions
ParseOptions(int argc, const char * const * argv)
{
  constexpr std::int64_t leastSize = 16; // below, windows and borders are all there is
  constexpr std::int64_t mostSize = 2048;
  constexpr std::int64_t mostThreads = 128; // ITK's limit

  BenchmarkOptions options;
  for (int i = 1; i < argc; ++i)
  {
    std::string option = argv[i];
    if (option == "--help" || option == "-h")
    {
      options.help = true;
      continue;
    }
    // Both "--size 256" and "--size=256".
    std::string       value;
    const std::size_t equals = option.find('=');
    const bool        joined = option.compare(0, 2, "--") == 0 && equals != std::string::npos;
    if (joined)
    {
      value = option.substr(equals + 1);
      option.erase(equals);
    }
    if (option != "--size" && option != "--threads" && option != "--filter" && option != "--json")
    {
      throw std::invalid_argument("unknown option '" + std::string(argv[i]) + "'");
    }
    if (!joined)
    {
      if (++i == argc)
      {
        throw std::invalid_argument(option + " needs a value");
      }
      value = argv[i];
    }

    if (option == "--size")
    {
      options.size = ParseInteger(option, value, leastSize, mostSize);
    }
    else if (option == "--threads")
    {
      options.threads = unsigned(ParseInteger(option, value, 1, mostThreads));
    }
    else if (option == "--filter")
    {
      try
      {
        options.filter = std::regex(value);
      }
      catch (const std::regex_error &)
      {
        throw std::invalid_argument("--filter: '" + value + "' is no regular expression");
      }
    }
    else if (value.empty())
    {
      throw std::invalid_argument("--json needs the name of a file");
    }
    else
    {
      options.jsonFile = value;
    }
  }
  return options;
}

void
PrintHelp(std::ostream & out)
{
  out << "ffdp_benchmark: time per voxel of each primitive and of our ITK classes, against the memory bandwidth and "
         "against ITK\n\n"
         "  --size N        voxels along each axis (default 256)\n"
         "  --threads N     threads, also for ITK and for the bandwidth (default: ITK's)\n"
         "  --filter REGEX  only what has a matching name, e.g. '^lncc|adam' or '^metric'\n"
         "  --json FILE     also write the results as a JSON array\n"
         "  --help          this text\n";
}

} // namespace benchmark
} // namespace ffdp
