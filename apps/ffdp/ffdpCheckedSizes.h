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
#ifndef ffdpCheckedSizes_h
#define ffdpCheckedSizes_h

#include "ffdpCommandError.h"

#include <cstdint>
#include <string>

/** Numbers of voxels, of values and of bytes as headers claim them: every reader multiplies and adds them here, since a
 * product that wraps gives less memory than is then written to. */

/** More bytes than this no computer addresses, so that a few of such numbers can be added or multiplied by a small one.
 */
constexpr std::uint64_t LargestSize = std::uint64_t(1) << 47;

[[noreturn]] inline void
ThrowTooLarge(const std::string & name)
{
  throw CommandError(name + " claims to hold more than any memory does: its sizes are damaged");
}

/** Throws CommandError for a product beyond LargestSize; `name` begins the message, like "image 'a.mha'". */
inline std::uint64_t
CheckedProduct(std::uint64_t a, std::uint64_t b, const std::string & name)
{
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > LargestSize)
  {
    ThrowTooLarge(name);
  }
  return product;
}

/** Of all numbers of a list. */
template <typename TNumbers>
std::uint64_t
CheckedProduct(const TNumbers & numbers, const std::string & name)
{
  std::uint64_t product = 1;
  bool          none = false;
  for (const auto number : numbers)
  {
    none = none || number == 0;
    product = number == 0 ? product : CheckedProduct(product, std::uint64_t(number), name); // whatever their order
  }
  return none ? 0 : product;
}

inline std::uint64_t
CheckedSum(std::uint64_t a, std::uint64_t b, const std::string & name)
{
  if (a > LargestSize || b > LargestSize - a)
  {
    ThrowTooLarge(name);
  }
  return a + b;
}

#endif
