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
#ifndef ffdpRandomNumbers_h
#define ffdpRandomNumbers_h

#include <bitset>
#include <cmath>
#include <cstdint>

/** Random numbers that are functions of a key and a counter: a voxel gets the same number whichever thread asks, and
 * whatever was asked before. Integers, and sums and products of doubles: no library changes the sequence. */

/** A permutation of 64-bit numbers under which neighbors have nothing in common: multiply and shift, with the constants
 * of D. Stafford's "mix 13". */
inline std::uint64_t
MixBits(std::uint64_t x)
{
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/** 64 random bits. */
inline std::uint64_t
BitsAt(std::uint64_t key, std::uint64_t counter)
{
  return MixBits(key ^ MixBits(counter + 0x9e3779b97f4a7c15u));
}

/** The key of an independent sequence. */
inline std::uint64_t
DeriveKey(std::uint64_t key, std::uint64_t purpose)
{
  return BitsAt(BitsAt(key, purpose), ~purpose);
}

/** In [0, 1). */
inline double
UniformAt(std::uint64_t key, std::uint64_t counter)
{
  return double(BitsAt(key, counter) >> 11) * 0x1p-53;
}

/** Normal with mean 0 and standard deviation 1, by the central limit: the number of ones among 64 bits has variance 16,
 * and two uniform numbers, of variance 1/6 together, fill its gaps. Its kurtosis is 2.97. */
inline double
NormalAt(std::uint64_t key, std::uint64_t counter)
{
  const std::uint64_t ones = BitsAt(key, counter);
  const std::uint64_t fill = MixBits(ones ^ key);
  const double        sum = double(std::bitset<64>(ones).count()) + double(fill >> 32) * 0x1p-32 +
                     double(fill & 0xffffffffu) * 0x1p-32 - (32 + 1 - 0x1p-32);
  return sum * (1 / std::sqrt(16 + 1 / 6.0));
}

/** Draws one number after the other. */
class RandomSequence
{
public:
  explicit RandomSequence(std::uint64_t key)
    : m_Key(key)
  {}

  double
  Uniform()
  {
    return UniformAt(m_Key, m_Counter++);
  }
  double
  Normal()
  {
    return NormalAt(m_Key, m_Counter++);
  }

private:
  std::uint64_t m_Key;
  std::uint64_t m_Counter = 0;
};

#endif
