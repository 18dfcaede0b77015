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

#include "ffdpCudaBackendDevice.h"
#include "ffdpCudaHost.h"
#include "ffdpTestSupport.h"
#include "itkFFDPResampleTestSupport.h"

#include "itkBSplineInterpolateImageFunction.h"
#include "itkImageRegionSplitterMultidimensional.h"
#include "itkRGBPixel.h"
#include "itkShiftScaleImageFilter.h"
#include "itkStreamingImageFilter.h"
#include "itkVectorImage.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

/** The resampling filter on the device against the same class on the processor. */
using namespace ffdp::test;

namespace
{

using ImageType = itk::Image<float, 3>;
using FilterType = itk::FusedResampleImageFilter<ImageType, ImageType>;

const GridSpec OutputSpec{ 21, 4, 0.93, 0.3, 5, true };
const GridSpec InputSpec{ 23, -6, 0.81, -0.2, 4.2, true };

/** Bytes that went to devices since this was made. */
class CopiedBytes
{
public:
  std::uint64_t
  ToDevice() const
  {
    return cudahost::BytesCopiedToDevices() - m_Before;
  }

private:
  const std::uint64_t m_Before = cudahost::BytesCopiedToDevices();
};

template <typename TInput>
typename TInput::Pointer
RandomInput(unsigned int components = 1)
{
  auto input = MakeImage<TInput>(InputSpec, components);
  Components<TInput>::FillRandom(input, 11);
  return input;
}

/** Every kind of transform, both interpolators: on the device, and with the bytes of the processor. */
template <typename TInput, typename TOutput>
void
ExpectBytesOfTheProcessor(typename TOutput::PixelType outside, unsigned int components = 1)
{
  constexpr unsigned int D = TInput::ImageDimension;
  using TypeOfFilter = itk::FusedResampleImageFilter<TInput, TOutput>;
  const auto input = RandomInput<TInput>(components);
  const auto grid = MakeImage<itk::Image<char, D>>(OutputSpec);
  const auto transforms = Transforms<D>(OutputSpec);
  for (std::size_t kind = 0; kind < transforms.size(); ++kind)
  {
    for (const bool nearest : { false, true })
    {
      SCOPED_TRACE(testing::Message() << "transform " << kind << (nearest ? ", nearest" : ", linear"));
      const auto run = [&](std::shared_ptr<ffdp::Backend> backend) {
        const auto filter = TypeOfFilter::New();
        Configure(filter.GetPointer(), input.GetPointer(), grid.GetPointer(), transforms[kind].GetPointer(), nearest);
        filter->SetDefaultPixelValue(outside);
        filter->SetBackend(backend);
        filter->Update();
        EXPECT_TRUE(filter->GetUsedFastPath()) << filter->GetFallbackReason();
        EXPECT_EQ(filter->GetUsedDevice(), backend != nullptr);
        EXPECT_EQ(filter->GetDevice(), backend ? "cuda" : "cpu");
        return Components<TOutput>::Of(filter->GetOutput());
      };
      const auto expected = run(nullptr);
      const auto found = run(ffdp::MakeCudaBackend());
      EXPECT_TRUE(SameBytes(found, expected));
      // inside and outside are both there
      const auto background = std::count(expected.begin(), expected.end(), expected.front());
      EXPECT_LT(background, std::ptrdiff_t(expected.size()) * 9 / 10);
    }
  }
}

FilterType::Pointer
MakeFilter(const ImageType *                    input,
           const itk::Transform<double, 3, 3> * transform,
           std::shared_ptr<ffdp::Backend>       device)
{
  auto filter = FilterType::New();
  Configure(filter.GetPointer(), input, MakeImage<ImageType>(OutputSpec).GetPointer(), transform, false);
  filter->SetDefaultPixelValue(-7);
  filter->SetBackend(std::move(device));
  return filter;
}

itk::DisplacementFieldTransform<double, 3>::Pointer
MakeFieldTransform(const GridSpec & spec)
{
  auto field = MakeImage<itk::Image<itk::Vector<double, 3>, 3>>(spec);
  FillField(field.GetPointer(), 1.5, 3);
  auto transform = itk::DisplacementFieldTransform<double, 3>::New();
  transform->SetDisplacementField(field);
  return transform;
}

std::vector<float>
PixelsOnProcessor(const ImageType * input, const itk::Transform<double, 3, 3> * transform)
{
  const auto filter = MakeFilter(input, transform, nullptr);
  filter->Update();
  return Components<ImageType>::Of(filter->GetOutput());
}

/** What an update that is forced brings to the device; its pixels are those of the processor. */
std::uint64_t
BytesOfUpdate(FilterType * filter, const ImageType * input, const itk::Transform<double, 3, 3> * transform)
{
  filter->Modified();
  const CopiedBytes copied;
  filter->Update();
  EXPECT_TRUE(filter->GetUsedDevice());
  EXPECT_TRUE(SameBytes(Components<ImageType>::Of(filter->GetOutput()), PixelsOnProcessor(input, transform)));
  return copied.ToDevice();
}

} // namespace

