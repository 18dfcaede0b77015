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

#include "ffdpCommandError.h"
#include "ffdpCommands.h"
#include "ffdpLaunch.h"
#include "ffdpProgramTestSupport.h"

using namespace programtest;

namespace
{

using Words = std::vector<std::string>;

std::vector<CLI::App *>
CommandsOf(CLI::App & program)
{
  return program.get_subcommands([](CLI::App *) { return true; });
}

/** What is said to arguments that are to be refused; nothing if they are taken. */
std::string
Complaint(const Words & arguments)
{
  char         name[] = "ffdp";
  char *       argv[] = { name, nullptr };
  const Launch launch(1, argv);
  const auto   program = MakeProgram(launch);
  try
  {
    ReadArguments(*program, arguments);
  }
  catch (const UsageError & error)
  {
    return error.what();
  }
  return "";
}

Words
Taken(const Words & arguments)
{
  char         name[] = "ffdp";
  char *       argv[] = { name, nullptr };
  const Launch launch(1, argv);
  const auto   program = MakeProgram(launch);
  Words        taken = ReadArguments(*program, arguments);
  std::reverse(taken.begin(), taken.end());
  return taken;
}

bool
IsNumeric(const CLI::Option & option)
{
  const std::string type = option.get_type_name();
  return type.rfind("INT", 0) == 0 || type.rfind("UINT", 0) == 0 || type.rfind("FLOAT", 0) == 0;
}

/** Wrong usage, whatever it is: one line that names the option, says something, and shows nothing of our sources. */
void
ExpectGoodComplaint(const Words & arguments, const std::string & option)
{
  std::string line;
  for (const std::string & word : arguments)
  {
    line += word + " ";
  }
  const std::string complaint = Complaint(arguments);
  EXPECT_NE(complaint.find(option), std::string::npos) << line << "=> '" << complaint << "'";
  EXPECT_EQ(complaint.find('\n'), std::string::npos) << line << "=> " << complaint;
  EXPECT_EQ(complaint.find(".cxx"), std::string::npos) << complaint;
  EXPECT_NE(complaint[0], ':') << line << "=> " << complaint;
  EXPECT_NE(complaint.find("(see ffdp " + arguments.front() + " --help)"), std::string::npos) << complaint;
}

} // namespace

TEST(Arguments, EveryOptionOfEveryCommandIsRefusedByName)
{
  char         name[] = "ffdp";
  char *       argv[] = { name, nullptr };
  const Launch launch(1, argv);
  const auto   program = MakeProgram(launch);
  int          options = 0;
  for (CLI::App * command : CommandsOf(*program))
  {
    for (const CLI::Option * option : command->get_options())
    {
      const std::string one = "--" + option->get_lnames().at(0);
      if (one == "--help" || one == "--version")
      {
        continue;
      }
      ++options;
      const Words alone = { command->get_name(), one };
      const auto  with = [&](std::initializer_list<const char *> more) {
        Words words = alone;
        words.insert(words.end(), more.begin(), more.end());
        return words;
      };
      ExpectGoodComplaint({ command->get_name(), one + "x", "1" }, one);
      if (option->get_items_expected_max() == 0) // a flag
      {
        ExpectGoodComplaint({ command->get_name(), one + "=maybe" }, one);
        ExpectGoodComplaint(with({ "stray" }), one);
        continue;
      }
      if (option->get_expected_min() > 0)
      {
        ExpectGoodComplaint(alone, one);
        ExpectGoodComplaint(with({ "--quiet" }), one);
        ExpectGoodComplaint(with({ "-q" }), one);
        ExpectGoodComplaint(with({ "--quiet=true" }), one);
        ExpectGoodComplaint(with({ "--no-such-thing" }), one);
        ExpectGoodComplaint({ command->get_name(), one + "=" }, one);
        ExpectGoodComplaint(with({ "" }), one);
      }
      if (IsNumeric(*option))
      {
        for (const char * nonsense : { "nan", "-nan", "inf", "-inf", "1e400", "-1e400", "1x", "x", "0x1p4", "1,5", "" })
        {
          Words words = alone;
          for (int i = 0; i < option->get_items_expected_min(); ++i)
          {
            words.emplace_back(nonsense);
          }
          ExpectGoodComplaint(words, one);
        }
      }
      const bool mayBeRepeated = option->get_items_expected_max() > 1000;
      if (!mayBeRepeated)
      {
        Words words = alone;
        for (int i = 0; i < option->get_items_expected_max() + 1; ++i)
        {
          words.emplace_back(IsNumeric(*option) ? "1" : "fast");
        }
        ExpectGoodComplaint(words, one);
      }
      if (!mayBeRepeated && option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw)
      {
        Words words;
        for (int use = 0; use < 2; ++use)
        {
          words.push_back(use == 0 ? command->get_name() : one);
          words.push_back(use == 0 ? one : IsNumeric(*option) ? "17" : "fast");
          for (int i = use; i < std::max(1, option->get_items_expected_min()); ++i)
          {
            words.emplace_back(IsNumeric(*option) ? "17" : "fast");
          }
        }
        ExpectGoodComplaint(words, one);
      }
    }
  }
  EXPECT_GT(options, 100);
}

