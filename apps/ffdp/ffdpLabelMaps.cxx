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
#include "ffdpLabelMaps.h"

#include "ffdpRawImages.h"
#include "ffdpTypedImages.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <type_traits>
#include <unordered_map>

namespace
{

/** Files of floats hold whole numbers up to what scaling in the file leaves over. */
template <typename T>
std::int64_t
ToLabel(T value, const std::string & name)
{
  if constexpr (std::is_floating_point_v<T>)
  {
    const double whole = std::round(double(value));
    if (!(std::abs(double(value) - whole) <= 1e-3) || std::abs(whole) > 9e15)
    {
      throw CommandError(name + " is not a label map: a voxel is " + std::to_string(value) +
                         ", not a whole number (were labels interpolated? apply them with -n label)");
    }
    return std::int64_t(whole);
  }
  else
  {
    return std::int64_t(value);
  }
}

/** New numbers for the labels of a map, each the place of an old one. */
void
Renumber(LabelMap::ImageType * image, const std::vector<std::uint16_t> & places)
{
  const auto count = image->GetBufferedRegion().GetNumberOfPixels();
  auto *     voxels = image->GetBufferPointer();
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    voxels[i] = places[voxels[i]];
  }
}

std::vector<std::uint16_t>
PlacesIn(const std::vector<std::int64_t> & labels, const std::vector<std::int64_t> & sorted)
{
  std::vector<std::uint16_t> places;
  for (const std::int64_t label : labels)
  {
    places.push_back(std::uint16_t(std::lower_bound(sorted.begin(), sorted.end(), label) - sorted.begin()));
  }
  return places;
}

constexpr std::size_t MostLabels = std::size_t(std::numeric_limits<std::uint16_t>::max()) + 1;

void
RequireFewLabels(std::size_t count, const std::string & name)
{
  if (count > MostLabels)
  {
    throw CommandError(name + " has more than 65536 different values: is it a label map?");
  }
}

template <typename T>
LabelMap
NumberLabels(const T * in, const itk::ImageBase<3> * grid, const std::string & name)
{
  LabelMap map;
  map.image = LabelMap::ImageType::New();
  map.image->CopyInformation(grid);
  map.image->SetRegions(grid->GetLargestPossibleRegion());
  map.image->Allocate();
  std::unordered_map<std::int64_t, std::uint16_t> placeOf;
  std::uint16_t *                                 out = map.image->GetBufferPointer();
  const auto                                      count = map.image->GetBufferedRegion().GetNumberOfPixels();
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    if (i > 0 && in[i] == in[i - 1]) // labels come in runs
    {
      out[i] = out[i - 1];
      continue;
    }
    const std::int64_t label = ToLabel(in[i], name);
    const auto         found = placeOf.emplace(label, std::uint16_t(map.labels.size()));
    if (found.second)
    {
      map.labels.push_back(label);
      RequireFewLabels(map.labels.size(), name);
    }
    out[i] = found.first->second;
  }
  std::vector<std::int64_t> sorted = map.labels;
  std::sort(sorted.begin(), sorted.end());
  Renumber(map.image, PlacesIn(map.labels, sorted));
  map.labels = sorted;
  return map;
}

} // namespace

LabelMap
ReadLabelMap(const std::string & file, const std::string & what)
{
  const RawImage raw = ReadRawImage(file, what, false);
  if (raw.components != 1)
  {
    throw CommandError(what + " '" + file + "' has " + std::to_string(raw.components) +
                       " values per voxel; a label map has one");
  }
  return VisitComponentType(raw.component, [&](auto zero) {
    const auto * values = reinterpret_cast<const decltype(zero) *>(raw.bytes.data());
    return NumberLabels(values, raw.grid.GetPointer(), what + " '" + file + "'");
  });
}

void
ShareLabels(LabelMap & a, LabelMap & b)
{
  std::vector<std::int64_t> all;
  std::set_union(a.labels.begin(), a.labels.end(), b.labels.begin(), b.labels.end(), std::back_inserter(all));
  RequireFewLabels(all.size(), "the pair of label maps");
  for (LabelMap * map : { &a, &b })
  {
    Renumber(map->image, PlacesIn(map->labels, all));
    map->labels = all;
  }
}
