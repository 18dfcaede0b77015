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
#include "itkFFDPFactories.h"

#include "itkFusedMattesMutualInformationImageToImageMetricv4.h"
#include "itkFusedMeanSquaresImageToImageMetricv4.h"
#include "itkFusedNeighborhoodCorrelationImageToImageMetricv4.h"
#include "itkFusedResampleImageFilter.h"
#include "itkImageRegistrationMethodv4.h"
#include "itkObjectFactoryBase.h"
#include "itkTranslationTransform.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

// The factories live in the library FFDP, this test in a program: so it also shows that names and casts of templates
// work across that border.
namespace
{

/** Leaves the factories as every other test expects them. */
class FFDPFactoriesTest : public ::testing::Test
{
protected:
  void
  SetUp() override
  {
    itk::FFDPFactories::UnRegister();
  }
  void
  TearDown() override
  {
    itk::FFDPFactories::UnRegister();
  }
};

/** The dynamic type of what New() of ITK's class makes. */
template <typename TItk>
std::string
NewName()
{
  return TItk::New()->GetNameOfClass();
}

template <typename TItk, typename TFused>
void
ExpectOverridden()
{
  {
    const typename TItk::Pointer object = TItk::New();
    EXPECT_NE(dynamic_cast<TFused *>(object.GetPointer()), nullptr) << object->GetNameOfClass();
    EXPECT_EQ(object->GetReferenceCount(), 1); // neither leaked nor about to be destroyed
  }
  EXPECT_STREQ(TFused::New()->GetNameOfClass(), TFused::New()->GetNameOfClass()); // no recursion
}

/** As ExpectOverridden, but by the name that New() would ask for: costs the compiler no code of TItk. */
template <typename TItk>
void
ExpectNameOverridden(const char * fused)
{
  const itk::LightObject::Pointer object = itk::ObjectFactoryBase::CreateInstance(typeid(TItk).name());
  ASSERT_TRUE(object.IsNotNull()) << typeid(TItk).name();
  EXPECT_STREQ(object->GetNameOfClass(), fused);
  object->UnRegister(); // CreateInstance() registers once more, for New() to take back
}

template <typename TPixel, unsigned int VDimension, typename TReal>
void
ExpectMetricsOverridden()
{
  using ImageType = itk::Image<TPixel, VDimension>;
  ExpectNameOverridden<itk::MattesMutualInformationImageToImageMetricv4<ImageType, ImageType, ImageType, TReal>>(
    "FusedMattesMutualInformationImageToImageMetricv4");
  ExpectNameOverridden<itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<ImageType, ImageType, ImageType, TReal>>(
    "FusedNeighborhoodCorrelationImageToImageMetricv4");
  ExpectNameOverridden<itk::MeanSquaresImageToImageMetricv4<ImageType, ImageType, ImageType, TReal>>(
    "FusedMeanSquaresImageToImageMetricv4");
}

template <typename TPixel, unsigned int VDimension>
void
ExpectResampleOverridden()
{
  using ImageType = itk::Image<TPixel, VDimension>;
  ExpectNameOverridden<itk::ResampleImageFilter<ImageType, ImageType>>("FusedResampleImageFilter");
  ExpectNameOverridden<itk::ResampleImageFilter<ImageType, ImageType, float>>("FusedResampleImageFilter");
}

using FloatImage = itk::Image<float, 3>;
using MeanSquares = itk::MeanSquaresImageToImageMetricv4<FloatImage, FloatImage>;

} // namespace

TEST_F(FFDPFactoriesTest, CreatesFusedObjectsFromItkCode)
{
  itk::FFDPFactories::Register();
  ExpectOverridden<itk::MattesMutualInformationImageToImageMetricv4<FloatImage, FloatImage>,
                   itk::FusedMattesMutualInformationImageToImageMetricv4<FloatImage, FloatImage>>();
  ExpectOverridden<itk::ANTSNeighborhoodCorrelationImageToImageMetricv4<FloatImage, FloatImage>,
                   itk::FusedNeighborhoodCorrelationImageToImageMetricv4<FloatImage, FloatImage>>();
  ExpectOverridden<MeanSquares, itk::FusedMeanSquaresImageToImageMetricv4<FloatImage, FloatImage>>();
  ExpectOverridden<itk::ResampleImageFilter<FloatImage, FloatImage>,
                   itk::FusedResampleImageFilter<FloatImage, FloatImage>>();
}

