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
#ifndef ffdpCudaHostMath_h
#define ffdpCudaHostMath_h

#include <cmath>
#include <cstring>

/** The functions that CUDA has in the global namespace beside those of <cmath>. Those that a device only approximates
 * (__fdividef, __expf, ...) are left out: a test on the processor would say nothing about them. */

namespace cudahost
{
template <typename TTo, typename TFrom>
TTo
SameBits(TFrom from)
{
  static_assert(sizeof(TTo) == sizeof(TFrom));
  TTo to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}
} // namespace cudahost

inline int
__float_as_int(float value)
{
  return cudahost::SameBits<int>(value);
}
inline unsigned
__float_as_uint(float value)
{
  return cudahost::SameBits<unsigned>(value);
}
inline float
__int_as_float(int bits)
{
  return cudahost::SameBits<float>(bits);
}
inline float
__uint_as_float(unsigned bits)
{
  return cudahost::SameBits<float>(bits);
}
inline long long
__double_as_longlong(double value)
{
  return cudahost::SameBits<long long>(value);
}
inline double
__longlong_as_double(long long bits)
{
  return cudahost::SameBits<double>(bits);
}

inline int
__popc(unsigned bits)
{
  return __builtin_popcount(bits);
}
inline int
__popcll(unsigned long long bits)
{
  return __builtin_popcountll(bits);
}
inline int
__ffs(int bits)
{
  return __builtin_ffs(bits);
}
inline int
__ffsll(long long bits)
{
  return __builtin_ffsll(bits);
}
inline int
__clz(int bits)
{
  return bits == 0 ? 32 : __builtin_clz(unsigned(bits));
}
inline int
__clzll(long long bits)
{
  return bits == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(bits));
}

template <typename T>
T
__ldg(const T * address)
{
  return *address;
}

inline float
rsqrtf(float value)
{
  return 1.0f / std::sqrt(value);
}
inline double
rsqrt(double value)
{
  return 1.0 / std::sqrt(value);
}

inline float
__fadd_rn(float a, float b)
{
  return a + b;
}
inline float
__fmul_rn(float a, float b)
{
  return a * b;
}
inline float
__fdiv_rn(float a, float b)
{
  return a / b;
}
inline float
__fsqrt_rn(float value)
{
  return std::sqrt(value);
}
inline float
__fmaf_rn(float a, float b, float c)
{
  return std::fma(a, b, c);
}
inline double
__dadd_rn(double a, double b)
{
  return a + b;
}
inline double
__dmul_rn(double a, double b)
{
  return a * b;
}
inline int
__float2int_rn(float value)
{
  return int(std::lrint(value));
}
inline int
__float2int_rd(float value)
{
  return int(std::floor(value));
}
inline long long
__double2ll_rn(double value)
{
  return std::llrint(value);
}

#define FFDP_CUDA_HOST_MIN_MAX(T)                                                                                      \
  inline T min(T a, T b)                                                                                               \
  {                                                                                                                    \
    return b < a ? b : a;                                                                                              \
  }                                                                                                                    \
  inline T max(T a, T b)                                                                                               \
  {                                                                                                                    \
    return a < b ? b : a;                                                                                              \
  }
FFDP_CUDA_HOST_MIN_MAX(int)
FFDP_CUDA_HOST_MIN_MAX(unsigned)
FFDP_CUDA_HOST_MIN_MAX(long)
FFDP_CUDA_HOST_MIN_MAX(unsigned long)
FFDP_CUDA_HOST_MIN_MAX(long long)
FFDP_CUDA_HOST_MIN_MAX(unsigned long long)
#undef FFDP_CUDA_HOST_MIN_MAX

// As fmin and fmax: what is not a number gives way to what is.
inline float
min(float a, float b)
{
  return std::fmin(a, b);
}
inline float
max(float a, float b)
{
  return std::fmax(a, b);
}
inline double
min(double a, double b)
{
  return std::fmin(a, b);
}
inline double
max(double a, double b)
{
  return std::fmax(a, b);
}

#endif
