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
#ifndef ffdpTriad_h
#define ffdpTriad_h

#include <vector>

namespace ffdp
{
namespace benchmark
{

/** STREAM's triad, a = b + s c: the speed at which this machine streams memory with the given threads.
 * Counts 8 bytes for each of the three arrays per element, as STREAM does: the read that a store causes
 * is not counted, neither here nor in the traffic of a primitive. */
class Triad
{
public:
  explicit Triad(unsigned threads);

  /** One pass over the arrays, in seconds per byte. */
  double
  Measure();

private:
  unsigned            m_Threads;
  std::vector<double> m_A;
  std::vector<double> m_B;
  std::vector<double> m_C;
};

} // namespace benchmark
} // namespace ffdp

#endif
