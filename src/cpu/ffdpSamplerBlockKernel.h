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
// What the kernels of the sampler and of its gradients share: the positions of a block of voxels of a row in
// the image, and reading the corners of eight cells at a time. See ffdpForEachInstructionSet.h.
namespace ffdp
{
namespace FFDP_ISA
{

/** One component of `count` displacements as floats: in place if they are floats side by side, else copied. */
FFDP_VOXEL_INLINE const float *
LoadDisplacements(const SamplerPlan & plan, const WarpRow & u, int c, std::int64_t x, int count, float * copy)
{
  if (u.floats[c] && u.stride == 1)
  {
    return u.floats[c] + x;
  }
  if (u.floats[c])
  {
    const float * from = u.floats[c] + x * u.stride;
    for (int k = 0; k < count; ++k)
    {
      copy[k] = from[k * u.stride];
    }
    return copy;
  }
  if (u.doubles[c])
  {
    const double * from = u.doubles[c] + x * u.stride;
    for (int k = 0; k < count; ++k)
    {
      copy[k] = float(from[k * u.stride]);
    }
    return copy;
  }
  return plan.zeros;
}

/** Positions of the voxels [x, x + count) of row (y, z); the rest of the last eight is put outside. */
FFDP_VOXEL_INLINE void
LocateBlock(const SamplerPlan & plan,
            const WarpRow &     u,
            std::int64_t        x,
            std::int64_t        y,
            std::int64_t        z,
            int                 count,
            SamplerPositions &  positions)
{
  const SamplerMap & map = plan.map;
  float              copy[3][SamplerBlock];
  const float *      ux = LoadDisplacements(plan, u, 0, x, count, copy[0]);
  const float *      uy = LoadDisplacements(plan, u, 1, x, count, copy[1]);
  const float *      uz = LoadDisplacements(plan, u, 2, x, count, copy[2]);
  for (int c = 0; c < 3; ++c)
  {
    const double * a = map.A + 3 * c;
    const double   base = ((a[0] * double(x) + a[1] * double(y)) + a[2] * double(z)) + map.t[c];
    const auto     baseIndex = WholeVoxels(base);
    const float    baseFraction = float(base - std::floor(base));

    const float s0 = map.S[3 * c], s1 = map.S[3 * c + 1], s2 = map.S[3 * c + 2];
    const std::int32_t * __restrict stepIndex = map.stepIndex[c];
    const float * __restrict stepFraction = map.stepFraction[c];
    std::int32_t * __restrict index = positions.index[c];
    float * __restrict fraction = positions.fraction[c];
    FFDP_SIMD
    for (int k = 0; k < count; ++k)
    {
      const float        displacement = (s0 * ux[k] + s1 * uy[k]) + s2 * uz[k];
      const AxisPosition p = LocateOnAxis(baseIndex + stepIndex[k], (baseFraction + stepFraction[k]) + displacement);
      index[k] = p.index;
      fraction[k] = p.fraction;
    }
    for (int k = count; k % 8 != 0; ++k)
    {
      index[k] = -std::int32_t(SamplerLongestAxis);
      fraction[k] = 0.0f;
    }
  }
}

#if FFDP_ISA_AVX2

/** The plane that offsets of the block count from, or -1 if offsets do not fit into 32 bits. */
FFDP_VOXEL_INLINE std::int32_t
                  FindBasePlane(const ImagePlanes & image, const std::int32_t * iz, int count)
{
  std::int32_t lowest = iz[0];
  std::int32_t highest = iz[0];
  FFDP_SIMD
  for (int k = 1; k < count; ++k)
  {
    lowest = iz[k] < lowest ? iz[k] : lowest;
    highest = iz[k] > highest ? iz[k] : highest;
  }
  const std::int32_t last = image.endPlane - 1;
  lowest = lowest > image.firstPlane ? (lowest < last ? lowest : last) : image.firstPlane;
  highest = highest < last - 1 ? (highest > image.firstPlane ? highest + 1 : image.firstPlane + 1) : last;
  const double reach = double(highest - lowest + 1) * double(image.planeStride);
  return image.rowStride >= image.size[0] && image.planeStride >= image.rowStride && reach < 2147483648.0 ? lowest : -1;
}

/** The four rows of corners of eight cells: x neighbors in a and b. */
struct CellCorners
{
  __m256 a[4]; ///< corners x,     in the order (y, z), (y + 1, z), (y, z + 1), (y + 1, z + 1)
  __m256 b[4]; ///< corners x + 1
};

/** Two pairs of neighbors. */
FFDP_VOXEL_INLINE __m128
LoadTwoPairs(const float * first, const float * second)
{
  const __m128 low = _mm_castpd_ps(_mm_load_sd(reinterpret_cast<const double *>(first)));
  return _mm_loadh_pi(low, reinterpret_cast<const __m64 *>(second));
}

/** Neighbors p[o], p[o + 1] of eight offsets. A load of 64 bits per cell costs less than a gather. */
FFDP_VOXEL_INLINE void
LoadNeighbors(const float * p, const std::int32_t * o, __m256 & a, __m256 & b)
{
  const __m256 even =
    _mm256_insertf128_ps(_mm256_castps128_ps256(LoadTwoPairs(p + o[0], p + o[1])), LoadTwoPairs(p + o[4], p + o[5]), 1);
  const __m256 odd =
    _mm256_insertf128_ps(_mm256_castps128_ps256(LoadTwoPairs(p + o[2], p + o[3])), LoadTwoPairs(p + o[6], p + o[7]), 1);
  a = _mm256_shuffle_ps(even, odd, 0x88);
  b = _mm256_shuffle_ps(even, odd, 0xdd);
}

FFDP_VOXEL_INLINE __m256i
IsBetween(__m256i i, std::int32_t first, std::int32_t end)
{
  return _mm256_and_si256(_mm256_cmpgt_epi32(i, _mm256_set1_epi32(first - 1)),
                          _mm256_cmpgt_epi32(_mm256_set1_epi32(end), i));
}

FFDP_VOXEL_INLINE __m256i
ClampLanes(__m256i i, std::int32_t size)
{
  return _mm256_min_epi32(_mm256_max_epi32(i, _mm256_setzero_si256()), _mm256_set1_epi32(size - 1));
}

/** IsInsideBuffer() for eight coordinates. */
FFDP_VOXEL_INLINE __m256i
AreInsideBuffer(__m256i index, __m256 fraction, std::int32_t size)
{
  const __m256i upperHalf = _mm256_castps_si256(_mm256_cmp_ps(fraction, _mm256_set1_ps(0.5f), _CMP_GE_OQ));
  const __m256i nearest = _mm256_sub_epi32(index, upperHalf);
  return IsBetween(nearest, 0, size);
}

/** Corners of cells that are not all inside: zero where there is none, or clamped. */
template <bool TEdge>
FFDP_VOXEL_INLINE void
GatherCorners(const ImagePlanes & image,
              const float *       base,
              std::int32_t        basePlane,
              const __m256i *     index,
              const __m256 *      fraction,
              CellCorners &       c)
{
  const __m256i one = _mm256_set1_epi32(1);
  __m256i       at[3][2], has[3][2];
  __m256i       valid = _mm256_set1_epi32(-1);
  for (int axis = 0; axis < 3; ++axis)
  {
    const std::int32_t first = axis == 2 ? image.firstPlane : 0;
    const std::int32_t end = axis == 2 ? image.endPlane : image.size[axis];
    if (TEdge)
    {
      valid = _mm256_and_si256(valid, AreInsideBuffer(index[axis], fraction[axis], image.size[axis]));
    }
    for (int side = 0; side < 2; ++side)
    {
      const __m256i i = side ? _mm256_add_epi32(index[axis], one) : index[axis];
      at[axis][side] = TEdge ? ClampLanes(i, image.size[axis]) : i;
      has[axis][side] = IsBetween(at[axis][side], first, end);
    }
  }
  for (int row = 0; row < 4; ++row)
  {
    const int     sy = row & 1, sz = row >> 1;
    const __m256i mask = _mm256_and_si256(_mm256_and_si256(has[1][sy], has[2][sz]), valid);
    const __m256i plane = _mm256_sub_epi32(at[2][sz], _mm256_set1_epi32(basePlane));
    const __m256i offset =
      _mm256_add_epi32(_mm256_mullo_epi32(plane, _mm256_set1_epi32(std::int32_t(image.planeStride))),
                       _mm256_mullo_epi32(at[1][sy], _mm256_set1_epi32(std::int32_t(image.rowStride))));
    const __m256 zero = _mm256_setzero_ps();
    c.a[row] = _mm256_mask_i32gather_ps(
      zero, base, _mm256_add_epi32(offset, at[0][0]), _mm256_castsi256_ps(_mm256_and_si256(mask, has[0][0])), 4);
    c.b[row] = _mm256_mask_i32gather_ps(
      zero, base, _mm256_add_epi32(offset, at[0][1]), _mm256_castsi256_ps(_mm256_and_si256(mask, has[0][1])), 4);
  }
}

/** Corners of the cells of voxels k to k + 7 of a block. */
template <bool TEdge>
FFDP_VOXEL_INLINE void
LoadCorners(const ImagePlanes &      image,
            const float *            base,
            std::int32_t             basePlane,
            const SamplerPositions & positions,
            int                      k,
            CellCorners &            c)
{
  __m256i index[3];
  for (int axis = 0; axis < 3; ++axis)
  {
    index[axis] = _mm256_load_si256(reinterpret_cast<const __m256i *>(positions.index[axis] + k));
  }
  const __m256i inside = _mm256_and_si256(
    _mm256_and_si256(IsBetween(index[0], 0, image.size[0] - 1), IsBetween(index[1], 0, image.size[1] - 1)),
    IsBetween(index[2], image.firstPlane, image.endPlane - 1));
  if (_mm256_movemask_epi8(inside) == -1)
  {
    const __m256i plane = _mm256_sub_epi32(index[2], _mm256_set1_epi32(basePlane));
    const __m256i offset =
      _mm256_add_epi32(_mm256_add_epi32(_mm256_mullo_epi32(plane, _mm256_set1_epi32(std::int32_t(image.planeStride))),
                                        _mm256_mullo_epi32(index[1], _mm256_set1_epi32(std::int32_t(image.rowStride)))),
                       index[0]);
    alignas(32) std::int32_t o[8];
    _mm256_store_si256(reinterpret_cast<__m256i *>(o), offset);
    LoadNeighbors(base, o, c.a[0], c.b[0]);
    LoadNeighbors(base + image.rowStride, o, c.a[1], c.b[1]);
    LoadNeighbors(base + image.planeStride, o, c.a[2], c.b[2]);
    LoadNeighbors(base + image.planeStride + image.rowStride, o, c.a[3], c.b[3]);
    return;
  }
  __m256 fraction[3];
  for (int axis = 0; axis < 3; ++axis)
  {
    fraction[axis] = _mm256_load_ps(positions.fraction[axis] + k);
  }
  GatherCorners<TEdge>(image, base, basePlane, index, fraction, c);
}

FFDP_VOXEL_INLINE __m256
MultiplyAdd(__m256 c, __m256 a, __m256 b) // c + a * b, rounded twice
{
  return _mm256_add_ps(c, _mm256_mul_ps(a, b));
}

/** AddPlaneTerms() for eight voxels. */
FFDP_VOXEL_INLINE __m256
AddPlanesOfLanes(__m256 lower, __m256 upper, __m256 fz)
{
  const __m256 weight = _mm256_sub_ps(_mm256_set1_ps(1.0f), fz);
  return MultiplyAdd(MultiplyAdd(_mm256_setzero_ps(), weight, lower), fz, upper);
}

#endif

} // namespace FFDP_ISA
} // namespace ffdp
