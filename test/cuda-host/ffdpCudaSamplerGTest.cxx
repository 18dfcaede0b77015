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
#include "ffdpCudaSampler.h"

#include "ffdpBackend.h"
#include "ffdpDeviceStaging.h"
#include "ffdpSamplerReference.h"
#include "ffdpSchedules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <new>
#include <string>
#include <vector>

#ifdef __linux__
#  include <sys/mman.h>
#endif

/** The sampler on the device against the processor's: the functions of ffdpSampler.h are the device's in this program,
 * those of MakeCpuBackend() the processor's. */
namespace
{
using namespace ffdp;
using namespace ffdp::test;

struct Problem
{
  std::string   name;
  Volume<float> image;
  CompositeMap  map;
  Warp<float>   u;
  Volume<float> g;
};

/** Maps that point everywhere in the image and around it, and one that stays close; images that are random, flat and
 * bright; sizes of all kinds. */
std::vector<Problem>
MakeProblems()
{
  std::vector<Problem> problems;
  for (const Extent & size : { Extent{ 1, 1, 1 },
                               Extent{ 7, 1, 1 },
                               Extent{ 1, 12, 10 },
                               Extent{ 33, 19, 1 },
                               Extent{ 23, 17, 5 },
                               Extent{ 131, 5, 3 },
                               Extent{ 260, 18, 2 } })
  {
    const Extent imageSize{ size.x + 3, std::max<std::int64_t>(1, size.y - 2), size.z + 1 };
    for (const bool plain : { false, true })
    {
      CompositeMap       map = ObliqueMap();
      const CompositeMap identity;
      std::copy(identity.S, identity.S + (plain ? 9 : 0), map.S);
      Problem p{ std::to_string(size.x) + (plain ? " plain" : " oblique"), RandomVolume(imageSize, 1), map, {}, {} };
      p.u = ConvertWarp<float>(WarpToRandomPoints(size, imageSize, map, 2));
      p.g = RandomVolume(size, 3);
      problems.push_back(p);
    }
    problems.push_back(
      { "near", RandomVolume(imageSize, 4, 30000, 10), {}, RandomWarp(size, 5, 0.7), RandomVolume(size, 6) });
    problems.push_back(
      { "flat", Volume<float>(imageSize, 1000.0f), {}, RandomWarp(size, 7, 2), RandomVolume(size, 8) });
  }
  // not a number, infinite, far away, exactly on voxels and halfway between them
  Problem     bad = problems[16];
  const float values[] = { std::nanf(""), std::numeric_limits<float>::infinity(), -1e30f, 0.0f, 0.5f, -0.5f, 1.0f };
  bad.name = "bad";
  bad.map = CompositeMap();
  for (std::size_t i = 0; i < bad.g.values.size(); ++i)
  {
    bad.u.component[i % 3].values[i] = values[i % 7];
  }
  problems.push_back(bad);
  return problems;
}

Backend &
Cpu()
{
  static const auto backend = MakeCpuBackend(2);
  return *backend;
}

template <typename T>
void
ExpectSame(const std::vector<T> & device, const std::vector<T> & processor, const std::string & what)
{
  EXPECT_TRUE(SameBytes(device, processor)) << what;
}

void
ExpectSame(const Warp<float> & device, const Warp<float> & processor, const std::string & what)
{
  for (int c = 0; c < 3; ++c)
  {
    ExpectSame(device.component[c].values, processor.component[c].values, what);
  }
}

std::vector<SamplerParameters>
LinearParameters()
{
  std::vector<SamplerParameters> linear(4);
  for (std::size_t i = 0; i < 4; ++i)
  {
    linear[i].border = i % 2 ? Border::Edge : Border::Zero;
    linear[i].accumulate = i / 2 == 1;
  }
  return linear;
}

} // namespace

