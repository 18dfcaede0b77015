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
#include "ffdpRingSampler.h"

#include "ffdpPartition.h"
#include "ffdpTestRanks.h"
#include "ffdpTestSupport.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>
#include <stdexcept>
#include <string>

namespace ffdp
{
namespace
{

using test::SameBytes;
using test::Volume;
using test::Warp;

/** Sizes of the two images, which are cut between ranks in some way. */
struct RingSizes
{
  const char * name;
  Extent       fixed, image;
};

void
PrintTo(const RingSizes & sizes, std::ostream * stream)
{
  *stream << sizes.name;
}

struct RingCase
{
  std::string   name;
  Volume<float> image;
  Extent        fixedSize;
  CompositeMap  map;
  Warp<float>   warp; ///< without voxels: none
};

/** An image with negative zeros, of which a wrong order of additions changes the sign. */
Volume<float>
MakeImage(const Extent & size)
{
  Volume<float> image = test::RandomVolume(size, 11);
  for (std::size_t i = 0; i < image.values.size(); i += 5)
  {
    image.values[i] = -0.0f;
  }
  return image;
}

std::vector<RingCase>
MakeCases(const RingSizes & size)
{
  std::vector<RingCase> cases;
  const Volume<float>   image = MakeImage(size.image);
  const auto            add = [&](const char * name, const CompositeMap & map, const Warp<float> & warp) {
    cases.push_back({ name, image, size.fixed, map, warp });
  };
  CompositeMap fit; // plane by plane as far as both go
  fit.A[8] = double(size.image.z) / double(size.fixed.z);
  fit.t[0] = 0.3;

  add("identity", CompositeMap(), {});
  add("random", fit, test::RandomWarp(size.fixed, 3, 1.5));
  add("folding", fit, test::RandomWarp(size.fixed, 4, 6));

  Warp<float> jumps = test::RandomWarp(size.fixed, 5, 2);
  for (float & z : jumps.component[2].values)
  {
    z *= float(size.image.z) / 4; // across all ranks, and outside
  }
  add("jumps", fit, jumps);

  Warp<float> bad = test::RandomWarp(size.fixed, 6, 1);
  for (std::size_t i = 0; i < bad.component[2].values.size(); i += 3)
  {
    const float values[] = { std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -1e30f };
    bad.component[i % 2 ? 0 : 2].values[i] = values[i % 7 % 3];
  }
  add("not a number", fit, bad);

  CompositeMap outside = fit;
  outside.t[2] = 3.0 * double(size.image.z);
  add("all outside", outside, {});
  outside.t[2] = -0.6 * double(size.image.z);
  add("half outside", outside, test::RandomWarp(size.fixed, 7, 1));

  CompositeMap turned; // about x by 90 degrees: each output plane reaches all planes of the image
  turned.A[4] = 0;
  turned.A[5] = -double(size.image.y) / double(size.fixed.z);
  turned.t[1] = double(size.image.y) - 0.7;
  turned.A[7] = double(size.image.z) / double(size.fixed.y);
  turned.A[8] = 0;
  add("turned", turned, test::RandomWarp(size.fixed, 8, 0.5));

  CompositeMap upsideDown = fit; // the first rank wants what the last one has
  upsideDown.A[8] = -fit.A[8];
  upsideDown.t[2] = double(size.image.z) - 0.6;
  add("upside down", upsideDown, {});
  return cases;
}

std::vector<SamplerParameters>
AllParameters()
{
  std::vector<SamplerParameters> all(6);
  for (std::size_t i = 0; i < all.size(); ++i)
  {
    all[i].interpolation = i % 2 ? Interpolation::Nearest : Interpolation::Linear;
    all[i].border = i / 2 ? Border::Edge : Border::Zero;
    all[i].outsideValue = i / 2 == 2 ? 3.5f : 0.0f;
  }
  return all;
}

/** How planes travel must not matter. */
std::vector<RingParameters>
AllRings(const SamplerParameters & sampler)
{
  return { { sampler, false, 0 }, { sampler, false, 1 }, { sampler, true, 0 } };
}

/** The own planes of a volume, in memory of their own; garbage before they are computed. */
Volume<float>
Own(const Extent & size, const Communicator & communicator)
{
  const PlaneRange own = Partition(size.z, communicator.Size()).Owned(communicator.Rank());
  return Volume<float>(size, own.first, own.end - own.first, 77.0f);
}
Volume<float>
Own(const Volume<float> & whole, const Communicator & communicator)
{
  const PlaneRange own = Partition(whole.domain.z, communicator.Size()).Owned(communicator.Rank());
  return whole.Slab(own.first, own.end);
}

/** The warp of a case, the own planes of it or all. */
Warp<float>
OwnWarp(const RingCase & ringCase, const Communicator & communicator)
{
  Warp<float> own;
  for (int c = 0; c < 3 && !ringCase.warp.component[0].values.empty(); ++c)
  {
    own.component[c] = Own(ringCase.warp.component[c], communicator);
  }
  return own;
}

::testing::AssertionResult
IsOwnPartOf(const Volume<float> & own, const Volume<float> & whole)
{
  const Volume<float> expected = whole.Slab(own.firstPlane, own.firstPlane + own.planes);
  for (std::size_t i = 0; i < own.values.size(); ++i)
  {
    if (std::memcmp(&own.values[i], &expected.values[i], sizeof(float)) != 0)
    {
      const std::int64_t plane = own.firstPlane + std::int64_t(i) / (own.domain.x * own.domain.y);
      return ::testing::AssertionFailure() << "plane " << plane << " of " << own.domain.z << ": " << own.values[i]
                                           << " instead of " << expected.values[i];
    }
  }
  return ::testing::AssertionSuccess();
}

std::string
Describe(const RingParameters & ring)
{
  return std::string(", ") + (ring.sampler.border == Border::Edge ? "edge" : "zero") +
         (ring.sampler.interpolation == Interpolation::Nearest ? ", nearest" : ", linear") +
         (ring.sampler.accumulate ? ", accumulate" : "") + (ring.full ? ", full" : "") + ", chunks of " +
         std::to_string(ring.chunkPlanes);
}

class RingSampler : public testing::TestWithParam<RingSizes>
{
protected:
  const std::unique_ptr<Backend> m_Backend = MakeCpuBackend(1);
};

} // namespace

TEST_P(RingSampler, ValuesHaveTheBytesOfOneRank)
{
  const std::vector<RingCase> cases = MakeCases(this->GetParam());
  const auto                  wholeOf = [](const RingCase & ringCase, const SamplerParameters & parameters) {
    Volume<float> whole(ringCase.fixedSize);
    Sample(ringCase.image.View(), ringCase.map, ringCase.warp.View(), whole.View(), parameters, 1);
    return whole;
  };
  test::OnRanks([&](Communicator & communicator) {
    for (const RingCase & ringCase : cases)
    {
      const Volume<float> image = Own(ringCase.image, communicator);
      const Warp<float>   warp = OwnWarp(ringCase, communicator);
      for (const SamplerParameters & parameters : AllParameters())
      {
        const Volume<float> whole = wholeOf(ringCase, parameters);
        for (const RingParameters & ring : AllRings(parameters))
        {
          Volume<float> output = Own(ringCase.fixedSize, communicator);
          RingSample(*m_Backend, communicator, image.View(), ringCase.map, warp.View(), output.View(), ring);
          EXPECT_TRUE(IsOwnPartOf(output, whole)) << ringCase.name << Describe(ring);
        }
      }
    }
  });
}

TEST_P(RingSampler, GradientsHaveTheBytesOfOneRank)
{
  const std::vector<RingCase> cases = MakeCases(this->GetParam());
  const Volume<float>         gradient = test::RandomVolume(this->GetParam().fixed, 21);
  test::OnRanks([&](Communicator & communicator) {
    const Volume<float> ownGradient = Own(gradient, communicator);
    for (const RingCase & ringCase : cases)
    {
      const Volume<float> image = Own(ringCase.image, communicator);
      const Warp<float>   warp = OwnWarp(ringCase, communicator);
      for (const SamplerParameters & parameters : AllParameters())
      {
        if (parameters.interpolation == Interpolation::Nearest)
        {
          continue; // has none
        }
        Volume<float> whole(ringCase.fixedSize);
        Warp<float>   wholeGradient(ringCase.fixedSize);
        Sample(ringCase.image.View(), ringCase.map, ringCase.warp.View(), whole.View(), parameters, 1);
        const std::vector<MapGradient> wholeSums = SampleBackward(ringCase.image.View(),
                                                                  ringCase.map,
                                                                  ringCase.warp.View(),
                                                                  gradient.View(),
                                                                  WarpOutput(wholeGradient.View()),
                                                                  true,
                                                                  parameters,
                                                                  1);
        for (const RingParameters & ring : AllRings(parameters))
        {
          Volume<float> output = Own(ringCase.fixedSize, communicator);
          Warp<float>   derivative, alone;
          for (int c = 0; c < 3; ++c)
          {
            derivative.component[c] = alone.component[c] = output;
          }
          RingSampleBoth(
            *m_Backend, communicator, image.View(), ringCase.map, warp.View(), output.View(), derivative.View(), ring);
          RingSampleDerivative(*m_Backend, communicator, image.View(), ringCase.map, warp.View(), alone.View(), ring);
          EXPECT_TRUE(IsOwnPartOf(output, whole)) << ringCase.name << Describe(ring);
          std::vector<MapGradient> sums;
          if (output.planes > 0)
          {
            EXPECT_TRUE(SameBytes(alone.component[2].values, derivative.component[2].values));
            sums = FinishSampleBackward(ringCase.map, ownGradient.View(), derivative.View(), true, 1);
          }
          ASSERT_EQ(std::int64_t(sums.size()), output.planes);
          for (std::size_t i = 0; i < sums.size(); ++i)
          {
            EXPECT_EQ(sums[i], wholeSums[std::size_t(output.firstPlane) + i]) << ringCase.name << Describe(ring);
          }
          for (int c = 0; c < 3; ++c)
          {
            EXPECT_TRUE(IsOwnPartOf(derivative.component[c], wholeGradient.component[c]))
              << ringCase.name << Describe(ring);
          }
        }
      }
    }
  });
}

TEST_P(RingSampler, ImageGradientHasTheBytesOfOneRank)
{
  const std::vector<RingCase> cases = MakeCases(this->GetParam());
  const Volume<float>         gradient = test::RandomVolume(this->GetParam().fixed, 22);
  test::OnRanks([&](Communicator & communicator) {
    const Volume<float> ownGradient = Own(gradient, communicator);
    for (const RingCase & ringCase : cases)
    {
      const Warp<float> warp = OwnWarp(ringCase, communicator);
      for (SamplerParameters parameters : AllParameters())
      {
        if (parameters.outsideValue != 0)
        {
          continue; // a constant has no gradient
        }
        for (const bool accumulate : { false, true })
        {
          parameters.accumulate = accumulate;
          Volume<float> whole = ringCase.image;
          SampleAdjoint(gradient.View(), ringCase.map, ringCase.warp.View(), whole.View(), parameters, 1);
          for (const RingParameters & ring : AllRings(parameters))
          {
            Volume<float> result = Own(ringCase.image, communicator);
            RingSampleAdjoint(
              *m_Backend, communicator, ownGradient.View(), ringCase.map, warp.View(), result.View(), ring);
            EXPECT_TRUE(IsOwnPartOf(result, whole)) << ringCase.name << Describe(ring);
          }
        }
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes,
                         RingSampler,
                         testing::Values(RingSizes{ "Prime", { 9, 7, 67 }, { 8, 11, 71 } },
                                         RingSizes{ "FewerPlanesThanRanks", { 9, 7, 5 }, { 8, 11, 3 } },
                                         RingSizes{ "TwoSlabsToAll", { 7, 5, 64 }, { 9, 6, 17 } },
                                         RingSizes{ "AllSlabsToOne", { 7, 5, 4 }, { 9, 6, 64 } },
                                         RingSizes{ "Flat", { 13, 11, 1 }, { 12, 9, 1 } }),
                         [](const auto & info) { return std::string(info.param.name); });

TEST(RingTraffic, FollowsTheWarpAndNotTheNumberOfRanks)
{
  const auto backend = MakeCpuBackend(1);
  test::OnRanks([&](Communicator & communicator) {
    const Extent        size{ 5, 4, 16 * communicator.Size() };
    const std::uint64_t plane = 5 * 4 * sizeof(float);
    for (const float k : { 0.0f, 1.0f, 2.5f, 5.0f })
    {
      // u alternates between its extremes: every rank reaches as far as the bound says.
      Warp<float> whole(size);
      for (std::size_t i = 0; i < whole.component[2].values.size(); ++i)
      {
        whole.component[2].values[i] = i % 2 ? k : -k;
      }
      Warp<float> warp;
      for (int c = 0; c < 3; ++c)
      {
        warp.component[c] = Own(whole.component[c], communicator);
      }
      const Volume<float> image = Own(MakeImage(size), communicator);
      Volume<float>       output = Own(size, communicator);
      const std::uint64_t most = 2 * (std::uint64_t(std::ceil(k)) + 1) * plane;

      std::uint64_t before = communicator.SentBytes();
      RingSample(*backend, communicator, image.View(), CompositeMap(), warp.View(), output.View());
      EXPECT_LE(communicator.SentBytes() - before, most) << k;
      const bool middle = communicator.Rank() > 0 && communicator.Rank() + 1 < communicator.Size();
      if (middle && k > 0)
      {
        EXPECT_GE(communicator.SentBytes() - before, most / 2) << "nothing is sent, which the warp cannot do without";
      }

      before = communicator.SentBytes();
      Warp<float> derivative;
      for (Volume<float> & component : derivative.component)
      {
        component = output;
      }
      RingSampleBoth(
        *backend, communicator, image.View(), CompositeMap(), warp.View(), output.View(), derivative.View());
      EXPECT_LE(communicator.SentBytes() - before, most) << k; // planes travel once for both

      before = communicator.SentBytes();
      Volume<float> gradient = image;
      RingSampleAdjoint(*backend, communicator, output.View(), CompositeMap(), warp.View(), gradient.View());
      EXPECT_LE(communicator.SentBytes() - before, most / 2 * 3) << k;
      RingParameters adding;
      adding.sampler.accumulate = true;
      before = communicator.SentBytes();
      RingSampleAdjoint(*backend, communicator, output.View(), CompositeMap(), warp.View(), gradient.View(), adding);
      EXPECT_LE(communicator.SentBytes() - before, most * 2) << k;

      RingParameters full;
      full.full = true;
      before = communicator.SentBytes();
      RingSample(*backend, communicator, image.View(), CompositeMap(), warp.View(), output.View(), full);
      EXPECT_EQ(communicator.SentBytes() - before, std::uint64_t(communicator.Size() - 1) * 16 * plane);
    }
  });
}

TEST(RingTraffic, ValuesAreNotAccumulated)
{
  const auto backend = MakeCpuBackend(1);
  test::OnRanks([&](Communicator & communicator) {
    const Volume<float> image = Own(MakeImage({ 3, 3, 20 }), communicator);
    Volume<float>       output = image;
    RingParameters      parameters;
    parameters.sampler.accumulate = true;
    EXPECT_THROW(RingSample(*backend, communicator, image.View(), CompositeMap(), {}, output.View(), parameters),
                 std::invalid_argument);
  });
}

} // namespace ffdp