TEST(CudaResampleFilter, FloatsHaveTheBytesOfTheProcessor)
{
  ExpectBytesOfTheProcessor<ImageType, ImageType>(-7.5f);
}

TEST(CudaResampleFilter, TwoDimensionsHaveTheBytesOfTheProcessor)
{
  ExpectBytesOfTheProcessor<itk::Image<float, 2>, itk::Image<float, 2>>(-7.5f);
  ExpectBytesOfTheProcessor<itk::Image<short, 2>, itk::Image<unsigned char, 2>>(200);
}

TEST(CudaResampleFilter, IntegersAndDoublesHaveTheBytesOfTheProcessor)
{
  ExpectBytesOfTheProcessor<itk::Image<unsigned char, 3>, itk::Image<unsigned char, 3>>(3);
  ExpectBytesOfTheProcessor<itk::Image<double, 3>, itk::Image<double, 3>>(1e300);
  ExpectBytesOfTheProcessor<itk::Image<long, 3>, itk::Image<long, 3>>((1l << 60) + 1); // not a double
}

TEST(CudaResampleFilter, VectorsHaveTheBytesOfTheProcessor)
{
  using VectorType = itk::Vector<float, 3>;
  ExpectBytesOfTheProcessor<itk::Image<VectorType, 3>, itk::Image<VectorType, 3>>(VectorType(5.f));
  using ColorType = itk::RGBPixel<unsigned char>;
  ColorType outside;
  outside.Set(1, 2, 3);
  ExpectBytesOfTheProcessor<itk::Image<ColorType, 2>, itk::Image<ColorType, 2>>(outside);
  using LongPixelType = itk::VectorImage<short, 3>;
  LongPixelType::PixelType values(4);
  values.Fill(9);
  values[3] = -9;
  ExpectBytesOfTheProcessor<LongPixelType, LongPixelType>(values, 4);
}

TEST(CudaResampleFilter, StreamsWithTheSameBytes)
{
  // A filter upstream delivers as much of the input as each piece of the output asks for.
  const auto input = RandomInput<ImageType>();
  for (const auto & transform : Transforms<3>(OutputSpec))
  {
    const auto shift = itk::ShiftScaleImageFilter<ImageType, ImageType>::New();
    shift->SetInput(input);
    shift->SetScale(1);
    shift->Update();
    const auto expected = PixelsOnProcessor(shift->GetOutput(), transform);
    for (const bool cutAllAxes : { false, true })
    {
      const auto filter = MakeFilter(shift->GetOutput(), transform, ffdp::MakeCudaBackend());
      const auto streamer = itk::StreamingImageFilter<ImageType, ImageType>::New();
      streamer->SetInput(filter->GetOutput());
      streamer->SetNumberOfStreamDivisions(8);
      if (cutAllAxes)
      {
        streamer->SetRegionSplitter(itk::ImageRegionSplitterMultidimensional::New());
      }
      shift->Modified(); // to be asked anew, for parts
      streamer->Update();
      EXPECT_TRUE(filter->GetUsedDevice());
      EXPECT_TRUE(SameBytes(expected, Components<ImageType>::Of(streamer->GetOutput())));
    }
  }
}