#ifdef FFDP_CUDA_ON_HOST
// Where this program's functions were visible to the library, its backend would call them, and all comparisons below
// were of the device with itself. So: without memory the device fails, and the processor does not.
TEST(CudaSampler, TheProcessorIsNotTheDevice)
{
  const Extent        size{ 5, 4, 3 };
  const Volume<float> image = RandomVolume(size, 1);
  Volume<float>       out(size), adjoint(size);
  Warp<float>         gradient(size);
  std::size_t         unused, limit;
  TestDevice().Activate();
  ASSERT_EQ(cudaMemGetInfo(&unused, &limit), cudaSuccess);
  cudahost::SetMemoryLimit(0);
  EXPECT_THROW(Sample(image.View(), {}, {}, out.View()), std::bad_alloc);
  EXPECT_NO_THROW(Cpu().Sample(image.View(), {}, {}, out.View(), {}));
  EXPECT_NO_THROW(Cpu().FindReachedPlanes(size, {}, gradient.View(), size, 0, size.z, {}));
  EXPECT_NO_THROW(Cpu().SampleBackward(image.View(), {}, {}, image.View(), gradient.View(), true, {}));
  EXPECT_NO_THROW(Cpu().SampleDerivative(image.View(), {}, {}, gradient.View(), {}));
  EXPECT_NO_THROW(Cpu().FinishSampleBackward({}, image.View(), gradient.View(), true));
  EXPECT_NO_THROW(Cpu().SampleAdjoint(image.View(), {}, {}, adjoint.View(), {}));
  cudahost::SetMemoryLimit(limit);
}
#endif

TEST(CudaSampler, ValuesAreTheProcessors)
{
  for (const Problem & p : MakeProblems())
  {
    for (SamplerParameters parameters : AllSamplerParameters())
      for (const bool accumulate : { false, true })
        for (const bool warped : { false, true })
        {
          parameters.accumulate = accumulate;
          const WarpInput u = warped ? WarpInput(p.u.View()) : WarpInput();
          Volume<float>   device = p.g, processor = p.g;
          Sample(p.image.View(), p.map, u, device.View(), parameters);
          Cpu().Sample(p.image.View(), p.map, u, processor.View(), parameters);
          ExpectSame(device.values, processor.values, p.name);
        }
  }
}

TEST(CudaSampler, ReachedPlanesAreTheProcessors)
{
  for (const Problem & p : MakeProblems())
  {
    const Extent & size = p.g.domain;
    for (const WarpInput & u : { WarpInput(p.u.View()), WarpInput() })
    {
      const auto device = FindReachedPlanes(p.image.domain, p.map, u, size, 0, size.z);
      const auto processor = Cpu().FindReachedPlanes(p.image.domain, p.map, u, size, 0, size.z, {});
      ASSERT_EQ(device.size(), processor.size());
      for (std::size_t i = 0; i < device.size(); ++i)
      {
        EXPECT_EQ(device[i].first, processor[i].first) << p.name;
        EXPECT_EQ(device[i].end, processor[i].end) << p.name;
      }
    }
  }
}

TEST(CudaSampler, GradientsAreTheProcessors)
{
  for (const Problem & p : MakeProblems())
  {
    for (const SamplerParameters & parameters : LinearParameters())
      for (const bool mapGradient : { false, true })
      {
        Warp<float> device, processor;
        device.component[0] = device.component[1] = device.component[2] = p.g;
        processor = device;
        const auto sums =
          SampleBackward(p.image.View(), p.map, p.u.View(), p.g.View(), device.View(), mapGradient, parameters);
        const auto expected = Cpu().SampleBackward(
          p.image.View(), p.map, p.u.View(), p.g.View(), processor.View(), mapGradient, parameters);
        ExpectSame(device, processor, p.name);
        ExpectSame(sums, expected, p.name);

        SampleDerivative(p.image.View(), p.map, p.u.View(), device.View(), parameters);
        Cpu().SampleDerivative(p.image.View(), p.map, p.u.View(), processor.View(), parameters);
        ExpectSame(device, processor, p.name);
        const auto finished = FinishSampleBackward(p.map, p.g.View(), device.View(), mapGradient);
        const auto finishedThere = Cpu().FinishSampleBackward(p.map, p.g.View(), processor.View(), mapGradient);
        ExpectSame(device, processor, p.name);
        ExpectSame(finished, finishedThere, p.name);
      }
    // the map alone, as linear registration asks for it
    const auto sums = SampleBackward(p.image.View(), p.map, {}, p.g.View(), {}, true);
    ExpectSame(sums, Cpu().SampleBackward(p.image.View(), p.map, {}, p.g.View(), {}, true, {}), p.name);
  }
}

