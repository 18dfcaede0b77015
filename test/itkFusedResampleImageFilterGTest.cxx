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
#include "itkFusedResampleImageFilter.h"

#include "ffdpTestSupport.h"
#include "itkFFDPResampleTestSupport.h"

#include "itkRGBPixel.h"
#include "itkVectorImage.h"

#include <gtest/gtest.h>

using namespace ffdp::test;

namespace
{

/** Both filters, one after the other, on every kind of transform, two geometries and both interpolators.
 * TReal: the output type with components of double, to know what ITK has before it casts. */
template <typename TInput, typename TOutput, typename TReal>
void
ExpectParity(typename TOutput::PixelType outside, unsigned int components = 1)
{
  constexpr unsigned int D = TInput::ImageDimension;
  using ComponentType = typename Components<TOutput>::ComponentType;
  const GridSpec specs[2][2] = { { { 21, 0, 1.0, 0, 0, false }, { 19, 0, 1.1, 0, 0.3, false } },
                                 { { 21, 4, 0.93, 0.3, 5, true }, { 23, -6, 0.81, -0.2, 4.2, true } } };
  for (const auto & geometry : specs)
  {
    auto       input = MakeImage<TInput>(geometry[1], components);
    const auto grid = MakeImage<itk::Image<char, D>>(geometry[0]);
    Components<TInput>::FillRandom(input, 11);
    const auto transforms = Transforms<D>(geometry[0]);
    for (std::size_t kind = 0; kind < transforms.size(); ++kind)
    {
      for (const bool nearest : { false, true })
      {
        SCOPED_TRACE(testing::Message() << "transform " << kind << (nearest ? ", nearest" : ", linear"));
        using FusedType = itk::FusedResampleImageFilter<TInput, TOutput>;
        const auto fused = FusedType::New();
        Configure(fused.GetPointer(), input.GetPointer(), grid.GetPointer(), transforms[kind].GetPointer(), nearest);
        fused->SetDefaultPixelValue(outside);
        fused->Update();
        EXPECT_TRUE(fused->GetUsedFastPath()) << fused->GetFallbackReason();
        const auto reference = itk::ResampleImageFilter<TInput, TOutput>::New();
        Configure(
          reference.GetPointer(), input.GetPointer(), grid.GetPointer(), transforms[kind].GetPointer(), nearest);
        reference->SetDefaultPixelValue(outside);
        reference->Update();
        const auto exact = itk::ResampleImageFilter<TInput, TReal>::New();
        Configure(exact.GetPointer(), input.GetPointer(), grid.GetPointer(), transforms[kind].GetPointer(), nearest);
        exact->Update();

        const auto ours = Components<TOutput>::Of(fused->GetOutput());
        const auto theirs = Components<TOutput>::Of(reference->GetOutput());
        const auto real = Components<TReal>::Of(exact->GetOutput());
        ASSERT_EQ(ours.size(), theirs.size());
        std::size_t differ = 0, notWhole = 0, far = 0;
        for (std::size_t i = 0; i < ours.size(); ++i)
        {
          differ += ours[i] != theirs[i];
          if (std::is_integral<ComponentType>::value)
          {
            // off by one only where ITK's own value is within rounding of a whole number
            notWhole += ours[i] != theirs[i] && std::abs(real[i] - std::round(real[i])) > 1e-9;
            far += std::abs(double(ours[i]) - double(theirs[i])) > 1;
          }
          else
          {
            // values differ by up to 200 within a voxel; a coordinate by 3 x 2^-23 (2 + 5 voxels) in float; results are
            // rounded to float up to six times
            const double tolerance =
              std::is_same<ComponentType, float>::value ? 3 * 200 * 1.2e-7 * 7 + 6 * 6e-8 * 100 : 1e-9;
            far += !(std::abs(double(ours[i]) - double(theirs[i])) <= tolerance);
          }
        }
        EXPECT_EQ(notWhole, 0u);
        EXPECT_EQ(far, 0u);
        if (std::is_integral<ComponentType>::value || nearest)
        {
          EXPECT_LE(differ, ours.size() / 100);
        }
      }
    }
  }
}

} // namespace

TEST(FusedResampleImageFilter, ParityOfFloats3D)
{
  ExpectParity<itk::Image<float, 3>, itk::Image<float, 3>, itk::Image<double, 3>>(-7.5f);
}

TEST(FusedResampleImageFilter, ParityOfFloats2D)
{
  ExpectParity<itk::Image<float, 2>, itk::Image<float, 2>, itk::Image<double, 2>>(-7.5f);
}

