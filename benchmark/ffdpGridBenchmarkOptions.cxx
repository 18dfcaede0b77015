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
#include "ffdpGridBenchmarkOptions.h"

#include <algorithm>
#include <cctype>
#include <ostream>
#include <sstream>
#include <stdexcept>

namespace ffdp
{
namespace benchmark
{
namespace
{

using Kind = RegistrationStage::Kind;

const char * const forLauncherOption = "--for-launcher";

std::int64_t
ParseInteger(const std::string & option, const std::string & text, std::int64_t least, std::int64_t most)
{
  const bool isNumber = !text.empty() && text.size() <= 6 &&
                        std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
  const std::int64_t number = isNumber ? std::stoll(text) : 0;
  if (!isNumber || number < least || number > most)
  {
    throw std::invalid_argument(option + " needs whole numbers from " + std::to_string(least) + " to " +
                                std::to_string(most) + ", not '" + text + "'");
  }
  return number;
}

std::vector<std::int64_t>
ParseIntegers(const std::string & option,
              const std::string & text,
              char                separator,
              std::int64_t        least,
              std::int64_t        most)
{
  std::vector<std::int64_t> numbers;
  std::istringstream        parts(text);
  for (std::string part; std::getline(parts, part, separator);)
  {
    numbers.push_back(ParseInteger(option, part, least, most));
  }
  return numbers;
}

Extent
ParseSize(const std::string & option, const std::string & text)
{
  constexpr std::int64_t least = 16, most = 32767;
  const auto             numbers = ParseIntegers(option, text, 'x', least, most);
  if (numbers.size() != 3)
  {
    throw std::invalid_argument(option + " needs three numbers such as 128x128x64, not '" + text + "'");
  }
  return { numbers[0], numbers[1], numbers[2] };
}

std::vector<int>
ParseRanks(const std::string & option, const std::string & text)
{
  constexpr int    most = 4096;
  std::vector<int> ranks;
  for (const std::int64_t number : ParseIntegers(option, text, ',', 1, most))
  {
    ranks.push_back(int(number));
  }
  if (ranks.empty())
  {
    throw std::invalid_argument(option + " needs numbers of ranks such as 1,2,4,8");
  }
  return ranks;
}

struct NamedStage
{
  const char * name;
  Kind         kind;
};
constexpr NamedStage stages[] = { { "greedy", Kind::Greedy }, { "syn", Kind::SyN }, { "affine", Kind::Affine } };

Kind
ParseStage(const std::string & text)
{
  for (const NamedStage & stage : stages)
  {
    if (text == stage.name)
    {
      return stage.kind;
    }
  }
  throw std::invalid_argument("--stage is greedy, syn or affine, not '" + text + "'");
}

} // namespace

GridBenchmarkOptions
ParseGridOptions(int argc, const char * const * argv)
{
  GridBenchmarkOptions options;
  bool                 sized = false;
  for (int i = 1; i < argc; ++i)
  {
    const std::string option = argv[i];
    const auto        value = [&]() -> std::string {
      if (++i == argc)
      {
        throw std::invalid_argument(option + " needs a value");
      }
      return argv[i];
    };
    if (option == "--help" || option == "-h")
    {
      options.help = true;
    }
    else if (option == "--weak" || option == "--strong")
    {
      options.weak = option == "--weak";
    }
    else if (option == forLauncherOption)
    {
      options.forLauncher = true;
    }
    else if (option == "--size")
    {
      options.size = ParseSize(option, value());
      sized = true;
    }
    else if (option == "--ranks")
    {
      options.ranks = ParseRanks(option, value());
    }
    else if (option == "--iterations")
    {
      options.iterations = int(ParseInteger(option, value(), 2, 10000)); // the first one is not like the others
    }
    else if (option == "--reach")
    {
      options.reach = int(ParseInteger(option, value(), 1, 1000));
    }
    else if (option == "--threads")
    {
      options.threads = unsigned(ParseInteger(option, value(), 1, 128));
    }
    else if (option == "--stage")
    {
      options.stage = ParseStage(value());
    }
    else if (option == "--json")
    {
      options.jsonFile = value();
    }
    else
    {
      throw std::invalid_argument("unknown option '" + option + "'");
    }
  }
  if (!sized)
  {
    options.size = options.weak ? Extent{ 160, 160, 128 } : Extent{ 160, 160, 1024 };
  }
  return options;
}

std::string
ArgumentsOfRank(const GridBenchmarkOptions & options)
{
  std::ostringstream arguments;
  arguments << (options.weak ? "--weak" : "--strong") << " --size " << options.size.x << "x" << options.size.y << "x"
            << options.size.z << " --iterations " << options.iterations << " --reach " << options.reach << " --threads "
            << options.threads << " " << forLauncherOption;
  for (const NamedStage & stage : stages)
  {
    if (stage.kind == options.stage)
    {
      arguments << " --stage " << stage.name;
    }
  }
  return arguments.str();
}

void
PrintGridHelp(std::ostream & out)
{
  out << "ffdp_grid_benchmark: memory of a rank, bytes that it sends and time of an iteration, for several numbers of "
         "ranks\n\n"
         "  --weak          the volume grows with the number of ranks (default)\n"
         "  --strong        the ranks share one volume\n"
         "  --size XxYxZ    voxels of a rank's part (weak, default 160x160x128) or of the volume (strong, default "
         "160x160x1024)\n"
         "  --ranks LIST    numbers of ranks (default 1,2,4,8)\n"
         "  --stage NAME    greedy (default), syn or affine\n"
         "  --iterations N  of each of three levels (default 10)\n"
         "  --reach K       voxels that the warp between the two images moves by, at most (default 3)\n"
         "  --threads N     of a rank (default 1)\n"
         "  --json FILE     also write the results as a JSON array\n"
         "  --help          this text\n\n"
         "Starts mpirun for each number of ranks. Under mpirun or srun it measures the ranks that it finds itself "
         "in.\n";
}

} // namespace benchmark
} // namespace ffdp