// Floats of one magnitude add up in double without rounding, in whatever order. Gradients of many magnitudes do not:
// lanes of a row, rows of a strip and strips of a plane must all be added in the processor's order.
TEST(CudaSampler, SumsForTheMapAreAddedInTheProcessorsOrder)
{
  const Extent        size{ 290, 37, 2 };
  const Volume<float> image = RandomVolume({ 280, 40, 4 }, 1);
  Volume<float>       g = RandomVolume(size, 2);
  for (std::size_t i = 0; i < g.values.size(); ++i)
  {
    g.values[i] = std::ldexp(g.values[i], int(i * 7919 % 101) - 50);
  }
  const CompositeMap map = ObliqueMap();
  const Warp<float>  u = ConvertWarp<float>(WarpToRandomPoints(size, image.domain, map, 3));
  Warp<float>        device(size), processor(size);
  ExpectSame(SampleBackward(image.View(), map, u.View(), g.View(), {}, true),
             Cpu().SampleBackward(image.View(), map, u.View(), g.View(), {}, true, {}),
             "fused");
  SampleDerivative(image.View(), map, u.View(), device.View());
  Cpu().SampleDerivative(image.View(), map, u.View(), processor.View(), {});
  ExpectSame(FinishSampleBackward(map, g.View(), device.View(), true),
             Cpu().FinishSampleBackward(map, g.View(), processor.View(), true),
             "in two halves");
}

TEST(CudaSampler, EveryLayoutOfTheWarpIsTheProcessors)
{
  const Extent        size{ 131, 9, 3 };
  const Volume<float> image = RandomVolume({ 120, 11, 4 }, 1), g = RandomVolume(size, 2);
  const CompositeMap  map = ObliqueMap();
  const Warp<double>  u = WarpToRandomPoints(size, image.domain, map, 3);
  std::vector<float>  floats3 = Interleave<float>(u, 3), floats2 = Interleave<float>(u, 2);
  std::vector<double> doubles3 = Interleave<double>(u, 3), doubles2 = Interleave<double>(u, 2);
  for (std::size_t i = 0; i < doubles3.size(); i += 2)
  {
    doubles3[i] += 1e-9; // which no float has
  }
  for (const WarpInput & layout : { WarpInput(u.View()),
                                    WarpInput(WarpView<const float>::Interleaved(floats3.data(), 3, size)),
                                    WarpInput(WarpView<const float>::Interleaved(floats2.data(), 2, size)),
                                    WarpInput(WarpView<const double>::Interleaved(doubles3.data(), 3, size)),
                                    WarpInput(WarpView<const double>::Interleaved(doubles2.data(), 2, size)) })
  {
    Volume<float> device(size), processor(size), adjoint(image.domain), adjointThere(image.domain);
    Sample(image.View(), map, layout, device.View());
    Cpu().Sample(image.View(), map, layout, processor.View(), {});
    ExpectSame(device.values, processor.values, "values");
    SampleAdjoint(g.View(), map, layout, adjoint.View());
    Cpu().SampleAdjoint(g.View(), map, layout, adjointThere.View(), {});
    ExpectSame(adjoint.values, adjointThere.values, "adjoint");
    std::vector<double> gradient = doubles3, gradientThere = doubles3;
    const auto          sums = SampleBackward(
      image.View(), map, layout, g.View(), WarpView<double>::Interleaved(gradient.data(), 3, size), true);
    const auto expected = Cpu().SampleBackward(
      image.View(), map, layout, g.View(), WarpView<double>::Interleaved(gradientThere.data(), 3, size), true, {});
    ExpectSame(gradient, gradientThere, "gradient");
    ExpectSame(sums, expected, "sums");
  }
}

