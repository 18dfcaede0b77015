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

#if FFDP_ISA_AVX2
/** Four vectors of three floats, taken apart by component. */
FFDP_VOXEL_INLINE void
StoreComponents(__m128 a, __m128 b, __m128 c, int k, SamplerVectors & to) // xyzx yzxy zxyz
{
  const __m128 x = _mm_shuffle_ps(a, _mm_shuffle_ps(b, c, _MM_SHUFFLE(1, 1, 2, 2)), _MM_SHUFFLE(2, 0, 3, 0));
  const __m128 ab = _mm_shuffle_ps(a, b, _MM_SHUFFLE(0, 0, 1, 1));
  const __m128 bc = _mm_shuffle_ps(b, c, _MM_SHUFFLE(2, 2, 3, 3));
  const __m128 z = _mm_shuffle_ps(_mm_shuffle_ps(a, b, _MM_SHUFFLE(1, 1, 2, 2)), c, _MM_SHUFFLE(3, 0, 2, 0));
  _mm_store_ps(to.value[0] + k, x);
  _mm_store_ps(to.value[1] + k, _mm_shuffle_ps(ab, bc, _MM_SHUFFLE(2, 0, 2, 0)));
  _mm_store_ps(to.value[2] + k, z);
}

/** Interleaved vectors: the first voxels of a block, as many as come in fours. Returns how many. */
FFDP_VOXEL_INLINE int
LoadInterleaved(const WarpRow & u, std::int64_t x, int count, SamplerVectors & to)
{
  int k = 0;
  if (u.stride == 3 && u.doubles[0] && u.doubles[1] == u.doubles[0] + 1 && u.doubles[2] == u.doubles[0] + 2)
  {
    const double * from = u.doubles[0] + 3 * x;
    for (; k + 4 <= count; k += 4, from += 12)
    {
      StoreComponents(_mm256_cvtpd_ps(_mm256_loadu_pd(from)),
                      _mm256_cvtpd_ps(_mm256_loadu_pd(from + 4)),
                      _mm256_cvtpd_ps(_mm256_loadu_pd(from + 8)),
                      k,
                      to);
    }
  }
  else if (u.stride == 3 && u.floats[0] && u.floats[1] == u.floats[0] + 1 && u.floats[2] == u.floats[0] + 2)
  {
    const float * from = u.floats[0] + 3 * x;
    for (; k + 4 <= count; k += 4, from += 12)
    {
      StoreComponents(_mm_loadu_ps(from), _mm_loadu_ps(from + 4), _mm_loadu_ps(from + 8), k, to);
    }
  }
  return k;
}
#endif

/** Where a block begins in the image, and its displacements. */
struct BlockStart
{
  const float * u[3];
  std::int32_t  index[3];
  float         fraction[3];
};

/** `copy` holds the displacements if they have to be copied. */
FFDP_VOXEL_INLINE BlockStart
StartBlock(const SamplerPlan & plan,
           const WarpRow &     u,
           std::int64_t        x,
           std::int64_t        y,
           std::int64_t        z,
           int                 count,
           SamplerVectors &    copy)
{
  BlockStart start;
#if FFDP_ISA_AVX2
  const int loaded = LoadInterleaved(u, x, count, copy);
#else
  const int loaded = 0;
#endif
  for (int c = 0; c < 3; ++c)
  {
    const AxisPosition base = StartOfBlock(plan.map.A + 3 * c, plan.map.t[c], x, y, z);
    start.index[c] = base.index;
    start.fraction[c] = base.fraction;
    const float * const rest = LoadDisplacements(plan, u, c, x + loaded, count - loaded, copy.value[c] + loaded);
    start.u[c] = loaded > 0 ? copy.value[c] : rest;
  }
  return start;
}

