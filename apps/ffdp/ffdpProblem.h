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
#ifndef ffdpProblem_h
#define ffdpProblem_h

#include "ffdpRegisterOptions.h"
#include "ffdpRegistrationEstimate.h"

/** How large a registration is, from the headers of its files, before any voxel is read. With several ranks: what the
 * one with the most planes needs. */
struct RegistrationProblem
{
  std::vector<ffdp::PairGeometry> pairs;
  ffdp::RegistrationEstimate      estimate;        ///< of the engine
  double                          imageBytes = 0;  ///< of all images and masks in memory
  double                          engineBytes = 0; ///< on the host while the engine runs, images included
  double                          peakBytes = 0;   ///< of the whole program, on the host
  double                          deviceBytes = 0; ///< on the GPU, images included; 0: it runs on the CPU
  double                          firstBytes = 0; ///< that rank 0 of several needs beyond this, for what it alone holds
};

/** Throws CommandError for files that cannot be read or that do not fit together. */
RegistrationProblem
DescribeProblem(const RegisterOptions & options, const StageList & list, int ranks = 1);

/** Throws CommandError, which names the images, if so many processes with such a problem need more than is free on this
 * machine, with what would fit. One of them counts as rank 0: the machine that has it is the one that decides, if they
 * are alike. */
void
RequireMemory(const RegistrationProblem & problem, const ImageNames & images, int processes);

#endif
