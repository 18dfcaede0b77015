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
#ifndef ffdpEdgePairs_h
#define ffdpEdgePairs_h

#include "ffdpFieldOfView.h"
#include "ffdpSlab.h"

#include <deque>

namespace ffdp
{

/** Whether a metric of a stage compares the edges of images instead of the images. */
bool
ComparesEdges(const RegistrationStage & stage);

/** The edges of images as pairs of images of their own, which come after all others. They take as much memory as the
 * images, so they are there from the first stage that compares them to the last one. */
class EdgePairs
{
public:
  /** `pairs`: how many pairs of images there are. */
  EdgePairs(const std::vector<RegistrationStage> & stages, std::size_t pairs);

  /** Numbers of the pairs whose edges are compared, in the order of the pairs made of them. */
  const std::vector<int> &
  Sources() const
  {
    return m_Sources;
  }

  /** Stages as those of images alone: metrics name the pairs of edges. */
  std::vector<RegistrationStage>
  OfImages(const std::vector<RegistrationStage> & stages) const;

  /** Makes the edges, unless they are there; all ranks do. */
  void
  Provide(Backend &                        backend,
          Communicator &                   communicator,
          const std::vector<ImagePair> &   pairs,
          const std::vector<FieldOfView> & fields);

  /** What was provided, after the pairs that it was made of. */
  const std::vector<ImagePair> &
  Pairs() const
  {
    return m_Pairs;
  }
  const std::vector<FieldOfView> &
  Fields() const
  {
    return m_Fields;
  }

  void
  Release();

private:
  std::size_t              m_First; ///< number of the first pair of edges
  std::vector<int>         m_Sources;
  std::deque<Slab>         m_Edges;
  std::vector<ImagePair>   m_Pairs;
  std::vector<FieldOfView> m_Fields;
};

} // namespace ffdp

#endif
