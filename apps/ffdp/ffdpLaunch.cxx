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
#include "ffdpLaunch.h"

#include "ffdpCommandError.h"

#include "ffdpMpiCommunicator.h"

#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <sched.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

/** The variable by which a launcher says that it started several processes; none if there is no such. Open MPI, MPICH
 * and those made from it, Slurm. */
const char *
FindSignOfSeveral()
{
  const auto number = [](const char * variable) {
    const char * const text = std::getenv(variable);
    return text ? std::atoi(text) : 0;
  };
  for (const char * variable : { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE" })
  {
    if (number(variable) > 1)
    {
      return variable;
    }
  }
  if (std::getenv("SLURM_STEP_ID") && number("SLURM_STEP_NUM_TASKS") > 1)
  {
    return "SLURM_STEP_NUM_TASKS";
  }
  return number("PMIX_RANK") > 0 ? "PMIX_RANK" : nullptr; // of rank 0, it says nothing
}

#ifdef FFDP_USE_MPI

/** Whether a launcher that knows MPI started this process. */
bool
IsLaunched()
{
  for (const char * variable :
       { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMI_FD", "PMIX_RANK", "MV2_COMM_WORLD_SIZE" })
  {
    if (std::getenv(variable))
    {
      return true;
    }
  }
  return false;
}

/** Cores for this process: its share of those that it may run on, which as many processes of this machine share as may
 * run on the same. */
int
CountCores(MPI_Comm here)
{
  int ranksHere = 1;
  MPI_Comm_size(here, &ranksHere);
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const bool             known = sched_getaffinity(0, sizeof(allowed), &allowed) == 0;
  std::vector<cpu_set_t> all(std::size_t(ranksHere), allowed);
  MPI_Allgather(&allowed, sizeof(allowed), MPI_BYTE, all.data(), sizeof(allowed), MPI_BYTE, here);
  const auto sharing =
    std::count_if(all.begin(), all.end(), [&](const cpu_set_t & other) { return CPU_EQUAL(&other, &allowed); });
  const auto cores = known ? CPU_COUNT(&allowed) : int(sysconf(_SC_NPROCESSORS_ONLN));
  return std::max(1, cores / int(sharing));
}

#endif

} // namespace

#ifdef FFDP_USE_MPI

struct Launch::Mpi
{
  Mpi(int argc, char ** argv)
  {
    int given = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_dup(MPI_COMM_WORLD, &failures);
  }
  ~Mpi()
  {
    MPI_Comm_free(&failures);
    MPI_Finalize();
  }

  MPI_Comm failures = MPI_COMM_NULL; ///< nothing but AllFailed() uses it, so that it works in the midst of other calls
};

Launch::Launch(int argc, char ** argv)
  : m_SignOfSeveral(FindSignOfSeveral())
{
  if (IsLaunched())
  {
    m_Mpi = std::make_unique<Mpi>(argc, argv);
    m_Ranks = ffdp::MakeMpiCommunicator(MPI_COMM_WORLD);
    MPI_Comm here;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &m_RanksHere);
    const int cores = CountCores(here);
    MPI_Comm_free(&here);
    if (m_Ranks->Size() > 1 && !std::getenv("ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS"))
    {
      itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(itk::ThreadIdType(cores));
    }
  }
  else
  {
    m_Ranks = ffdp::MakeSelfCommunicator();
  }
}

bool
Launch::AllFailed() const
{
  using namespace std::chrono;
  if (!m_Mpi)
  {
    return true;
  }
  // Ranks that failed alike come here at nearly the same time. If only some did, the first of them is the one to tell:
  // each waits longer than those before it, by less where there are many, since somebody waits for the last.
  const int   rank = m_Ranks->Rank();
  const auto  patience = milliseconds(1000 + 50 * std::min(rank, 20) + 10 * std::min(std::max(rank - 20, 0), 200));
  const auto  end = steady_clock::now() + patience;
  MPI_Request request;
  int         all = 0;
  MPI_Ibarrier(m_Mpi->failures, &request);
  while (!all && steady_clock::now() < end)
  {
    MPI_Test(&request, &all, MPI_STATUS_IGNORE);
    std::this_thread::sleep_for(milliseconds(2));
  }
  return all != 0;
}

void
Launch::Abort(int code) const
{
  MPI_Abort(MPI_COMM_WORLD, code);
  std::abort();
}

std::string
Launch::NameOfMpi()
{
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int  length = 0;
  MPI_Get_library_version(text, &length);
  const std::string name(text, std::size_t(length));
  return name.substr(0, name.find_first_of(",\n\t"));
}

#else

struct Launch::Mpi
{};

Launch::Launch(int, char **)
  : m_Ranks(ffdp::MakeSelfCommunicator())
  , m_SignOfSeveral(FindSignOfSeveral())
{}

bool
Launch::AllFailed() const
{
  return true;
}

void
Launch::Abort(int code) const
{
  std::exit(code);
}

std::string
Launch::NameOfMpi()
{
  return "not built in";
}

#endif

Launch::~Launch()
{
  m_Ranks.reset(); // before MPI ends
}

void
Launch::RequireAll() const
{
  if (m_Ranks->Size() > 1 || !m_SignOfSeveral)
  {
    return;
  }
  const std::string sign = m_SignOfSeveral, several = "this is one of several processes, as " + sign + " says, ";
#ifdef FFDP_USE_MPI
  throw CommandError(several + "and they do not find each other: start them by the launcher of " + NameOfMpi() +
                     " (mpirun, or srun --mpi=pmix); if it is the only one, unset " + sign);
#else
  throw CommandError(several +
                     "and this program was built without MPI (FFDP_USE_MPI): start it once; if it is the only " +
                     "one, unset " + sign);
#endif
}

int
Launch::AgreeOnCode(int code) const
{
  double largest = code;
  m_Ranks->Maximum(&largest, 1);
  return int(largest);
}
