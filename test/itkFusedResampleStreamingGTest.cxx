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
#include "itkFFDPTestGeometry.h"

#include "itkAffineTransform.h"
#include "itkBSplineInterpolateImageFunction.h"
#include "itkBSplineTransform.h"
#include "itkCommand.h"
#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkImageRegionSplitterMultidimensional.h"
#include "itkNearestNeighborExtrapolateImageFunction.h"
#include "itkStreamingImageFilter.h"

#include <gtest/gtest.h>

#include <functional>
#include <sstream>

using namespace ffdp::test;

namespace
{

using ImageType = itk::Image<float, 3>;
using RegionType = ImageType::RegionType;
using TransformType = itk::Transform<double, 3, 3>;
using FilterType = itk::FusedResampleImageFilter<ImageType, ImageType>;

const GridSpec inputSpec{ 48, -6, 0.81, -0.2, 4.2, true };
const GridSpec outputSpec{ 45, 4, 0.87, -0.1, 5, true };

/** Makes an image piece by piece, as it is asked for, and remembers what it was asked for. */
class RecordingSource : public itk::ImageSource<ImageType>
{
public:
  using Self = RecordingSource;
  using Superclass = itk::ImageSource<ImageType>;
  using Pointer = itk::SmartPointer<Self>;
  itkNewMacro(Self);

  std::vector<RegionType> regions;
  bool                    deliversLess = false;

  double
  LargestFraction() const
  {
    double largest = 0;
    for (const RegionType & region : regions)
    {
      largest = std::max(largest, double(region.GetNumberOfPixels()));
    }
    return largest / double(m_Model->GetLargestPossibleRegion().GetNumberOfPixels());
  }

protected:
  void
  GenerateOutputInformation() override
  {
    this->GetOutput()->CopyInformation(m_Model);
  }
  void
  GenerateData() override
  {
    RegionType region = this->GetOutput()->GetRequestedRegion();
    regions.push_back(region);
    if (deliversLess)
    {
      region.ShrinkByRadius(5);
    }
    this->GetOutput()->SetBufferedRegion(region);
    this->GetOutput()->Allocate();
    for (itk::ImageRegionIteratorWithIndex<ImageType> it(this->GetOutput(), region); !it.IsAtEnd(); ++it)
    {
      const auto i = it.GetIndex();
      it.Set(float((i[0] * 7919 + i[1] * 104729 + i[2] * 1299709) % 1009)); // rough, and a function of the index only
    }
  }

private:
  const ImageType::Pointer m_Model = MakeImage<ImageType>(inputSpec);
};

TransformType::Pointer
Affine()
{
  auto affine = itk::AffineTransform<double, 3>::New();
  auto matrix = affine->GetMatrix();
  matrix[0][1] = 0.031;
  matrix[2][0] = -0.027;
  affine->SetMatrix(matrix);
  return affine.GetPointer();
}

TransformType::Pointer
Field(const GridSpec & spec, double amplitude)
{
  auto field = MakeImage<itk::Image<itk::Vector<double, 3>, 3>>(spec);
  FillField(field.GetPointer(), amplitude, 8);
  auto transform = itk::DisplacementFieldTransform<double, 3>::New();
  transform->SetDisplacementField(field);
  return transform.GetPointer();
}

TransformType::Pointer
Composite(TransformType * last, TransformType * first)
{
  auto composite = itk::CompositeTransform<double, 3>::New();
  composite->AddTransform(last);
  composite->AddTransform(first);
  return composite.GetPointer();
}

std::vector<float>
Pixels(const ImageType * image)
{
  return { image->GetBufferPointer(), image->GetBufferPointer() + image->GetBufferedRegion().GetNumberOfPixels() };
}

template <typename TFilter>
void
Configure(TFilter * filter, const TransformType * transform)
{
  filter->SetTransform(transform);
  filter->SetOutputParametersFromImage(MakeImage<ImageType>(outputSpec));
  filter->SetDefaultPixelValue(-1);
}

/** An image in memory. */
ImageType::Pointer
Input()
{
  const auto source = RecordingSource::New();
  source->Update();
  ImageType::Pointer image = source->GetOutput();
  image->DisconnectPipeline();
  return image;
}

} // namespace

