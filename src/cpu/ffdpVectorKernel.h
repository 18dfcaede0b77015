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
typedef float Vector __attribute__((vector_size(Lanes * 4)));
typedef float UnalignedVector __attribute__((vector_size(Lanes * 4), aligned(4)));

template <typename T>
struct InMemory
{
  using Type = T;
};
template <>
struct InMemory<Vector>
{
  using Type = UnalignedVector;
};

/** Unaligned. Not by memcpy: the compiler must know that only floats are written, or it reads every address that
 * a loop uses again after each store. */
template <typename T>
FFDP_VOXEL_INLINE T
LoadAs(const float * from)
{
  return *reinterpret_cast<const typename InMemory<T>::Type *>(from);
}

template <typename T>
FFDP_VOXEL_INLINE void
Store(const T & from, float * to)
{
  *reinterpret_cast<typename InMemory<T>::Type *>(to) = from;
}

/** The values at even and at odd places of 2 * Lanes floats. */
FFDP_VOXEL_INLINE void
LoadSplit(const float * from, Vector & even, Vector & odd)
{
  const Vector a = LoadAs<Vector>(from);
  const Vector b = LoadAs<Vector>(from + Lanes);
#  if FFDP_ISA_AVX512
  even = __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  odd = __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
#  elif FFDP_ISA_AVX2
  const __m256d evenPairs = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0x88)); // a's and b's in turn, two at a time
  const __m256d oddPairs = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0xdd));
  even = _mm256_castpd_ps(_mm256_permute4x64_pd(evenPairs, 0xd8));
  odd = _mm256_castpd_ps(_mm256_permute4x64_pd(oddPairs, 0xd8));
#  else
  even = __builtin_shufflevector(a, b, 0, 2, 4, 6);
  odd = __builtin_shufflevector(a, b, 1, 3, 5, 7);
#  endif
}

/** The inverse of LoadSplit. */
FFDP_VOXEL_INLINE void
StoreMerged(const Vector & even, const Vector & odd, float * to)
{
#  if FFDP_ISA_AVX512
  Store(__builtin_shufflevector(even, odd, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23), to);
  Store(__builtin_shufflevector(even, odd, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31), to + Lanes);
#  elif FFDP_ISA_AVX2
  Store(__builtin_shufflevector(even, odd, 0, 8, 1, 9, 2, 10, 3, 11), to);
  Store(__builtin_shufflevector(even, odd, 4, 12, 5, 13, 6, 14, 7, 15), to + Lanes);
#  else
  Store(__builtin_shufflevector(even, odd, 0, 4, 1, 5), to);
  Store(__builtin_shufflevector(even, odd, 2, 6, 3, 7), to + Lanes);
#  endif
}

/** Calls body(type, x) so that each x of [0, count) is covered: with a Vector for x .. x + Lanes - 1, or with a
 * float for one. The last vector overlaps the one before it; the body must not mind computing a value twice.
 *
 * With `aligned`, the first overlaps the one after it likewise, so that all others are at multiples of Lanes from an
 * address that aligned + x is at: a vector that lies across two cache lines takes twice as long, and all of 64 bytes
 * do. */
template <typename TBody>
FFDP_VOXEL_INLINE void
ForRow(std::int64_t count, const TBody & body, const float * aligned = nullptr)
{
  std::int64_t       x = 0;
  const std::int64_t before = -std::int64_t(reinterpret_cast<std::uintptr_t>(aligned) / sizeof(float)) & (Lanes - 1);
  if (before != 0 && count >= Lanes)
  {
    body(Vector{}, x);
    x = before;
  }
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
template <typename TBody>
inline void
ForRow(std::int64_t count, const TBody & body, const float * = nullptr)
{
  for (std::int64_t x = 0; x < count; ++x)
  {
    body(float{}, x);
  }
}
#endif

FFDP_VOXEL_INLINE void
LoadSplit(const float * from, float & even, float & odd)
{
  even = from[0];
  odd = from[1];
}

FFDP_VOXEL_INLINE void
StoreMerged(const float & even, const float & odd, float * to)
{
  to[0] = even;
  to[1] = odd;
}

/** Asks for the cache line at an address before it is needed. */
FFDP_VOXEL_INLINE void
PrefetchLine(const float * from)
{
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(from, 0, 2);
#else
  (void)from;
#endif
}

#if FFDP_ISA_AVX512
// GCC takes comparisons of such long vectors apart into floats.

/** Of which lanes something is true. A type of its own: the bits alone are a number, and would choose all or none. */
struct VectorMask
{
  __mmask16 lanes;
};

FFDP_VOXEL_INLINE VectorMask
operator&(VectorMask a, VectorMask b)
{
  return VectorMask{ __mmask16(a.lanes & b.lanes) };
}

FFDP_VOXEL_INLINE VectorMask
IsGreater(const Vector & a, const Vector & b)
{
  return VectorMask{ _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ) };
}

FFDP_VOXEL_INLINE Vector
Choose(VectorMask where, const Vector & chosen, const Vector & otherwise)
{
  return _mm512_mask_blend_ps(where.lanes, otherwise, chosen);
}
#endif

/** Whether a > b: false where one of them is not a number. */
template <typename T>
FFDP_VOXEL_INLINE auto
IsGreater(const T & a, const T & b)
{
  return a > b;
}

template <typename TWhere, typename T>
FFDP_VOXEL_INLINE T
Choose(const TWhere & where, const T & chosen, const T & otherwise)
{
  return where ? chosen : otherwise;
}

/** The value where the mask, which is 0 or 1, is 1; 0 elsewhere. */
template <typename T>
FFDP_VOXEL_INLINE void
KeepMasked(const float * mask, T & value)
{
  value = Choose(IsGreater(LoadAs<T>(mask), T{}), value, T{});
}

/** What is at an address and at the next few: At<K>() is LoadAs<T>(from + K). With AVX-512 the memory up to 2 * Lanes
 * floats from there is read. */
template <typename T>
struct Neighbors
{
  const float * from;

  FFDP_VOXEL_INLINE explicit Neighbors(const float * address)
    : from(address)
  {}

  template <int K>
  FFDP_VOXEL_INLINE T
  At() const
  {
    return LoadAs<T>(from + K);
  }
};

#if FFDP_ISA_AVX512
/** By shifting registers, since nearly all loads would lie across two cache lines. */
template <>
struct Neighbors<Vector>
{
  __m512i low, high;

  FFDP_VOXEL_INLINE explicit Neighbors(const float * address)
    : low(_mm512_castps_si512(LoadAs<Vector>(address)))
    , high(_mm512_castps_si512(LoadAs<Vector>(address + Lanes)))
  {}

  template <int K>
  FFDP_VOXEL_INLINE Vector
  At() const
  {
    // With a mask of all lanes it is the same instruction; without, GCC 12 warns of its own header a thousand times.
    return _mm512_castsi512_ps(K == 0 ? low : _mm512_maskz_alignr_epi32(__mmask16(0xffff), high, low, K));
  }
};
#endif

} // namespace FFDP_ISA
} // namespace ffdp
