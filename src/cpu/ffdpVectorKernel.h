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
/** A vector of floats as wide as the registers of the instruction set, and loops over rows with it. To be
 * included by kernel files, once per instruction set (see ffdpForEachInstructionSet.h). */
namespace ffdp
{
namespace FFDP_ISA
{

#if FFDP_ISA_AVX512
constexpr int Lanes = 16;
#elif FFDP_ISA_AVX2
constexpr int Lanes = 8;
#else
constexpr int Lanes = 4;
#endif

#if defined(__GNUC__) || defined(__clang__)
typedef float        Vector __attribute__((vector_size(Lanes * 4)));
typedef std::uint8_t ByteVector __attribute__((vector_size(Lanes)));
typedef std::int32_t IntVector __attribute__((vector_size(Lanes * 4)));

/** Unaligned. Elementwise, so that a value does not depend on its place in the register. */
template <typename T>
FFDP_VOXEL_INLINE T
LoadAs(const float * from)
{
  T to;
  __builtin_memcpy(&to, from, sizeof(T));
  return to;
}

template <typename T>
FFDP_VOXEL_INLINE void
Store(const T & from, float * to)
{
  __builtin_memcpy(to, &from, sizeof(T));
}

/** from where the mask is not 0, 0 elsewhere. */
FFDP_VOXEL_INLINE void
KeepMasked(const std::uint8_t * mask, Vector & values)
{
  ByteVector bytes;
  __builtin_memcpy(&bytes, mask, sizeof(bytes));
  values = __builtin_convertvector(bytes, IntVector) != 0 ? values : Vector{};
}

FFDP_VOXEL_INLINE void
KeepMasked(const std::uint8_t * mask, float & value)
{
  value = *mask != 0 ? value : 0.0f;
}

/** Calls body(type, x) so that each x of [0, count) is covered: with a Vector for x .. x + Lanes - 1, or with a
 * float for one. The last vector overlaps the one before it; the body must not mind computing a value twice. */
template <typename TBody>
FFDP_VOXEL_INLINE void
ForRow(std::int64_t count, const TBody & body)
{
  std::int64_t x = 0;
  for (; x + Lanes <= count; x += Lanes)
  {
    body(Vector{}, x);
  }
  if (x < count)
  {
    if (count >= Lanes)
    {
      body(Vector{}, count - Lanes);
    }
    else
    {
      for (; x < count; ++x)
      {
        body(float{}, x);
      }
    }
  }
}

#else // no vector types: one voxel at a time, and the compiler does what it can

template <typename T>
inline T
LoadAs(const float * from)
{
  return *from;
}
template <typename T>
inline void
Store(const T & from, float * to)
{
  *to = from;
}
inline void
KeepMasked(const std::uint8_t * mask, float & value)
{
  value = *mask != 0 ? value : 0.0f;
}
template <typename TBody>
inline void
ForRow(std::int64_t count, const TBody & body)
{
  for (std::int64_t x = 0; x < count; ++x)
  {
    body(float{}, x);
  }
}
#endif

} // namespace FFDP_ISA
} // namespace ffdp
