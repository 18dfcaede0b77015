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

/** u(X) and its derivatives, D[3 c + axis] = du_c/dX_axis, in the cell of X. X is finite. */
FFDP_VOXEL_INLINE void
SampleWarpAndSlope(const WarpPlanes & u, const double (&X)[3], double (&value)[3], double (&D)[9])
{
  std::int64_t low[3], high[3];
  double       f[3];
  double       inside[3]; // 0 where the axis is left: there is no slope beyond the grid
  for (int axis = 0; axis < 3; ++axis)
  {
    const double last = double(u.size[axis] - 1);
    const double x = X[axis] < 0 ? 0 : (X[axis] > last ? last : X[axis]);
    inside[axis] = X[axis] >= 0 && X[axis] <= last && last > 0 ? 1.0 : 0.0;
    low[axis] = std::int64_t(x);
    low[axis] = low[axis] >= u.size[axis] - 1 && u.size[axis] > 1 ? u.size[axis] - 2 : low[axis];
    high[axis] = low[axis] + 1 < u.size[axis] ? low[axis] + 1 : low[axis];
    f[axis] = x - double(low[axis]);
  }
  const std::int64_t row[2] = { low[1] * u.rowStride, high[1] * u.rowStride };
  const std::int64_t plane[2] = { (low[2] - u.firstPlane) * u.planeStride, (high[2] - u.firstPlane) * u.planeStride };
  for (int c = 0; c < 3; ++c)
  {
    double line[2][2], slope[2][2];
    for (int z = 0; z < 2; ++z)
    {
      for (int y = 0; y < 2; ++y)
      {
        const float * at = u.component[c] + plane[z] + row[y];
        const double  a = at[low[0]], b = at[high[0]];
        line[z][y] = a + f[0] * (b - a);
        slope[z][y] = b - a;
      }
    }
    const double lower = line[0][0] + f[1] * (line[0][1] - line[0][0]);
    const double upper = line[1][0] + f[1] * (line[1][1] - line[1][0]);
    const double slopeLower = slope[0][0] + f[1] * (slope[0][1] - slope[0][0]);
    const double slopeUpper = slope[1][0] + f[1] * (slope[1][1] - slope[1][0]);
    value[c] = lower + f[2] * (upper - lower);
    D[3 * c] = inside[0] * (slopeLower + f[2] * (slopeUpper - slopeLower));
    D[3 * c + 1] = inside[1] * ((line[0][1] - line[0][0]) * (1 - f[2]) + f[2] * (line[1][1] - line[1][0]));
    D[3 * c + 2] = inside[2] * (upper - lower);
  }
}

/** Solves (I + D) step = -residual; false where that is nearly singular. */
FFDP_VOXEL_INLINE bool
SolveNewtonStep(const double (&D)[9], const double (&residual)[3], double (&step)[3])
{
  const double a = 1 + D[0], b = D[1], c = D[2];
  const double d = D[3], e = 1 + D[4], f = D[5];
  const double g = D[6], h = D[7], i = 1 + D[8];
  const double A = e * i - f * h, B = f * g - d * i, C = d * h - e * g;
  const double determinant = a * A + b * B + c * C;
  if (!(std::abs(determinant) > 1e-4))
  {
    return false;
  }
  const double s = -1 / determinant;
  step[0] = s * (A * residual[0] + (c * h - b * i) * residual[1] + (b * f - c * e) * residual[2]);
  step[1] = s * (B * residual[0] + (a * i - c * g) * residual[1] + (c * d - a * f) * residual[2]);
  step[2] = s * (C * residual[0] + (b * g - a * h) * residual[1] + (a * e - b * d) * residual[2]);
  return true;
}

FFDP_VOXEL_INLINE double
SquaredLength(const double (&v)[3])
{
  return (v[0] * v[0] + v[1] * v[1]) + v[2] * v[2];
}

/** Improves the displacement w of the voxel at x until |w + u(x + w)|^2 is at most `tolerance`, by Newton steps that
 * are halved as long as they do not help, and that keep |w_z| within the bound. Returns the squared residual. */
FFDP_VOXEL_INLINE double
RefineInverseVoxel(const WarpPlanes & u,
                   const double (&x)[3],
                   double boundAlongZ,
                   double tolerance,
                   int    iterations,
                   double (&w)[3])
{
  double X[3] = { x[0] + w[0], x[1] + w[1], x[2] + w[2] };
  double value[3], D[9];
  SampleWarpAndSlope(u, X, value, D);
  double residual[3] = { w[0] + value[0], w[1] + value[1], w[2] + value[2] };
  double squared = SquaredLength(residual);
  for (int iteration = 0; iteration < iterations && squared > tolerance; ++iteration)
  {
    double step[3];
    if (!SolveNewtonStep(D, residual, step))
    {
      for (int c = 0; c < 3; ++c)
      {
        step[c] = -0.5 * residual[c];
      }
    }
    bool better = false;
    for (int halving = 0; halving < 6 && !better; ++halving)
    {
      const double tried[3] = { w[0] + step[0], w[1] + step[1], w[2] + step[2] };
      if (std::abs(tried[2]) <= boundAlongZ)
      {
        const double at[3] = { x[0] + tried[0], x[1] + tried[1], x[2] + tried[2] };
        double       triedD[9];
        SampleWarpAndSlope(u, at, value, triedD);
        const double triedResidual[3] = { tried[0] + value[0], tried[1] + value[1], tried[2] + value[2] };
        const double triedSquared = SquaredLength(triedResidual);
        better = triedSquared < squared;
        if (better)
        {
          squared = triedSquared;
          for (int c = 0; c < 3; ++c)
          {
            w[c] = tried[c];
            residual[c] = triedResidual[c];
          }
          for (int k = 0; k < 9; ++k)
          {
            D[k] = triedD[k];
          }
        }
      }
      for (int c = 0; c < 3; ++c)
      {
        step[c] *= 0.5;
      }
    }
    if (!better)
    {
      break;
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
                   double (&start)[3],
                   double (&w)[3],
                   double & squared)
{
  if (CanRefine(start, boundAlongZ))
  {
    const double reached = RefineInverseVoxel(u, x, boundAlongZ, tolerance, iterations, start);
    if (reached < squared)
    {
      squared = reached;
      for (int c = 0; c < 3; ++c)
      {
        w[c] = start[c];
      }
    }
  }
}

/** Of the way to the solution, how much a voxel goes that has this error, see InverseError(), so that `allowed` is left
 * of it; nothing while it is no longer than `most`. */
FFDP_VOXEL_INLINE double
PartOfWay(float error, float allowed, float most)
{
  return error < -most ? 1 + double(allowed) / double(error) : 0.0;
}

/** What a voxel is given that goes a part of the way from `start` to `found`. */
FFDP_VOXEL_INLINE float
GoPartOfWay(double start, double found, double part)
{
  return part < 1 ? float(start + part * (found - start)) : float(found);
}

} // namespace ffdp

#endif