TEST(FusedResampleImageFilter, ParityOfIntegers)
{
  ExpectParity<itk::Image<short, 3>, itk::Image<short, 3>, itk::Image<double, 3>>(-3);
  ExpectParity<itk::Image<short, 2>, itk::Image<unsigned char, 2>, itk::Image<double, 2>>(200); // cut to the range
}

TEST(FusedResampleImageFilter, ParityOfDoubles)
{
  ExpectParity<itk::Image<double, 3>, itk::Image<double, 3>, itk::Image<double, 3>>(1e300);
}

TEST(FusedResampleImageFilter, ParityOfVectors)
{
  using VectorType = itk::Vector<float, 3>;
  using CovariantType = itk::CovariantVector<double, 2>;
  const double values[] = { 1, 2, 3 };
  ExpectParity<itk::Image<VectorType, 3>, itk::Image<VectorType, 3>, itk::Image<itk::Vector<double, 3>, 3>>(
    VectorType(5.f));
  ExpectParity<itk::Image<CovariantType, 2>, itk::Image<CovariantType, 2>, itk::Image<CovariantType, 2>>(
    CovariantType(values));
}

TEST(FusedResampleImageFilter, ParityOfColors)
{
  using ColorType = itk::RGBPixel<unsigned char>;
  ColorType outside;
  outside.Set(1, 2, 3);
  ExpectParity<itk::Image<ColorType, 2>, itk::Image<ColorType, 2>, itk::Image<itk::RGBPixel<double>, 2>>(outside);
}

TEST(FusedResampleImageFilter, ParityOfVectorImages)
{
  using ImageType = itk::VectorImage<short, 3>;
  ImageType::PixelType outside(4);
  outside.Fill(9);
  outside[3] = -9;
  ExpectParity<ImageType, ImageType, itk::VectorImage<double, 3>>(outside, 4);
  ExpectParity<ImageType, ImageType, itk::VectorImage<double, 3>>(ImageType::PixelType(), 2); // no default value
}

TEST(FusedResampleImageFilter, OwnGridGivesBackThePixels)
{
  using ImageType = itk::Image<short, 3>;
  auto image = MakeImage<ImageType>({ 30, 7, 0.7, 0.35, 31, true });
  Components<ImageType>::FillRandom(image, 5);
  const auto filter = itk::FusedResampleImageFilter<ImageType, ImageType>::New();
  filter->SetInput(image);
  filter->SetReferenceImage(image);
  filter->UseReferenceImageOn();
  filter->Update();
  EXPECT_TRUE(filter->GetUsedFastPath());
  EXPECT_TRUE(filter->GetOutput()->GetLargestPossibleRegion() == image->GetLargestPossibleRegion());
  EXPECT_TRUE(SameBytes(Components<ImageType>::Of(image), Components<ImageType>::Of(filter->GetOutput())));
}

TEST(FusedResampleImageFilter, NothingInside)
{
  using ImageType = itk::Image<float, 3>;
  auto image = MakeImage<ImageType>({ 12, 0, 1, 0, 0, false });
  Components<ImageType>::FillRandom(image, 5);
  const auto translation = itk::TranslationTransform<double, 3>::New();
  auto       far = translation->GetOffset();
  far.Fill(1000);
  translation->SetOffset(far);
  const auto filter = itk::FusedResampleImageFilter<ImageType, ImageType>::New();
  Configure(filter.GetPointer(), image.GetPointer(), image.GetPointer(), translation.GetPointer(), false);
  filter->SetDefaultPixelValue(4);
  filter->Update();
  EXPECT_TRUE(filter->GetUsedFastPath());
  for (const float v : Components<ImageType>::Of(filter->GetOutput()))
  {
    EXPECT_EQ(v, 4);
  }
}

TEST(FusedResampleImageFilter, SameBytesForAnyNumberOfThreads)
{
  using ImageType = itk::Image<float, 3>;
  const GridSpec spec{ 41, 4, 0.93, 0.3, 5, true };
  auto           image = MakeImage<ImageType>(spec);
  Components<ImageType>::FillRandom(image, 5);
  for (const auto & transform : Transforms<3>(spec))
  {
    std::vector<float> first;
    for (const unsigned int threads : ThreadCounts())
    {
      const auto filter = itk::FusedResampleImageFilter<ImageType, ImageType>::New();
      Configure(filter.GetPointer(), image.GetPointer(), image.GetPointer(), transform.GetPointer(), false);
      filter->SetNumberOfWorkUnits(threads);
      filter->Update();
      const auto result = Components<ImageType>::Of(filter->GetOutput());
      first = first.empty() ? result : first;
      EXPECT_TRUE(SameBytes(first, result)) << threads;
    }
  }
}
