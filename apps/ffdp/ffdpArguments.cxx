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
#include "ffdpArguments.h"

#include "ffdpArgumentChecks.h"
#include "ffdpCommandError.h"
#include "ffdpStageText.h"
#include "ffdpUsage.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace
{

bool
HasOnly(const std::string & text, const char * letters)
{
  return !text.empty() && text.find_first_not_of(letters) == std::string::npos;
}

/** The arguments of one command, one after the other. */
class ArgumentReader
{
public:
  ArgumentReader(CLI::App & program, CLI::App & command, std::vector<std::string> words)
    : m_Program(program)
    , m_Command(command)
    , m_Words(std::move(words))
  {}

  std::vector<std::string>
  Read()
  {
    while (m_At < m_Words.size())
    {
      const std::string & word = m_Words[m_At++];
      if (word.size() > 2 && word.compare(0, 2, "--") == 0)
      {
        this->ReadLong(word);
      }
      else if (word.size() > 1 && word[0] == '-' && word != "--")
      {
        this->ReadShort(word);
      }
      else
      {
        --m_At;
        this->RefuseStrayWords();
      }
    }
    return std::move(m_Taken);
  }

private:
  [[noreturn]] void
  Refuse(const std::string & text) const
  {
    throw UsageError(text + HelpHint(m_Command.get_name()));
  }

  CLI::Option *
  FindLong(const std::string & name) const
  {
    for (CLI::Option * option : m_Command.get_options())
    {
      if (option->check_lname(name))
      {
        return option;
      }
    }
    return nullptr;
  }

  CLI::Option *
  FindShort(char letter) const
  {
    for (CLI::Option * option : m_Command.get_options())
    {
      if (option->check_sname(std::string(1, letter)))
      {
        return option;
      }
    }
    return nullptr;
  }

  /** A word like --output, -o or -oname. */
  bool
  IsKnownOption(const std::string & word) const
  {
    return word.compare(0, 2, "--") == 0 ? FindLong(word.substr(2, word.find('=') - 2)) != nullptr
                                         : FindShort(word[1]) != nullptr;
  }

  /** Numbers and a lone '-' are values, too. */
  static bool
  IsLikeOption(const std::string & word, CLI::Option & option)
  {
    if (word.size() < 2 || word[0] != '-' || HasOnly(word.substr(1, 1), "0123456789."))
    {
      return false;
    }
    char * end = nullptr;
    std::strtod(word.c_str(), &end); // -inf and -nan are refused as numbers
    return TypeOf(option) == "TEXT" || TypeOf(option).empty() || *end != '\0';
  }

  static std::string
  TypeOf(CLI::Option & option)
  {
    const std::string type = option.get_type_name();
    return type.substr(0, type.find(':')); // behind it is what the option checks
  }

  static std::string
  NameOf(CLI::Option & option)
  {
    return "--" + option.get_lnames().front();
  }

  static bool
  IsFlag(CLI::Option & option)
  {
    return option.get_items_expected_max() == 0;
  }

  /** How many values one use of the option takes: any number where it is a list. */
  static int
  MostValues(CLI::Option & option)
  {
    return option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll ? 1 : option.get_items_expected_max();
  }

  static bool
  MayBeRepeated(CLI::Option & option)
  {
    return IsFlag(option) || option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll ||
           option.get_items_expected_max() >= CLI::detail::expected_max_vector_size;
  }

  [[noreturn]] void
  RefuseUnknown(const std::string & word) const
  {
    const std::string        name = word.substr(0, word.find('='));
    std::vector<std::string> known;
    for (CLI::Option * option : m_Command.get_options())
    {
      for (const std::string & one : option->get_lnames())
      {
        known.push_back("--" + one);
      }
    }
    const std::string nearest = FindNearest(name, known);
    std::string       hint = nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
    for (CLI::App * other : m_Program.get_subcommands([](CLI::App *) { return true; }))
    {
      if (hint.empty() && name.size() > 2 && other->get_option_no_throw(name) != nullptr)
      {
        hint = "; it is one of ffdp " + other->get_name();
      }
    }
    this->Refuse("'" + name + "' is not an option of ffdp " + m_Command.get_name() + hint);
  }

  void
  ReadLong(const std::string & word)
  {
    const auto    equals = word.find('=');
    CLI::Option * option = FindLong(word.substr(2, equals == std::string::npos ? equals : equals - 2));
    if (!option)
    {
      this->RefuseUnknown(word);
    }
    std::vector<std::string> values;
    if (equals != std::string::npos)
    {
      values.push_back(word.substr(equals + 1));
    }
    this->Take(*option, std::move(values));
  }

  /** One letter and perhaps its value, or several flags. */
  void
  ReadShort(const std::string & word)
  {
    CLI::Option * whole = FindLong(word.substr(1, word.find('=') - 1));
    if (whole && word.size() > 2)
    {
      this->Refuse("'" + word + "' is read as '" + word.substr(0, 2) + "' with the value '" + word.substr(2) +
                   "'; did you mean '" + NameOf(*whole) + "'?");
    }
    for (std::size_t i = 1; i < word.size(); ++i)
    {
      CLI::Option * option = FindShort(word[i]);
      if (!option)
      {
        this->RefuseUnknown(i == 1 ? word : "-" + word.substr(i));
      }
      const std::string rest = word.substr(i + 1);
      if (!IsFlag(*option))
      {
        if (!rest.empty() && rest[0] == '=')
        {
          this->Refuse("'" + word + "': write '-" + word[i] + " " + rest.substr(1) + "' or '" + NameOf(*option) + rest +
                       "'");
        }
        this->Take(*option, rest.empty() ? std::vector<std::string>() : std::vector<std::string>{ rest });
        return;
      }
      this->Take(*option, {});
    }
  }

  void
  Take(CLI::Option & option, std::vector<std::string> values)
  {
    const std::string name = NameOf(option);
    const int         least = std::max(1, option.get_items_expected_min()), most = MostValues(option);
    const bool        mayBeAlone = option.get_expected_min() == 0;
    m_Last = &option;
    if (IsFlag(option))
    {
      this->TakeFlag(option, values);
      return;
    }
    while (int(values.size()) < most && m_At < m_Words.size() && !IsLikeOption(m_Words[m_At], option))
    {
      values.push_back(m_Words[m_At++]);
    }
    if (values.empty() && mayBeAlone)
    {
      m_Taken.insert(m_Taken.begin(), name);
    }
    else if (int(values.size()) < (MayBeRepeated(option) ? 1 : least))
    {
      this->RefuseMissingValue(option, int(values.size()), least);
    }
    if (m_Given[&option]++ > 0 && !MayBeRepeated(option))
    {
      this->Refuse(name + " is given twice" + (values.empty() ? "" : ", again with '" + values.front() + "'") +
                   ": once is enough");
    }
    for (const std::string & value : values)
    {
      this->RequireGood(option, value);
      m_Taken.insert(m_Taken.begin(), name + "=" + value);
    }
  }

  void
  TakeFlag(CLI::Option & option, const std::vector<std::string> & values)
  {
    const std::string value = values.empty() ? "true" : LowerCase(values.front());
    if (value != "true" && value != "false")
    {
      this->Refuse(NameOf(option) + " '" + values.front() + "': it takes no value, or true or false");
    }
    m_Taken.insert(m_Taken.begin(), NameOf(option) + (values.empty() ? "" : "=" + value));
  }

  [[noreturn]] void
  RefuseMissingValue(CLI::Option & option, int given, int least) const
  {
    const std::string what =
      NameOf(option) + (least == 1  ? " needs a value"
                        : given > 0 ? " needs " + std::to_string(least) + " values, not " + std::to_string(given)
                                    : " needs " + std::to_string(least) + " values");
    if (m_At == m_Words.size())
    {
      this->Refuse(what + ", as in " + NameOf(option) + " " + Example(option));
    }
    const std::string & next = m_Words[m_At];
    this->Refuse(what + "; '" + next + "' " +
                 (next == "--" || IsKnownOption(next) ? "is an option"
                                                      : "begins with '-': a file of that name is './" + next + "'"));
  }

  static std::string
  Example(CLI::Option & option)
  {
    const std::string type = TypeOf(option);
    const std::string one = type == "FLOAT" ? "1.5" : type == "INT" || type == "UINT" ? "1" : "TEXT";
    std::string       all = one;
    for (int i = 1; i < option.get_items_expected_min(); ++i)
    {
      all += " " + one;
    }
    return all;
  }

  void
  RequireGood(CLI::Option & option, const std::string & value) const
  {
    const std::string start = NameOf(option) + " '" + value + "': ";
    if (Trim(value).empty())
    {
      this->Refuse(NameOf(option) + " needs a value, and what is given is empty: leave the option out, or give one");
    }
    std::string fault = FindFault(TypeOf(option), value), changed = value;
    for (int i = 0; fault.empty(); ++i)
    {
      try
      {
        fault = (*option.get_validator(i))(changed);
      }
      catch (const CLI::OptionNotFound &) // there are no more
      {
        break;
      }
    }
    if (!fault.empty())
    {
      this->Refuse(start + fault);
    }
  }

  /** There is nothing that belongs to no option. */
  [[noreturn]] void
  RefuseStrayWords()
  {
    std::string words;
    for (; m_At < m_Words.size() &&
           (m_Words[m_At].empty() || m_Words[m_At][0] != '-' || m_Words[m_At] == "-" || m_Words[m_At] == "--");
         ++m_At)
    {
      words += (words.empty() ? "" : " ") + m_Words[m_At];
    }
    const std::string name = m_Last ? NameOf(*m_Last) : "";
    const int         most = m_Last ? MostValues(*m_Last) : 0;
    std::string       reason = "all that a command takes are options";
    if (m_Last)
    {
      reason = name + (most == 0   ? " takes no value"
                       : most == 1 ? " takes one value"
                                   : " takes " + std::to_string(most) + " values at most");
    }
    this->Refuse("'" + words + "' is not expected: " + reason);
  }

  CLI::App &                   m_Program;
  CLI::App &                   m_Command;
  std::vector<std::string>     m_Words;
  std::size_t                  m_At = 0;
  std::vector<std::string>     m_Taken; ///< in reverse
  CLI::Option *                m_Last = nullptr;
  std::map<CLI::Option *, int> m_Given;
};

bool
Contains(const std::vector<std::string> & words, const std::string & word)
{
  return std::find(words.begin(), words.end(), word) != words.end();
}

} // namespace

std::vector<std::string>
ReadArguments(CLI::App & program, const std::vector<std::string> & arguments)
{
  const auto        commands = program.get_subcommands([](CLI::App *) { return true; });
  const std::string first = arguments.empty() ? "" : arguments.front();
  const auto        command =
    std::find_if(commands.begin(), commands.end(), [&](CLI::App * one) { return one->get_name() == first; });
  if (command == commands.end())
  {
    if (first == "-h" || first == "--help" || first == "--version")
    {
      return { first };
    }
    throw UsageError(DescribeMissingCommand(program, arguments) + HelpHint(""));
  }
  const std::vector<std::string> words(arguments.begin() + 1, arguments.end());
  for (const char * question : { "-h", "--help", "--version" })
  {
    if (Contains(words, question)) // whatever else there is, and wherever
    {
      return { question, first };
    }
  }
  auto all = ArgumentReader(program, **command, words).Read();
  all.push_back(first);
  return all;
}

std::string
HelpHint(const std::string & command)
{
  return " (see ffdp " + command + (command.empty() ? "" : " ") + "--help)";
}
