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

/** y = A x + t. A is row major. */
struct AffineMap
{
  std::array<double, 9> A{ { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
  std::array<double, 3> t{ { 0, 0, 0 } };

  std::array<double, 3>
  operator()(const std::array<double, 3> & x) const
  {
    std::array<double, 3> y = t;
    for (int i = 0; i < 3; ++i)
    {
      for (int j = 0; j < 3; ++j)
      {
        y[i] += A[3 * i + j] * x[j];
      }
    }
    return y;
  }

  double
  Determinant() const
  {
    return A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) +
           A[2] * (A[3] * A[7] - A[4] * A[6]);
  }

  /** The map that undoes this one; its determinant must not be 0. */
  AffineMap
  Inverse() const
  {
    AffineMap    inverse;
    const double d = this->Determinant();
    for (int i = 0; i < 3; ++i)
    {
      const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
      for (int j = 0; j < 3; ++j)
      {
        const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
        inverse.A[3 * i + j] = (A[3 * j1 + i1] * A[3 * j2 + i2] - A[3 * j1 + i2] * A[3 * j2 + i1]) / d;
      }
    }
    inverse.t = { { 0, 0, 0 } };
    const std::array<double, 3> moved = inverse(t);
    inverse.t = { { -moved[0], -moved[1], -moved[2] } };
    return inverse;
  }
};

/** First b, then a: (a * b)(x) = a(b(x)). */
inline AffineMap
operator*(const AffineMap & a, const AffineMap & b)
{
  AffineMap product;
  product.t = a(b.t);
  for (int i = 0; i < 3; ++i)
  {
    for (int j = 0; j < 3; ++j)
    {
      double sum = 0;
      for (int k = 0; k < 3; ++k)
      {
        sum += a.A[3 * i + k] * b.A[3 * k + j];
      }
      product.A[3 * i + j] = sum;
    }
  }
  return product;
}

} // namespace ffdp

#endif
