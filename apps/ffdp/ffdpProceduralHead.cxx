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
#include "ffdpProceduralHead.h"

#include "ffdpHeadLabels.h"
#include "ffdpHeadShapes.h"

#include <algorithm>

namespace
{

/** Random numbers of a head are independent of each other by these. */
enum Purpose : std::uint64_t
{
  Deformation = 100,
  Bend = 106,
  OwnFolds = 110,
  FoldDepth,
  Folia,
  Sizes
};

/** Folds of all heads begin with this pattern. */
constexpr std::uint64_t SharedPattern = 20;

constexpr double FoldWavelength = 29, FoldSpread = 0.25;

/** How much of a pattern is the subject's own. */
constexpr double OwnShare = 0.35;

/** The part around the ventricles where the hemispheres are one, between corpus callosum and hypothalamus. */
double
CoreDistance(const Point3 & p)
{
  return EllipsoidDistance(p, { 0, -3, 7 }, { 34, 37, 20 });
}

Point3
Mirror(const Point3 & p)
{
  return { std::abs(p[0]), p[1], p[2] };
}

LabelSource::Label
Sided(const Point3 & p, LabelName left, LabelSource::Label right = RightOfCerebrum)
{
  return LabelSource::Label(p[0] >= 0 ? left : left + right);
}

} // namespace

// Coordinates of the template, in mm: x to the left, y to the front, z up; 0 between the thalami.

ProceduralHead::ProceduralHead(std::uint64_t seed)
  : m_SharedFolds(SharedPattern, FoldWavelength, FoldSpread, 24)
  , m_OwnFolds(DeriveKey(seed, OwnFolds), FoldWavelength, FoldSpread, 16)
  , m_FoldDepth(DeriveKey(seed, FoldDepth), 45, 0.3, 8)
  , m_Folia(DeriveKey(seed, Folia), 30, 0.3, 8)
{
  for (int k = 0; k < 6; ++k)
  {
    m_Deformation.emplace_back(DeriveKey(seed, Deformation + std::uint64_t(k)), k < 3 ? 120 : 50, 0.3, k < 3 ? 8 : 12);
  }
  for (std::uint64_t k = 0; k < 3; ++k)
  {
    m_Bend.emplace_back(DeriveKey(SharedPattern, Bend + k), 34, 0.3, 8);
  }
  RandomSequence random(DeriveKey(seed, Sizes));
  const double   overall = 1 + 0.025 * random.Normal();
  for (double & scale : m_Scale)
  {
    scale = overall * (1 + 0.02 * random.Normal());
  }
  m_Ventricles = std::max(0.6, 1 + 0.2 * random.Normal());
  m_Cortex += 0.2 * random.Normal();
  m_Sulci += 1.0 * random.Normal();
  m_Skull += 0.6 * random.Normal();
  m_Scalp += 0.7 * random.Normal();
  const Body bodies[Bodies] = {
    { { 14, 20, 9 }, { 5.5, 9, 8.5 } },     // head of the caudate
    { { 27, 5, 4 }, { 5, 15, 9.5 } },       // putamen
    { { 19.5, 1, 2 }, { 4.5, 9, 6.5 } },    // pallidum
    { { 11, -13, 7 }, { 8.5, 14.5, 9.5 } }, // thalamus
    { { 23, 3, -17 }, { 6.5, 6, 6.5 } }     // amygdala
  };
  for (int side = 0; side < 2; ++side)
  {
    for (int k = 0; k < Bodies; ++k)
    {
      m_Bodies[side][k] = bodies[k];
      for (int c = 0; c < 3; ++c)
      {
        m_Bodies[side][k].center[c] += 0.7 * random.Normal();
        m_Bodies[side][k].radii[c] *= 1 + 0.06 * random.Normal();
      }
    }
  }
}

