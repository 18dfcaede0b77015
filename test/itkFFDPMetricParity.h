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
#ifndef itkFFDPMetricParity_h
#define itkFFDPMetricParity_h

#include "itkFFDPMetricTestSupport.h"
#include "itkFFDPTestStacks.h"

#include <algorithm>
#include <sstream>

/** Value and derivative of a fused metric against the metric of ITK that it replaces. */
namespace ffdp
{
namespace test
{

/** Relative to the value, and to the largest component of ITK's derivative. */
struct ParityTolerance
{
  double value;
  double derivative;
};

constexpr int TransformKinds = 10;
constexpr int AllKinds = TransformKinds + StackKinds;
constexpr int Geometries = 3;
constexpr int Masks = 4;

/** The metric of ITK may compute with other numbers than the fused one: then it has a case of its own. */
template <typename TFused, typename TItk, typename TCase, typename TItkCase>
void
ExpectParity(const TCase & metricCase, const TItkCase & itkCase, const ParityTolerance & tolerance)
{
  auto fused = TFused::New();
  auto itkMetric = TItk::New();
  metricCase.Connect(fused.GetPointer());
  itkCase.Connect(itkMetric.GetPointer());
  itkMetric->Initialize();
  fused->Initialize();
  const Evaluation<TItk>   expected(itkMetric.GetPointer());
  const Evaluation<TFused> found(fused.GetPointer());

  EXPECT_TRUE(fused->GetUsedFastPath()) << fused->GetFallbackReason();
  EXPECT_GT(expected.points, 20u); // the case is one of overlapping images
  EXPECT_EQ(found.points, expected.points);
  EXPECT_NEAR(found.value, expected.value, tolerance.value * std::abs(expected.value));
  EXPECT_EQ(fused->GetValue(), found.value); // not a bit of difference to the evaluation with derivative
  ASSERT_EQ(found.derivative.Size(), expected.derivative.Size());
  const double largest = LargestMagnitude(expected.derivative);
  EXPECT_LE(LargestDifference(found.derivative, expected.derivative), tolerance.derivative * largest)
    << "the largest component is " << largest;
}

/** Kinds of transforms, then kinds of stacks. */
template <typename TCase>
TCase
MakeCase(int geometry, int kind, int masks)
{
  const MaskChoice choice{ (masks & 1) != 0, (masks & 2) != 0 };
  if (kind < TransformKinds)
  {
    return TCase(Geometry(geometry), TransformKind(kind), choice);
  }
  TCase metricCase(Geometry(geometry), TransformKind::Identity, choice);
  metricCase.movingTransform = MakeStack(StackKind(kind - TransformKinds), metricCase);
  return metricCase;
}

template <template <typename, typename, typename, typename> class TFused,
          template <typename, typename, typename, typename, typename>
          class TItk,
          unsigned int VDimension,
          typename TPixel,
          typename T,
          typename TItkNumber = T>
void
ExpectParityInCase(int geometry, int kind, int masks, const ParityTolerance & tolerance)
{
  using ImageType = itk::Image<TPixel, VDimension>;
  using TraitsType = itk::DefaultImageToImageMetricTraitsv4<ImageType, ImageType, ImageType, TItkNumber>;
  using FusedType = TFused<ImageType, ImageType, ImageType, T>;
  using ItkType = TItk<ImageType, ImageType, ImageType, TItkNumber, TraitsType>;
  std::ostringstream text;
  text << VDimension << "-D, geometry " << geometry << ", transform " << kind << ", masks " << masks;
  SCOPED_TRACE(text.str());
  const auto fusedCase = MakeCase<MetricCase<VDimension, TPixel, T>>(geometry, kind, masks);
  const auto itkCase = MakeCase<MetricCase<VDimension, TPixel, TItkNumber>>(geometry, kind, masks);
  ExpectParity<FusedType, ItkType>(fusedCase, itkCase, tolerance);
}

/** Every transform with every geometry and every choice of masks. */
template <template <typename, typename, typename, typename> class TFused,
          template <typename, typename, typename, typename, typename>
          class TItk,
          unsigned int VDimension,
          typename TPixel,
          typename T>
void
ExpectParityInAllCases(const ParityTolerance & tolerance)
{
  for (int i = 0; i < Geometries * AllKinds * Masks; ++i)
  {
    ExpectParityInCase<TFused, TItk, VDimension, TPixel, T>(
      i / (AllKinds * Masks), i / Masks % AllKinds, i % Masks, tolerance);
  }
}

/** Every transform, geometry and choice of masks at least twice. */
template <template <typename, typename, typename, typename> class TFused,
          template <typename, typename, typename, typename, typename>
          class TItk,
          unsigned int VDimension,
          typename TPixel,
          typename T,
          typename TItkNumber = T>
void
ExpectParityInSomeCases(const ParityTolerance & tolerance)
{
  for (int kind = 1; kind < AllKinds; ++kind)
  {
    ExpectParityInCase<TFused, TItk, VDimension, TPixel, T, TItkNumber>(
      kind % Geometries, kind, kind % Masks, tolerance);
  }
}

/** A moving image that is linear in space and reaches beyond the virtual domain: its interpolant and its central
 * differences have the same slope everywhere, so that the derivative can be compared with differences of the value. */
template <unsigned int VDimension>
struct RampCase
{
  MetricCase<VDimension, float> metricCase;

