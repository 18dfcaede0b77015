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
#ifndef ffdpLinearOptimizer_h
#define ffdpLinearOptimizer_h

#include "ffdpLoss.h"
#include "ffdpRegistration.h"
#include "ffdpStateArchive.h"

namespace ffdp
{

/** The edge of a voxel in mm: the geometric mean over the axes that have more than one voxel. */
double
VoxelEdge(const PlacedImage & image);

/** A linear map about a center, and the ways in which a stage may change it: y = A (x - c) + b.
 *
 * A changes by factors from the left, I + sum of p_k E_k, with generators E_k of the stage's kind (rotations as exact
 * rotations). Parameters are scaled such that one unit moves points half way to the corners of the image by about one
 * mm, so that a degree and a millimeter mean the same to the optimizer. */
class LinearOptimizer
{
public:
  LinearOptimizer(RegistrationStage::Kind kind, const PlacedImage & fixed, const AffineMap & start, bool planar);

  /** A and b. */
  struct Place
  {
    std::array<double, 9> A{};
    std::array<double, 3> b{};
  };

  AffineMap
  Map() const;

  const Place &
  CurrentPlace() const
  {
    return m_Place;
  }
  void
  ReturnTo(const Place & place)
  {
    m_Place = place;
  }

  /** A gradient for the physical map (Loss::PhysicalMapGradient) as one for the parameters. */
  std::vector<double>
  ProjectGradient(const MapGradient & gradient) const;

  /** The step that Adam takes against a gradient for the parameters, of `length` mm at most per parameter. */
  std::vector<double>
  AdamStep(const std::vector<double> & gradient, double length);

  void
  Move(const std::vector<double> & step);

  /** AdamStep() and Move(). */
  void
  Step(const MapGradient & gradient, double length)
  {
    this->Move(this->AdamStep(this->ProjectGradient(gradient), length));
  }

  /** Forgets what the optimizer remembers of gradients. */
  void
  Restart();

  void
  Exchange(StateArchive & archive);

private:
  bool                               m_Rigid = false;
  std::vector<std::array<double, 9>> m_Generators;
  std::array<double, 3>              m_Center;
  double                             m_Radius = 1; ///< mm from the center to where a unit is measured
  bool                               m_Planar;     ///< 2-D: the third axis stays
  Place                              m_Place;
  std::vector<double>                m_First, m_Second;
  int                                m_Steps = 0;
};

} // namespace ffdp

#endif