/** Positions of the `count` voxels of a block. */
FFDP_VOXEL_INLINE void
LocateBlock(const SamplerMap & map, const BlockStart & start, int count, SamplerPositions & positions)
{
  const float * __restrict ux = start.u[0];
  const float * __restrict uy = start.u[1];
  const float * __restrict uz = start.u[2];
  for (int c = 0; c < 3; ++c)
  {
    const std::int32_t baseIndex = start.index[c];
    const float        baseFraction = start.fraction[c];
    const float        s0 = map.S[3 * c], s1 = map.S[3 * c + 1], s2 = map.S[3 * c + 2];
    const std::int32_t * __restrict stepIndex = map.stepIndex[c];
    const float * __restrict stepFraction = map.stepFraction[c];
    std::int32_t * __restrict index = positions.index[c];
    float * __restrict fraction = positions.fraction[c];
    FFDP_SIMD
    for (int k = 0; k < count; ++k)
    {
      const float        displacement = AddThreeProducts(s0, ux[k], s1, uy[k], s2, uz[k]);
      const AxisPosition p = LocateOnAxis(baseIndex + stepIndex[k], (baseFraction + stepFraction[k]) + displacement);
      index[k] = p.index;
      fraction[k] = p.fraction;
    }
  }
}

#if FFDP_ISA_AVX2

/** Planes whose voxels 32-bit offsets can reach. */
struct PlaneWindow
{
  const float * data; ///< offsets count from here: plane `base`
  std::int32_t  base;
  std::int32_t  first;
  std::int32_t  end;
  bool          complete; ///< all planes of the image, and rows that hold two voxels side by side
};

/** The window for a block: all planes of most images, else those around the plane of the block's first voxel. */
FFDP_VOXEL_INLINE PlaneWindow
PlaceWindow(const SamplerPlan & plan, const BlockStart & start)
{
  const ImagePlanes & image = plan.image;
  if (plan.planesInReach >= image.endPlane - image.firstPlane) // and there is a plane, see MakeSamplerPlan()
  {
    return { image.data, image.firstPlane, image.firstPlane, image.endPlane, image.size[0] > 1 };
  }
  const float *      S = plan.map.S + 6;
  const float        displacement = (S[0] * start.u[0][0] + S[1] * start.u[1][0]) + S[2] * start.u[2][0];
  const AxisPosition p = LocateOnAxis(start.index[2], start.fraction[2] + displacement);
  const std::int32_t atLeast = p.index > image.firstPlane ? p.index : image.firstPlane;
  const std::int32_t base = atLeast < image.endPlane ? atLeast : image.endPlane - 1;
  const std::int32_t first =
    base - plan.planesInReach > image.firstPlane ? base - plan.planesInReach : image.firstPlane;
  const std::int32_t end = base + plan.planesInReach < image.endPlane ? base + plan.planesInReach : image.endPlane;
  return { image.data + (base - image.firstPlane) * image.planeStride, base, first, end, false };
}

/** LocateBlock() for eight voxels. */
struct LanePositions
{
  __m256i index[3];
  __m256  fraction[3];
};

/** TPlain: S is the identity; leaving its products out changes no finite position, and others are outside anyway. */
template <bool TPlain>
FFDP_VOXEL_INLINE LanePositions
LocateLanes(const SamplerMap & map, const BlockStart & start, int k, __m256 ux, __m256 uy, __m256 uz)
{
  LanePositions p;
  for (int c = 0; c < 3; ++c)
  {
    const float * S = map.S + 3 * c;
    __m256        displacement = c == 0 ? ux : (c == 1 ? uy : uz);
    if (!TPlain)
    {
      const __m256 x = _mm256_mul_ps(_mm256_broadcast_ss(S), ux);
      const __m256 xy = _mm256_add_ps(x, _mm256_mul_ps(_mm256_broadcast_ss(S + 1), uy));
      displacement = _mm256_add_ps(xy, _mm256_mul_ps(_mm256_broadcast_ss(S + 2), uz));
    }
    const __m256 within =
      _mm256_add_ps(_mm256_broadcast_ss(start.fraction + c), _mm256_load_ps(map.stepFraction[c] + k));
    const __m256 offset = _mm256_add_ps(within, displacement);
    // max and min return their second argument where the first is not a number
    const __m256  notBelow = _mm256_max_ps(offset, _mm256_set1_ps(-FarthestOffset));
    const __m256  safe = _mm256_min_ps(notBelow, _mm256_set1_ps(FarthestOffset));
    const __m256  whole = _mm256_floor_ps(safe);
    const __m256i step = _mm256_load_si256(reinterpret_cast<const __m256i *>(map.stepIndex[c] + k));
    const __m256i base = _mm256_add_epi32(_mm256_set1_epi32(start.index[c]), step);
    p.fraction[c] = _mm256_sub_ps(safe, whole);
    p.index[c] = _mm256_add_epi32(base, _mm256_cvttps_epi32(whole));
  }
  return p;
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
  const __m128 low = _mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(first)));
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
ClampLanes(__m256i i, std::int32_t lowest, std::int32_t highest)
{
  return _mm256_min_epi32(_mm256_max_epi32(i, _mm256_set1_epi32(lowest)), _mm256_set1_epi32(highest));
}

