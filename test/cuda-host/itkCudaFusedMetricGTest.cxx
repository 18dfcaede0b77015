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
#include "itkFusedMattesMutualInformationImageToImageMetricv4.h"
#include "itkFusedMeanSquaresImageToImageMetricv4.h"
#include "itkFusedNeighborhoodCorrelationImageToImageMetricv4.h"

#include "ffdpCudaBackend.h"
#include "ffdpCudaHost.h"
#include "itkFFDPMetricTestSupport.h"

#include "itkNearestNeighborInterpolateImageFunction.h"

#include <functional>
#include <memory>
#include <sstream>

/** The fused metrics on the device against the same classes on the processor. */
using namespace ffdp::test;

namespace
{

using CaseType = MetricCase<3, float>;
using ImageType = CaseType::ImageType;
using MeanSquaresType = itk::FusedMeanSquaresImageToImageMetricv4<ImageType>;
using MattesType = itk::FusedMattesMutualInformationImageToImageMetricv4<ImageType>;
using CorrelationType = itk::FusedNeighborhoodCorrelationImageToImageMetricv4<ImageType>;

constexpr MaskChoice NoMask{ false, false };
constexpr MaskChoice BothMasks{ true, true };

template <typename TMetric, typename TCase>
typename TMetric::Pointer
MakeMetric(const TCase & metricCase, std::shared_ptr<ffdp::Backend> backend)
{
  auto metric = TMetric::New();
  metricCase.Connect(metric.GetPointer());
  metric->SetBackend(std::move(backend)); // null: the processor
  return metric;
}

/** Calls body(case) for linear transforms and displacement fields, with and without masks. */
template <typename TBody>
void
ForEachCase(const TBody & body)
{
  for (const Geometry geometry : { Geometry::Plain, Geometry::Different })
  {
    for (const TransformKind kind : { TransformKind::Affine,
                                      TransformKind::LinearComposite,
                                      TransformKind::Field,
                                      TransformKind::AffineAfterField,
                                      TransformKind::FieldsOnBothSides })
    {
      for (const MaskChoice & masks : { NoMask, BothMasks })
      {
        std::ostringstream text;
        text << "geometry " << int(geometry) << ", transform " << int(kind) << ", masks " << masks.fixed;
        SCOPED_TRACE(text.str());
        body(CaseType(geometry, kind, masks));
      }
    }
  }
}

template <typename TMetric>
void
ExpectSameBits(const Evaluation<TMetric> & found, const Evaluation<TMetric> & expected)
{
  EXPECT_GT(expected.points, 20u); // the images overlap
  EXPECT_EQ(found.points, expected.points);
  EXPECT_EQ(found.value, expected.value);
  EXPECT_GT(LargestMagnitude(expected.derivative), 0);
  EXPECT_EQ(LargestDifference(found.derivative, expected.derivative), 0);
}

template <typename TMetric, typename TCase>
void
ExpectBitsOfTheProcessor(const TCase & metricCase)
{
  const auto onDevice = MakeMetric<TMetric>(metricCase, ffdp::MakeCudaBackend());
  const auto onProcessor = MakeMetric<TMetric>(metricCase, nullptr);
  onDevice->Initialize();
  onProcessor->Initialize();
  const Evaluation<TMetric> expected(onProcessor.GetPointer());
  ExpectSameBits(Evaluation<TMetric>(onDevice.GetPointer()), expected);
  EXPECT_TRUE(onDevice->GetUsedDevice());
  EXPECT_FALSE(onProcessor->GetUsedDevice());
  EXPECT_EQ(onDevice->GetValue(), expected.value);
}

/** What went to the device and came back since this was made. */
class CopiedBytes
{
public:
  std::uint64_t
  ToDevice() const
  {
    return cudahost::BytesCopiedToDevices() - m_ToDevicesBefore;
  }
  std::uint64_t
  ToHost() const
  {
    return cudahost::BytesCopiedToHost() - m_ToHostBefore;
  }

private:
  const std::uint64_t m_ToDevicesBefore = cudahost::BytesCopiedToDevices();
  const std::uint64_t m_ToHostBefore = cudahost::BytesCopiedToHost();
};

/** What an evaluation with a derivative brings to the device. */
template <typename TMetric>
std::uint64_t
BytesToDevice(const TMetric * metric)
{
  const CopiedBytes         copied;
  const Evaluation<TMetric> evaluation(metric);
  EXPECT_TRUE(metric->GetUsedDevice());
  return copied.ToDevice();
}

/** On a device an image is of floats, and so is a mask. */
template <typename TImage>
std::uint64_t
BytesOnDevice(const TImage * image)
{
  return sizeof(float) * image->GetBufferedRegion().GetNumberOfPixels();
}

void
ChangePixels(ImageType * image)
{
  float * const first = image->GetBufferPointer();
  const auto    count = image->GetBufferedRegion().GetNumberOfPixels();
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    first[i] += float(i % 7);
  }
}