Point3
ProceduralHead::ToTemplate(const double (&position)[3]) const
{
  // From LPS, in which y goes to the back; the middle of a head is below that of a brain.
  const Point3 p = { position[0] / m_Scale[0], -position[1] / m_Scale[1], position[2] / m_Scale[2] + 8 };
  Point3       q;
  for (std::size_t c = 0; c < 3; ++c)
  {
    q[c] = p[c] + 1.6 * m_Deformation[c].Value(p) + 0.8 * m_Deformation[3 + c].Value(p);
  }
  return q;
}

double
ProceduralHead::HullDistance(const Point3 & p) const
{
  const Point3 m = Mirror(p);
  const double dome = EllipsoidDistance(m, { 0, 0, 16 }, { 64, 79, 51 });
  const double base = -11 + 0.05 * (m[1] + 20) - p[2];
  const double temporal = EllipsoidDistance(m, { 42, 6, -16 }, { 21, 40, 23 });
  return Join(Intersect(dome, base, 24), temporal, 7);
}

double
ProceduralHead::CerebellumDistance(const Point3 & p) const
{
  const double lobe = EllipsoidDistance(Mirror(p), { 21, -51, -36 }, { 29, 26, 19 });
  return Join(lobe, EllipsoidDistance(p, { 0, -54, -35 }, { 12, 23, 20 }), 6);
}

double
ProceduralHead::BrainStemDistance(const Point3 & p) const
{
  const double midbrain = RodDistance(p, { 0, -15, -6 }, { 0, -19, -22 }, 11, 12);
  const double pons = EllipsoidDistance(p, { 0, -14, -32 }, { 16, 12.5, 13 });
  const double medulla = RodDistance(p, { 0, -22, -42 }, { 0, -34, -130 }, 9, 5.5);
  return Join(Join(midbrain, pons, 5), medulla, 6);
}

double
ProceduralHead::VentricleDistance(const Point3 & p) const
{
  const Point3 m = Mirror(p);
  const double w = m_Ventricles;
  const Point3 front = { 6, 27, 11 }, body = { 6, 4, 18.5 }, atrium = { 22, -33, 9 };
  double       distance = RodDistance(m, front, body, 4.6 * w, 4 * w);
  distance = Join(distance, RodDistance(m, body, { 9, -18, 18 }, 4 * w, 4.2 * w), 4);
  distance = Join(distance, RodDistance(m, { 9, -18, 18 }, atrium, 4.2 * w, 6 * w), 4);
  distance = Join(distance, RodDistance(m, atrium, { 23, -56, 5 }, 5.5 * w, 2 * w), 4);
  distance = Join(distance, RodDistance(m, atrium, { 35, -12, -15 }, 5 * w, 1.6 * w), 4);
  return std::max(distance, 0.8 - m[0]); // a septum between the two
}

double
ProceduralHead::SulcusDistance(const Point3 & p, double depth) const
{
  // Patterns are read where the ray from the middle of the hemisphere through p meets an ellipsoid, so that sulci are
  // sheets which go down from the surface; they bend on their way.
  const Point3 axes = { 46, 80, 58 };
  const Point3 m = Mirror(p);
  const Point3 e = { (m[0] - 20) / axes[0], m[1] / axes[1], (m[2] - 10) / axes[2] };
  const double rho = std::sqrt(Square(e[0]) + Square(e[1]) + Square(e[2])) + 1e-9;
  const Point3 direction = { e[0] / rho, e[1] / rho, e[2] / rho };
  Point3       at, shared, own;
  for (std::size_t c = 0; c < 3; ++c)
  {
    at[c] = axes[c] * direction[c] + 2.2 * m_Bend[c].Value(p);
  }
  const double otherSide = p[0] >= 0 ? 0 : 500; // own folds differ between the sides
  const double value =
    m_SharedFolds.Value(at, shared) + OwnShare * m_OwnFolds.Value({ at[0] + otherSide, at[1], at[2] }, own);
  double radial = 0;
  for (std::size_t c = 0; c < 3; ++c)
  {
    shared[c] = axes[c] * (shared[c] + OwnShare * own[c]);
    radial += shared[c] * direction[c];
  }
  double slope = 0;
  for (std::size_t c = 0; c < 3; ++c)
  {
    slope += Square((shared[c] - radial * direction[c]) / (rho * axes[c]));
  }
  const double steepest = 6.28 / FoldWavelength;
  const double across = std::abs(value) / std::max(std::sqrt(slope), 0.45 * steepest);
  const double deepest = std::max(3.0, m_Sulci + 3.5 * m_FoldDepth.Value({ p[0], p[1], p[2] }));
  const double open = 0.55 + 0.7 * std::max(0.0, 1 - depth / deepest);
  const double sulcus = std::sqrt(Square(across) + Square(std::max(0.0, depth - deepest))) - open;

  // The lateral fissure, which rises towards the back, with the insula at its bottom.
  const double off = (m[2] + 1 + 0.3 * m[1]) / 1.044;
  const double beyond = std::max(0.0, std::abs(m[1] - 3) - 36);
  const double fissure = std::sqrt(Square(off) + Square(std::max(0.0, 38 - m[0])) + Square(beyond)) - 1.3;
  return std::min(sulcus, fissure);
}

