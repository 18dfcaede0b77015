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
#ifndef ffdpRingReach_h
#define ffdpRingReach_h

#include "ffdpPlaneTransfer.h"
#include "ffdpRingSampler.h"

namespace ffdp
{

inline bool
IsEmpty(const PlaneRange & range)
{
  return range.first >= range.end;
}

inline bool
Overlap(const PlaneRange & a, const PlaneRange & b)
{
  return !IsEmpty(Intersection(a, b));
}

/** Which planes of an image the sampler reads. */
struct RingReach
{
  std::vector<PlaneRange> planes; ///< for each output plane of this rank
  std::vector<PlaneRange> ranks;  ///< for each rank from the lowest to the highest plane: what is brought to it
};

/** For the output planes [output.first, output.end) of this rank; all ranks learn about all of them. */
inline RingReach
FindRingReach(Backend &              backend,
              Communicator &         communicator,
              const Extent &         imageSize,
              const CompositeMap &   map,
              const WarpInput &      u,
              const Extent &         fixedSize,
              const PlaneRange &     output,
              const RingParameters & parameters)
{
  RingReach reach;
  if (!IsEmpty(output))
  {
    reach.planes = backend.FindReachedPlanes(
      imageSize, map, u, fixedSize, output.first, output.end - output.first, parameters.sampler);
  }
  PlaneRange own{ imageSize.z, 0 };
  for (const PlaneRange & range : reach.planes)
  {
    if (!IsEmpty(range))
    {
      own = { std::min(own.first, range.first), std::max(own.end, range.end) };
    }
  }
  reach.ranks = parameters.full ? std::vector<PlaneRange>(std::size_t(communicator.Size()), { 0, imageSize.z })
                                : GatherRanges(communicator, own);
  return reach;
}

/** Planes of a chunk, so that `buffers` of them are not more than the thinnest slab; a chunk has at least one plane. */
inline std::int64_t
RingChunk(const Partition & owners, std::int64_t buffers, const RingParameters & parameters)
{
  std::int64_t slab = owners.Planes();
  for (int rank = 0; rank < owners.Ranks(); ++rank)
  {
    const PlaneRange own = owners.Owned(rank);
    slab = IsEmpty(own) ? slab : std::min(slab, own.end - own.first);
  }
  const std::int64_t most = std::max<std::int64_t>(1, slab / buffers);
  return parameters.chunkPlanes > 0 ? std::min(most, parameters.chunkPlanes) : most;
}

template <typename T>
MemoryBlock
BlockOf(const VolumeView<T> & view)
{
  return { const_cast<float *>(view.data), std::size_t(view.planes * view.planeStride) * sizeof(float) };
}

} // namespace ffdp

#endif
