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
#ifndef ffdpCheck_h
#define ffdpCheck_h

#include "ffdpVolume.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>

/** Checks that public functions make before they start threads. */
namespace ffdp
{

inline void
Require(bool condition, const std::string & message)
{
  if (!condition)
  {
    throw std::invalid_argument("ffdp: " + message);
  }
}

/** The view holds at least one voxel and its strides do not make rows or planes overlap. */
template <typename TView>
void
RequireUsable(const TView & view, const char * name)
{
  Require(bool(view), std::string(name) + " is missing");
  Require(view.domain.x > 0 && view.domain.y > 0 && view.domain.z > 0, std::string(name) + " has no voxels");
  Require(view.planes >= 0 && view.firstPlane >= 0 && view.EndPlane() <= view.domain.z,
          std::string(name) + " holds planes outside its volume");
}

/** The view holds every plane of [first, end) widened by `halo` on both sides and cut to its volume. */
template <typename TView>
void
RequirePlanes(const TView & view, std::int64_t first, std::int64_t end, std::int64_t halo, const char * name)
{
  RequireUsable(view, name);
  Require(first >= 0 && first <= end && end <= view.domain.z, std::string("planes outside ") + name + " are asked for");
  const std::int64_t needFirst = std::max<std::int64_t>(0, first - halo);
  const std::int64_t needEnd = std::min(view.domain.z, end + halo);
  if (first < end && (view.firstPlane > needFirst || view.EndPlane() < needEnd))
  {
    std::ostringstream message;
    message << "planes [" << needFirst << ", " << needEnd << ") of " << name << " are needed, but it holds ["
            << view.firstPlane << ", " << view.EndPlane() << "): its halo is too small";
    Require(false, message.str());
  }
}

inline void
RequireSameDomain(const Extent & a, const Extent & b, const char * names)
{
  if (a != b)
  {
    std::ostringstream message;
    message << names << " differ in size: " << a.x << "x" << a.y << "x" << a.z << " and " << b.x << "x" << b.y << "x"
            << b.z;
    Require(false, message.str());
  }
}

} // namespace ffdp

#endif
