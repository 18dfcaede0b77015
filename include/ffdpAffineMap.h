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
#ifndef ffdpAffineMap_h
#define ffdpAffineMap_h

#include <array>

namespace ffdp
{

/** p -> matrix p + offset; the matrix is row major. */
struct AffineMap
{
  double matrix[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  double offset[3] = { 0, 0, 0 };

  void
  Apply(const double * from, double * to) const
  {
    for (int r = 0; r < 3; ++r)
    {
      const double * m = matrix + 3 * r;
      to[r] = ((m[0] * from[0] + m[1] * from[1]) + m[2] * from[2]) + offset[r];
    }
  }

  std::array<double, 3>
  operator()(const std::array<double, 3> & point) const
  {
    std::array<double, 3> moved;
    this->Apply(point.data(), moved.data());
    return moved;
  }

  double
  Determinant() const
  {
    const double * m = matrix;
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
  }

  /** The map that undoes this one; its determinant must not be 0. */
  AffineMap
  Inverse() const
  {
    AffineMap    inverse;
    const double determinant = this->Determinant();
    for (int i = 0; i < 3; ++i)
    {
      const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
      for (int j = 0; j < 3; ++j)
      {
        const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
        inverse.matrix[3 * i + j] =
          (matrix[3 * j1 + i1] * matrix[3 * j2 + i2] - matrix[3 * j1 + i2] * matrix[3 * j2 + i1]) / determinant;
      }
    }
    double moved[3];
    inverse.Apply(offset, moved);
    for (int i = 0; i < 3; ++i)
    {
      inverse.offset[i] = -moved[i];
    }
    return inverse;
  }
};

/** p -> second(first(p)). */
inline AffineMap
Compose(const AffineMap & second, const AffineMap & first)
{
  AffineMap both;
  for (int r = 0; r < 3; ++r)
  {
    const double * m = second.matrix + 3 * r;
    for (int c = 0; c < 3; ++c)
    {
      both.matrix[3 * r + c] = (m[0] * first.matrix[c] + m[1] * first.matrix[3 + c]) + m[2] * first.matrix[6 + c];
    }
  }
  second.Apply(first.offset, both.offset);
  return both;
}

} // namespace ffdp

#endif