/** Offsets of eight voxels in the window. */
FFDP_VOXEL_INLINE __m256i
OffsetsOf(const ImagePlanes & image, const PlaneWindow & window, __m256i x, __m256i y, __m256i z)
{
  const __m256i plane = _mm256_sub_epi32(z, _mm256_set1_epi32(window.base));
  const __m256i planes = _mm256_mullo_epi32(plane, _mm256_set1_epi32(std::int32_t(image.planeStride)));
  const __m256i rows = _mm256_mullo_epi32(y, _mm256_set1_epi32(std::int32_t(image.rowStride)));
  return _mm256_add_epi32(_mm256_add_epi32(planes, rows), x);
}

/** IsInsideBuffer() for eight coordinates. */
FFDP_VOXEL_INLINE __m256i
AreInsideBuffer(__m256i index, __m256 fraction, std::int32_t size)
{
  const __m256i upperHalf = _mm256_castps_si256(_mm256_cmp_ps(fraction, _mm256_set1_ps(0.5f), _CMP_GE_OQ));
  const __m256i nearest = _mm256_sub_epi32(index, upperHalf);
  return IsBetween(nearest, 0, size);
}

/** Corners of cells that are not all inside: zero where there is none, or clamped. All reads are moved to where the
 * image has voxels, two side by side at least, and then sorted out. Returns which lanes are valid. */
template <bool TEdge>
FFDP_VOXEL_INLINE __m256
LoadBorderCorners(const ImagePlanes &      image,
                  const PlaneWindow &      window,
                  const SamplerPositions & positions,
                  int                      k,
                  CellCorners &            c)
{
  __m256i at[3][2], has[3][2];
  __m256i valid = _mm256_set1_epi32(-1);
  for (int axis = 0; axis < 3; ++axis)
  {
    const std::int32_t first = axis == 2 ? image.firstPlane : 0;
    const std::int32_t end = axis == 2 ? image.endPlane : image.size[axis];
    const __m256i      index = _mm256_load_si256(reinterpret_cast<const __m256i *>(positions.index[axis] + k));
    if (TEdge)
    {
      const __m256 fraction = _mm256_load_ps(positions.fraction[axis] + k);
      valid = _mm256_and_si256(valid, AreInsideBuffer(index, fraction, image.size[axis]));
    }
    for (int side = 0; side < 2; ++side)
    {
      const __m256i i = side ? _mm256_add_epi32(index, _mm256_set1_epi32(1)) : index;
      const __m256i used = TEdge ? ClampLanes(i, 0, image.size[axis] - 1) : i;
      has[axis][side] = IsBetween(used, first, end);
      at[axis][side] = axis == 0 ? used : ClampLanes(used, first, end - 1);
    }
  }
  const __m256i pairs = ClampLanes(at[0][0], 0, image.size[0] - 2);
  const __m256  isFirst[2] = { _mm256_castsi256_ps(_mm256_cmpeq_epi32(at[0][0], pairs)),
                               _mm256_castsi256_ps(_mm256_cmpeq_epi32(at[0][1], pairs)) };
  for (int row = 0; row < 4; ++row)
  {
    const int                sy = row & 1, sz = row >> 1;
    alignas(32) std::int32_t offset[8];
    _mm256_store_si256(reinterpret_cast<__m256i *>(offset), OffsetsOf(image, window, pairs, at[1][sy], at[2][sz]));
    __m256 a, b;
    LoadNeighbors(window.data, offset, a, b);
    const __m256i mask = _mm256_and_si256(_mm256_and_si256(has[1][sy], has[2][sz]), valid);
    c.a[row] =
      _mm256_and_ps(_mm256_blendv_ps(b, a, isFirst[0]), _mm256_castsi256_ps(_mm256_and_si256(mask, has[0][0])));
    c.b[row] =
      _mm256_and_ps(_mm256_blendv_ps(b, a, isFirst[1]), _mm256_castsi256_ps(_mm256_and_si256(mask, has[0][1])));
  }
  return _mm256_castsi256_ps(valid);
}