TEST(CudaResampleFilter, InputAndFieldsStayOnTheDevice)
{
  const auto input = RandomInput<ImageType>();
  GridSpec   other = OutputSpec;
  other.spacing *= 1.37;
  const std::uint64_t inputBytes = sizeof(float) * input->GetBufferedRegion().GetNumberOfPixels();
  for (const GridSpec & spec : { OutputSpec, other }) // on the grid of the output, and a chain
  {
    const auto          transform = MakeFieldTransform(spec);
    auto * const        field = transform->GetModifiableDisplacementField();
    const std::uint64_t fieldBytes = sizeof(double) * 3 * field->GetBufferedRegion().GetNumberOfPixels();
    const auto          filter = MakeFilter(input, transform, ffdp::MakeCudaBackend());
    const auto          update = [&] { return BytesOfUpdate(filter.GetPointer(), input, transform); };

    const std::uint64_t first = update();
    const std::uint64_t second = update();
    EXPECT_EQ(first - second, inputBytes + fieldBytes);
    EXPECT_LT(second, 1000u); // the pixel outside, and what lists the fields

    input->GetBufferPointer()[1234] += 100;
    input->Modified();
    EXPECT_EQ(update(), second + inputBytes);
    EXPECT_EQ(update(), second);

    field->GetBufferPointer()[1234][1] += 1;
    field->Modified();
    EXPECT_EQ(update(), second + fieldBytes);

    // as an optimizer does, which modifies the transform only
    using DerivativeType = itk::DisplacementFieldTransform<double, 3>::DerivativeType;
    DerivativeType step(transform->GetNumberOfParameters());
    step.Fill(0.25);
    transform->UpdateTransformParameters(step, 1);
    EXPECT_EQ(update(), second + fieldBytes);
    EXPECT_EQ(update(), second);
  }
}

TEST(CudaResampleFilter, WhatIsNotUsedAnyMoreLeavesTheDevice)
{
  const auto        input = RandomInput<ImageType>();
  const auto        transform = MakeFieldTransform(OutputSpec);
  const std::size_t before = cudahost::LiveDeviceBytes();
  {
    const auto filter = MakeFilter(input, transform, ffdp::MakeCudaBackend());
    filter->Update();
    const std::size_t inputBytes = sizeof(float) * input->GetBufferedRegion().GetNumberOfPixels();
    EXPECT_GT(cudahost::LiveDeviceBytes(), before + inputBytes);
    filter->SetTransform(itk::TranslationTransform<double, 3>::New());
    filter->Update();
    EXPECT_EQ(cudahost::LiveDeviceBytes(), before + inputBytes);
    filter->SetInput(RandomInput<ImageType>());
    filter->Update();
    EXPECT_EQ(cudahost::LiveDeviceBytes(), before + inputBytes);
  }
  EXPECT_EQ(cudahost::LiveDeviceBytes(), before);
}

TEST(CudaResampleFilter, APlaneThatIsLargerThanAPieceIsCut)
{
  using ByteImageType = itk::Image<unsigned char, 3>;
  const auto                 input = RandomInput<ByteImageType>();
  const std::uint64_t        inputBytes = input->GetBufferedRegion().GetNumberOfPixels();
  std::vector<unsigned char> results[2];
  for (const bool onDevice : { false, true })
  {
    const auto                           filter = itk::FusedResampleImageFilter<ByteImageType, ByteImageType>::New();
    const std::shared_ptr<ffdp::Backend> backend = onDevice ? ffdp::MakeCudaBackend() : nullptr;
    filter->SetInput(input);
    filter->SetSize({ { 1500, 1400, 1 } }); // more than 2^21
    filter->SetOutputOrigin(input->GetOrigin());
    filter->SetOutputDirection(input->GetDirection());
    filter->SetOutputSpacing(itk::Vector<double, 3>(0.01));
    filter->SetBackend(backend);
    filter->Update();
    results[onDevice] = Components<ByteImageType>::Of(filter->GetOutput());
    if (onDevice)
    {
      EXPECT_TRUE(filter->GetUsedDevice());
      EXPECT_LT(ffdp::cuda::DeviceOf(*backend).PeakBytes(), inputBytes + (std::size_t(3) << 19));
    }
  }
  EXPECT_TRUE(SameBytes(results[1], results[0]));
}

