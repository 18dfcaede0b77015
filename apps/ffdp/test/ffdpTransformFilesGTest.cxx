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
#include "ffdpCommandError.h"
#include "ffdpTransformFiles.h"
#include "ffdpTransformTestSupport.h"

#include "itkBSplineTransform.h"
#include "itkEuler2DTransform.h"
#include "itkEuler3DTransform.h"
#include "itkScaleSkewVersor3DTransform.h"
#include "itkScaleTransform.h"
#include "itkScaleVersor3DTransform.h"
#include "itkSimilarity2DTransform.h"
#include "itkSimilarity3DTransform.h"
#include "itkTransformFactoryBase.h"
#include "itkTranslationTransform.h"
#include "itkVersorRigid3DTransform.h"

#include <random>

using namespace programtest;

/** Files of transforms as ITK and the programs that use it write them are read as ITK reads them. What is cut off or
 * damaged is refused: see ffdpDamagedTransformsGTest.cxx. */
namespace
{

using AnyTransform = itk::TransformBaseTemplate<double>;

const std::vector<std::string> Endings = { ".txt", ".tfm", ".mat", ".h5" };

/** Where a transform of any dimension takes a point of space; z stays in the plane. */
template <unsigned int VDimension>
Point
Move(const AnyTransform * transform, Point point)
{
  const auto * own = dynamic_cast<const itk::Transform<double, VDimension, VDimension> *>(transform);
  typename itk::Transform<double, VDimension, VDimension>::InputPointType from;
  std::copy_n(point.GetDataPointer(), VDimension, from.GetDataPointer());
  const auto moved = own->TransformPoint(from);
  std::copy_n(moved.GetDataPointer(), VDimension, point.GetDataPointer());
  return point;
}

/** Compares what is read from a file with what was written to it. */
template <unsigned int VDimension>
void
ExpectSame(const AnyTransform * expected, const std::string & file, double tolerance)
{
  const TransformList list = ReadTransforms({ file });
  EXPECT_EQ(list.file.dimension, VDimension) << file;
  const double places[][3] = { { 0, 0, 0 }, { 10, -20, 30 }, { -4.5, 7.25, 1 }, { 3, 3, -11 } };
  for (const auto & place : places)
  {
    Point point(place);
    point[2] = VDimension == 2 ? 0 : point[2];
    const Point moved = list.transform->TransformPoint(point);
    EXPECT_LE(moved.EuclideanDistanceTo(Move<VDimension>(expected, point)), tolerance) << file;
  }
}

/** Writes by ITK and reads, for all formats that can hold it. */
template <unsigned int VDimension>
void
ExpectReads(const AnyTransform * transform, const Folder & folder, bool withMatlab = true)
{
  for (const std::string & ending : Endings)
  {
    if (ending != ".mat" || withMatlab)
    {
      const std::string file = folder / (transform->GetNameOfClass() + ending);
      WriteTransform(transform, file);
      ExpectSame<VDimension>(transform, file, 1e-9);
    }
  }
}

/** All parameters of a new transform, about a center, are something small. */
template <typename TTransform>
typename TTransform::Pointer
MakeAny()
{
  auto transform = TTransform::New();
  auto fixed = transform->GetFixedParameters();
  for (unsigned int i = 0; i < std::min(fixed.Size(), itk::SizeValueType(TTransform::InputSpaceDimension)); ++i)
  {
    fixed[i] = 5.0 + i;
  }
  transform->SetFixedParameters(fixed);
  auto parameters = transform->GetParameters();
  for (unsigned int i = 0; i < parameters.Size(); ++i)
  {
    parameters[i] += 0.01 * (i + 1) * (i % 2 == 0 ? 1 : -1);
  }
  transform->SetParameters(parameters);
  return transform;
}

template <unsigned int VDimension>
typename itk::BSplineTransform<double, VDimension, 3>::Pointer
MakeSpline()
{
  auto spline = itk::BSplineTransform<double, VDimension, 3>::New();
  typename itk::BSplineTransform<double, VDimension, 3>::PhysicalDimensionsType lengths;
  typename itk::BSplineTransform<double, VDimension, 3>::MeshSizeType           mesh;
  typename itk::BSplineTransform<double, VDimension, 3>::OriginType             origin;
  for (unsigned int i = 0; i < VDimension; ++i)
  {
    lengths[i] = 100;
    mesh[i] = 2 + i;
    origin[i] = -50;
  }
  spline->SetTransformDomainPhysicalDimensions(lengths);
  spline->SetTransformDomainOrigin(origin);
  spline->SetTransformDomainMeshSize(mesh);
  auto         parameters = spline->GetParameters();
  std::mt19937 random(1);
  for (unsigned int i = 0; i < parameters.Size(); ++i)
  {
    parameters[i] = double(random() % 1000) / 200;
  }
  spline->SetParametersByValue(parameters);
  return spline;
}

FieldTransform::Pointer
MakeFieldTransform()
{
  const auto floats = MakeField(MakeImage(0, 0.1, 0), 3);
  auto       field = FieldTransform::DisplacementFieldType::New();
  field->CopyInformation(floats);
  field->SetRegions(floats->GetBufferedRegion());
  field->Allocate();
  for (itk::SizeValueType i = 0; i < field->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    field->GetBufferPointer()[i].CastFrom(floats->GetBufferPointer()[i]);
  }
  auto transform = FieldTransform::New();
  transform->SetDisplacementField(field);
  return transform;
}

} // namespace

