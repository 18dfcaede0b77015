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
#ifndef ffdpDeformation_h
#define ffdpDeformation_h

#include "ffdpCompositiveWarp.h"
#include "ffdpLoss.h"

namespace ffdp
{

/** The deformation that a stage looks for at a level: a warp u that moves the moving image (greedy), or two warps that
 * move both images against each other to where they meet (SyN: M(A (m + u(m)) + t) and F(m + r(m)), r the opposite).
 * The gradient exists only for some planes at a time. */
class Deformation
{
public:
  Deformation(Backend &                        backend,
              Communicator &                   communicator,
              const DeformationParameters &    parameters,
              std::int64_t                     planesAtATime,
              std::unique_ptr<CompositiveWarp> warp);

  /** A sweep over as many planes goes in parts of these where what gradients are made of has to be brought for each.
   * `reach` is that of the smoothing: planes that a neighbor needs are in one part. */
  static std::int64_t
  PlanesPerPart(std::int64_t owned, std::int64_t reach);

  /** One iteration: returns the loss before the step. */
  double
  Step(Loss & loss, const AffineMap & physical);

  CompositiveWarp &
  Warp()
  {
    return *m_Warp;
  }

private:
  /** Goes through the gradient of the loss and calls use(smoothed gradient) with successive planes. */
  template <typename TUse>
  double
  SweepGradient(Loss & loss, const AffineMap & physical, const TUse & use);
  /** Gives neighbors the planes of the gradient that their smoothing reaches, and gets theirs. The window then holds
   * the first planes of the sweep. */
  void
  SwapEdges(Loss & loss);
  /** The highest planes, which neighbors need first. */
  PlaneRange
  HighestPlanes() const
  {
    const bool alone = m_Communicator.Size() == 1;
    return { alone ? m_Planes.end : std::max(m_Planes.first, m_Planes.end - m_Reach), m_Planes.end };
  }
  /** All ranks go through as many parts of their planes; the lowest ones that a neighbor needs are in the first. */
  void
  BeginParts(const Loss & loss);
  void
  EnterNextPart(Loss & loss);
  /** Waits for what is still under way. */
  void
  FinishSwap();
  /** Adds the planes of the gradient up to `end` to the window. */
  void
  GrowGradient(Loss & loss, std::int64_t end);
  /** Calls use() with the planes [first, end) of the window, smoothed. */
  template <typename TUse>
  void
  UseSmoothed(std::int64_t first, std::int64_t end, const TUse & use);

  Backend &                        m_Backend;
  Communicator &                   m_Communicator;
  DeformationParameters            m_Parameters;
  std::int64_t                     m_PlanesAtATime;
  std::unique_ptr<CompositiveWarp> m_Warp;
  Extent                           m_Domain;
  PlaneRange                       m_Planes;   ///< that this rank owns
  std::int64_t                     m_Reach;    ///< of the smoothing, planes
  PlaneWindow<float>               m_Window;   ///< planes of the gradient
  PlaneWindow<float>               m_Smoothed; ///< planes of it; those of the neighbor below before the sweep
  PlaneWindow<float>               m_Above;    ///< those of the neighbor above
  std::unique_ptr<PendingTransfer> m_Downward; ///< to the neighbor below, from the window
  PlaneRange                       m_Part;     ///< gradients are asked for these planes
  std::int64_t                     m_PlanesPerPart = 0;
  std::int64_t                     m_PartsLeft = 0;
};

} // namespace ffdp

#endif
