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
#ifndef ffdpLabelSource_h
#define ffdpLabelSource_h

#include "ffdpAffineMap.h"

#include <cstdint>
#include <vector>

/** Something that says which label is at a point: a label map, or a head made of formulas. */
class LabelSource
{
public:
  using Label = std::int16_t;

  virtual ~LabelSource() = default;

  /** From mm (LPS) to the coordinates that LabelAt() takes. */
  virtual ffdp::AffineMap
  FromPhysical() const = 0;

  /** 0 is background. May be called by several threads at once. */
  virtual Label
  LabelAt(const double (&position)[3]) const = 0;

  /** The labels that may occur, but for 0, in ascending order. */
  virtual std::vector<Label>
  Labels() const = 0;
};

#endif
