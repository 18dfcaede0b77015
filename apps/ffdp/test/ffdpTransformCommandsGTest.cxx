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
#include "ffdpTransformTestSupport.h"

#include "itkDisplacementFieldJacobianDeterminantFilter.h"

#include <chrono>
#include <thread>

using namespace programtest;

namespace
{

/** An affine transform and two warps on grids of their own, in files; the reference is a third grid. */
struct Transforms
{
  Folder          folder;
  Image::Pointer  reference, other;
  Affine::Pointer affine;

  explicit Transforms(const std::string & name)
    : folder(name)
    , reference(MakeImage(0, 0.2, 0))
    , other(MakeImage(0, -0.1, 0))
    , affine(MakeAffine(0.15))
  {
    Write(reference, folder / "ref.nii.gz");
    WriteTransform(affine, folder / "a.mat");
    WriteTransform(MakeAffine(-0.4), folder / "b.txt");
    Write(MakeField(reference, 3), folder / "u.nii.gz");
    Write(MakeField(other, -2), folder / "v.nii.gz");
  }

  Outcome
  Run(const std::string & arguments) const
  {
    const Outcome outcome = RunProgram(folder, arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return outcome;
  }

  /** What the list of ListUAVB() does to a point, by ITK: u comes first. */
  Composite::Pointer
  UAVB() const
  {
    auto composite = Composite::New(); // applies what was added last first
    composite->AddTransform(ReadTransform(folder / "b.txt"));
    composite->AddTransform(ReadFieldTransform(folder / "v.nii.gz"));
    composite->AddTransform(affine->GetInverseTransform());
    composite->AddTransform(ReadFieldTransform(folder / "u.nii.gz"));
    return composite;
  }

  std::string
  ListUAVB() const
  {
    return " -t " + (folder / "u.nii.gz") + " '[" + (folder / "a.mat") + ",1]' " + (folder / "v.nii.gz") + " " +
           (folder / "b.txt");
  }
};

double
LargestDistance(const itk::Transform<double, 3, 3> * a,
                const itk::Transform<double, 3, 3> * b,
                const std::vector<Point> &           points)
{
  double largest = 0;
  for (const Point & point : points)
  {
    largest = std::max(largest, a->TransformPoint(point).EuclideanDistanceTo(b->TransformPoint(point)));
  }
  return largest;
}

} // namespace

TEST(Compose, FieldsHoldWhatItkComputesAtTheVoxels)
{
  const Transforms t("compose");
  t.Run("compose -r " + (t.folder / "ref.nii.gz") + t.ListUAVB() + " -o " + (t.folder / "all.nii.gz"));
  const auto field = Read<Field>(t.folder / "all.nii.gz");
  const auto expected = t.UAVB();
  ASSERT_EQ(field->GetBufferedRegion().GetSize(), t.reference->GetBufferedRegion().GetSize());
  double largest = 0;
  for (itk::ImageRegionConstIteratorWithIndex<Field> voxel(field, field->GetBufferedRegion()); !voxel.IsAtEnd();
       ++voxel)
  {
    Point point;
    t.reference->TransformIndexToPhysicalPoint(voxel.GetIndex(), point);
    const auto moved = expected->TransformPoint(point);
    for (unsigned int c = 0; c < 3; ++c)
    {
      largest = std::max(largest, std::abs(point[c] + voxel.Get()[c] - moved[c]));
    }
  }
  // NIfTI keeps origins and directions as floats
  EXPECT_LT(largest, 1e-4);
}

TEST(Compose, CompositesKeepEveryStep)
{
  const Transforms t("composite");
  t.Run("compose" + t.ListUAVB() + " -o " + (t.folder / "all.h5"));
  const auto read = ReadTransform(t.folder / "all.h5");
  ASSERT_NE(dynamic_cast<Composite *>(read.GetPointer()), nullptr);
  EXPECT_LT(LargestDistance(read, t.UAVB(), PointsIn(t.reference)), 1e-9);
  // a composite within a list is the same as its parts
  t.Run("compose -t " + (t.folder / "all.h5") + " " + (t.folder / "b.txt") + " -o " + (t.folder / "more.h5"));
  auto more = Composite::New();
  more->AddTransform(ReadTransform(t.folder / "b.txt"));
  more->AddTransform(t.UAVB());
  EXPECT_LT(LargestDistance(ReadTransform(t.folder / "more.h5"), more, PointsIn(t.reference)), 1e-9);
}

TEST(Compose, CompositesHaveTheSameBytesAtAnyTime)
{
  const Transforms t("same-bytes");
  t.Run("compose" + t.ListUAVB() + " -o " + (t.folder / "first.h5"));
  std::this_thread::sleep_for(std::chrono::milliseconds(1100)); // HDF5 tells times in seconds
  t.Run("compose" + t.ListUAVB() + " -o " + (t.folder / "second.h5"));
  EXPECT_TRUE(ReadText(t.folder / "first.h5") == ReadText(t.folder / "second.h5"));
}

TEST(Compose, LinearOnesBecomeOneAffine)
{
  const Transforms t("linear");
  for (const std::string end : { "mat", "txt", "tfm" })
  {
    t.Run("compose -t '[" + (t.folder / "a.mat") + ",1]' " + (t.folder / "b.txt") + " -o " + (t.folder / "both.") +
          end);
    const auto read = ReadTransform(t.folder / ("both." + end));
    ASSERT_NE(dynamic_cast<Affine *>(read.GetPointer()), nullptr);
    auto expected = Composite::New();
    expected->AddTransform(ReadTransform(t.folder / "b.txt"));
    expected->AddTransform(t.affine->GetInverseTransform());
    EXPECT_LT(LargestDistance(read, expected, PointsIn(t.reference)), 1e-9) << end;
  }
  const Outcome refused = RunProgram(t.folder, "compose" + t.ListUAVB() + " -o " + (t.folder / "all.mat"));
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.errors.find("not linear"), std::string::npos) << refused.errors;
  EXPECT_FALSE(fs::exists(t.folder / "all.mat"));
}