TEST(TransformFiles, LinearOnesOfSpace)
{
  const Folder folder("forms");
  ExpectReads<3>(MakeAny<Affine>(), folder);
  ExpectReads<3>(MakeAny<itk::Euler3DTransform<double>>(), folder);
  ExpectReads<3>(MakeAny<itk::VersorRigid3DTransform<double>>(), folder);
  ExpectReads<3>(MakeAny<itk::Similarity3DTransform<double>>(), folder);
  ExpectReads<3>(MakeAny<itk::ScaleVersor3DTransform<double>>(), folder);
  ExpectReads<3>(MakeAny<itk::ScaleSkewVersor3DTransform<double>>(), folder);
  ExpectReads<3>(MakeAny<itk::ScaleTransform<double, 3>>(), folder);
  ExpectReads<3>(MakeAny<itk::TranslationTransform<double, 3>>(), folder);
  ExpectReads<3>(MakeAny<itk::MatrixOffsetTransformBase<double, 3, 3>>(), folder);
  auto turned = MakeAny<itk::Euler3DTransform<double>>();
  turned->SetComputeZYX(true);
  ExpectReads<3>(turned, folder);
}

TEST(TransformFiles, LinearOnesOfThePlane)
{
  const Folder folder("forms-plane");
  ExpectReads<2>(MakeAny<itk::AffineTransform<double, 2>>(), folder);
  ExpectReads<2>(MakeAny<itk::Euler2DTransform<double>>(), folder);
  ExpectReads<2>(MakeAny<itk::Similarity2DTransform<double>>(), folder);
  ExpectReads<2>(MakeAny<itk::TranslationTransform<double, 2>>(), folder);
  ExpectReads<2>(MakeAny<itk::MatrixOffsetTransformBase<double, 2, 2>>(), folder);
}

TEST(TransformFiles, EveryLinearTypeThatItkKnows)
{
  const Folder folder("forms-all");
  itk::TransformFactoryBase::RegisterDefaultTransforms();
  int count = 0;
  for (const std::string & name : itk::TransformFactoryBase::GetFactory()->GetClassOverrideWithNames())
  {
    const itk::LightObject::Pointer object = itk::ObjectFactoryBase::CreateInstance(name.c_str());
    const auto *                    transform = dynamic_cast<const AnyTransform *>(object.GetPointer());
    const bool                      linear =
      transform && transform->GetTransformCategory() == itk::TransformBaseTemplateEnums::TransformCategory::Linear;
    const bool planar = name.find("_2_2") != std::string::npos, spatial = name.find("_3_3") != std::string::npos;
    if (linear && (planar || spatial) && name.find("Composite") == std::string::npos)
    {
      planar ? ExpectReads<2>(transform, folder) : ExpectReads<3>(transform, folder);
      ++count;
    }
  }
  EXPECT_GT(count, 20);
}