LabelSource::Label
ProceduralHead::DeepStructure(const Point3 & p) const
{
  const Point3 m = Mirror(p);
  const Body(&bodies)[Bodies] = m_Bodies[p[0] >= 0 ? 0 : 1];
  const auto inside = [&](BodyName name) { return EllipsoidDistance(m, bodies[name].center, bodies[name].radii) < 0; };
  if (EllipsoidDistance(p, { 0, -5, 2 }, { 2.2 * m_Ventricles, 13, 9 }) < 0)
  {
    return ThirdVentricle;
  }
  if (this->VentricleDistance(p) < 0)
  {
    return Sided(p, LateralVentricle);
  }
  const double tail = RodDistance(m, { 14, 16, 14 }, { 18, -20, 21 }, 4, 2);
  if (inside(CaudateHead) || tail < 0)
  {
    return Sided(p, CaudateLabel);
  }
  if (inside(Thalamus) && m[0] > 1.5)
  {
    return Sided(p, ThalamusLabel);
  }
  if (inside(Pallidum))
  {
    return Sided(p, PallidumLabel);
  }
  if (inside(Putamen))
  {
    return Sided(p, PutamenLabel);
  }
  if (inside(Amygdala))
  {
    return Sided(p, AmygdalaLabel, RightOfLimbic);
  }
  if (RodDistance(m, { 26, -7, -17 }, { 24, -32, -3 }, 5.2, 3.2) < 0)
  {
    return Sided(p, HippocampusLabel, RightOfLimbic);
  }
  return Air;
}

LabelSource::Label
ProceduralHead::InCerebrum(const Point3 & p, double hull) const
{
  const double core = CoreDistance(p);
  const double fissure = std::min(1.1 - std::abs(p[0]), core);
  const double depth = -std::max(hull, fissure);
  if (depth < 0)
  {
    return Fluid;
  }
  if (core < 0)
  {
    return Sided(p, WhiteMatter);
  }
  const double toFluid = std::min(depth, this->SulcusDistance(p, depth));
  return toFluid < 0 ? LabelSource::Label(Fluid) : Sided(p, toFluid < m_Cortex ? Cortex : WhiteMatter);
}

LabelSource::Label
ProceduralHead::InCerebellum(const Point3 & p, double depth) const
{
  const double spacing = 5.5;
  const double turns = (p[2] - 0.45 * p[1] - 0.2 * std::abs(p[0]) + 1.5 * m_Folia.Value(p)) / spacing;
  const double nearest = std::floor(turns + 0.5);
  const double across = spacing * std::abs(turns - nearest);
  const double deepest = std::fmod(std::abs(nearest), 3.0) < 0.5 ? 13 : 8;
  const double sheet = std::sqrt(Square(across) + Square(std::max(0.0, depth - deepest))) - 0.4;
  const double toFluid = std::min(depth, sheet);
  if (toFluid < 0)
  {
    return Fluid;
  }
  return Sided(p, toFluid < 1.7 ? CerebellarCortex : CerebellarWhiteMatter);
}