TEST(Compose, ReadsTheClassThatLinearTransformsDeriveFrom)
{
  const Folder folder("matrix-offset");
  std::ofstream(folder / "c3d.txt") << "#Insight Transform File V1.0\n#Transform 0\n"
                                       "Transform: MatrixOffsetTransformBase_double_3_3\n"
                                       "Parameters: 0 1 0 -1 0 0 0 0 1 1 2 3\nFixedParameters: 0 0 0\n";
  std::ofstream(folder / "points.csv") << "x,y,z\n10,20,30\n";
  const Outcome outcome = RunProgram(
    folder, "apply -i " + (folder / "points.csv") + " -t " + (folder / "c3d.txt") + " -o " + (folder / "to.csv"));
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(ReadText(folder / "to.csv"), "x,y,z\n21,-8,33\n");
}

TEST(Compose, LinearTransformsOfAllKindsTurnAboutTheirCenter)
{
  const Folder      folder("centers");
  const std::string versor = "0 0 0.70710678118654752"; // a right angle about z
  const struct
  {
    std::string kind, parameters;
  } turns[] = { { "VersorTransform", versor },
                { "VersorRigid3DTransform", versor + " 0 0 0" },
                { "ScaleVersor3DTransform", versor + " 0 0 0 1 1 1" },
                { "Euler3DTransform", "0 0 1.5707963267948966 0 0 0" } };
  std::ofstream(folder / "points.csv") << "10,20,30\n";
  for (const auto & turn : turns)
  {
    std::ofstream(folder / "turn.txt") << "#Insight Transform File V1.0\n#Transform 0\nTransform: " << turn.kind
                                       << "_double_3_3\nParameters: " << turn.parameters
                                       << "\nFixedParameters: 5 6 7\n";
    const Outcome outcome = RunProgram(
      folder, "apply -i " + (folder / "points.csv") + " -t " + (folder / "turn.txt") + " -o " + (folder / "to.csv"));
    ASSERT_EQ(outcome.code, 0) << outcome.errors;
    EXPECT_EQ(ReadText(folder / "to.csv"), "-9,11,30\n") << turn.kind; // (5, 6) + (-14, 5)
  }
}

TEST(Invert, UndoesLinearTransformsFieldsAndComposites)
{
  const Transforms t("invert");
  const auto       identity = Affine::New();
  const auto       undone = [&](itk::Transform<double, 3, 3> * first, itk::Transform<double, 3, 3> * then) {
    auto both = Composite::New();
    both->AddTransform(then);
    both->AddTransform(first);
    return LargestDistance(both, identity, PointsIn(t.reference));
  };
  t.Run("invert -t " + (t.folder / "a.mat") + " -o " + (t.folder / "a-1.mat"));
  EXPECT_LT(undone(t.affine, ReadTransform(t.folder / "a-1.mat")), 1e-9);

  const Outcome outcome = t.Run("invert -t " + (t.folder / "u.nii.gz") + " -o " + (t.folder / "u-1.nii.gz"));
  EXPECT_NE(outcome.output.find("inverse within"), std::string::npos);
  EXPECT_EQ(outcome.errors, "");
  const auto u = ReadFieldTransform(t.folder / "u.nii.gz"), inverse = ReadFieldTransform(t.folder / "u-1.nii.gz");
  // exact to 0.001 voxels at voxels; between them the inverse is linear
  EXPECT_LT(undone(inverse, u), 0.03);
  EXPECT_LT(undone(u, inverse), 0.03);

  t.Run("compose -t " + (t.folder / "u.nii.gz") + " " + (t.folder / "a.mat") + " -o " + (t.folder / "c.h5"));
  t.Run("invert -t " + (t.folder / "c.h5") + " -o " + (t.folder / "c-1.h5"));
  EXPECT_LT(undone(ReadTransform(t.folder / "c.h5"), ReadTransform(t.folder / "c-1.h5")), 0.03);
}

