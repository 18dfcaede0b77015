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
#ifndef ffdpInverseTerms_h
#define ffdpInverseTerms_h

#include "ffdpVoxelInline.h"

#include <cmath>
#include <cstdint>

/** Newton's method for one voxel of the inverse of a warp. */
namespace ffdp
{

/** Planes of a planar warp, as plain pointers; beyond the grid the nearest voxel counts. */
struct WarpPlanes
{
  const float * component[3]; ///< at voxel (0, 0, firstPlane)
  std::int64_t  size[3];
  std::int64_t  firstPlane;
  std::int64_t  rowStride;
  std::int64_t  planeStride;
};

/** The cell of a point, and where in it the point is. */
struct InverseCell
{
  std::int64_t row[2]; ///< of the low and the high y, and so on
  std::int64_t plane[2];
  std::int64_t low;
  std::int64_t high;
  double       f[3];
  double       inside[3]; ///< 0 where the axis is left: there is no slope beyond the grid
};

/** The cell of X; what is not a number is taken for 0, so that it is in memory. */
FFDP_VOXEL_INLINE InverseCell
LocateInverse(const WarpPlanes & u, const double (&X)[3])
{
  InverseCell  cell;
  std::int64_t low[3], high[3];
  for (int axis = 0; axis < 3; ++axis)
  {
    const double last = double(u.size[axis] - 1);
    const double x = X[axis] > 0 ? (X[axis] < last ? X[axis] : last) : 0;
    cell.inside[axis] = X[axis] >= 0 && X[axis] <= last && last > 0 ? 1.0 : 0.0;
    low[axis] = std::int64_t(x);
    low[axis] = low[axis] >= u.size[axis] - 1 && u.size[axis] > 1 ? u.size[axis] - 2 : low[axis];
    high[axis] = low[axis] + 1 < u.size[axis] ? low[axis] + 1 : low[axis];
    cell.f[axis] = x - double(low[axis]);
  }
  cell.low = low[0];
  cell.high = high[0];
  cell.row[0] = low[1] * u.rowStride;
  cell.row[1] = high[1] * u.rowStride;
  cell.plane[0] = (low[2] - u.firstPlane) * u.planeStride;
  cell.plane[1] = (high[2] - u.firstPlane) * u.planeStride;
  return cell;
}

/** The values of a component at the corners of a cell: along x, at the low and high y of both z. */
struct CellCorners
{
  double low[2][2]; ///< [z][y]
  double high[2][2];
};

/** A component of u in a cell and, with VSlope, its derivatives by x, y and z. */
template <bool VSlope>
FFDP_VOXEL_INLINE double
InterpolateInCell(const CellCorners & corners,
                  const double (&f)[3],
                  const double (&inside)[3],
                  double & slopeX,
                  double & slopeY,
                  double & slopeZ)
{
  double line[2][2], slope[2][2];
  for (int z = 0; z < 2; ++z)
  {
    for (int y = 0; y < 2; ++y)
    {
      slope[z][y] = corners.high[z][y] - corners.low[z][y];
      line[z][y] = corners.low[z][y] + f[0] * slope[z][y];
    }
  }
  const double lower = line[0][0] + f[1] * (line[0][1] - line[0][0]);
  const double upper = line[1][0] + f[1] * (line[1][1] - line[1][0]);
  if (VSlope)
  {
    const double slopeLower = slope[0][0] + f[1] * (slope[0][1] - slope[0][0]);
    const double slopeUpper = slope[1][0] + f[1] * (slope[1][1] - slope[1][0]);
    slopeX = inside[0] * (slopeLower + f[2] * (slopeUpper - slopeLower));
    slopeY = inside[1] * ((line[0][1] - line[0][0]) * (1 - f[2]) + f[2] * (line[1][1] - line[1][0]));
    slopeZ = inside[2] * (upper - lower);
  }
  return lower + f[2] * (upper - lower);
}

/** u in a cell: for each component a value, and with VSlope its derivatives D[3 c + axis] = du_c/dX_axis. */
template <bool VSlope>
FFDP_VOXEL_INLINE void
SampleInCell(const WarpPlanes & u, const InverseCell & cell, double (&value)[3], double (&D)[9])
{
  for (int c = 0; c < 3; ++c)
  {
    CellCorners corners;
    for (int z = 0; z < 2; ++z)
    {
      for (int y = 0; y < 2; ++y)
      {
        const float * at = u.component[c] + cell.plane[z] + cell.row[y];
        corners.low[z][y] = at[cell.low];
        corners.high[z][y] = at[cell.high];
      }
    }
    value[c] = InterpolateInCell<VSlope>(corners, cell.f, cell.inside, D[3 * c], D[3 * c + 1], D[3 * c + 2]);
  }
}

/** Where Newton's method is: w at x, what it has left there, and the slope of u. */
struct NewtonState
{
  double w[3];
  double residual[3]; ///< w + u(x + w)
  double D[9];
};

/** Sets what a state has left, and the slope with VSlope. */
template <bool VSlope>
FFDP_VOXEL_INLINE void
SampleState(const WarpPlanes & u, const double (&x)[3], NewtonState & state)
{
  const double X[3] = { x[0] + state.w[0], x[1] + state.w[1], x[2] + state.w[2] };
  double       value[3];
  SampleInCell<VSlope>(u, LocateInverse(u, X), value, state.D);
  for (int c = 0; c < 3; ++c)
  {
    state.residual[c] = state.w[c] + value[c];
  }
}

FFDP_VOXEL_INLINE NewtonState
StartNewton(const WarpPlanes & u, const double (&x)[3], const double (&w)[3])
{
  NewtonState state;
  state.w[0] = w[0];
  state.w[1] = w[1];
  state.w[2] = w[2];
  SampleState<true>(u, x, state);
  return state;
}

FFDP_VOXEL_INLINE double
SquaredLength(const double (&v)[3])
{
  return (v[0] * v[0] + v[1] * v[1]) + v[2] * v[2];
}

/** Newton's step, which solves (I + D) step = -residual; half of the residual where that is nearly singular. */
FFDP_VOXEL_INLINE void
NewtonStep(const double (&D)[9], const double (&residual)[3], double (&step)[3])
{
  const double a = 1 + D[0], b = D[1], c = D[2];
  const double d = D[3], e = 1 + D[4], f = D[5];
  const double g = D[6], h = D[7], i = 1 + D[8];
  const double A = e * i - f * h, B = f * g - d * i, C = d * h - e * g;
  const double determinant = a * A + b * B + c * C;
  const bool   isSolved = std::abs(determinant) > 1e-4;
  const double s = -1 / determinant;
  const double x = s * (A * residual[0] + (c * h - b * i) * residual[1] + (b * f - c * e) * residual[2]);
  const double y = s * (B * residual[0] + (a * i - c * g) * residual[1] + (c * d - a * f) * residual[2]);
  const double z = s * (C * residual[0] + (b * g - a * h) * residual[1] + (a * e - b * d) * residual[2]);
  step[0] = isSolved ? x : -0.5 * residual[0];
  step[1] = isSolved ? y : -0.5 * residual[1];
  step[2] = isSolved ? z : -0.5 * residual[2];
}

/** Improves the displacement of the voxel at x until |w + u(x + w)|^2 is at most `tolerance`, by Newton steps that are
 * halved as long as they do not help, and that keep |w_z| within the bound. Returns the squared residual. */
FFDP_VOXEL_INLINE double
RefineInverseVoxel(const WarpPlanes & u,
                   const double (&x)[3],
                   double        boundAlongZ,
                   double        tolerance,
                   int           iterations,
                   NewtonState & state)
{
  double squared = SquaredLength(state.residual);
  for (int iteration = 0; iteration < iterations && squared > tolerance; ++iteration)
  {
    double step[3];
    NewtonStep(state.D, state.residual, step);
    bool better = false;
    for (int halving = 0; halving < 6 && !better; ++halving)
    {
      NewtonState tried;
      for (int c = 0; c < 3; ++c)
      {
        tried.w[c] = state.w[c] + step[c];
        step[c] *= 0.5;
      }
      if (std::abs(tried.w[2]) <= boundAlongZ)
      {
        SampleState<false>(u, x, tried); // the slope is seldom needed: most voxels are done
        const double triedSquared = SquaredLength(tried.residual);
        better = triedSquared < squared;
        if (better)
        {
          squared = triedSquared;
          for (int c = 0; c < 3; ++c)
          {
            state.w[c] = tried.w[c];
            state.residual[c] = tried.residual[c];
          }
        }
      }
    }
    if (!better)
    {
      break;
    }
    if (squared > tolerance)
    {
      SampleState<true>(u, x, state);
    }
  }
  return squared;
}

/** Newton's method can start from w: it is finite, and within the bound. */
FFDP_VOXEL_INLINE bool
CanRefine(const double (&w)[3], double boundAlongZ)
{
  return SquaredLength(w) < 1e16 && std::abs(w[2]) <= boundAlongZ;
}

/** For a voxel that is still at `squared`: a start on the wrong side of a crease leads nowhere, and a neighbor's
 * displacement may be on the right one. Keeps what it leads to if that is better. */
FFDP_VOXEL_INLINE void
RefineFromNeighbor(const WarpPlanes & u,
                   const double (&x)[3],
                   double boundAlongZ,
                   double tolerance,
                   int    iterations,
                   const double (&start)[3],
                   double (&w)[3],
                   double & squared)
{
  if (CanRefine(start, boundAlongZ))
  {
    NewtonState  state = StartNewton(u, x, start);
    const double reached = RefineInverseVoxel(u, x, boundAlongZ, tolerance, iterations, state);
    if (reached < squared)
    {
      squared = reached;
      for (int c = 0; c < 3; ++c)
      {
        w[c] = state.w[c];
      }
    }
  }
}

/** What a voxel may keep of its error, see InverseError(), and of the way to where it has none. */
struct RefinementLimits
{
  float error;     ///< 0: nothing is to be left
  float way;       ///< 0: any
  float mostError; ///< voxels up to these two are left alone
  float mostWay;
  float lookedAt; ///< the error from which the way is looked at
};

FFDP_VOXEL_INLINE double
Distance(const double (&a)[3], const double (&b)[3])
{
  const double difference[3] = { a[0] - b[0], a[1] - b[1], a[2] - b[2] };
  return std::sqrt(SquaredLength(difference));
}

/** False for a voxel that is not to be refined, whatever NeedsRefinement() would find. */
FFDP_VOXEL_INLINE bool
MayNeedRefinement(float error, const RefinementLimits & limits)
{
  return error < -limits.mostError || (limits.way > 0 && error < -limits.lookedAt);
}

/** Whether a voxel is to be refined: its error is too long, or the first of Newton's steps is. */
FFDP_VOXEL_INLINE bool
NeedsRefinement(const double (&firstStep)[3], float error, const RefinementLimits & limits)
{
  const double most = 0.6 * double(limits.mostWay); // the whole way may be longer than its first step
  return error < -limits.mostError || (limits.way > 0 && SquaredLength(firstStep) > most * most);
}

/** Of the way to the solution, how much a voxel goes so that no more than the limits is left of its error and of the
 * way; nothing if both may stay. */
FFDP_VOXEL_INLINE double
PartOfWay(float error, double way, const RefinementLimits & limits)
{
  const double ofError = error < -limits.mostError ? 1 + double(limits.error) / double(error) : 0.0;
  const double ofWay = limits.way > 0 && way > double(limits.mostWay) ? 1 - double(limits.way) / way : 0.0;
  return ofError > ofWay ? ofError : ofWay;
}

/** What a voxel is given that goes a part of the way from `start` to `found`. */
FFDP_VOXEL_INLINE float
GoPartOfWay(double start, double found, double part)
{
  return part < 1 ? float(start + part * (found - start)) : float(found);
}

} // namespace ffdp

#endif
