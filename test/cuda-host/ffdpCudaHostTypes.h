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
#ifndef ffdpCudaHostTypes_h
#define ffdpCudaHostTypes_h

/** The words that CUDA adds to C++, and its vector types with the alignment they have on a device. */

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
// Blocks run one after the other, so that one copy of a block's variables is enough. The tag becomes part of the
// symbol's name, by which the harness finds all such variables, and fills them before each block.
#define __shared__ static __attribute__((abi_tag("cudashared")))

#define FFDP_CUDA_HOST_VECTORS(T, name, align2, align4)                                                                \
  struct name##1                                                                                                       \
  {                                                                                                                    \
    T x;                                                                                                               \
  };                                                                                                                   \
  struct __align__(align2) name##2                                                                                     \
  {                                                                                                                    \
    T x, y;                                                                                                            \
  };                                                                                                                   \
  struct name##3                                                                                                       \
  {                                                                                                                    \
    T x, y, z;                                                                                                         \
  };                                                                                                                   \
  struct __align__(align4) name##4                                                                                     \
  {                                                                                                                    \
    T x, y, z, w;                                                                                                      \
  };                                                                                                                   \
  inline name##1 make_##name##1(T x)                                                                                   \
  {                                                                                                                    \
    return { x };                                                                                                      \
  }                                                                                                                    \
  inline name##2 make_##name##2(T x, T y)                                                                              \
  {                                                                                                                    \
    return { x, y };                                                                                                   \
  }                                                                                                                    \
  inline name##3 make_##name##3(T x, T y, T z)                                                                         \
  {                                                                                                                    \
    return { x, y, z };                                                                                                \
  }                                                                                                                    \
  inline name##4 make_##name##4(T x, T y, T z, T w)                                                                    \
  {                                                                                                                    \
    return { x, y, z, w };                                                                                             \
  }

FFDP_CUDA_HOST_VECTORS(signed char, char, 2, 4)
FFDP_CUDA_HOST_VECTORS(unsigned char, uchar, 2, 4)
FFDP_CUDA_HOST_VECTORS(short, short, 4, 8)
FFDP_CUDA_HOST_VECTORS(unsigned short, ushort, 4, 8)
FFDP_CUDA_HOST_VECTORS(int, int, 8, 16)
FFDP_CUDA_HOST_VECTORS(unsigned, uint, 8, 16)
FFDP_CUDA_HOST_VECTORS(long long, longlong, 16, 16)
FFDP_CUDA_HOST_VECTORS(unsigned long long, ulonglong, 16, 16)
FFDP_CUDA_HOST_VECTORS(float, float, 8, 16)
FFDP_CUDA_HOST_VECTORS(double, double, 16, 16)

#undef FFDP_CUDA_HOST_VECTORS

struct dim3
{
  unsigned x, y, z;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1)
    : x(vx)
    , y(vy)
    , z(vz)
  {}
};

#endif