TEST(CudaSampler, SlabsAreTheProcessors)
{
  const Extent        size{ 45, 37, 7 };
  const Volume<float> image = RandomVolume({ 40, 39, 8 }, 1), g = RandomVolume(size, 2);
  const CompositeMap  map = ObliqueMap();
  const Warp<float>   u = ConvertWarp<float>(WarpToRandomPoints(size, image.domain, map, 3));
  const auto          imageSlab = image.Slab(2, 5), gSlab = g.Slab(3, 6);
  for (const SamplerParameters & parameters : AllSamplerParameters())
  {
    Volume<float> device = gSlab, processor = gSlab;
    Sample(imageSlab.View(), map, u.View(), device.View(), parameters);
    Cpu().Sample(imageSlab.View(), map, u.View(), processor.View(), parameters);
    ExpectSame(device.values, processor.values, "values");
    Volume<float> adjoint = imageSlab, adjointThere = imageSlab;
    SampleAdjoint(gSlab.View(), map, u.View(), adjoint.View(), parameters);
    Cpu().SampleAdjoint(gSlab.View(), map, u.View(), adjointThere.View(), parameters);
    ExpectSame(adjoint.values, adjointThere.values, "adjoint");
  }
}

// All at once, in batches of planes, and in batches of rows.
TEST(CudaSampler, AdjointIsTheProcessorsInBatchesOfAnySize)
{
  for (const Problem & p : MakeProblems())
  {
    const std::int64_t rows = p.name == "flat" || p.name == "bad" ? 3 : p.g.domain.y; // the smallest batches take long
    for (SamplerParameters parameters : AllSamplerParameters())
      for (const std::int64_t batch : { cuda::AdjointPoints, 2 * rows * p.g.domain.x })
      {
        parameters.accumulate = batch < cuda::AdjointPoints;
        Volume<float> device = p.image, processor = p.image;
        {
          const StagedVolume<const float> g(p.g.View());
          const StagedWarpInput           u(p.u.View());
          const StagedVolume<float>       gradient(device.View());
          cuda::SampleAdjoint(TestDevice(), g, p.map, u, gradient, parameters, batch);
        }
        Cpu().SampleAdjoint(p.g.View(), p.map, p.u.View(), processor.View(), parameters);
        ExpectSame(device.values, processor.values, p.name);
      }
  }
}

// Many points in few cells: lists are long, and points of one cell come from all warps of the sort.
TEST(CudaSampler, AdjointAddsManyPointsOfACellInOrder)
{
  const Extent        size{ 97, 50, 4 };
  const Volume<float> g = RandomVolume(size, 1, 1000, 500);
  CompositeMap        map;
  for (int c = 0; c < 3; ++c)
  {
    map.A[4 * c] = 0.03;
    map.t[c] = -0.3;
  }
  for (const Border border : { Border::Zero, Border::Edge })
  {
    SamplerParameters parameters;
    parameters.border = border;
    Volume<float> device({ 3, 2, 1 }, 7.0f), processor = device;
    SampleAdjoint(g.View(), map, {}, device.View(), parameters);
    Cpu().SampleAdjoint(g.View(), map, {}, processor.View(), parameters);
    ExpectSame(device.values, processor.values, "few cells");
  }
}

TEST(CudaSampler, ExtraMemoryDoesNotGrowWithTheVolume)
{
  std::size_t extra[2];
  for (int i = 0; i < 2; ++i)
  {
    const Extent              size{ 64, 20, 8 << i };
    const Volume<float>       g = RandomVolume(size, 1);
    Volume<float>             image(size);
    const std::size_t         limit = 1 << 10;
    cuda::Device              device(0);
    cuda::DeviceBuffer<float> voxels(device, g.values), gradient(device, image.values);
    const std::size_t         before = device.AllocatedBytes();
    cuda::SampleAdjoint(device,
                        VolumeView<const float>(voxels.Data(), size),
                        {},
                        {},
                        VolumeView<float>(gradient.Data(), size),
                        {},
                        std::int64_t(limit));
    extra[i] = device.PeakBytes() - before;
    EXPECT_LE(extra[i], 40 * limit + 1024); // one tile of the sort has 256 counts
    EXPECT_EQ(device.AllocatedBytes(), before);
  }
  EXPECT_EQ(extra[0], extra[1]);
}