TEST(TransformFiles, NumbersOfSinglePrecision)
{
  const Folder folder("forms-float");
  const auto   affine = MakeAny<Affine>();
  auto         floats = itk::AffineTransform<float, 3>::New();
  auto         parameters = floats->GetParameters();
  std::copy_n(affine->GetParameters().data_block(), parameters.Size(), parameters.data_block());
  floats->SetFixedParameters(affine->GetFixedParameters());
  floats->SetParameters(parameters);
  for (const std::string & ending : Endings)
  {
    auto writer = itk::TransformFileWriterTemplate<float>::New();
    writer->SetInput(floats);
    writer->SetFileName(folder / ("floats" + ending));
    writer->Update();
    ExpectSame<3>(affine, folder / ("floats" + ending), 1e-4);
  }
}

TEST(TransformFiles, FieldsSplinesAndComposites)
{
  const Folder folder("forms-grids");
  ExpectReads<3>(MakeSpline<3>(), folder);
  ExpectReads<3>(MakeFieldTransform(), folder);
  auto composite = Composite::New();
  composite->AddTransform(MakeAny<Affine>());
  composite->AddTransform(MakeFieldTransform());
  composite->AddTransform(MakeSpline<3>());
  composite->AddTransform(MakeAny<itk::Euler3DTransform<double>>());
  ExpectReads<3>(composite, folder, false);
  auto planar = itk::CompositeTransform<double, 2>::New();
  planar->AddTransform(MakeAny<itk::AffineTransform<double, 2>>());
  planar->AddTransform(MakeAny<itk::Euler2DTransform<double>>());
  ExpectReads<2>(planar, folder, false);
}

TEST(TransformFiles, ListsAreCompositesOfTheirParts)
{
  const Folder folder("forms-lists");
  const auto   a = MakeAny<Affine>();
  const auto   b = MakeAny<itk::Euler3DTransform<double>>();
  auto         both = Composite::New();
  both->AddTransform(a);
  both->AddTransform(b);
  for (const std::string & ending : Endings)
  {
    auto writer = itk::TransformFileWriter::New();
    writer->AddTransform(a);
    writer->AddTransform(b);
    writer->SetFileName(folder / ("list" + ending));
    writer->Update();
    ExpectSame<3>(both, folder / ("list" + ending), 1e-9);
    const TransformList inverse = ReadTransforms({ "[" + (folder / ("list" + ending)) + ",1]" });
    const Point         point(3.0);
    EXPECT_LT(inverse.transform->TransformPoint(both->TransformPoint(point)).EuclideanDistanceTo(point), 1e-9);
  }
}

TEST(TransformFiles, TextsOfOtherProgramsAndByHand)
{
  const Folder folder("forms-text");
  const auto   expect = [&](const std::string & text, double x, double y, double z) {
    std::ofstream(folder / "t.txt", std::ios::binary) << text;
    const double from[3] = { 1, 2, 3 }, to[3] = { x, y, z };
    const Point  moved = ReadTransforms({ folder / "t.txt" }).transform->TransformPoint(Point(from));
    EXPECT_LT(moved.EuclideanDistanceTo(Point(to)), 1e-12) << text;
  };
  const std::string shift = "Parameters: 1 0 0 0 1 0 0 0 1 10 20 30\n", center = "FixedParameters: 5 6 7\n";
  expect("Transform: AffineTransform_double_3_3\n" + shift + center, 11, 22, 33); // no comments
  expect("#Insight Transform File V1.0\n# Transform 0\nTransform: MatrixOffsetTransformBase_double_3_3\n" + center +
           shift, // the center first
         11,
         22,
         33);
  expect("#Insight Transform File V1.0\r\n#Transform 0\r\nTransform: TranslationTransform_float_3_3\r\n"
         "Parameters: 1.5e1 +2 -.5\r\nFixedParameters:\r\n\r\n",
         16,
         4,
         2.5);
  // before ITK 4.13 Euler3DTransform did not say in which order its axes come
  expect("#Insight Transform File V1.0\n#Transform 0\nTransform: Euler3DTransform_double_3_3\n"
         "Parameters: 0 0 1.5707963267948966 0 0 0\nFixedParameters: 0 0 0\n",
         -2,
         1,
         3);
}