TEST(CudaResampleFilter, SaysWhereTheLastUpdateWas)
{
  const auto input = RandomInput<ImageType>();
  const auto translation = itk::TranslationTransform<double, 3>::New();
  const auto filter = MakeFilter(input, translation, ffdp::MakeCudaBackend());
  EXPECT_FALSE(filter->GetUsedDevice());
  filter->Update();
  EXPECT_TRUE(filter->GetUsedDevice());
  std::ostringstream text;
  filter->Print(text);
  EXPECT_NE(text.str().find("Device: cuda"), std::string::npos);
  EXPECT_NE(text.str().find("UsedDevice: On"), std::string::npos);

  filter->SetInterpolator(itk::BSplineInterpolateImageFunction<ImageType, double>::New());
  const CopiedBytes copied;
  filter->Update();
  EXPECT_FALSE(filter->GetUsedFastPath());
  EXPECT_FALSE(filter->GetUsedDevice()) << "the superclass knows no device";
  EXPECT_NE(filter->GetFallbackReason().find("BSpline"), std::string::npos);
  EXPECT_EQ(copied.ToDevice(), 0u);

  filter->SetInterpolator(itk::LinearInterpolateImageFunction<ImageType, double>::New());
  filter->SetDevice("cpu");
  EXPECT_EQ(filter->GetDevice(), "cpu");
  filter->Update();
  EXPECT_TRUE(filter->GetUsedFastPath());
  EXPECT_FALSE(filter->GetUsedDevice());
}

TEST(CudaResampleFilter, BadDevicesAreRefusedInTheWordsOfTheMetrics)
{
  const auto filter = FilterType::New();
  try
  {
    filter->SetDevice("gpu");
    FAIL() << "is no device";
  }
  catch (const itk::ExceptionObject & error)
  {
    EXPECT_NE(std::string(error.GetDescription()).find("SetDevice: device 'gpu': neither cpu, cuda nor cuda:N"),
              std::string::npos)
      << error.GetDescription();
  }
  EXPECT_EQ(filter->GetDevice(), "cpu");
}

TEST(CudaResampleFilter, ADeviceWithoutRoomIsAnExceptionOfItk)
{
  const auto input = RandomInput<ImageType>();
  const auto translation = itk::TranslationTransform<double, 3>::New();
  const auto filter = MakeFilter(input, translation, ffdp::MakeCudaBackend());
  filter->Update();
  EXPECT_TRUE(filter->GetUsedDevice());
  filter->SetInput(RandomInput<ImageType>());
  const std::size_t held = sizeof(float) * input->GetBufferedRegion().GetNumberOfPixels();
  cudahost::SetMemoryLimit(cudahost::LiveDeviceBytes() - held + 1000); // the input of before makes room
  try
  {
    filter->Update();
    ADD_FAILURE() << "fits";
  }
  catch (const itk::ExceptionObject & error)
  {
    EXPECT_NE(std::string(error.GetDescription()).find("SetDevice(\"cpu\")"), std::string::npos);
  }
  EXPECT_FALSE(filter->GetUsedDevice());
  cudahost::SetMemoryLimit(std::size_t(8) << 30);
  filter->SetInput(input);
  EXPECT_GT(BytesOfUpdate(filter.GetPointer(), input, translation), 1000u);
}