TEST(CudaSampler, ResultsDoNotDependOnTheSchedule)
{
  const Extent        size{ 140, 18, 3 };
  const Volume<float> image = RandomVolume({ 60, 16, 4 }, 1), g = RandomVolume(size, 2);
  const CompositeMap  map = ObliqueMap();
  const Warp<float>   u = ConvertWarp<float>(WarpToRandomPoints(size, image.domain, map, 3));
  ForEachSchedule([&] {
    Volume<float> out(size), adjoint(image.domain);
    Warp<float>   gradient(size);
    Sample(image.View(), map, u.View(), out.View());
    const auto sums = SampleBackward(image.View(), map, u.View(), g.View(), gradient.View(), true);
    SampleAdjoint(g.View(), map, u.View(), adjoint.View());
    const auto reached = FindReachedPlanes(image.domain, map, u.View(), size, 0, size.z);

    std::vector<double> results(out.values.begin(), out.values.end());
    results.insert(results.end(), adjoint.values.begin(), adjoint.values.end());
    for (int c = 0; c < 3; ++c)
    {
      results.insert(results.end(), gradient.component[c].values.begin(), gradient.component[c].values.end());
    }
    for (const MapGradient & plane : sums)
    {
      results.insert(results.end(), plane.begin(), plane.end());
    }
    for (const PlaneRange & range : reached)
    {
      results.insert(results.end(), { double(range.first), double(range.end) });
    }
    return results;
  });
}

#if defined(__linux__) && defined(FFDP_CUDA_ON_HOST)
// Strides of more than 2^31 elements, in an address range of which only a few pages are touched: memory of the host is
// memory of the harness.
TEST(CudaSampler, OffsetsMayNeedMoreThan32Bits)
{
  const Extent        size{ 37, 5, 4 };
  const Volume<float> image = RandomVolume(size, 6), g = RandomVolume(size, 7);
  const CompositeMap  map = ObliqueMap();
  const Warp<float>   u = ConvertWarp<float>(WarpToRandomPoints(size, size, map, 19));
  const std::int64_t  stride = (std::int64_t(1) << 31) + 1000;
  const std::size_t   bytes = std::size_t(size.z * stride) * sizeof(float);
  void * const        memory =
    mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
  {
    GTEST_SKIP() << "no address range of " << bytes << " bytes";
  }
  VolumeView<float> large(static_cast<float *>(memory), size);
  large.planeStride = stride;
  large.rowStride = stride / 8;
  for (std::int64_t z = 0; z < size.z; ++z)
  {
    for (std::int64_t y = 0; y < size.y; ++y)
    {
      std::copy_n(&image.At(0, y, z), size.x, large.Row(y, z));
    }
  }
  for (const SamplerParameters & parameters : AllSamplerParameters())
  {
    Volume<float> out(size), expected(size);
    cuda::Sample(TestDevice(), large, map, u.View(), out.View(), parameters);
    TestDevice().Synchronize();
    Cpu().Sample(image.View(), map, u.View(), expected.View(), parameters);
    ExpectSame(out.values, expected.values, "values");
  }
  Volume<float> adjoint = image;
  cuda::SampleAdjoint(TestDevice(), g.View(), map, u.View(), large, {});
  TestDevice().Synchronize();
  Cpu().SampleAdjoint(g.View(), map, u.View(), adjoint.View(), {});
  for (std::int64_t z = 0; z < size.z; ++z)
  {
    for (std::int64_t y = 0; y < size.y; ++y)
    {
      EXPECT_TRUE(std::equal(large.Row(y, z), large.Row(y, z) + size.x, &adjoint.At(0, y, z)));
    }
  }
  munmap(memory, bytes);
}
#endif
