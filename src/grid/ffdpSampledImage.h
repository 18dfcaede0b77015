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
#ifndef ffdpSampledImage_h
#define ffdpSampledImage_h

#include "ffdpExtendedImage.h"

#include <optional>

namespace ffdp
{

/** An image that is spread over the ranks, as one rank samples it again and again under maps that change little by
 * little.
 *
 * Usually a rank reaches some planes beyond its own. They are fetched when they are reached for the first time, and
 * kept: the image does not change, so an iteration that reaches no farther sends nothing. Where a map reaches more than
 * another shard's worth of planes (images whose axes lie across each other), nothing is kept: the ring sampler brings
 * the planes past every rank, and the samples of the rank's part of the fixed grid are kept instead. Derivatives would
 * be three more numbers per voxel, so planes come by again for some of them at a time. All ranks do the one or the
 * other.
 */
class SampledImage
{
public:
  /** Of the planes that travel; two of these chunks are held at a time. */
  static constexpr std::int64_t RingChunksPerSlab = 4;

  /** Whether the ring brings planes: where a rank wants more of others than the most that any rank owns. */
  static bool
  NeedsRing(const Partition & owners, const std::vector<PlaneRange> & wanted);

  /** Whether planes that are fetched are held in one piece with a copy of a rank's own, of which there are `owned`:
   * where putting together those that one plane reaches would take about as much, again and again. */
  static bool
  IsBetterInOnePiece(double reachedAtOnce, double owned)
  {
    return 2 * reachedAtOnce > owned;
  }

  SampledImage() = default;
  SampledImage(Backend &                       backend,
               Communicator &                  communicator,
               const VolumeView<const float> & own,
               const JoinedPlanes &            joined,
               const SamplerParameters &       parameters = {});

  /** Made by all ranks before they sample the planes `output` of the fixed grid, which this rank owns, under a map.
   * `u` must stay as it is until the last sample is taken. `derivatives`: as if BringDerivatives() followed. */
  void
  Prepare(const CompositeMap &              map,
          const WarpInput &                 u,
          const Extent &                    fixedGrid,
          const PlaneRange &                output,
          const std::optional<PlaneRange> & derivatives);

  /** Made by all ranks, of which some may want none, before SampleBackward() for these planes, and no others. */
  void
  BringDerivatives(const PlaneRange & planes);

  /** Whether that takes memory and time; otherwise derivatives of all planes are there without it. */
  bool
  IsFromRing() const
  {
    return m_FromRing;
  }

  /** The same for an image on the grid of another, such as its mask, under the map that the other was prepared for:
   * what the map reaches is known then. Values only. */
  void
  PrepareLike(const SampledImage & other);

  /** Like ffdp::Sample(), for some of these planes. */
  void
  Sample(const VolumeView<float> & output);

  /** Like ffdp::SampleBackward(), for some of these planes; `accumulate` adds to the gradient of the warp. */
  std::vector<MapGradient>
  SampleBackward(const VolumeView<const float> & outputGradient,
                 const WarpView<float> &         warpGradient,
                 bool                            mapGradient,
                 bool                            accumulate = false);

private:
  /** Writes what is outside of the image to planes of the output, and 0 elsewhere. */
  void
  SampleOutside(const VolumeView<float> & output);
  /** Makes planes that ranks reach available, kept or from the ring. */
  void
  Provide(const std::optional<PlaneRange> & derivatives);
  /** Planes of the image that a plane of the output reaches, most of all. */
  std::int64_t
  MostReachedAtOnce() const;
  /** From the ring; either may be missing. */
  void
  Bring(const VolumeView<float> & samples, const WarpView<float> & derivatives);
  /** Three volumes of some planes in a memory that grows where it is too small. */
  WarpView<float>
  RoomFor(const PlaneRange & planes, DeviceArray<float> & memory) const;
  /** The planes of the image that some planes of the output reach. */
  PlaneRange
  ReachOf(std::int64_t firstPlane, std::int64_t endPlane) const;
  std::vector<MapGradient>
  FinishFromRing(const VolumeView<const float> & outputGradient,
                 const WarpView<float> &         warpGradient,
                 bool                            mapGradient,
                 bool                            accumulate);

  Backend *               m_Backend = nullptr;
  Communicator *          m_Communicator = nullptr;
  ExtendedImage           m_Image;
  SamplerParameters       m_Parameters;
  CompositeMap            m_Map;
  WarpInput               m_Warp;
  PlaneRange              m_Output;
  Extent                  m_FixedGrid;
  std::vector<PlaneRange> m_Reach;       ///< of each plane of the output
  std::vector<PlaneRange> m_WantedOfAll; ///< by each rank
  bool                    m_FromRing = false;
  Slab                    m_Samples;     ///< from the ring
  WarpView<float>         m_Derivatives; ///< of some planes, from the ring
  DeviceArray<float>      m_DerivativeMemory, m_Scratch;
};

} // namespace ffdp

#endif
