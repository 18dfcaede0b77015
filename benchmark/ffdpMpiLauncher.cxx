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
#include "ffdpMpiLauncher.h"

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <unistd.h>

namespace ffdp
{
namespace benchmark
{
namespace
{

std::string
OwnPath()
{
  char          path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0)
  {
    throw std::runtime_error("cannot find out which program this is");
  }
  return std::string(path, std::size_t(length));
}

std::string
Quoted(const std::string & word)
{
  std::string quoted = "'";
  for (const char c : word)
  {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

/** What Open MPI needs to know to run more ranks than cores, also as root in a container. Said in the environment,
 * which other MPIs ignore; what the user has said counts. */
void
PrepareEnvironment()
{
  static constexpr const char * settings[][2] = { { "OMPI_ALLOW_RUN_AS_ROOT", "1" },
                                                  { "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1" },
                                                  { "OMPI_MCA_btl_base_warn_component_unused", "0" },
                                                  { "OMPI_MCA_hwloc_base_binding_policy", "none" },
                                                  { "OMPI_MCA_mpi_yield_when_idle", "1" },
                                                  { "OMPI_MCA_rmaps_base_oversubscribe", "1" },
                                                  { "PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe" } };
  for (const auto & setting : settings)
  {
    setenv(setting[0], setting[1], 0);
  }
}

} // namespace

bool
IsStartedByMpi()
{
  for (const char * name : { "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK" })
  {
    if (std::getenv(name))
    {
      return true;
    }
  }
  return false;
}

std::string
RunAsRanks(int ranks, const std::string & arguments)
{
  PrepareEnvironment();
  const std::string command = Quoted(FFDP_MPIEXEC) + " " FFDP_MPIEXEC_NUMPROC_FLAG " " + std::to_string(ranks) + " " +
                              Quoted(OwnPath()) + " " + arguments;
  FILE * const pipe = popen(command.c_str(), "r");
  if (!pipe)
  {
    throw std::runtime_error("cannot start " + command);
  }
  std::string printed;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
  {
    printed += char(c);
  }
  if (pclose(pipe) != 0)
  {
    throw std::runtime_error("this failed: " + command);
  }
  return printed;
}

} // namespace benchmark
} // namespace ffdp
