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
#include "ffdpRegisterInputs.h"
#include "ffdpRegisterOutputs.h"

#include "ffdpCommandLine.h"
#include "ffdpRankTestSupport.h"
#include "ffdpReport.h"
#include "ffdpResample.h"
#include "ffdpTransformTestSupport.h"
#include "ffdpWarpedImages.h"

#include "ffdpPartition.h"

namespace
{

using namespace programtest;

/** Files of a pair of images that are not on one grid, and a result of their registration. */
struct Example
{
  Folder                   folder;
  Image::Pointer           fixed, moving;
  RegisterOptions          options;
  ffdp::RegistrationResult whole;

  explicit Example(const std::string & name)
    : folder(name)
    , fixed(MakeImage(1.5, 0.1, 1))
    , moving(MakeImage(0, -0.2, 0))
  {
    Write(fixed, folder / "fixed.nii");
    Write(moving, folder / "moving.nii.gz");
    Write(programtest::MakeField(fixed.GetPointer(), 2), folder / "start.nii.gz");
    options.output = folder / "out_";
    const ffdp::Extent size = ExtentOf(fixed);
    whole.affine.offset[1] = 1.7;
    whole.affine.matrix[1] = 0.1;
    whole.affine.matrix[5] = -0.2;
    whole.hasWarp = true;
    whole.warpSize = size;
    whole.warp = MakeSmoothWarp(size, 2.5);
    whole.inverseWarp = MakeSmoothWarp(size, -2.5);
    whole.warpPlanes = { 0, size.z };
  }

  static std::vector<float>
  MakeSmoothWarp(const ffdp::Extent & size, double height)
  {
    std::vector<float> warp;
    for (std::int64_t i = 0; i < 3 * size.Voxels(); ++i)
    {
      const std::int64_t x = i % size.x, y = i / size.x % size.y, z = i / (size.x * size.y) % size.z;
      warp.push_back(float(height * std::sin(0.2 * double(x + y)) * std::cos(0.15 * double(z) + double(i) * 1e-5)));
    }
    return warp;
  }

  std::vector<ImageNames>
  Names() const
  {
    return { { folder / "fixed.nii", folder / "moving.nii.gz" } };
  }

  /** What a rank has of the result. */
  ffdp::RegistrationResult
  ResultOf(const ffdp::Communicator & communicator) const
  {
    ffdp::RegistrationResult own = whole;
    own.warpPlanes = ffdp::Partition(whole.warpSize.z, communicator.Size()).Owned(communicator.Rank());
    own.warp = TakeOwnPlanes(whole.warp, whole.warpSize, own.warpPlanes);
    own.inverseWarp = TakeOwnPlanes(whole.inverseWarp, whole.warpSize, own.warpPlanes);
    return own;
  }
};

/** Expects the same start on any number of ranks; returns it as a whole. */
std::pair<ffdp::AffineMap, std::vector<float>>
ReadStartOnRanks(const Example & example)
{
  const ffdp::Extent size = ExtentOf(example.fixed);
  const auto         plane = std::size_t(size.x * size.y);
  ffdp::AffineMap    alone;
  std::vector<float> aloneWarp;
  for (const int ranks : RankCounts)
  {
    std::vector<float> warp(3 * plane * std::size_t(size.z));
    ffdp::test::RunRanks(ranks, [&](ffdp::Communicator & communicator) {
      const auto inputs = ReadRegisterInputs(example.options, example.Names(), communicator);
      if (ranks == 1)
      {
        alone = inputs.start.affine;
      }
      EXPECT_EQ(std::memcmp(inputs.start.affine.matrix, alone.matrix, sizeof(alone.matrix)), 0) << ranks;
      EXPECT_EQ(std::memcmp(inputs.start.affine.offset, alone.offset, sizeof(alone.offset)), 0) << ranks;
      const auto & view = inputs.start.warp;
      ASSERT_TRUE(bool(view));
      for (int c = 0; c < 3 && view.planes > 0; ++c)
      {
        std::memcpy(warp.data() + (std::size_t(c) * std::size_t(size.z) + std::size_t(view.firstPlane)) * plane,
                    view.component[c],
                    std::size_t(view.planes) * plane * sizeof(float));
      }
    });
    aloneWarp = ranks == 1 ? warp : aloneWarp;
    EXPECT_EQ(warp, aloneWarp) << ranks;
  }
  return { alone, aloneWarp };
}

} // namespace

TEST(RegisterRanks, StartIsTheSameForAnyNumberOfRanks)
{
  Example example("ranks-start");
  example.options.start = { example.folder / "start.nii.gz", "[1]" };
  EXPECT_NE(ReadStartOnRanks(example).first.offset[0], 0); // the organs are not in the same place
}