TEST(FusedResampleStreaming, AsksForWhatItReachesAndGivesTheSameBytes)
{
  GridSpec other = outputSpec;
  other.spacing *= 1.3;
  for (const TransformType::Pointer & transform : { Affine(),
                                                    Field(outputSpec, 1.0),
                                                    Composite(Affine(), Field(outputSpec, 1.0)),
                                                    Composite(Field(other, 0.5), Affine()) })
  {
    const auto whole = FilterType::New();
    Configure(whole.GetPointer(), transform);
    whole->SetInput(Input());
    whole->Update();
    const auto expected = Pixels(whole->GetOutput());
    EXPECT_GT(std::count_if(expected.begin(), expected.end(), [](float v) { return v > 0; }), 20000);

    for (const bool cutAllAxes : { false, true })
    {
      const auto source = RecordingSource::New();
      const auto filter = FilterType::New();
      Configure(filter.GetPointer(), transform);
      filter->SetInput(source->GetOutput());
      const auto streamer = itk::StreamingImageFilter<ImageType, ImageType>::New();
      streamer->SetInput(filter->GetOutput());
      streamer->SetNumberOfStreamDivisions(8);
      if (cutAllAxes)
      {
        streamer->SetRegionSplitter(itk::ImageRegionSplitterMultidimensional::New());
      }
      streamer->Update();
      EXPECT_TRUE(filter->GetUsedFastPath()) << filter->GetFallbackReason();
      EXPECT_TRUE(SameBytes(expected, Pixels(streamer->GetOutput())));
      EXPECT_GE(source->regions.size(), 5u); // a piece may need no more than the one before it
      // an eighth, and what obliqueness, displacements and interpolation add
      EXPECT_LT(source->LargestFraction(), 0.5);
    }
  }
}

TEST(FusedResampleStreaming, AsksForOnePixelIfItReachesNothing)
{
  auto far = itk::AffineTransform<double, 3>::New();
  auto offset = far->GetOffset();
  offset.Fill(1e6);
  far->SetOffset(offset);
  const auto source = RecordingSource::New();
  const auto filter = FilterType::New();
  Configure(filter.GetPointer(), far.GetPointer());
  filter->SetInput(source->GetOutput());
  filter->Update();
  ASSERT_EQ(source->regions.size(), 1u);
  EXPECT_EQ(source->regions[0].GetNumberOfPixels(), 1u);
  for (const float v : Pixels(filter->GetOutput()))
  {
    ASSERT_EQ(v, -1);
  }
}

TEST(FusedResampleStreaming, FilterUpstreamThatDeliversLess)
{
  // ITK takes the part for the whole, and so do we, by its own code
  const auto source = RecordingSource::New();
  source->deliversLess = true;
  const auto filter = FilterType::New();
  Configure(filter.GetPointer(), Field(outputSpec, 1.0));
  filter->SetInput(source->GetOutput());
  filter->Update();
  EXPECT_FALSE(filter->GetUsedFastPath());
  EXPECT_NE(filter->GetFallbackReason().find("does not hold"), std::string::npos);
}

TEST(FusedResampleFallback, EverythingElseIsDoneByTheSuperclass)
{
  const auto image = Input();
  const auto expectSame = [&](const std::function<void(itk::ResampleImageFilter<ImageType, ImageType> *)> & change,
                              const std::string &                                                           reason) {
    const auto filter = FilterType::New();
    const auto reference = itk::ResampleImageFilter<ImageType, ImageType>::New();
    for (itk::ResampleImageFilter<ImageType, ImageType> * each :
         { static_cast<itk::ResampleImageFilter<ImageType, ImageType> *>(filter.GetPointer()), reference.GetPointer() })
    {
      Configure(each, Affine());
      each->SetInput(image);
      change(each);
    }
    reference->Update();
    testing::internal::CaptureStderr();
    filter->Update();
    filter->Modified();
    filter->Update();
    const std::string warnings = testing::internal::GetCapturedStderr();
    EXPECT_FALSE(filter->GetUsedFastPath());
    EXPECT_NE(filter->GetFallbackReason().find(reason), std::string::npos) << filter->GetFallbackReason();
    const auto first = warnings.find("fast path is not taken"); // once per object, with the reason
    EXPECT_NE(first, std::string::npos);
    EXPECT_EQ(warnings.find("fast path is not taken", first + 1), std::string::npos);
    EXPECT_NE(warnings.find(reason), std::string::npos);
    EXPECT_TRUE(SameBytes(Pixels(filter->GetOutput()), Pixels(reference->GetOutput())));
    // and back
    filter->SetTransform(Affine());
    filter->SetExtrapolator(nullptr);
    filter->SetInterpolator(itk::LinearInterpolateImageFunction<ImageType, double>::New());
    filter->Update();
    EXPECT_TRUE(filter->GetUsedFastPath());
    EXPECT_TRUE(filter->GetFallbackReason().empty());
  };
  using BaseType = itk::ResampleImageFilter<ImageType, ImageType>;
  expectSame([](BaseType * filter) { filter->SetTransform(itk::BSplineTransform<double, 3, 3>::New()); },
             "BSplineTransform");
  expectSame(
    [](BaseType * filter) { filter->SetInterpolator(itk::BSplineInterpolateImageFunction<ImageType, double>::New()); },
    "BSplineInterpolateImageFunction");
  expectSame(
    [](BaseType * filter) {
      filter->SetExtrapolator(itk::NearestNeighborExtrapolateImageFunction<ImageType, double>::New());
    },
    "extrapolator");
}