TEST(Arguments, EveryCommandSharesItsFirstOptions)
{
  char         name[] = "ffdp";
  char *       argv[] = { name, nullptr };
  const Launch launch(1, argv);
  const auto   program = MakeProgram(launch);
  const auto   commands = CommandsOf(*program);
  EXPECT_EQ(commands.size(), 10u);
  for (const CLI::App * command : commands)
  {
    for (const char * shared : { "--help", "-h", "--version", "--threads", "--quiet", "-q", "--ignore-memory" })
    {
      EXPECT_NE(command->get_option_no_throw(shared), nullptr) << command->get_name() << " " << shared;
    }
  }
}

TEST(Arguments, ValuesAreTakenAsTheyAre)
{
  EXPECT_EQ(Taken({ "apply", "-t", "[a.mat,1]", "[b", "info", "-o", "x y" }),
            Words({ "apply", "--transform=[a.mat,1]", "--transform=[b", "--transform=info", "--output=x y" }));
  EXPECT_EQ(Taken({ "synthesize", "--rotate", "-5", "-1e1", "-.5", "-qo", "-" }),
            Words({ "synthesize", "--rotate=-5", "--rotate=-1e1", "--rotate=-.5", "--quiet", "--output=-" }));
  EXPECT_EQ(Taken({ "apply", "--output=--composite", "-ia.nii" }),
            Words({ "apply", "--output=--composite", "--input=a.nii" }));
  EXPECT_EQ(
    Taken({ "register", "-v", "-z", "1", "-t", "rigid", "-t", "Affine[1]" }),
    Words({ "register", "--verbose", "--collapse-output-transforms=1", "--transform=rigid", "--transform=Affine[1]" }));
  EXPECT_EQ(Taken({ "apply", "--no-such-thing", "--help" }), Words({ "apply", "--help" }));
}

TEST(Arguments, ComplaintsSayWhatCanBeDone)
{
  const struct
  {
    Words       arguments;
    std::string expected;
  } cases[] = {
    { { "register", "-o", "--composite" }, "--output needs a value; '--composite' is an option" },
    { { "register", "-o", "--compost" }, "'--compost' begins with '-': a file of that name is './--compost'" },
    { { "register", "--preset", "fasst" },
      "--preset 'fasst': is not fast, balanced or accurate; did you mean 'fast'?" },
    { { "register", "-o", "a", "b", "c" }, "'b c' is not expected: --output takes one value" },
    { { "register", "-o", "a", "-o", "b" }, "--output is given twice, again with 'b'" },
    { { "register", "--checkpoint-seconds", "nan" }, "--checkpoint-seconds 'nan': is not a number" },
    { { "register", "--checkpoint-seconds", "-5" }, "--checkpoint-seconds '-5': is not a number of at least 0" },
    { { "register", "--fixd", "a" }, "'--fixd' is not an option of ffdp register; did you mean '--fixed'?" },
    { { "apply", "--composite" }, "it is one of ffdp register" },
    { { "apply", "-output", "x" }, "did you mean '--output'?" },
    { { "apply", "-o=x" }, "write '-o x'" },
    { { "apply", "--threads", "-1" }, "--threads '-1': must not be negative" },
    { { "bench", "--repeats", "2.5" }, "--repeats '2.5': is not a whole number" },
    { { "bench", "--size", "8" }, "--size '8': is not a number from 16 to 1024" },
    { { "synthesize", "--size", "1", "2", "-q" }, "--size needs 3 values, not 2; '-q' is an option" },
  };
  for (const auto & c : cases)
  {
    const std::string complaint = Complaint(c.arguments);
    EXPECT_NE(complaint.find(c.expected), std::string::npos) << complaint;
  }
}