  explicit RampCase(TransformKind kind)
    : metricCase(Geometry::Oblique, kind, MaskChoice{}, 16)
  {
    using ImageType = itk::Image<float, VDimension>;
    auto moving = MakeImage<ImageType>(GridSpec{ 40, -12, 0.9, 0.3, -8, true });
    for (itk::ImageRegionIteratorWithIndex<ImageType> it(moving, moving->GetBufferedRegion()); !it.IsAtEnd(); ++it)
    {
      typename ImageType::PointType point;
      moving->TransformIndexToPhysicalPoint(it.GetIndex(), point);
      double value = 20;
      for (unsigned int c = 0; c < VDimension; ++c)
      {
        value += (3.0 - 1.3 * c) * point[c];
      }
      it.Set(static_cast<float>(value));
    }
    metricCase.moving = moving;
  }

  itk::SizeValueType
  Voxels() const
  {
    return metricCase.grid->GetBufferedRegion().GetNumberOfPixels();
  }
};

/** -scale times the central difference of the value, for a parameter. */
template <typename TMetric>
double
DescentOfValue(TMetric * metric, unsigned int parameter, double step, double scale)
{
  auto parameters = metric->GetParameters();
  parameters[parameter] += step;
  metric->SetParameters(parameters);
  const double above = metric->GetValue();
  parameters[parameter] -= 2 * step;
  metric->SetParameters(parameters);
  const double below = metric->GetValue();
  parameters[parameter] += step;
  metric->SetParameters(parameters);
  return -scale * (above - below) / (2 * step);
}

template <typename TMetric>
void
ExpectLocalDerivativeOfValue(TMetric * metric, double scale, double tolerance)
{
  const Evaluation<TMetric> evaluation(metric);
  ASSERT_TRUE(metric->GetUsedFastPath()) << metric->GetFallbackReason();
  ASSERT_EQ(3 * evaluation.points, evaluation.derivative.Size()); // all points count
  const double limit = tolerance * LargestMagnitude(evaluation.derivative);
  for (unsigned int p = 7; p < evaluation.derivative.Size(); p += 199)
  {
    EXPECT_NEAR(evaluation.derivative[p], DescentOfValue(metric, p, 0.02, scale), limit) << "parameter " << p;
  }
}

template <typename TMetric>
void
ExpectGlobalDerivativeOfValue(TMetric * metric, double tolerance)
{
  const Evaluation<TMetric> evaluation(metric);
  ASSERT_TRUE(metric->GetUsedFastPath()) << metric->GetFallbackReason();
  const double limit = tolerance * LargestMagnitude(evaluation.derivative);
  for (unsigned int p = 0; p < evaluation.derivative.Size(); ++p)
  {
    EXPECT_NEAR(evaluation.derivative[p], DescentOfValue(metric, p, 1e-3, 1), limit) << "parameter " << p;
  }
}

} // namespace test
} // namespace ffdp

#endif
