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
#ifndef PrimitivesTable_h
#define PrimitivesTable_h

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

/** The table that PrimitivesExample prints: what a primitive computed, how long it took, what it allocated. */
class PrimitivesTable
{
public:
  PrimitivesTable(std::ostream & out, std::int64_t voxels);

  /** Runs the primitive, best of a few times. It must give the same result every time. */
  void
  Measure(const std::function<void()> & primitive);

  /** Prints a line about what was measured last. A false check is marked, and remembered. */
  void
  Print(const std::string & primitive, const std::string & result, bool good);

  bool
  AllGood() const;

private:
  std::ostream & m_Out;
  double         m_Voxels;
  double         m_Nanoseconds = 0;
  std::size_t    m_ExtraBytes = 0;
  bool           m_AllGood = true;
};

/** "1.25e-07" or "0.7312". */
std::string
Number(double value);

#endif
