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
#ifndef ffdpIsolation_h
#define ffdpIsolation_h

#include <cstdint>
#include <functional>
#include <string>

/** Libraries that read and write files crash, hang, print and leave a broken state behind where a file is damaged or a
 * disk is full. So they run in a process of their own, which does no harm when it dies.
 *
 * What is there is the memory of this process as it was at the start. Changes are lost, except for those of
 * SharedBytes. What is printed is lost, too. The end of that process runs no destructors of libraries. */

/** What is done apart, as messages tell of it, and how much of the machine it may take. */
struct ApartTask
{
  std::string   subject;        ///< begins every message, like "fixed image 'a.nii'"
  bool          writes = false; ///< the file, or else reads it
  double        seconds = 3;    ///< of computing
  std::uint64_t memory = 0;     ///< in bytes, beyond what this process has now

  std::string
  Failure() const
  {
    return subject + (writes ? " cannot be written" : " cannot be read");
  }
};

/** Reads a header, or `bytes` of voxels or parameters as well. `what` names the file in messages. */
ApartTask
ReadingTask(const std::string & what, const std::string & file, std::uint64_t bytes = 0);

/** Writes so many bytes of voxels or parameters. */
ApartTask
WritingTask(const std::string & file, std::uint64_t bytes = 0);

/** Calls `work` in a process of its own and returns what it returns.
 *
 * Throws CommandError and UsageError as `work` throws them, and for any other exception, a crash, an endless loop or a
 * lack of memory a CommandError that begins with the task's subject. Throws Interrupted if the user stops the program
 * meanwhile. `work` must not communicate with other ranks.
 *
 * Where no process can be started, `work` runs in this one: it can do what it could without this function. */
std::string
RunApart(const ApartTask & task, const std::function<std::string()> & work);

#endif