LabelSource::Label
ProceduralHead::InSkull(const Point3 & p, double hull, double cerebellum) const
{
  const Label deep = this->DeepStructure(p);
  if (deep != Air)
  {
    return deep;
  }
  if (EllipsoidDistance(p, { 0, -32.5, -35 }, { 7, 4, 10 }) < 0)
  {
    return FourthVentricle;
  }
  if (this->BrainStemDistance(p) < 0)
  {
    return BrainStem;
  }
  if (hull < 0)
  {
    return this->InCerebrum(p, hull);
  }
  return cerebellum < 0 ? this->InCerebellum(p, -cerebellum) : LabelSource::Label(Fluid);
}

LabelSource::Label
ProceduralHead::OutsideSkull(const Point3 & p, double fromSkull, double fromAir) const
{
  const double cord = this->BrainStemDistance(p);
  if (cord < 3.5)
  {
    return cord < 0 ? BrainStem : Fluid;
  }
  const Point3 m = Mirror(p);
  if (EllipsoidDistance(m, { 31, 70, -20 }, { 12, 12, 12 }) < 0)
  {
    return Eye;
  }
  if (EllipsoidDistance(m, { 7, 66, -42 }, { 6, 22, 15 }) < 0 ||
      EllipsoidDistance(p, { 0, 22, -58 }, { 12, 9, 22 }) < 0)
  {
    return Air; // nose and throat
  }
  if (fromSkull < m_Skull)
  {
    return fromSkull > 0.3 * m_Skull && fromSkull < 0.7 * m_Skull ? SpongyBone : CompactBone;
  }
  if (p[2] < -58 && cord < 16)
  {
    return cord > 6 && cord < 14 ? SpongyBone : CompactBone; // vertebrae
  }
  return fromAir > -2.2 ? Skin : SoftTissue;
}

LabelSource::Label
ProceduralHead::LabelAt(const double (&position)[3]) const
{
  const Point3 p = this->ToTemplate(position);
  const double hull = this->HullDistance(p);
  const double cerebellum = this->CerebellumDistance(p);
  const double inner = Join(hull, Join(cerebellum, BrainStemDistance(p) - 1, 8), 24) - 2.2;
  if (inner < 0 && p[2] > -66)
  {
    return this->InSkull(p, hull, cerebellum);
  }
  const double face = Join(
    EllipsoidDistance(p, { 0, 42, -40 }, { 52, 47, 62 }), RodDistance(p, { 0, 88, -28 }, { 0, 96, -46 }, 5, 9), 14);
  const double neck = RodDistance(p, { 0, -18, -60 }, { 0, -26, -160 }, 50, 52);
  const double skull = Join(hull, cerebellum, 24) - 2.2;
  const double outer = Join(Join(skull - m_Skull - m_Scalp, face, 16), neck, 16);
  return outer < 0 ? this->OutsideSkull(p, std::max(skull, -66 - p[2]), outer) : LabelSource::Label(Air);
}

std::vector<LabelSource::Label>
ProceduralHead::Labels() const
{
  std::vector<Label> labels = { ThirdVentricle, FourthVentricle, BrainStem, Fluid, Eye, SoftTissue,
                                Skin,           CompactBone,     SpongyBone };
  for (const LabelName left : { WhiteMatter,
                                Cortex,
                                LateralVentricle,
                                CerebellarWhiteMatter,
                                CerebellarCortex,
                                ThalamusLabel,
                                CaudateLabel,
                                PutamenLabel,
                                PallidumLabel })
  {
    labels.insert(labels.end(), { Label(left), Label(left + RightOfCerebrum) });
  }
  for (const LabelName left : { HippocampusLabel, AmygdalaLabel })
  {
    labels.insert(labels.end(), { Label(left), Label(left + RightOfLimbic) });
  }
  std::sort(labels.begin(), labels.end());
  return labels;
}
