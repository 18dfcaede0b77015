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
#ifndef ffdpStoredValues_h
#define ffdpStoredValues_h

#include "ffdpTypedImages.h"
#include "ffdpVoxelLayout.h"

#include "ffdpVolume.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

/** ITK's rule for the slope and the intercept of NIfTI. */
inline bool
IsScaled(const VoxelLayout & layout)
{
  constexpr double Epsilon = std::numeric_limits<double>::epsilon();
  return std::abs(layout.slope - 1) > Epsilon || std::abs(layout.intercept) > Epsilon;
}

inline bool
IsBigEndianMachine()
{
  const std::uint16_t one = 1;
  unsigned char       first;
  std::memcpy(&first, &one, 1);
  return first == 0;
}

/** Scaling in the type that ITK scales in. */
template <typename TScaled, typename T>
float
Scale(T value, double slope, double intercept)
{
  double scaled = double(TScaled(value)) * slope;
  scaled += intercept;
  return float(TScaled(scaled));
}

/** From values as they are stored to floats. */
template <typename T, typename TChange>
void
ConvertValues(const unsigned char * from, std::int64_t count, bool swap, float * to, const TChange & change)
{
  for (std::int64_t i = 0; i < count; ++i, from += sizeof(T))
  {
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, from, sizeof(T));
    if (swap)
    {
      std::reverse(bytes, bytes + sizeof(T));
    }
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    to[i] = change(value);
  }
}

/** How many values there are in a file and how they become floats. */
struct StoredValues
{
  VoxelLayout  layout;
  std::int64_t perPlane = 0, perVolume = 0;
  bool         scaled = false;
  bool         scaledInDouble = false;

  std::int64_t
  PlaceOf(int volume, const ffdp::PlaneRange & planes) const
  {
    return volume * perVolume + planes.first * perPlane;
  }

  void
  Convert(const unsigned char * from, std::int64_t count, float * to) const
  {
    const bool swap = layout.bigEndian != IsBigEndianMachine();
    VisitComponentType(layout.component, [&](auto zero) {
      using T = decltype(zero);
      if (!scaled)
      {
        ConvertValues<T>(from, count, swap, to, [](T value) { return float(value); });
      }
      else if (scaledInDouble)
      {
        ConvertValues<T>(
          from, count, swap, to, [&](T value) { return Scale<double>(value, layout.slope, layout.intercept); });
      }
      else
      {
        ConvertValues<T>(
          from, count, swap, to, [&](T value) { return Scale<float>(value, layout.slope, layout.intercept); });
      }
    });
  }
};

#endif
