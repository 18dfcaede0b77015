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
#include "PrimitivesTable.h"

#include "ffdpAllocationMeter.h"

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <ostream>
#include <sstream>

PrimitivesTable::PrimitivesTable(std::ostream & out, std::int64_t voxels)
  : m_Out(out)
  , m_Voxels(double(voxels))
{
  m_Out << std::left << std::setw(18) << "primitive" << std::setw(58) << "what it computed" << std::right
        << std::setw(9) << "ns/voxel" << std::setw(14) << "extra memory"
        << "\n"
        << std::string(99, '-') << std::endl;
}

void
PrimitivesTable::Measure(const std::function<void()> & primitive)
{
  using Clock = std::chrono::steady_clock;
  constexpr int repetitions = 3;

  m_ExtraBytes = ffdp::test::MeasurePeakAllocation(primitive);
  m_Nanoseconds = 0;
  for (int i = 0; i < repetitions; ++i)
  {
    const auto start = Clock::now();
    primitive();
    const double nanoseconds = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    m_Nanoseconds = i == 0 ? nanoseconds : std::min(m_Nanoseconds, nanoseconds);
  }
}

void
PrimitivesTable::Print(const std::string & primitive, const std::string & result, bool good)
{
  m_AllGood = m_AllGood && good;
  m_Out << std::left << std::setw(18) << primitive << std::setw(58) << result << std::right << std::fixed
        << std::setprecision(2) << std::setw(9) << m_Nanoseconds / m_Voxels << std::setw(10) << m_ExtraBytes / 1024
        << " KiB" << (good ? "" : "  WRONG") << std::endl;
}

bool
PrimitivesTable::AllGood() const
{
  return m_AllGood;
}

std::string
Number(double value)
{
  std::ostringstream text;
  text << std::setprecision(4) << value;
  return text.str();
}
