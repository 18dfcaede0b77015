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
#ifndef ffdpVoxelInline_h
#define ffdpVoxelInline_h

/** Marks the arithmetic of one voxel: written once, compiled for every CPU instruction set (it is inlined
 * into the kernels of src/cpu) and for CUDA devices. No file of src/voxel includes anything of ITK. */
#if defined(__CUDACC__)
#  define FFDP_VOXEL_INLINE __host__ __device__ __forceinline__
#elif defined(__GNUC__) || defined(__clang__)
#  define FFDP_VOXEL_INLINE inline __attribute__((always_inline))
#elif defined(_MSC_VER)
#  define FFDP_VOXEL_INLINE __forceinline
#else
#  define FFDP_VOXEL_INLINE inline
#endif

/** Marks a lambda in a hot loop: inlined whatever its size, so that it is compiled for its caller's instruction set. */
#if defined(__GNUC__) || defined(__clang__)
#  define FFDP_INLINE_LAMBDA __attribute__((always_inline))
#else
#  define FFDP_INLINE_LAMBDA
#endif

#endif