TEST(Invert, WarnsOfFoldsAndRefusesWhatHasNoInverse)
{
  const Transforms t("folds");
  Write(MakeField(t.reference, 40), t.folder / "folded.nii.gz");
  const Outcome folded =
    RunProgram(t.folder, "invert -t " + (t.folder / "folded.nii.gz") + " -o " + (t.folder / "x.nii.gz"));
  EXPECT_EQ(folded.code, 0);
  EXPECT_NE(folded.errors.find("folds in"), std::string::npos) << folded.errors;
  auto         flat = Affine::New();
  const double scales[3] = { 1, 1, 0 };
  flat->Scale(Affine::OutputVectorType(scales));
  WriteTransform(flat, t.folder / "flat.tfm");
  const struct
  {
    std::string arguments, expected;
  } cases[] = { { (t.folder / "flat.tfm") + " -o " + (t.folder / "y.mat"), "singular" },
                { (t.folder / "u.nii.gz") + " -o " + (t.folder / "y.mat"), "not linear" },
                { (t.folder / "a.mat") + " -o " + (t.folder / "y.nii.gz"), "compose" } };
  for (const auto & c : cases)
  {
    const Outcome outcome = RunProgram(t.folder, "invert -t " + c.arguments);
    EXPECT_EQ(outcome.code, 1) << c.arguments;
    EXPECT_NE(outcome.errors.find(c.expected), std::string::npos) << outcome.errors;
    EXPECT_EQ(outcome.ErrorLines(), 1) << outcome.errors;
  }
}

TEST(Jacobian, AgreesWithItkInTheInterior)
{
  const Transforms t("jacobian");
  const Outcome    outcome = t.Run("jacobian -t " + (t.folder / "u.nii.gz") + " -o " + (t.folder / "j.nii.gz"));
  EXPECT_NE(outcome.output.find("not positive in 0 of"), std::string::npos) << outcome.output;
  using Filter = itk::DisplacementFieldJacobianDeterminantFilter<Field, double, itk::Image<double, 3>>;
  auto filter = Filter::New();
  filter->SetUseImageSpacingOn();
  // ITK takes derivatives along the axes of the grid, but components along those of space: turn the field first
  const auto field = Read<Field>(t.folder / "u.nii.gz");
  const auto back = field->GetInverseDirection();
  for (itk::ImageRegionIteratorWithIndex<Field> voxel(field, field->GetBufferedRegion()); !voxel.IsAtEnd(); ++voxel)
  {
    Field::PixelType turned;
    for (unsigned int i = 0; i < 3; ++i)
    {
      turned[i] = float(back[i][0] * voxel.Get()[0] + back[i][1] * voxel.Get()[1] + back[i][2] * voxel.Get()[2]);
    }
    voxel.Set(turned);
  }
  filter->SetInput(field);
  filter->Update();
  const auto        map = Read(t.folder / "j.nii.gz");
  Image::RegionType interior = map->GetBufferedRegion();
  interior.ShrinkByRadius(1);
  double largest = 0, spread = 0;
  for (itk::ImageRegionConstIteratorWithIndex<Image> voxel(map, interior); !voxel.IsAtEnd(); ++voxel)
  {
    largest = std::max(largest, std::abs(voxel.Get() - filter->GetOutput()->GetPixel(voxel.GetIndex())));
    spread = std::max(spread, std::abs(voxel.Get() - 1.0));
  }
  EXPECT_LT(largest, 1e-4);
  EXPECT_GT(spread, 0.1);
}

TEST(Jacobian, OfAListIsThatOfTheWholeMap)
{
  const Transforms t("jacobians");
  // outside the bump only the affine transforms remain: 1.05^3 each, one of them inverted
  t.Run("jacobian -r " + (t.folder / "ref.nii.gz") + " -t " + (t.folder / "a.mat") + " " + (t.folder / "b.txt") +
        " -o " + (t.folder / "j.nii.gz"));
  const auto map = Read(t.folder / "j.nii.gz");
  t.Run("jacobian --log -r " + (t.folder / "ref.nii.gz") + " -t " + (t.folder / "u.nii.gz") + " " +
        (t.folder / "a.mat") + " -o " + (t.folder / "l.nii.gz"));
  t.Run("jacobian -t " + (t.folder / "u.nii.gz") + " -o " + (t.folder / "u_j.nii.gz"));
  const auto logarithms = Read(t.folder / "l.nii.gz"), own = Read(t.folder / "u_j.nii.gz");
  const auto count = map->GetBufferedRegion().GetNumberOfPixels();
  for (itk::SizeValueType i = 0; i < count; i += 97)
  {
    EXPECT_NEAR(map->GetBufferPointer()[i], std::pow(1.05, 6), 1e-3);
    EXPECT_NEAR(logarithms->GetBufferPointer()[i], std::log(own->GetBufferPointer()[i]) + 3 * std::log(1.05), 1e-3);
  }
  const Outcome refused =
    RunProgram(t.folder, "jacobian -t " + (t.folder / "a.mat") + " -o " + (t.folder / "x.nii.gz"));
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.errors.find("--reference"), std::string::npos) << refused.errors;
}
