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
#ifndef ffdpGridMeasurement_h
#define ffdpGridMeasurement_h

#include "ffdpCommunicator.h"
#include "ffdpGridBenchmarkOptions.h"

namespace ffdp
{
namespace benchmark
{

/** What a registration on some ranks took. Of ranks that differ it is the one that took most. */
struct GridMeasurement
{
  double ranks = 0;
  double sizeX = 0, sizeY = 0, sizeZ = 0; ///< of the whole volume
  double planesPerRank = 0;
  double allocatedBytes = 0;      ///< peak of what was allocated for images, registration and result
  double residentBytes = 0;       ///< peak of the process, above what it had before the images were made
  double secondsPerIteration = 0; ///< at the finest level, without its first iteration
  double sentFirst = 0;           ///< bytes, first iteration at the finest level
  double sentPerIteration = 0;    ///< bytes, mean of the others
  double sentBound = 0;           ///< bytes that an iteration sends at most, for any number of ranks
  double ringSent = 0;            ///< bytes to sample the moving image once, without anything kept
  double ringBound = 0;
  double fullRingSent = 0; ///< bytes if every plane goes to every rank
  double planeBytes = 0;
  double loss = 0; ///< of the last iteration
};

/** A number of a measurement, under the name that it has in files. */
struct GridMeasurementField
{
  const char * name;
  double GridMeasurement::*value;
};

const std::vector<GridMeasurementField> &
GridMeasurementFields();

/** Registers a phantom on the ranks of the communicator, all of which make the call and get the same. */
GridMeasurement
MeasureRanks(Communicator & communicator, const GridBenchmarkOptions & options);

} // namespace benchmark
} // namespace ffdp

#endif
