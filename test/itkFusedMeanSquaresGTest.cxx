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
#include "itkFusedMeanSquaresImageToImageMetricv4.h"

#include "itkFFDPMetricParity.h"

using namespace ffdp::test;

namespace
{

/** An intensity (about 100) that is sampled in float is off by some 8 roundings of 2^-24, 5e-5; a difference of images
 * (about 30) by twice that, a gradient (about 10 per mm) by twice that per mm. So a product of both is off by about
 * 1e-5 of its typical size, which is a third of the largest one; means are better than that. */
constexpr ParityTolerance InDouble{ 1e-6, 8e-6 };

/** ITK rounds points (up to 20 mm) to float on their way through the transform, 1e-6 mm at a time, with a slope of 10
 * per mm: 1e-5 more per intensity. */
constexpr ParityTolerance InFloat{ 1e-5, 5e-5 };

} // namespace

TEST(FusedMeanSquares, AgreesWithItkIn3D)
{
  ExpectParityInAllCases<itk::FusedMeanSquaresImageToImageMetricv4,
                         itk::MeanSquaresImageToImageMetricv4,
                         3,
                         float,
                         double>(InDouble);
}

TEST(FusedMeanSquares, AgreesWithItkIn2D)
{
  ExpectParityInAllCases<itk::FusedMeanSquaresImageToImageMetricv4,
                         itk::MeanSquaresImageToImageMetricv4,
                         2,
                         float,
                         double>(InDouble);
}

TEST(FusedMeanSquares, AgreesWithItkOnDoublePixels)
{
  ExpectParityInSomeCases<itk::FusedMeanSquaresImageToImageMetricv4,
                          itk::MeanSquaresImageToImageMetricv4,
                          3,
                          double,
                          double>(InDouble);
}

TEST(FusedMeanSquares, AgreesWithItkInFloat)
{
  ExpectParityInSomeCases<itk::FusedMeanSquaresImageToImageMetricv4,
                          itk::MeanSquaresImageToImageMetricv4,
                          3,
                          float,
                          float>(InFloat);
}
