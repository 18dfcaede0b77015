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
#ifndef ffdpProceduralHead_h
#define ffdpProceduralHead_h

#include "ffdpLabelSource.h"
#include "ffdpSmoothNoise.h"

/** A head made of formulas, with labels as FreeSurfer and SynthSeg number them (31 of them).
 *
 * A fixed anatomy, in which sulci are sheets where a pattern of waves on the surface of a hemisphere is zero, is seen
 * through a random smooth deformation; each seed also has its own folds on top of the pattern, depths, thickness, sizes
 * and places of structures. It is defined in mm: any grid shows the same head. The middle of the head is at 0. */
class ProceduralHead : public LabelSource
{
public:
  explicit ProceduralHead(std::uint64_t seed);

  ffdp::AffineMap
  FromPhysical() const override
  {
    return {};
  }
  Label
  LabelAt(const double (&position)[3]) const override;
  std::vector<Label>
  Labels() const override;

private:
  /** An ellipsoid within a hemisphere; of one subject and side. */
  struct Body
  {
    Point3 center, radii;
  };
  enum BodyName
  {
    CaudateHead,
    Putamen,
    Pallidum,
    Thalamus,
    Amygdala,
    Bodies
  };

  Point3
  ToTemplate(const double (&position)[3]) const;
  /** Of the cerebrum without its fissure. */
  double
  HullDistance(const Point3 & p) const;
  double
  CerebellumDistance(const Point3 & p) const;
  double
  BrainStemDistance(const Point3 & p) const;
  double
  VentricleDistance(const Point3 & p) const;
  /** From the nearest sulcus; `depth` is how far p is under the surface of its hemisphere. */
  double
  SulcusDistance(const Point3 & p, double depth) const;
  Label
  InSkull(const Point3 & p, double hull, double cerebellum) const;
  /** 0 where there is no such structure. */
  Label
  DeepStructure(const Point3 & p) const;
  Label
  InCerebrum(const Point3 & p, double hull) const;
  Label
  InCerebellum(const Point3 & p, double depth) const;
  Label
  OutsideSkull(const Point3 & p, double fromSkull, double fromAir) const;

  std::vector<SmoothNoise> m_Deformation; ///< three of large and three of small scale
  std::vector<SmoothNoise> m_Bend;        ///< of sulci, shared by all heads
  SmoothNoise              m_SharedFolds, m_OwnFolds, m_FoldDepth, m_Folia;
  Point3                   m_Scale = {};
  double                   m_Ventricles = 1; ///< their width, relative
  double                   m_Cortex = 3;     ///< its thickness, mm
  double                   m_Sulci = 13;     ///< their depth, mm
  double                   m_Skull = 6;      ///< its thickness, mm
  double                   m_Scalp = 5;      ///< likewise
  Body                     m_Bodies[2][Bodies];
};

#endif