TEST(FusedResampleFallback, ImagesThatAreNotTwoOrThreeDimensional)
{
  using LineType = itk::Image<float, 1>;
  auto line = LineType::New();
  line->SetRegions(itk::Size<1>{ { 9 } });
  line->Allocate();
  line->FillBuffer(2);
  const auto filter = itk::FusedResampleImageFilter<LineType, LineType>::New();
  filter->SetInput(line);
  filter->SetOutputParametersFromImage(line);
  filter->Update();
  EXPECT_FALSE(filter->GetUsedFastPath());
  EXPECT_EQ(filter->GetOutput()->GetPixel({ { 4 } }), 2);
}

TEST(FusedResampleManners, BadInputIsAnItkException)
{
  const auto noInput = FilterType::New();
  Configure(noInput.GetPointer(), Affine());
  EXPECT_THROW(noInput->Update(), itk::ExceptionObject);
  const auto noInterpolator = FilterType::New();
  Configure(noInterpolator.GetPointer(), Affine());
  noInterpolator->SetInput(Input());
  noInterpolator->SetInterpolator(nullptr);
  EXPECT_THROW(noInterpolator->Update(), itk::ExceptionObject);
  const auto notFinite = FilterType::New(); // a matrix that is not a number
  auto       affine = itk::AffineTransform<double, 3>::New();
  auto       offset = affine->GetOffset();
  offset[1] = std::numeric_limits<double>::quiet_NaN();
  affine->SetOffset(offset);
  Configure(notFinite.GetPointer(), affine.GetPointer());
  notFinite->SetInput(Input());
  EXPECT_THROW(notFinite->Update(), itk::ExceptionObject);
  const auto noSize = FilterType::New(); // a reference image that is not used, and no size
  noSize->SetInput(Input());
  noSize->SetReferenceImage(Input());
  EXPECT_THROW(noSize->Update(), itk::ExceptionObject);
}

TEST(FusedResampleManners, ProgressAndAbort)
{
  const auto filter = FilterType::New();
  Configure(filter.GetPointer(), Affine());
  filter->SetSize({ { 128, 128, 64 } });
  filter->SetInput(Input());
  std::vector<float> progress;
  bool               abort = false;
  const auto         command = itk::CStyleCommand::New();
  struct Data
  {
    std::vector<float> & progress;
    bool &               abort;
  } data{ progress, abort };
  command->SetClientData(&data);
  command->SetCallback([](itk::Object * object, const itk::EventObject &, void * client) {
    auto * const process = static_cast<itk::ProcessObject *>(object);
    auto &       seen = *static_cast<Data *>(client);
    seen.progress.push_back(process->GetProgress());
    process->SetAbortGenerateData(seen.abort && process->GetProgress() > 0);
  });
  filter->AddObserver(itk::ProgressEvent(), command);
  filter->Update();
  EXPECT_GE(progress.size(), 4u);
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
  EXPECT_EQ(progress.back(), 1.0f);
  abort = true;
  filter->Modified();
  EXPECT_THROW(filter->Update(), itk::ProcessAborted);
  abort = false;
  filter->SetAbortGenerateData(false);
  EXPECT_NO_THROW(filter->Update());
}

TEST(FusedResampleManners, PrintsItsMembers)
{
  const auto filter = FilterType::New();
  EXPECT_STREQ(filter->GetNameOfClass(), "FusedResampleImageFilter");
  EXPECT_FALSE(filter->GetUsedFastPath());
  std::ostringstream text;
  filter->Print(text);
  for (const char * const name : { "UsedFastPath", "FallbackReason", "HasWarned", "DefaultPixelValue" })
  {
    EXPECT_NE(text.str().find(name), std::string::npos) << name;
  }
}
