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
#include "ffdpWorkOutcome.h"

#include "ffdpCommandError.h"
#include "ffdpImageFiles.h"
#include "ffdpInterruption.h"

#include "itk_H5Cpp.h"

#include <new>
#include <stdexcept>
#include <utility>

namespace
{

/** A text as one line. */
std::string
JoinLines(const std::string & text)
{
  std::string line;
  for (const char c : text)
  {
    const bool space = static_cast<unsigned char>(c) <= ' ' || c == 0x7f;
    if (!space || (!line.empty() && line.back() != ' '))
    {
      line += space ? ' ' : c;
    }
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line.empty() ? "an error that nothing is known of" : line;
}

} // namespace

WorkOutcome
DoWork(const std::function<std::string()> & work)
{
  try
  {
    return { WorkEnding::Result, work() };
  }
  catch (const UsageError & error)
  {
    return { WorkEnding::Usage, error.what() };
  }
  catch (const CommandError & error)
  {
    return { WorkEnding::Error, error.what() };
  }
  catch (const Interrupted &)
  {
    return { WorkEnding::Stopped, "" };
  }
  catch (const std::bad_alloc &)
  {
    return { WorkEnding::Memory, "" };
  }
  catch (const itk::MemoryAllocationError &)
  {
    return { WorkEnding::Memory, "" };
  }
  catch (const std::length_error &) // a container that would be larger than any memory
  {
    return { WorkEnding::Memory, "" };
  }
  catch (const itk::ExceptionObject & error)
  {
    return { WorkEnding::Reason, JoinLines(OneLine(error)) };
  }
  catch (const std::exception & error)
  {
    return { WorkEnding::Reason, JoinLines(error.what()) };
  }
  catch (const H5::Exception & error)
  {
    return { WorkEnding::Reason, JoinLines(error.getDetailMsg()) };
  }
  catch (const std::string & text)
  {
    return { WorkEnding::Reason, JoinLines(text) };
  }
  catch (const char * text)
  {
    return { WorkEnding::Reason, JoinLines(text ? text : "") };
  }
  catch (...)
  {
    return { WorkEnding::Reason, JoinLines("") };
  }
}

std::string
TakeResult(WorkOutcome & outcome, const std::string & failure)
{
  switch (outcome.ending)
  {
    case WorkEnding::Result:
      return std::move(outcome.text);
    case WorkEnding::Usage:
      throw UsageError(outcome.text);
    case WorkEnding::Error:
      throw CommandError(outcome.text);
    case WorkEnding::Stopped:
      throw Interrupted();
    case WorkEnding::Memory:
      throw CommandError(failure + ": there is not enough memory for what it says that it holds");
    default:
      throw CommandError(failure + ": " + outcome.text);
  }
}
