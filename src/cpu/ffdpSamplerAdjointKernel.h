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
// The scatter of SampleAdjoint() in ffdpSamplerBackward.cxx, compiled once per instruction set: see
// ffdpForEachInstructionSet.h.
namespace ffdp
{
namespace FFDP_ISA
{

/** Adds g times the weights of a cell to the corners that lie in the planes of `image`. */
template <bool TEdge>
FFDP_VOXEL_INLINE void
ScatterLinear(const ImagePlanes & image, float * data, const SamplerPositions & positions, int k, float g)
{
  const CellPosition p = PositionAt(positions, k);
  if (!IsValid<TEdge>(image, p))
  {
    return;
  }
  for (int sz = 0; sz < 2; ++sz)
  {
    const std::int32_t z = TEdge ? ClampIndex(p.index[2] + sz, image.size[2]) : p.index[2] + sz;
    if (z < image.firstPlane || z >= image.endPlane)
    {
      continue;
    }
    for (int sy = 0; sy < 2; ++sy)
    {
      const std::int32_t y = TEdge ? ClampIndex(p.index[1] + sy, image.size[1]) : p.index[1] + sy;
      if (y < 0 || y >= image.size[1])
      {
        continue;
      }
      float *     row = data + (z - image.firstPlane) * image.planeStride + y * image.rowStride;
      const float share = CornerShare(g, p, sy, sz);
      for (int sx = 0; sx < 2; ++sx)
      {
        const std::int32_t x = TEdge ? ClampIndex(p.index[0] + sx, image.size[0]) : p.index[0] + sx;
        if (x >= 0 && x < image.size[0])
        {
          row[x] += share * SideWeight(p.fraction[0], sx);
        }
      }
    }
  }
}

template <bool TEdge>
FFDP_VOXEL_INLINE void
ScatterNearest(const ImagePlanes & image, float * data, const SamplerPositions & positions, int k, float g)
{
  std::int32_t nearest[3];
  bool         valid = true;
  for (int c = 0; c < 3; ++c)
  {
    nearest[c] = NearestVoxelOnAxis<TEdge>(positions.index[c][k], positions.fraction[c][k], image.size[c]);
    valid = valid && nearest[c] >= 0;
  }
  if (valid && nearest[2] >= image.firstPlane && nearest[2] < image.endPlane)
  {
    data[(nearest[2] - image.firstPlane) * image.planeStride + nearest[1] * image.rowStride + nearest[0]] += g;
  }
}

/** Adds what one row of the output gives to the planes of plan.image, whose voxels `data` may be written. */
template <bool TEdge, bool TNearest>
void
ScatterRow(const SamplerPlan & plan,
           const WarpRow &     u,
           std::int64_t        width,
           std::int64_t        y,
           std::int64_t        z,
           const float *       g,
           float *             data)
{
  SamplerVectors   copy;
  SamplerPositions positions;
  for (std::int64_t x = 0; x < width; x += SamplerBlock)
  {
    const int count = int(width - x < SamplerBlock ? width - x : SamplerBlock);
    LocateBlock(plan.map, StartBlock(plan, u, x, y, z, count, copy), count, positions);
    for (int k = 0; k < count; ++k)
    {
      if (TNearest)
      {
        ScatterNearest<TEdge>(plan.image, data, positions, k, g[x + k]);
      }
      else
      {
        ScatterLinear<TEdge>(plan.image, data, positions, k, g[x + k]);
      }
    }
  }
}

} // namespace FFDP_ISA
} // namespace ffdp