/** Evaluated twice on the processor, although a device is set: a warning once, and the values of a metric without. */
template <typename TMetric, typename TCase>
void
ExpectLeftToTheProcessor(const TCase & metricCase, const std::string & reason)
{
  const auto withDevice = MakeMetric<TMetric>(metricCase, ffdp::MakeCudaBackend());
  const auto without = MakeMetric<TMetric>(metricCase, nullptr);
  withDevice->Initialize();
  without->Initialize();
  const CopiedBytes         copied;
  const Evaluation<TMetric> expected(without.GetPointer());
  testing::internal::CaptureStderr();
  const Evaluation<TMetric> found(withDevice.GetPointer());
  EXPECT_EQ(withDevice->GetValue(), expected.value);
  const std::string warnings = testing::internal::GetCapturedStderr();
  ExpectSameBits(found, expected);
  EXPECT_TRUE(withDevice->GetUsedFastPath()) << withDevice->GetFallbackReason();
  EXPECT_FALSE(withDevice->GetUsedDevice());
  EXPECT_EQ(copied.ToDevice(), 0u);
  const auto first = warnings.find("on the CPU, not on the device");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(warnings.find("on the CPU, not on the device", first + 1), std::string::npos);
  EXPECT_NE(warnings.find(reason), std::string::npos) << warnings;
}

} // namespace

TEST(CudaFusedMetric, MeanSquaresHasTheBitsOfTheProcessor)
{
  ForEachCase([](const CaseType & metricCase) { ExpectBitsOfTheProcessor<MeanSquaresType>(metricCase); });
}

TEST(CudaFusedMetric, MattesHasTheBitsOfTheProcessor)
{
  ForEachCase([](const CaseType & metricCase) { ExpectBitsOfTheProcessor<MattesType>(metricCase); });
}

/** Fields, parameters and derivatives of float. */
TEST(CudaFusedMetric, MeanSquaresInFloatHasTheBitsOfTheProcessor)
{
  using FloatCaseType = MetricCase<3, float, float>;
  using FloatType = itk::FusedMeanSquaresImageToImageMetricv4<ImageType, ImageType, ImageType, float>;
  for (const TransformKind kind : { TransformKind::Affine, TransformKind::AffineAfterField })
  {
    ExpectBitsOfTheProcessor<FloatType>(FloatCaseType(Geometry::Different, kind, BothMasks));
  }
}

TEST(CudaFusedMetric, NeighborhoodCorrelationIsThatOfTheProcessor)
{
  for (const auto mode :
       { CorrelationType::DerivativeModeEnum::ANTSApproximate, CorrelationType::DerivativeModeEnum::Exact })
  {
    ForEachCase([&](const CaseType & metricCase) {
      const auto onDevice = MakeMetric<CorrelationType>(metricCase, ffdp::MakeCudaBackend());
      const auto onProcessor = MakeMetric<CorrelationType>(metricCase, nullptr);
      for (CorrelationType * metric : { onDevice.GetPointer(), onProcessor.GetPointer() })
      {
        metric->SetDerivativeMode(mode);
        metric->Initialize();
      }
      const Evaluation<CorrelationType> found(onDevice.GetPointer());
      const Evaluation<CorrelationType> expected(onProcessor.GetPointer());
      EXPECT_TRUE(onDevice->GetUsedDevice());
      EXPECT_FALSE(onProcessor->GetUsedDevice());
      EXPECT_GT(expected.points, 20u);
      EXPECT_EQ(found.points, expected.points);
      // The variance of most windows is above a fifth of their mean square about the tile's mean, which sums of 125
      // floats know to some 6e-7: 3e-6 for each of three variances, which multiply and divide each other. Windows at
      // the edge of a mask hold few voxels, and are some times worse.
      EXPECT_NEAR(found.value, expected.value, 5e-6);
      const double largest = LargestMagnitude(expected.derivative);
      EXPECT_LE(LargestDifference(found.derivative, expected.derivative), 5e-5 * largest);
      EXPECT_EQ(onDevice->GetValue(), found.value);
    });
  }
}

