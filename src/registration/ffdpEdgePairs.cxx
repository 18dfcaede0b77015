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
#include "ffdpEdgePairs.h"

#include "ffdpCheck.h"
#include "ffdpExtendedImage.h"
#include "ffdpImageIntensities.h"

#include <algorithm>

namespace ffdp
{
namespace
{

/** Of the range of intensities: contrast below it is noise, or as good as. */
constexpr double NoiseOfRange = 0.03;

Slab
EdgesOf(Backend & backend, Communicator & communicator, const VolumeView<const float> & image)
{
  constexpr std::int64_t PlanesAtATime = 32;
  const Statistics       statistics = MeasureImage(backend, communicator, image);
  const IntensityRange   range = MeasureRange(backend, communicator, image, statistics);
  const auto             noise = float(NoiseOfRange * (range.high - range.low));
  const Partition        owners(image.domain.z, communicator.Size());
  Slab                   edges(backend, communicator, image.domain, 1);
  ExtendedImage          extended(backend, communicator, image, std::make_shared<DeviceArray<float>>());
  extended.Extend(WithHalo(owners, EdgeStrengthReach));
  const PlaneRange own = edges.Owned();
  for (std::int64_t first = own.first; first < own.end; first += PlanesAtATime)
  {
    const std::int64_t planes = std::min(PlanesAtATime, own.end - first);
    const PlaneRange   reached{ std::max<std::int64_t>(0, first - EdgeStrengthReach),
                              std::min(image.domain.z, first + planes + EdgeStrengthReach) };
    backend.EdgeStrength(extended.View(reached), noise, edges.Volume().Planes(first, planes));
  }
  return edges;
}

/** Edges fade at the border of an image, beyond which there is none; unless nobody knows. */
FieldOfView
FieldOfEdges(const FieldOfView & field)
{
  FieldOfView edges;
  edges.fixed.kind = IsUnknown(field.fixed) ? field.fixed.kind : edges.fixed.kind;
  edges.moving.kind = IsUnknown(field.moving) ? field.moving.kind : edges.moving.kind;
  return edges;
}

} // namespace

bool
ComparesEdges(const RegistrationStage & stage)
{
  return std::any_of(
    stage.metrics.begin(), stage.metrics.end(), [](const RegistrationMetric & metric) { return metric.ofEdges; });
}

EdgePairs::EdgePairs(const std::vector<RegistrationStage> & stages, std::size_t pairs)
  : m_First(pairs)
{
  for (const RegistrationStage & stage : stages)
  {
    for (const RegistrationMetric & metric : stage.metrics)
    {
      if (!metric.ofEdges)
      {
        continue;
      }
      Require(metric.pair >= 0 && metric.pair < int(pairs), "a metric names a pair of images that there is not");
      Require(stage.kind != RegistrationStage::Kind::Moments, "moments compare images, not their edges");
      if (std::find(m_Sources.begin(), m_Sources.end(), metric.pair) == m_Sources.end())
      {
        m_Sources.push_back(metric.pair);
      }
    }
  }
}

std::vector<RegistrationStage>
EdgePairs::OfImages(const std::vector<RegistrationStage> & stages) const
{
  std::vector<RegistrationStage> ofImages = stages;
  for (RegistrationStage & stage : ofImages)
  {
    for (RegistrationMetric & metric : stage.metrics)
    {
      if (metric.ofEdges)
      {
        const auto source = std::find(m_Sources.begin(), m_Sources.end(), metric.pair);
        metric.pair = int(m_First) + int(source - m_Sources.begin());
        metric.ofEdges = false;
      }
    }
  }
  return ofImages;
}

void
EdgePairs::Provide(Backend &                        backend,
                   Communicator &                   communicator,
                   const std::vector<ImagePair> &   pairs,
                   const std::vector<FieldOfView> & fields)
{
  if (!m_Pairs.empty())
  {
    return;
  }
  m_Pairs = pairs;
  m_Fields = fields;
  const auto edgesOf = [&](PlacedImage & image) {
    m_Edges.push_back(EdgesOf(backend, communicator, image.voxels));
    image.voxels = m_Edges.back().Volume();
  };
  for (const int source : m_Sources)
  {
    m_Pairs.push_back(pairs[std::size_t(source)]); // with its masks
    edgesOf(m_Pairs.back().fixed);
    edgesOf(m_Pairs.back().moving);
    m_Fields.push_back(FieldOfEdges(fields[std::size_t(source)]));
  }
}

void
EdgePairs::Release()
{
  m_Pairs.clear();
  m_Fields.clear();
  m_Edges.clear();
}

} // namespace ffdp
