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
// Compiled once per instruction set, see ffdpForEachInstructionSet.h.
namespace ffdp
{
namespace FFDP_ISA
{

/** Voxels that are refined together. */
constexpr int RefinedTogether = 32;

/** Voxels of a row where Newton's method is under way. */
struct NewtonLanes
{
  int          count = 0;
  int          slot[RefinedTogether]; ///< which of the voxels it is
  std::int64_t x[RefinedTogether];
  double       w[3][RefinedTogether];
  double       squared[RefinedTogether]; ///< length of the residual
  double       step[3][RefinedTogether]; ///< that Newton's method would take next
};

/** The corners of cells, of three components, and where in them points are. */
struct LaneCells
{
  float  low[12][RefinedTogether]; ///< [4 component + 2 z + y]
  float  high[12][RefinedTogether];
  double f[3][RefinedTogether];
  double inside[3][RefinedTogether];
};

/** What is found for voxels of a row, in their order. */
struct RefinedVoxels
{
  int          count = 0;
  std::int64_t x[RefinedTogether];
  double       start[3][RefinedTogether];
  double       found[3][RefinedTogether];
  double       squared[RefinedTogether]; ///< negative: is to stay as it is
};

inline void
MoveLane(const NewtonLanes & from, int i, NewtonLanes & to, int j)
{
  to.slot[j] = from.slot[i];
  to.x[j] = from.x[i];
  to.squared[j] = from.squared[i];
  for (int c = 0; c < 3; ++c)
  {
    to.w[c][j] = from.w[c][i];
    to.step[c][j] = from.step[c][i];
  }
}

/** So many lanes that vectors are full: those beyond the last repeat the first. */
inline int
FillVectors(NewtonLanes & lanes)
{
  constexpr int Vector = 8;
  static_assert(RefinedTogether % Vector == 0, "vectors fill the lanes");
  const int filled = (lanes.count + Vector - 1) / Vector * Vector;
  for (int i = lanes.count; i < filled; ++i)
  {
    lanes.x[i] = lanes.x[0];
    for (int c = 0; c < 3; ++c)
    {
      lanes.w[c][i] = lanes.w[c][0];
    }
  }
  return filled;
}

/** Where w leads. Corners are fetched voxel by voxel; all else is done for many voxels at a time. */
inline void
FetchCells(const RefinementRow & row, const NewtonLanes & lanes, int filled, LaneCells & cells)
{
  const WarpPlanes & u = row.u;
  std::int64_t       corner[RefinedTogether], nextRow[RefinedTogether], nextPlane[RefinedTogether];
  FFDP_SIMD
  for (int i = 0; i < filled; ++i)
  {
    const double      X[3] = { double(lanes.x[i]) + lanes.w[0][i],
                               double(row.y) + lanes.w[1][i],
                               double(row.z) + lanes.w[2][i] };
    const InverseCell cell = LocateInverse(u, X);
    corner[i] = cell.plane[0] + cell.row[0] + cell.low;
    nextRow[i] = cell.row[1] - cell.row[0];
    nextPlane[i] = cell.plane[1] - cell.plane[0];
    for (int axis = 0; axis < 3; ++axis)
    {
      cells.f[axis][i] = cell.f[axis];
      cells.inside[axis][i] = cell.inside[axis];
    }
  }
  const std::int64_t next = u.size[0] > 1 ? 1 : 0;
  for (int i = 0; i < filled; ++i)
  {
    for (int c = 0; c < 3; ++c)
    {
      const float * at = u.component[c] + corner[i];
      const float * corners[4] = { at, at + nextRow[i], at + nextPlane[i], at + nextPlane[i] + nextRow[i] };
      for (int k = 0; k < 4; ++k)
      {
        cells.low[4 * c + k][i] = corners[k][0];
        cells.high[4 * c + k][i] = corners[k][next];
      }
    }
  }
}

/** Sets the residual of lanes, and the step after it. */
inline void
SampleLanes(const RefinementRow & row, NewtonLanes & lanes)
{
  const int filled = FillVectors(lanes);
  LaneCells cells;
  FetchCells(row, lanes, filled, cells);
  FFDP_SIMD
  for (int i = 0; i < filled; ++i)
  {
    const double f[3] = { cells.f[0][i], cells.f[1][i], cells.f[2][i] };
    const double inside[3] = { cells.inside[0][i], cells.inside[1][i], cells.inside[2][i] };
    double       residual[3], D[9], step[3];
    for (int c = 0; c < 3; ++c)
    {
      CellCorners corners;
      for (int k = 0; k < 4; ++k)
      {
        corners.low[k / 2][k % 2] = cells.low[4 * c + k][i];
        corners.high[k / 2][k % 2] = cells.high[4 * c + k][i];
      }
      residual[c] = lanes.w[c][i] + InterpolateInCell<true>(corners, f, inside, D[3 * c], D[3 * c + 1], D[3 * c + 2]);
    }
    lanes.squared[i] = SquaredLength(residual);
    NewtonStep(D, residual, step);
    lanes.step[0][i] = step[0];
    lanes.step[1][i] = step[1];
    lanes.step[2][i] = step[2];
  }
}

/** The next voxels of a row from x on that may need to be refined, at their start. Returns where to go on. */
inline std::int64_t
CollectVoxels(const RefinementRow & row, std::int64_t x, RefinedVoxels & voxels, NewtonLanes & lanes)
{
  int count = 0;
  for (; x < row.width && count < RefinedTogether; ++x)
  {
    if (row.errors && !MayNeedRefinement(row.errors[x], row.limits))
    {
      continue;
    }
    const double start[3] = { row.w[0][x], row.w[1][x], row.w[2][x] };
    if (CanRefine(start, row.boundAlongZ))
    {
      voxels.x[count] = lanes.x[count] = x;
      lanes.slot[count] = count;
      for (int c = 0; c < 3; ++c)
      {
        voxels.start[c][count] = lanes.w[c][count] = start[c];
      }
      ++count;
    }
  }
  voxels.count = lanes.count = count;
  return x;
}

inline void
KeepFound(const NewtonLanes & lanes, int i, RefinedVoxels & voxels)
{
  const int slot = lanes.slot[i];
  voxels.squared[slot] = lanes.squared[i];
  for (int c = 0; c < 3; ++c)
  {
    voxels.found[c][slot] = lanes.w[c][i];
  }
}

/** Leaves the voxels that are to be refined at all, which the first step tells, and are not yet as they should be. */
inline void
DropLanes(const RefinementRow & row, NewtonLanes & lanes, RefinedVoxels & voxels)
{
  int kept = 0;
  for (int i = 0; i < lanes.count; ++i)
  {
    const double step[3] = { lanes.step[0][i], lanes.step[1][i], lanes.step[2][i] };
    if (row.errors && !NeedsRefinement(step, row.errors[lanes.x[i]], row.limits))
    {
      voxels.squared[lanes.slot[i]] = -1;
    }
    else if (row.iterations > 0 && lanes.squared[i] > row.tolerance)
    {
      MoveLane(lanes, i, lanes, kept++);
    }
    else
    {
      KeepFound(lanes, i, voxels);
    }
  }
  lanes.count = kept;
}

/** From where a whole step does not help. */
inline void
RefineAlone(const RefinementRow & row, int iterations, NewtonLanes & lanes, int i)
{
  const double at[3] = { double(lanes.x[i]), double(row.y), double(row.z) };
  const double start[3] = { lanes.w[0][i], lanes.w[1][i], lanes.w[2][i] };
  NewtonState  state = StartNewton(row.u, at, start);
  lanes.squared[i] = RefineInverseVoxel(row.u, at, row.boundAlongZ, row.tolerance, iterations, state);
  for (int c = 0; c < 3; ++c)
  {
    lanes.w[c][i] = state.w[c];
  }
}

/** RefineInverseVoxel() of all lanes, bit for bit: together as long as whole steps help. */
inline void
RefineLanes(const RefinementRow & row, NewtonLanes & lanes, RefinedVoxels & voxels)
{
  NewtonLanes tried;
  for (int iteration = 0; lanes.count > 0; ++iteration)
  {
    tried.count = lanes.count;
    FFDP_SIMD
    for (int i = 0; i < lanes.count; ++i)
    {
      const double w[3] = { lanes.w[0][i] + lanes.step[0][i],
                            lanes.w[1][i] + lanes.step[1][i],
                            lanes.w[2][i] + lanes.step[2][i] };
      const bool   isWithin = std::abs(w[2]) <= row.boundAlongZ; // beyond it there may be no planes
      tried.slot[i] = lanes.slot[i];
      tried.x[i] = lanes.x[i];
      tried.w[0][i] = isWithin ? w[0] : lanes.w[0][i];
      tried.w[1][i] = isWithin ? w[1] : lanes.w[1][i];
      tried.w[2][i] = isWithin ? w[2] : lanes.w[2][i];
    }
    SampleLanes(row, tried);
    int kept = 0;
    for (int i = 0; i < tried.count; ++i)
    {
      if (!(tried.squared[i] < lanes.squared[i])) // as where there was no step
      {
        RefineAlone(row, row.iterations - iteration, lanes, i);
        KeepFound(lanes, i, voxels);
      }
      else if (tried.squared[i] > row.tolerance && iteration + 1 < row.iterations)
      {
        MoveLane(tried, i, lanes, kept++);
      }
      else
      {
        KeepFound(tried, i, voxels);
      }
    }
    lanes.count = kept;
  }
}

/** Gives voxels what was found, after a try from neighbors that came before where this is not enough: on the left, and
 * in the row above. Returns the largest squared residual, or `worst`. */
inline double
WriteVoxels(const RefinementRow & row, const RefinedVoxels & voxels, double worst)
{
  for (int i = 0; i < voxels.count; ++i)
  {
    double squared = voxels.squared[i];
    if (squared < 0)
    {
      continue;
    }
    const std::int64_t x = voxels.x[i];
    const double       at[3] = { double(x), double(row.y), double(row.z) };
    const double       start[3] = { voxels.start[0][i], voxels.start[1][i], voxels.start[2][i] };
    double             found[3] = { voxels.found[0][i], voxels.found[1][i], voxels.found[2][i] };
    const std::int64_t shifts[2] = { x > 0 ? 1 : 0, row.y > 0 ? row.rowStride : 0 };
    for (int other = 0; other < 2 && squared > row.tolerance; ++other)
    {
      const std::int64_t neighbor = x - shifts[other];
      const double       from[3] = { row.w[0][neighbor], row.w[1][neighbor], row.w[2][neighbor] };
      if (shifts[other] > 0)
      {
        RefineFromNeighbor(row.u, at, row.boundAlongZ, row.tolerance, row.iterations, from, found, squared);
      }
    }
    worst = squared > worst ? squared : worst;
    const double part = row.errors ? PartOfWay(row.errors[x], Distance(start, found), row.limits) : 1.0;
    for (int c = 0; c < 3; ++c)
    {
      row.w[c][x] = GoPartOfWay(start[c], found[c], part);
    }
  }
  return worst;
}

/** Returns the largest squared residual of the voxels that were refined. */
inline double
RefineRow(const RefinementRow & row)
{
  NewtonLanes   lanes;
  RefinedVoxels voxels;
  double        worst = 0;
  for (std::int64_t x = 0; x < row.width;)
  {
    x = CollectVoxels(row, x, voxels, lanes);
    SampleLanes(row, lanes);
    DropLanes(row, lanes, voxels);
    RefineLanes(row, lanes, voxels);
    worst = WriteVoxels(row, voxels, worst);
  }
  return worst;
}

} // namespace FFDP_ISA
} // namespace ffdp