TEST(CudaFusedMetric, ImagesAndMasksStayOnTheDevice)
{
  const CaseType      metricCase(Geometry::Different, TransformKind::Affine, BothMasks);
  const std::uint64_t images =
    BytesOnDevice(metricCase.fixed.GetPointer()) + BytesOnDevice(metricCase.moving.GetPointer()) +
    BytesOnDevice(metricCase.fixedMask->GetImage()) + BytesOnDevice(metricCase.movingMask->GetImage());
  const auto expectOnce = [&](auto * metric) {
    metric->Initialize();
    const std::uint64_t first = BytesToDevice(metric);
    const std::uint64_t second = BytesToDevice(metric);
    EXPECT_EQ(first - second, images);
    EXPECT_LT(second, images / 4); // tables of the metric
    metric->Initialize();
    EXPECT_EQ(BytesToDevice(metric), second) << "initialized once more";
  };
  expectOnce(MakeMetric<MeanSquaresType>(metricCase, ffdp::MakeCudaBackend()).GetPointer());
  expectOnce(MakeMetric<MattesType>(metricCase, ffdp::MakeCudaBackend()).GetPointer());
  expectOnce(MakeMetric<CorrelationType>(metricCase, ffdp::MakeCudaBackend()).GetPointer());
}

TEST(CudaFusedMetric, OnlyWhatIsModifiedGoesToTheDeviceAgain)
{
  const CaseType metricCase(Geometry::Plain, TransformKind::Affine, BothMasks);
  const auto     onDevice = MakeMetric<MeanSquaresType>(metricCase, ffdp::MakeCudaBackend());
  const auto     onProcessor = MakeMetric<MeanSquaresType>(metricCase, nullptr);
  onDevice->Initialize();
  onProcessor->Initialize();
  BytesToDevice(onDevice.GetPointer());
  const std::uint64_t unchanged = BytesToDevice(onDevice.GetPointer());
  double              value = onDevice->GetValue();

  const auto expectOneUpload = [&](auto * image, const std::function<void()> & change) {
    change();
    EXPECT_EQ(onDevice->GetValue(), value) << "what nobody was told of: the copy of the device counts";
    image->Modified();
    EXPECT_EQ(BytesToDevice(onDevice.GetPointer()), unchanged + BytesOnDevice(image));
    EXPECT_EQ(BytesToDevice(onDevice.GetPointer()), unchanged);
    ExpectSameBits(Evaluation<MeanSquaresType>(onDevice.GetPointer()),
                   Evaluation<MeanSquaresType>(onProcessor.GetPointer()));
    EXPECT_NE(onDevice->GetValue(), value);
    value = onDevice->GetValue();
  };
  expectOneUpload(metricCase.fixed.GetPointer(), [&] { ChangePixels(metricCase.fixed); });
  expectOneUpload(metricCase.moving.GetPointer(), [&] { ChangePixels(metricCase.moving); });
  auto * const mask = const_cast<CaseType::MaskType::ImageType *>(metricCase.movingMask->GetImage());
  expectOneUpload(mask, [&] {
    const auto count = mask->GetBufferedRegion().GetNumberOfPixels();
    for (itk::SizeValueType i = 0; i < count; i += 3)
    {
      mask->GetBufferPointer()[i] = 0;
    }
  });
}

TEST(CudaFusedMetric, AnotherImageTakesThePlaceOfTheOneBefore)
{
  const CaseType    metricCase(Geometry::Plain, TransformKind::Affine, NoMask);
  const std::size_t before = cudahost::LiveDeviceBytes();
  {
    const auto metric = MakeMetric<MeanSquaresType>(metricCase, ffdp::MakeCudaBackend());
    metric->Initialize();
    metric->GetValue();
    const std::size_t live = cudahost::LiveDeviceBytes();
    EXPECT_EQ(live, before + 2 * BytesOnDevice(metricCase.fixed.GetPointer()));
    const double both = metric->GetValue();
    metric->SetMovingImage(metricCase.fixed);
    metric->Initialize();
    EXPECT_NE(metric->GetValue(), both);
    EXPECT_EQ(cudahost::LiveDeviceBytes(), before + BytesOnDevice(metricCase.fixed.GetPointer()))
      << "one copy of an image that is both";
  }
  EXPECT_EQ(cudahost::LiveDeviceBytes(), before);
}

