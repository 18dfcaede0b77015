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
#include "ffdpAgreement.h"

#include "ffdpCommandError.h"
#include "ffdpImageFiles.h"

#include <algorithm>
#include <new>
#include <vector>

namespace
{

/** The text of one rank, on all: the others give none. */
std::string
ShareText(ffdp::Communicator & communicator, const std::string & text)
{
  std::string shared;
  for (const double character : communicator.Gather(std::vector<double>(text.begin(), text.end())))
  {
    shared += char(character);
  }
  return shared;
}

} // namespace

std::string
TakeFromFirst(ffdp::Communicator & communicator, const std::string & text)
{
  return ShareText(communicator, communicator.Rank() == 0 ? text : std::string());
}

int
FindOther(ffdp::Communicator & communicator, const std::string & text)
{
  const bool                other = TakeFromFirst(communicator, text) != text;
  const std::vector<double> others = communicator.Gather({ other ? 1.0 : 0.0 });
  const auto                found = std::find(others.begin(), others.end(), 1.0);
  return found == others.end() ? 0 : int(found - others.begin());
}

void
AgreeOnError(ffdp::Communicator & communicator, const std::string & error)
{
  const std::vector<double> failed = communicator.Gather({ error.empty() ? 0.0 : 1.0 });
  for (std::size_t rank = 0; rank < failed.size(); ++rank)
  {
    if (failed[rank] != 0)
    {
      const std::string where =
        rank == 0 ? "" : " (on rank " + std::to_string(rank) + " of " + std::to_string(failed.size()) + ")";
      throw CommandError(ShareText(communicator, int(rank) == communicator.Rank() ? error : std::string()) + where);
    }
  }
}

void
DoTogether(ffdp::Communicator & communicator, const std::function<void()> & work)
{
  if (communicator.Size() == 1)
  {
    work();
    return;
  }
  std::string error;
  try
  {
    work();
  }
  catch (const std::bad_alloc &)
  {
    error = "there is not enough memory";
  }
  catch (const itk::ExceptionObject & failure)
  {
    error = OneLine(failure);
  }
  catch (const std::exception & failure)
  {
    error = failure.what();
    error = error.empty() ? "an error that nothing is known of" : error; // no text would mean no error
  }
  AgreeOnError(communicator, error);
}

void
DoOnFirst(ffdp::Communicator & communicator, const std::function<void()> & work)
{
  DoTogether(communicator, [&] {
    if (communicator.Rank() == 0)
    {
      work();
    }
  });
}
