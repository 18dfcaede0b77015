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
#include "ffdpLabelPainting.h"

#include "ffdpGaussian.h"
#include "ffdpImageGrid.h"
#include "ffdpParallel.h"
#include "ffdpSmoothNoise.h"

#include <algorithm>
#include <cmath>

namespace
{

using Label = LabelSource::Label;

/** What random numbers are for. */
enum Purpose : std::uint64_t
{
  Texture = 1,
  FirstNoise,
  SecondNoise,
  Bias
};

/** A period of the bias field, in mm: about a head. */
constexpr double BiasWavelength = 180;

ffdp::Extent
SizeOf(const itk::ImageBase<3> * image)
{
  const auto size = image->GetLargestPossibleRegion().GetSize();
  return { std::int64_t(size[0]), std::int64_t(size[1]), std::int64_t(size[2]) };
}

/** A number that says which labels are where. */
std::uint64_t
Fingerprint(const LabelImage * labels, unsigned threads)
{
  const ffdp::Extent         size = SizeOf(labels);
  const std::int64_t         plane = size.x * size.y;
  std::vector<std::uint64_t> planes(std::size_t(size.z), 0);
  ffdp::ParallelFor(size.z, threads, [&](std::int64_t z, unsigned) {
    const Label * voxel = labels->GetBufferPointer() + z * plane;
    std::uint64_t hash = std::uint64_t(z);
    for (std::int64_t i = 0; i < plane; ++i)
    {
      hash = (hash ^ std::uint16_t(voxel[i])) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    planes[std::size_t(z)] = hash;
  });
  std::uint64_t all = 0;
  for (const std::uint64_t one : planes)
  {
    all = BitsAt(all, one);
  }
  return all;
}

/** The table as an array, so that a voxel needs no search. */
std::vector<LabelStatistics>
Flatten(const LabelTable & table)
{
  std::vector<LabelStatistics> flat(1 << 16);
  for (const auto & entry : table)
  {
    flat[std::uint16_t(entry.first)] = entry.second;
  }
  flat[0] = LabelStatistics();
  return flat;
}

/** Multiplies by 1 + bias * b(x), |b| <= 1. */
void
ApplyBias(FloatImage * image, double bias, std::uint64_t key, unsigned threads)
{
  const ffdp::Extent    size = SizeOf(image);
  const ffdp::AffineMap toPhysical = IndexToPhysical(image);
  const SmoothNoise     field(key, BiasWavelength, 0.3);
  ffdp::ParallelFor(size.z, threads, [&](std::int64_t z, unsigned) {
    float * voxel = image->GetBufferPointer() + z * size.x * size.y;
    for (std::int64_t y = 0; y < size.y; ++y)
    {
      for (std::int64_t x = 0; x < size.x; ++x, ++voxel)
      {
        const double b = 0.5 * field.Value(toPhysical({ double(x), double(y), double(z) }));
        *voxel = float(*voxel * (1 + bias * std::min(1.0, std::max(-1.0, b))));
      }
    }
  });
}

} // namespace

LabelImage::Pointer
DrawLabels(const LabelSource &       source,
           const itk::ImageBase<3> * grid,
           const FieldImage *        field,
           const ffdp::AffineMap &   linear,
           unsigned                  threads)
{
  auto labels = LabelImage::New();
  labels->CopyInformation(grid);
  labels->SetRegions(grid->GetLargestPossibleRegion());
  labels->Allocate();

  const ffdp::Extent    size = SizeOf(grid);
  const ffdp::AffineMap toSource = ffdp::Compose(source.FromPhysical(), linear);
  ffdp::WarpChain       chain;
  chain.start = IndexToPhysical(grid);
  if (field)
  {
    const auto * vectors = reinterpret_cast<const float *>(field->GetBufferPointer());
    chain.steps.push_back({ IndexToPhysical(field).Inverse(),
                            ffdp::WarpView<const float>::Interleaved(vectors, 3, SizeOf(field)),
                            toSource });
  }
  else
  {
    chain.start = ffdp::Compose(toSource, chain.start);
  }
  const ffdp::CompositeMap         map = ffdp::LinearPart(chain);
  const auto                       rows = std::size_t(size.x);
  std::vector<std::vector<double>> buffers(ffdp::ResolveThreads(threads), std::vector<double>(3 * rows, 0));
  ffdp::ParallelFor(size.z, threads, [&](std::int64_t z, unsigned worker) {
    double * const residual[3] = { &buffers[worker][0], &buffers[worker][rows], &buffers[worker][2 * rows] };
    Label *        voxel = labels->GetBufferPointer() + z * size.x * size.y;
    for (std::int64_t y = 0; y < size.y; ++y)
    {
      if (field)
      {
        ffdp::FillResidualRow(chain, map, 0, y, z, size.x, residual);
      }
      for (std::int64_t x = 0; x < size.x; ++x, ++voxel)
      {
        double position[3];
        for (int c = 0; c < 3; ++c)
        {
          const double * A = map.A + 3 * c;
          position[c] = A[0] * double(x) + A[1] * double(y) + A[2] * double(z) + map.t[c] + residual[c][x];
        }
        *voxel = source.LabelAt(position);
      }
    }
  });
  return labels;
}

FloatImage::Pointer
PaintLabels(const LabelImage * labels, const LabelTable & table, const PaintParameters & parameters, unsigned threads)
{
  auto image = FloatImage::New();
  image->CopyInformation(labels);
  image->SetRegions(labels->GetLargestPossibleRegion());
  image->Allocate();

  std::uint64_t key = BitsAt(parameters.seed, Fingerprint(labels, threads));
  for (const char letter : parameters.contrast)
  {
    key = BitsAt(key, std::uint64_t(letter));
  }
  const ffdp::Extent  size = SizeOf(labels);
  const std::int64_t  plane = size.x * size.y;
  const auto          statistics = Flatten(table);
  const std::uint64_t texture = DeriveKey(key, Texture);
  ffdp::ParallelFor(size.z, threads, [&](std::int64_t z, unsigned) {
    for (std::int64_t i = z * plane; i < (z + 1) * plane; ++i)
    {
      const LabelStatistics & s = statistics[std::uint16_t(labels->GetBufferPointer()[i])];
      image->GetBufferPointer()[i] = float(s.mean + s.deviation * NormalAt(texture, std::uint64_t(i)));
    }
  });

  if (parameters.blur > 0)
  {
    ffdp::GaussianParameters blur;
    std::fill_n(blur.sigma, 3, parameters.blur);
    blur.truncate = 4;
    ffdp::SmoothGaussian(ffdp::VolumeView<float>(image->GetBufferPointer(), size), blur, threads);
  }
  if (parameters.bias > 0)
  {
    ApplyBias(image, parameters.bias, DeriveKey(key, Bias), threads);
  }
  if (parameters.noise > 0)
  {
    const std::uint64_t first = DeriveKey(key, FirstNoise), second = DeriveKey(key, SecondNoise);
    ffdp::ParallelFor(size.z, threads, [&](std::int64_t z, unsigned) {
      for (std::int64_t i = z * plane; i < (z + 1) * plane; ++i)
      {
        float &      voxel = image->GetBufferPointer()[i];
        const double real = voxel + parameters.noise * NormalAt(first, std::uint64_t(i));
        const double imaginary = parameters.noise * NormalAt(second, std::uint64_t(i));
        voxel = float(std::sqrt(real * real + imaginary * imaginary));
      }
    });
  }
  return image;
}
