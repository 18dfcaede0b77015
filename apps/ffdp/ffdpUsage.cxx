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
#include "ffdpUsage.h"

#include "ffdpArguments.h"
#include "ffdpStageText.h"

#include <algorithm>
#include <numeric>

namespace
{

/** Letters to change, to add or to leave out to make one word of another. */
std::size_t
EditDistance(const std::string & from, const std::string & to)
{
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t(0));
  for (std::size_t i = 1; i <= from.size(); ++i)
  {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j)
    {
      const std::size_t changed = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({ changed, row[j] + 1, row[j - 1] + 1 });
    }
  }
  return row[to.size()];
}

std::vector<std::string>
NamesOfCommands(const CLI::App & program)
{
  std::vector<std::string> names;
  for (const CLI::App * command : program.get_subcommands([](const CLI::App *) { return true; }))
  {
    names.push_back(command->get_name());
  }
  return names;
}

std::string
Join(const std::vector<std::string> & words, const std::string & between)
{
  std::string text;
  for (const std::string & word : words)
  {
    text += (text.empty() ? "" : between) + Trim(word);
  }
  return text;
}

} // namespace

std::string
FindNearest(const std::string & word, const std::vector<std::string> & names)
{
  const auto nearest = std::min_element(names.begin(), names.end(), [&](const std::string & a, const std::string & b) {
    return EditDistance(word, a) < EditDistance(word, b);
  });
  return nearest != names.end() && 3 * EditDistance(word, *nearest) <= nearest->size() + 1 ? *nearest : "";
}

std::string
DescribeMissingCommand(const CLI::App & program, const std::vector<std::string> & arguments)
{
  const std::vector<std::string> names = NamesOfCommands(program);
  const auto                     word =
    std::find_if(arguments.begin(), arguments.end(), [](const std::string & a) { return a.empty() || a[0] != '-'; });
  if (word == arguments.end())
  {
    return "a command is needed: " + Join(names, ", ");
  }
  if (std::find(names.begin(), names.end(), *word) != names.end())
  {
    return "'" + arguments.front() + "' stands before the command: options follow it, as in ffdp " + *word + " --help";
  }
  const std::string nearest = FindNearest(*word, names);
  return "there is no command '" + *word + "'" +
         (nearest.empty() ? "; there are " + Join(names, ", ") : "; did you mean '" + nearest + "'?");
}

std::string
DescribeUsageError(const CLI::App & program, const CLI::ParseError & error)
{
  const auto  commands = program.get_subcommands();
  std::string text = error.what();
  if (dynamic_cast<const CLI::RequiredError *>(&error) && !commands.empty())
  {
    const std::string name = text.substr(0, text.find(' '));
    for (const CLI::Option * option : commands.front()->get_options())
    {
      text = option->get_name() == name ? name + " is required: " + option->get_description() : text;
    }
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text + HelpHint(commands.empty() ? "" : commands.front()->get_name());
}
