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
#ifndef ffdpLabelMapSource_h
#define ffdpLabelMapSource_h

#include "ffdpImageFiles.h"
#include "ffdpLabelSource.h"

#include <set>

/** All other labels become 0. */
void
KeepLabels(LabelImage * image, const std::set<LabelSource::Label> & labels);

/** Voxels [first, end) of a label map along each axis. */
struct LabelBox
{
  std::int64_t first[3] = { 0, 0, 0 };
  std::int64_t end[3] = { 0, 0, 0 };
};

/** A label map with smooth boundaries between its voxels.
 *
 * Around a point every label gets the sum of the weights of its voxels, weight = product over axes of B((i - x) / h),
 * B the quadratic B-spline; the largest sum wins, the smaller label where two are equal. h is 1, or the size of the
 * voxels that are asked for in voxels of the map where these are larger. A plane boundary stays where it is, a sheet
 * of one voxel keeps its thickness, steps of voxels become slopes, and a ball of radius r voxels loses about 1 / r^2 of
 * its volume. 27 voxels are looked at for h = 1. Outside the map is 0. */
class LabelMapSource : public LabelSource
{
public:
  /** Reads the file; throws CommandError also for a voxel that is not a whole number of 16 bits. */
  explicit LabelMapSource(const std::string & file);

  /** All other labels become 0. */
  void
  Keep(const std::set<Label> & labels)
  {
    KeepLabels(m_Image, labels);
  }

  /** Tells the size of the voxels that will be asked for: step_j is the way from one to the next along axis j, mm. */
  void
  SetSteps(const double (&step)[3][3]);

  const LabelImage *
  Image() const
  {
    return m_Image;
  }

  /** The smallest box around all voxels that are not 0; empty if there are none. */
  LabelBox
  FindBox() const;

  ffdp::AffineMap
  FromPhysical() const override;
  Label
  LabelAt(const double (&position)[3]) const override;
  std::vector<Label>
  Labels() const override;

private:
  LabelImage::Pointer m_Image;
  double              m_Width[3] = { 1, 1, 1 }; ///< h above
};

#endif
