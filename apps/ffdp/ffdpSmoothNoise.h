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
#ifndef ffdpSmoothNoise_h
#define ffdpSmoothNoise_h

#include "ffdpRandomNumbers.h"

#include <array>
#include <cmath>
#include <vector>

using Point3 = std::array<double, 3>;

/** A smooth random function of a point in mm with mean 0 and variance 1: a sum of plane waves in random directions,
 *
 *   sqrt(c / n) sum over k of wave(direction_k . p / wavelength_k + phase_k)
 *
 * wave() goes from 1 to -1 and back in one period, by cubic pieces instead of a cosine, so no library has a say. With
 * wavelengths that are nearly alike the zeros form a labyrinth with even spacing, like folds. */
class SmoothNoise
{
public:
  /** Wavelengths in mm; `spread` is the largest relative deviation from `wavelength`. */
  SmoothNoise(std::uint64_t key, double wavelength, double spread, int waves = 16)
  {
    RandomSequence random(key);
    for (int k = 0; k < waves; ++k)
    {
      Wave         wave;
      const Point3 arrow = { random.Normal(), random.Normal(), random.Normal() };
      const double length = std::sqrt(arrow[0] * arrow[0] + arrow[1] * arrow[1] + arrow[2] * arrow[2]) + 1e-12;
      const double period = wavelength * (1 + spread * (2 * random.Uniform() - 1));
      for (int c = 0; c < 3; ++c)
      {
        wave.vector[c] = arrow[c] / (length * period);
      }
      wave.phase = random.Uniform();
      m_Waves.push_back(wave);
    }
    // 17/35 is the mean of the square of one wave
    m_Scale = std::sqrt(35.0 / 17.0 / waves);
  }

  double
  Value(const Point3 & p) const
  {
    double sum = 0;
    for (const Wave & wave : m_Waves)
    {
      const double a = std::abs(Turn(wave, p));
      sum += 1 - a * a * (24 - 32 * a);
    }
    return m_Scale * sum;
  }

  /** The same with the derivative, per mm. */
  double
  Value(const Point3 & p, Point3 & gradient) const
  {
    double sum = 0;
    gradient = { 0, 0, 0 };
    for (const Wave & wave : m_Waves)
    {
      const double turn = Turn(wave, p);
      const double a = std::abs(turn);
      const double slope = m_Scale * turn * (96 * a - 48);
      sum += 1 - a * a * (24 - 32 * a);
      for (int c = 0; c < 3; ++c)
      {
        gradient[c] += slope * wave.vector[c];
      }
    }
    return m_Scale * sum;
  }

private:
  struct Wave
  {
    Point3 vector = {}; ///< periods per mm
    double phase = 0;   ///< periods
  };

  /** Where in its period a wave is: from -1/2 to 1/2, with the crest at 0. */
  static double
  Turn(const Wave & wave, const Point3 & p)
  {
    const double turns = wave.vector[0] * p[0] + wave.vector[1] * p[1] + wave.vector[2] * p[2] + wave.phase;
    return turns - std::floor(turns + 0.5);
  }

  std::vector<Wave> m_Waves;
  double            m_Scale = 1;
};

#endif
