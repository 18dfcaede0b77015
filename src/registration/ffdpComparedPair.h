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
#ifndef ffdpComparedPair_h
#define ffdpComparedPair_h

#include "ffdpAffineMap.h"
#include "ffdpEdgeStrips.h"
#include "ffdpFieldOfView.h"
#include "ffdpInsideTest.h"
#include "ffdpPlaneWindow.h"
#include "ffdpSampledImage.h"

namespace ffdp
{

/** A pair of images as one level sees it: the planes that this rank owns. Masks are floats, 1 inside and 0 outside; not
 * given: inside everywhere. */
struct LevelPair
{
  VolumeView<const float> fixed;
  VolumeView<const float> moving;
  VolumeView<const float> fixedMask;
  VolumeView<const float> movingMask;
  FieldOfView             field;
  AffineMap               fixedToPhysical;  ///< index to mm
  AffineMap               physicalToMoving; ///< mm to index
};

/** What a metric compares: the planes of both images under the maps of a sweep, as far as windows reach, and no others.
 * Planes of neighbors that windows reach are swapped when a sweep begins. */
class ComparedPair
{
public:
  /** Windows of metrics reach `halo` planes; at most `planesAtATime` are compared at a time. */
  ComparedPair(Backend &            backend,
               Communicator &       communicator,
               const LevelPair &    images,
               std::int64_t         halo,
               std::int64_t         planesAtATime,
               const JoinedPlanes & joined);

  /** All ranks begin a sweep. See Loss::Begin(). */
  void
  Begin(const AffineMap &                 physical,
        const WarpView<const float> &     u,
        const WarpView<const float> &     r,
        const std::optional<PlaneRange> & gradients);

  /** See Loss. */
  void
  PrepareGradients(const PlaneRange & planes);
  bool
  GradientsComeFromRing() const
  {
    return m_Moving.IsFromRing() || (m_FixedMoves && m_Fixed.IsFromRing());
  }

  /** Samples what is compared in the planes [first, end), and around them as far as windows reach. */
  void
  Advance(std::int64_t first, std::int64_t end);

  /** The fixed image as it is compared, itself or its moved planes, in [first, end) and as far as windows reach; good
   * until the next image of this level is sampled. */
  VolumeView<const float>
  Fixed(std::int64_t first, std::int64_t end);

  VolumeView<const float>
  Moved() const
  {
    return m_Moved.Volume();
  }
  bool
  IsMasked() const
  {
    return m_Images.fixedMask.IsGiven() || m_Images.movingMask.IsGiven() || IsUnknown(m_Images.field.moving) ||
           (IsUnknown(m_Images.field.fixed) && m_FixedMoves);
  }

  /** Where the comparison counts; not given: everywhere. */
  VolumeView<const std::uint8_t>
  Mask() const
  {
    return this->IsMasked() ? VolumeView<const std::uint8_t>(m_Mask.Volume()) : VolumeView<const std::uint8_t>();
  }

  const LevelPair &
  Images() const
  {
    return m_Images;
  }
  const CompositeMap &
  Map() const
  {
    return m_Map;
  }
  /** For gradients: the moving image, and the fixed one where it moves. */
  SampledImage &
  SampledMoving()
  {
    return m_Moving;
  }
  SampledImage &
  SampledFixed()
  {
    return m_Fixed;
  }

private:
  /** Makes room for the mask. */
  void
  PrepareMask();
  /** Makes room for what a moving fixed image needs. */
  void
  PrepareFixedWarp();
  /** Swaps the planes at the edges of slabs that windows of neighbors reach. */
  void
  SwapEdges();
  void
  RestartWindows(std::int64_t first);
  /** From both images' masks, for the planes of a view. */
  void
  SampleMask(const VolumeView<std::uint8_t> & mask);

  Backend &                 m_Backend;
  Communicator &            m_Communicator;
  LevelPair                 m_Images;
  std::int64_t              m_Halo;
  std::int64_t              m_Capacity; ///< of windows, planes
  JoinedPlanes              m_Joined;
  PlaneRange                m_Planes; ///< that this rank owns
  CompositeMap              m_Map;
  WarpInput                 m_Warp, m_FixedWarp;
  bool                      m_FixedMoves = false; ///< also on a rank that owns no plane of its warp
  ExtendedImage             m_FixedHere;          ///< the fixed image where it does not move
  SampledImage              m_Moving, m_Fixed, m_MovingMask, m_FixedMask;
  InsideTest                m_InsideMoving, m_InsideFixed;
  PlaneWindow<float>        m_Moved, m_MovedFixed, m_MovedMask, m_MovedFixedMask;
  PlaneWindow<std::uint8_t> m_Mask;
  EdgeStrips<float>         m_MovedEdges, m_MovedFixedEdges;
  EdgeStrips<std::uint8_t>  m_MaskEdges;
};

} // namespace ffdp

#endif
