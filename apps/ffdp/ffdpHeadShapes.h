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
#ifndef ffdpHeadShapes_h
#define ffdpHeadShapes_h

#include "ffdpSmoothNoise.h"

#include <algorithm>
#include <cmath>

/** Distances in mm to the surfaces of simple bodies, negative inside; near the surface exact to first order. */

inline double
Square(double a)
{
  return a * a;
}

inline double
EllipsoidDistance(const Point3 & p, const Point3 & center, const Point3 & radii)
{
  double relative = 0, slope = 0;
  for (int c = 0; c < 3; ++c)
  {
    const double offset = p[c] - center[c];
    relative += Square(offset / radii[c]);
    slope += Square(offset / Square(radii[c]));
  }
  relative = std::sqrt(relative);
  return slope > 0 ? relative * (relative - 1) / std::sqrt(slope) : -std::min({ radii[0], radii[1], radii[2] });
}

/** A rod from a to b that is ra thick (radius) at a and rb at b. */
inline double
RodDistance(const Point3 & p, const Point3 & a, const Point3 & b, double ra, double rb)
{
  double along = 0, length = 0;
  for (int c = 0; c < 3; ++c)
  {
    along += (p[c] - a[c]) * (b[c] - a[c]);
    length += Square(b[c] - a[c]);
  }
  const double t = std::min(1.0, std::max(0.0, along / length));
  double       away = 0;
  for (int c = 0; c < 3; ++c)
  {
    away += Square(p[c] - a[c] - t * (b[c] - a[c]));
  }
  return std::sqrt(away) - ra - t * (rb - ra);
}

/** The union of two bodies whose seam is rounded over about `width` mm. */
inline double
Join(double a, double b, double width)
{
  const double near = std::max(0.0, width - std::abs(a - b)) / width;
  return std::min(a, b) - 0.25 * near * near * width;
}

/** What two bodies share, likewise. */
inline double
Intersect(double a, double b, double width)
{
  return -Join(-a, -b, width);
}

#endif
