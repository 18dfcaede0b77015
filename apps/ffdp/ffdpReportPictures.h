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
#ifndef ffdpReportPictures_h
#define ffdpReportPictures_h

#include "ffdpPicture.h"
#include "ffdpSlices.h"

/** Values to brightness: 0 at low and where there is no value, 1 at high. */
struct Window
{
  float low = 0, high = 1;

  double
  operator()(float value) const
  {
    return value > low && high > low ? double(value - low) / double(high - low) : 0;
  }
};

/** From the darkest to nearly the brightest pixels of some slices. */
Window
ChooseWindow(const std::vector<Slice> & slices);

Picture
PaintGray(const SlicePlane & plane, const Slice & slice, const Window & window);

/** Fixed in green and moving in magenta: gray where they agree, black where there is nothing to compare. */
Picture
PaintOverlay(const SlicePlane & plane,
             const Slice &      fixed,
             const Window &     fixedWindow,
             const Slice &      moving,
             const Window &     movingWindow);

/** Tiles of the one and of the other image. */
Picture
PaintCheckerboard(const SlicePlane & plane,
                  const Slice &      fixed,
                  const Window &     fixedWindow,
                  const Slice &      moving,
                  const Window &     movingWindow);

/** Blue where the warp shrinks, red where it stretches, full at 1/range and range, yellow where it folds. */
Color
JacobianColor(double determinant, double range);

Picture
PaintJacobian(const SlicePlane & plane, const Slice & determinants, double range);

#endif
