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
#include "ffdpCommonOptions.h"

#include "ffdpArgumentChecks.h"
#include "ffdpThreads.h"

#include "itkFFDPConfiguration.h"

#include <iostream>

namespace
{

std::string theCommand;

void
UseThreads(CommonOptions & options)
{
  const unsigned wanted = WantedThreads(options.threads), there = PrepareThreads(options.threads);
  if (there < wanted)
  {
    options.threads = there;
    Warn(options,
         "only " + std::to_string(there) + " of " + std::to_string(wanted) +
           " threads can be started here (ulimit -u or -v, or a limit of this group of processes): it takes longer");
  }
}

} // namespace

CLI::App *
AddCommand(CLI::App &                             program,
           const std::string &                    name,
           const std::string &                    description,
           const std::shared_ptr<CommonOptions> & options,
           const std::function<void()> &          run)
{
  constexpr double MostThreads = 1 << 20; // ITK takes no more than it can
  CLI::App * const command = program.add_subcommand(name, description);
  command->set_version_flag("--version", "ffdp " FFDP_VERSION_STRING, "Print name and version, and exit");
  command->add_option("--threads", options->threads, "0: all, or what ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS says")
    ->check(NumberBetween(0, MostThreads));
  command->add_flag("-q,--quiet", options->quiet, "Print nothing but errors and results that were asked for");
  command->add_flag("--ignore-memory", options->ignoreMemory, "Run even if the memory that is free will not do");
  command->callback([name, options, run] {
    theCommand = name;
    UseThreads(*options);
    run();
  });
  return command;
}

const std::string &
NameOfCommand()
{
  return theCommand;
}

void
Warn(const CommonOptions & options, const std::string & text)
{
  if (!options.quiet)
  {
    std::cerr << "ffdp: warning: " << text << "\n";
  }
}
