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
#include "ffdpRandomWarp.h"

#include "ffdpCommandError.h"
#include "ffdpComposition.h"
#include "ffdpGaussian.h"
#include "ffdpJacobian.h"
#include "ffdpRandomNumbers.h"
#include "ffdpTransformFiles.h"
#include "ffdpWarpGrid.h"

#include <algorithm>
#include <cmath>

namespace
{

constexpr double NodesPerSigma = 3;

/** Random numbers of warps are independent of those of heads and of noise. */
constexpr std::uint64_t WarpPurpose = 200;

/** The same part of space with other voxels. */
FloatImage::Pointer
MakeNodes(const itk::ImageBase<3> * grid, double spacing)
{
  auto                            nodes = FloatImage::New();
  FloatImage::SizeType            size;
  auto                            nodeSpacing = grid->GetSpacing();
  itk::ContinuousIndex<double, 3> first;
  for (unsigned int c = 0; c < 3; ++c)
  {
    const double voxels = double(grid->GetLargestPossibleRegion().GetSize(c));
    const double extent = voxels * grid->GetSpacing()[c];
    size[c] = itk::SizeValueType(std::max(4.0, std::ceil(extent / spacing - 1e-6)));
    nodeSpacing[c] = extent / double(size[c]);
    first[c] = 0.5 * nodeSpacing[c] / grid->GetSpacing()[c] - 0.5;
  }
  FloatImage::PointType origin;
  grid->TransformContinuousIndexToPhysicalPoint(first, origin);
  nodes->SetRegions(size);
  nodes->SetSpacing(nodeSpacing);
  nodes->SetDirection(grid->GetDirection());
  nodes->SetOrigin(origin);
  return nodes;
}

} // namespace

double
CountWarpNodes(const itk::ImageBase<3> * grid, double smoothness)
{
  const auto size = MakeNodes(grid, smoothness / NodesPerSigma)->GetLargestPossibleRegion().GetSize();
  return double(size[0]) * double(size[1]) * double(size[2]);
}

FieldImage::Pointer
MakeRandomWarp(const itk::ImageBase<3> * grid, const RandomWarpParameters & parameters, unsigned threads)
{
  const auto          nodes = MakeNodes(grid, parameters.smoothness / NodesPerSigma);
  const auto          size = nodes->GetLargestPossibleRegion().GetSize();
  const ffdp::Extent  extent{ std::int64_t(size[0]), std::int64_t(size[1]), std::int64_t(size[2]) };
  const std::uint64_t key = DeriveKey(parameters.seed, WarpPurpose);
  std::vector<float>  velocity(std::size_t(3 * extent.Voxels()));
  for (std::size_t i = 0; i < velocity.size(); ++i)
  {
    velocity[i] = float(NormalAt(key, i));
  }
  const auto               view = ffdp::WarpView<float>::Planar(velocity.data(), extent);
  ffdp::GaussianParameters smoothing;
  double                   spacing[3];
  for (unsigned int c = 0; c < 3; ++c)
  {
    spacing[c] = nodes->GetSpacing()[c];
    smoothing.sigma[c] = parameters.smoothness / spacing[c];
  }
  smoothing.truncate = 3;
  ffdp::SmoothGaussian(view, smoothing, threads);

  // The noise was in units of nodes; a vector has the same length in mm along every axis once divided by its spacing.
  const double scale = parameters.size / ffdp::MeasureWarp(view, threads).norm;
  for (std::size_t i = 0; i < velocity.size(); ++i)
  {
    velocity[i] = float(velocity[i] * scale / spacing[i / std::size_t(extent.Voxels())]);
  }
  ffdp::ExponentialParameters exponential;
  exponential.largestStep = 0.125f;
  exponential.border = ffdp::WarpBorder::Edge;
  ffdp::ExponentiateWarp(view, exponential, threads);
  const auto jacobian = ffdp::JacobianDeterminant(view, 0, extent.z, {}, {}, {}, threads);
  if (jacobian.notPositive > 0)
  {
    throw CommandError("a warp of --warp-size " + std::to_string(parameters.size) +
                       " mm folds with --warp-smoothness " + std::to_string(parameters.smoothness) +
                       " mm: make it smaller or smoother");
  }
  nodes->Allocate();
  return MakeField(velocity, nodes);
}
