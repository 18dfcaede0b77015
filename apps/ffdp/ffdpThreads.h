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
#ifndef ffdpThreads_h
#define ffdpThreads_h

/** Lets everything in this process use as many threads as `asked`, ITK's filters and ours: 0 stands for all, or for
 * what ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS says. Where fewer can be started, because processes or address space are
 * limited, fewer are used: results do not depend on their number. Returns how many can be used, at least 1, which is
 * also right where none can be started: the work is then done by the thread that asks for it.
 *
 * Call it once, before anything else uses threads: ITK's pool starts all of its threads when it is first used, and a
 * thread that does not start would end the process. */
unsigned
PrepareThreads(unsigned asked);

/** How many PrepareThreads(asked) would like to have. */
unsigned
WantedThreads(unsigned asked);

#endif