/** As an optimizer does. */
TEST(CudaFusedMetric, AFieldThatIsUpdatedGoesToTheDeviceInEachEvaluation)
{
  // Each metric has a field of its own to change.
  const CaseType deviceCase(Geometry::Plain, TransformKind::Field, NoMask);
  const CaseType processorCase(Geometry::Plain, TransformKind::Field, NoMask);
  const auto     onDevice = MakeMetric<MattesType>(deviceCase, ffdp::MakeCudaBackend());
  const auto     onProcessor = MakeMetric<MattesType>(processorCase, nullptr);
  onDevice->Initialize();
  onProcessor->Initialize();
  const std::uint64_t fieldBytes = sizeof(double) * deviceCase.movingTransform->GetNumberOfParameters();
  double              before = 0;
  for (int iteration = 0; iteration < 3; ++iteration)
  {
    const CopiedBytes            copied;
    const Evaluation<MattesType> found(onDevice.GetPointer());
    ExpectSameBits(found, Evaluation<MattesType>(onProcessor.GetPointer()));
    EXPECT_NE(found.value, before);
    EXPECT_GE(copied.ToDevice(), fieldBytes);
    EXPECT_GE(copied.ToHost(), fieldBytes / 2); // the derivative, in floats
    if (iteration > 0)
    {
      EXPECT_LT(copied.ToDevice(), fieldBytes + BytesOnDevice(deviceCase.fixed.GetPointer()));
    }
    before = found.value;
    const double factor = 0.3 / LargestMagnitude(found.derivative); // mm
    onDevice->UpdateTransformParameters(found.derivative, factor);
    onProcessor->UpdateTransformParameters(found.derivative, factor);
  }
}

TEST(CudaFusedMetric, WhatTheDeviceCannotDoIsDoneByTheProcessor)
{
  using DoubleCaseType = MetricCase<3, double>;
  using DoubleType = itk::FusedMeanSquaresImageToImageMetricv4<DoubleCaseType::ImageType>;
  ExpectLeftToTheProcessor<DoubleType>(DoubleCaseType(Geometry::Plain, TransformKind::Affine, NoMask), "not of floats");
  const CaseType otherGrid(Geometry::Different, TransformKind::FieldOnCoarserGrid, BothMasks);
  ExpectLeftToTheProcessor<MeanSquaresType>(otherGrid, "not on the virtual domain");
  ExpectLeftToTheProcessor<MattesType>(otherGrid, "not on the virtual domain");
  ExpectLeftToTheProcessor<CorrelationType>(otherGrid, "not on the virtual domain");
}

TEST(CudaFusedMetric, SaysWhereTheLastEvaluationWas)
{
  const CaseType metricCase(Geometry::Plain, TransformKind::Affine, NoMask);
  const auto     metric = MakeMetric<MeanSquaresType>(metricCase, ffdp::MakeCudaBackend());
  metric->Initialize();
  const Evaluation<MeanSquaresType> onDevice(metric.GetPointer());
  EXPECT_TRUE(metric->GetUsedDevice());

  const MeanSquaresType::MovingInterpolatorType::Pointer linear = metric->GetModifiableMovingInterpolator();
  metric->SetMovingInterpolator(itk::NearestNeighborInterpolateImageFunction<ImageType, double>::New());
  metric->Initialize();
  const Evaluation<MeanSquaresType> byItk(metric.GetPointer());
  EXPECT_FALSE(metric->GetUsedFastPath());
  EXPECT_FALSE(metric->GetUsedDevice()) << "the superclass knows no device";
  EXPECT_NE(byItk.value, onDevice.value);

  metric->SetMovingInterpolator(linear);
  metric->Initialize();
  ExpectSameBits(Evaluation<MeanSquaresType>(metric.GetPointer()), onDevice);
  EXPECT_TRUE(metric->GetUsedDevice());

  metric->SetDevice("cpu");
  EXPECT_FALSE(metric->GetUsedDevice());
  ExpectSameBits(Evaluation<MeanSquaresType>(metric.GetPointer()), onDevice);
  EXPECT_FALSE(metric->GetUsedDevice());
  EXPECT_THROW(metric->SetDevice("gpu"), itk::ExceptionObject);
}

/** The class says what went wrong as ITK does, and works again when there is room. */
TEST(CudaFusedMetric, ADeviceWithoutRoomIsAnExceptionOfItk)
{
  const CaseType metricCase(Geometry::Plain, TransformKind::Affine, NoMask);
  const auto     metric = MakeMetric<MeanSquaresType>(metricCase, ffdp::MakeCudaBackend());
  metric->Initialize();
  cudahost::SetMemoryLimit(cudahost::LiveDeviceBytes() + 1000);
  EXPECT_THROW(metric->GetValue(), itk::ExceptionObject);
  cudahost::SetMemoryLimit(std::size_t(8) << 30);
  const auto onProcessor = MakeMetric<MeanSquaresType>(metricCase, nullptr);
  onProcessor->Initialize();
  EXPECT_EQ(metric->GetValue(), onProcessor->GetValue());
}