TEST_F(FFDPFactoriesTest, CoversTheTypesThatItPromises)
{
  itk::FFDPFactories::Register();
  ExpectMetricsOverridden<float, 2, float>();
  ExpectMetricsOverridden<float, 2, double>();
  ExpectMetricsOverridden<double, 2, float>();
  ExpectMetricsOverridden<double, 2, double>();
  ExpectMetricsOverridden<float, 3, float>();
  ExpectMetricsOverridden<float, 3, double>();
  ExpectMetricsOverridden<double, 3, float>();
  ExpectMetricsOverridden<double, 3, double>();
  ExpectResampleOverridden<unsigned char, 2>();
  ExpectResampleOverridden<signed char, 3>();
  ExpectResampleOverridden<unsigned short, 3>();
  ExpectResampleOverridden<short, 2>();
  ExpectResampleOverridden<unsigned int, 3>();
  ExpectResampleOverridden<int, 2>();
  ExpectResampleOverridden<float, 2>();
  ExpectResampleOverridden<double, 3>();
  ExpectResampleOverridden<itk::Vector<float, 3>, 3>();
  ExpectResampleOverridden<itk::Vector<double, 2>, 2>();
}

TEST_F(FFDPFactoriesTest, IsUndone)
{
  const auto factories = itk::ObjectFactoryBase::GetRegisteredFactories();
  EXPECT_EQ(NewName<MeanSquares>(), "MeanSquaresImageToImageMetricv4");
  EXPECT_FALSE(itk::FFDPFactories::IsRegistered());
  itk::FFDPFactories::Register();
  EXPECT_TRUE(itk::FFDPFactories::IsRegistered());
  EXPECT_EQ(NewName<MeanSquares>(), "FusedMeanSquaresImageToImageMetricv4");
  itk::FFDPFactories::UnRegister();
  EXPECT_FALSE(itk::FFDPFactories::IsRegistered());
  EXPECT_EQ(NewName<MeanSquares>(), "MeanSquaresImageToImageMetricv4");
  EXPECT_EQ(itk::ObjectFactoryBase::GetRegisteredFactories(), factories);
}

TEST_F(FFDPFactoriesTest, MayBeCalledAgainAndAgain)
{
  const std::size_t before = itk::ObjectFactoryBase::GetRegisteredFactories().size();
  itk::FFDPFactories::UnRegister();
  itk::FFDPFactories::Register();
  itk::FFDPFactories::Register();
  EXPECT_EQ(itk::ObjectFactoryBase::GetRegisteredFactories().size(), before + 1);
  itk::FFDPFactories::UnRegister(); // one call undoes both
  EXPECT_EQ(NewName<MeanSquares>(), "MeanSquaresImageToImageMetricv4");
  itk::FFDPFactories::UnRegister();
  itk::FFDPFactories::Register();
  EXPECT_EQ(NewName<MeanSquares>(), "FusedMeanSquaresImageToImageMetricv4");
}

TEST_F(FFDPFactoriesTest, MayBeCalledFromSeveralThreads)
{
  const std::size_t        before = itk::ObjectFactoryBase::GetRegisteredFactories().size();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
  {
    threads.emplace_back([] {
      for (int repetition = 0; repetition < 20; ++repetition)
      {
        itk::FFDPFactories::Register();
        itk::FFDPFactories::UnRegister();
      }
      itk::FFDPFactories::Register();
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  EXPECT_TRUE(itk::FFDPFactories::IsRegistered());
  EXPECT_EQ(itk::ObjectFactoryBase::GetRegisteredFactories().size(), before + 1);
}

TEST_F(FFDPFactoriesTest, ObjectsOutliveTheFactory)
{
  itk::FFDPFactories::Register();
  const auto metric = MeanSquares::New();
  itk::FFDPFactories::UnRegister();
  EXPECT_STREQ(metric->GetNameOfClass(), "FusedMeanSquaresImageToImageMetricv4");
  EXPECT_EQ(metric->GetReferenceCount(), 1);
}

TEST_F(FFDPFactoriesTest, LeavesOtherTypesAlone)
{
  itk::FFDPFactories::Register();
  using DoubleImage = itk::Image<double, 3>;
  EXPECT_EQ((NewName<itk::MeanSquaresImageToImageMetricv4<FloatImage, DoubleImage>>()),
            "MeanSquaresImageToImageMetricv4");
  EXPECT_EQ(NewName<FloatImage>(), "Image");
}

TEST_F(FFDPFactoriesTest, ReachesTheDefaultMetricOfARegistration)
{
  using RegistrationType = itk::ImageRegistrationMethodv4<FloatImage, FloatImage, itk::TranslationTransform<double, 3>>;
  EXPECT_STREQ(RegistrationType::New()->GetMetric()->GetNameOfClass(), "MattesMutualInformationImageToImageMetricv4");
  itk::FFDPFactories::Register();
  const auto registration = RegistrationType::New();
  EXPECT_STREQ(registration->GetMetric()->GetNameOfClass(), "FusedMattesMutualInformationImageToImageMetricv4");
  EXPECT_STREQ(registration->GetOptimizer()->GetNameOfClass(), "GradientDescentOptimizerv4Template");
}
