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
#ifndef ffdpMemory_h
#define ffdpMemory_h

#include "ffdpCommonOptions.h"

#include <string>
#include <vector>

/** Bytes that a program can still get: the least of what the machine has, what the groups of processes that it is in
 * may still take (cgroups of both versions), and its own limits on address space and data. */
double
AvailableBytes();

/** Something that a command keeps in memory, with what a user knows it by. */
struct MemoryItem
{
  std::string name; ///< like "reference image 'r.nii' of 1500x1500x1500 voxels"; empty: of the command itself
  double      bytes = 0;
};

/** What a command holds at one time. */
using MemoryItems = std::vector<MemoryItem>;

/** What a command holds as it goes on. The most that it holds at one time is what it needs. */
struct MemoryNeed
{
  std::vector<MemoryItems> phases;

  /** The phase that takes most. */
  const MemoryItems &
  Peak() const;

  /** What the program takes before it reads anything is not counted. */
  double
  Bytes() const;
};

/** Throws CommandError if more is needed than is free, with both figures, and the file that takes most. Before voxels
 * are read or outputs are begun. What was found is kept for DescribeLackOfMemory(). */
void
RequireMemory(const MemoryNeed & need, const CommonOptions & options);

/** What to say where an allocation failed all the same. */
std::string
DescribeLackOfMemory();

/** For DescribeLackOfMemory(), where something else decides whether there is enough. */
void
KeepNeededBytes(double bytes);

/** 13500 MB, and 13.5 MB below a hundred. */
std::string
Megabytes(double bytes);

#endif