TEST(RegisterRanks, CompositesGiveTheStartThatTheirPartsGive)
{
  Example example("ranks-composite-start");
  WriteTransform(MakeAffine(0.1), example.folder / "a.mat");
  auto composite = Composite::New(); // applies what was added last first
  composite->AddTransform(MakeAffine(0.1));
  composite->AddTransform(ReadFieldTransform(example.folder / "start.nii.gz"));
  WriteTransform(composite, example.folder / "both.h5");
  example.options.start = { example.folder / "start.nii.gz", example.folder / "a.mat" };
  const auto parts = ReadStartOnRanks(example);
  example.options.start = { example.folder / "both.h5" };
  const auto both = ReadStartOnRanks(example);
  for (std::size_t i = 0; i < 9; ++i)
  {
    EXPECT_NEAR(both.first.matrix[i], parts.first.matrix[i], 1e-12);
  }
  double largest = 0, largestDifference = 0;
  for (std::size_t i = 0; i < parts.second.size(); ++i)
  {
    largest = std::max(largest, double(std::abs(parts.second[i])));
    largestDifference = std::max(largestDifference, double(std::abs(both.second[i] - parts.second[i])));
  }
  EXPECT_GT(largest, 1);
  EXPECT_LT(largestDifference, 1e-4); // a NIfTI file keeps places as floats
}

TEST(RegisterRanks, OutputsAreTheSameForAnyNumberOfRanks)
{
  Example                        example("ranks-outputs");
  const std::vector<std::string> names = { "0GenericAffine.mat", "1Warp.nii.gz",         "1InverseWarp.nii.gz",
                                           "Warped.nii.gz",      "InverseWarped.nii.gz", "Composite.h5",
                                           "InverseComposite.h5" };
  std::vector<std::string>       alone;
  example.options.composite = true;
  for (const int ranks : RankCounts)
  {
    ffdp::test::RunRanks(ranks, [&](ffdp::Communicator & communicator) {
      const auto inputs = ReadRegisterInputs(example.options, example.Names(), communicator);
      auto       result = example.ResultOf(communicator);
      WriteRegistration(example.options, result, inputs, *ffdp::MakeCpuBackend(1), communicator);
    });
    for (std::size_t i = 0; i < names.size(); ++i)
    {
      const std::string bytes = ReadText(example.options.output + names[i]);
      ASSERT_FALSE(bytes.empty()) << names[i];
      if (ranks == 1)
      {
        alone.push_back(bytes);
      }
      EXPECT_TRUE(bytes == alone[i]) << names[i] << " " << ranks;
    }
  }
}

TEST(RegisterRanks, WarpedImagesAreThoseOfResampling)
{
  const Example           example("ranks-warped");
  const ffdp::PlacedImage fixed = PlaceImage(example.fixed), moving = PlaceImage(example.moving);
  const auto              self = ffdp::MakeSelfCommunicator();
  const auto              backend = ffdp::MakeCpuBackend(1);
  auto                    expected = MakeOwnPlanes<Image>(example.moving, *self);
  ffdp::WarpChain         chain;
  chain.start =
    Compose(fixed.indexToPhysical.Inverse(), Compose(example.whole.affine.Inverse(), moving.indexToPhysical));
  chain.steps.emplace_back();
  chain.steps[0].warp = OwnWarp(example.whole.inverseWarp, example.whole);
  ffdp::ResampleChain(
    fixed.voxels, ffdp::LinearPart(chain), chain, ffdp::PixelView(expected->GetBufferPointer(), moving.voxels.domain));
  const auto warped = WarpFixed(example.whole, example.fixed, example.moving, *backend, *self);
  double     largest = 0;
  int        outside = 0; // which side of the border a point is on may differ by rounding
  for (itk::SizeValueType i = 0; i < expected->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    const double a = expected->GetBufferPointer()[i], b = warped->GetBufferPointer()[i];
    largest = std::max(largest, std::abs(a - b));
    outside += b == 0 ? 1 : 0;
  }
  EXPECT_LT(largest, 0.01); // of 140: coordinates are known to 1e-6 voxels, or 1e-5 where displacements are large
  EXPECT_LT(outside, 44 * 40 * 30 * 9 / 10);
}

TEST(RegisterRanks, TheReportIsTheSameForAnyNumberOfRanks)
{
  Example                            example("ranks-report");
  StageList                          list;
  const std::vector<IterationRecord> iterations;
  std::string                        alone;
  list.pairs = example.Names();
  example.options.start = { example.folder / "start.nii.gz" };
  for (const int ranks : RankCounts)
  {
    std::string page;
    ffdp::test::RunRanks(ranks, [&](ffdp::Communicator & communicator) {
      const auto               inputs = ReadRegisterInputs(example.options, list.pairs, communicator);
      const auto               result = example.ResultOf(communicator);
      const RegistrationReport report(inputs, result, communicator);
      if (communicator.Rank() == 0)
      {
        page = report.MakePage(ReportFacts{ list, result, iterations, 1, 2, 3, 4, 1 });
      }
    });
    alone = ranks == 1 ? page : alone;
    EXPECT_TRUE(page == alone) << ranks;
  }
  EXPECT_NE(alone.find("Jacobian determinant"), std::string::npos);
}