/** Corners of cells that are all inside. */
FFDP_VOXEL_INLINE void
LoadCorners(const ImagePlanes & image, const PlaneWindow & window, const std::int32_t * offset, CellCorners & c)
{
  // Of the four rows only this one is new to the cache, and it moves too irregularly for the hardware to foresee.
  _mm_prefetch(reinterpret_cast<const char *>(window.data + image.planeStride + 5 * image.rowStride + offset[0]),
               _MM_HINT_T0);
  LoadNeighbors(window.data, offset, c.a[0], c.b[0]);
  LoadNeighbors(window.data + image.rowStride, offset, c.a[1], c.b[1]);
  LoadNeighbors(window.data + image.planeStride, offset, c.a[2], c.b[2]);
  LoadNeighbors(window.data + image.planeStride + image.rowStride, offset, c.a[3], c.b[3]);
}

/** Whether none of eight cells has a corner in the slab. */
FFDP_VOXEL_INLINE bool
AreAllBeyond(const ImagePlanes & image, const __m256i (&index)[3])
{
  const __m256i near =
    _mm256_and_si256(_mm256_and_si256(IsBetween(index[0], -1, image.size[0]), IsBetween(index[1], -1, image.size[1])),
                     IsBetween(index[2], image.firstPlane - 1, image.endPlane));
  return _mm256_movemask_epi8(near) == 0;
}

/** Positions of a block as LocateBlock() has them, and for each eight voxels, whether all their corners are in the
 * window and then their offsets (indices are not stored), or whether none is in the slab. Lanes beyond `count` are like
 * voxels without displacement. */
template <bool TPlain>
FFDP_VOXEL_INLINE void
LocateCells(const SamplerPlan & plan,
            const BlockStart &  start,
            const PlaneWindow & window,
            int                 count,
            SamplerPositions &  positions,
            SamplerCells &      cells)
{
  const ImagePlanes & image = plan.image;
  const __m256i       laneNumber = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  for (int k = 0; k < count; k += 8)
  {
    __m256        u[3];
    const __m256i lanes = _mm256_cmpgt_epi32(_mm256_set1_epi32(count - k), laneNumber);
    for (int c = 0; c < 3; ++c)
    {
      u[c] = k + 8 <= count ? _mm256_loadu_ps(start.u[c] + k) : _mm256_maskload_ps(start.u[c] + k, lanes);
    }
    const LanePositions p = LocateLanes<TPlain>(plan.map, start, k, u[0], u[1], u[2]);
    const __m256i       inside = _mm256_and_si256(
      _mm256_and_si256(IsBetween(p.index[0], 0, image.size[0] - 1), IsBetween(p.index[1], 0, image.size[1] - 1)),
      IsBetween(p.index[2], window.first, window.end - 1));
    const bool allInside = _mm256_movemask_epi8(inside) == -1;
    cells.inside[k / 8] = allInside;
    cells.outside[k / 8] = !allInside && AreAllBeyond(image, p.index);
    for (int c = 0; c < 3; ++c)
    {
      _mm256_store_ps(positions.fraction[c] + k, p.fraction[c]);
    }
    if (allInside)
    {
      _mm256_store_si256(reinterpret_cast<__m256i *>(cells.offset + k),
                         OffsetsOf(image, window, p.index[0], p.index[1], p.index[2]));
    }
    else
    {
      for (int c = 0; c < 3; ++c)
      {
        _mm256_store_si256(reinterpret_cast<__m256i *>(positions.index[c] + k), p.index[c]);
      }
    }
  }
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
