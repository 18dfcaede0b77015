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
#include "ffdpTriad.h"

#include "ffdpParallel.h"
#include "ffdpStopwatch.h"

#include <cstdint>

namespace ffdp
{
namespace benchmark
{
namespace
{
// Three arrays of 128 MiB: well beyond any last-level cache, and about the memory that a primitive walks through.
constexpr std::int64_t elements = std::int64_t(16) << 20;
constexpr std::int64_t pieceElements = std::int64_t(64) << 10;

void
TriadPiece(double * __restrict a, const double * __restrict b, const double * __restrict c, std::int64_t count)
{
  for (std::int64_t i = 0; i < count; ++i)
  {
    a[i] = b[i] + 3.0 * c[i];
  }
}
} // namespace

Triad::Triad(unsigned threads)
  : m_Threads(threads)
  , m_A(elements, 0.0)
  , m_B(elements, 1.0)
  , m_C(elements, 2.0)
{}

double
Triad::Measure()
{
  const Stopwatch stopwatch;
  ParallelFor(elements / pieceElements, m_Threads, [this](std::int64_t piece, unsigned) {
    const std::int64_t first = piece * pieceElements;
    TriadPiece(m_A.data() + first, m_B.data() + first, m_C.data() + first, pieceElements);
  });
  return stopwatch.Seconds() / (3.0 * sizeof(double) * double(elements));
}

} // namespace benchmark
} // namespace ffdp
