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
#include "ffdpImageGrid.h"
#include "ffdpNiftiWriter.h"
#include "ffdpPlanarTestSupport.h"

using namespace programtest;

namespace
{

/** Two images of two dimensions, an affine transform and a displacement field, in files. */
struct PlanarFiles
{
  Folder                        folder;
  PlanarImage::Pointer          fixed, moving;
  PlanarAffine::Pointer         affine;
  std::string                   list; ///< the field, then the affine transform
  PlanarFieldTransform::Pointer field;

  explicit PlanarFiles(const std::string & name)
    : folder(name)
    , fixed(MakePlanarImage(1.5, 0.1, 1))
    , moving(MakePlanarImage(0, -0.2, 0))
    , affine(MakePlanarAffine())
    , list(" -t " + (folder / "u.nii.gz") + " " + (folder / "a.mat"))
  {
    Write(fixed, folder / "fixed.nii.gz");
    Write(moving, folder / "moving.mha");
    Write(MakePlanarField(fixed, 3), folder / "u.nii.gz");
    WriteTransform(affine, folder / "a.mat");
    field = ReadPlanarField(folder / "u.nii.gz");
    // as their files have them
    fixed = Read<PlanarImage>(folder / "fixed.nii.gz");
  }

  Outcome
  Run(const std::string & arguments) const
  {
    const Outcome outcome = RunProgram(folder, arguments);
    EXPECT_EQ(outcome.code, 0) << arguments << "\n" << outcome.errors;
    return outcome;
  }

  std::string
  Register(const std::string & prefix) const
  {
    return "register -q -f " + (folder / "fixed.nii.gz") + " -m " + (folder / "moving.mha") + " -o " +
           (folder / prefix) + " ";
  }

  PlanarComposite::Pointer
  FieldThenAffine() const
  {
    auto composite = PlanarComposite::New(); // applies what was added last first
    composite->AddTransform(affine);
    composite->AddTransform(field);
    return composite;
  }
};

double
LargestDistance(const PlanarTransform * a, const PlanarTransform * b)
{
  double largest = 0;
  for (int i = 0; i < 60; ++i)
  {
    const double                          place[2] = { -12 + 0.4 * i, 10 - std::fmod(3.7 * i, 20.0) };
    const PlanarTransform::InputPointType point(place);
    largest = std::max(largest, a->TransformPoint(point).EuclideanDistanceTo(b->TransformPoint(point)));
  }
  return largest;
}

/** The area of a pixel after a field over that before, by central differences. */
double
DeterminantAt(const PlanarField * field, const PlanarField::IndexType & index)
{
  double edges[2][2][2]; // before and after, axis, component
  for (unsigned int axis = 0; axis < 2; ++axis)
  {
    PlanarField::IndexType next = index, last = index;
    ++next[axis];
    --last[axis];
    PlanarField::PointType to, from;
    field->TransformIndexToPhysicalPoint(next, to);
    field->TransformIndexToPhysicalPoint(last, from);
    for (unsigned int c = 0; c < 2; ++c)
    {
      edges[0][axis][c] = to[c] - from[c];
      edges[1][axis][c] = edges[0][axis][c] + double(field->GetPixel(next)[c]) - double(field->GetPixel(last)[c]);
    }
  }
  const auto area = [&](int k) { return edges[k][0][0] * edges[k][1][1] - edges[k][0][1] * edges[k][1][0]; };
  return area(1) / area(0);
}

} // namespace

TEST(Planar, NiftiFilesHaveTheBytesThatItkWrites)
{
  const PlanarFiles files("planar-nifti");
  Write(files.fixed, files.folder / "image.nii");
  Write(MakePlanarField(files.fixed, 3), files.folder / "field.nii");
  const auto image = CopyGrid<Image>(files.fixed.GetPointer());
  const auto field = CopyGrid<Field>(files.fixed.GetPointer());
  const auto vectors = MakePlanarField(files.fixed, 3);
  image->Allocate();
  field->Allocate(true);
  for (itk::SizeValueType i = 0; i < image->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    image->GetBufferPointer()[i] = files.fixed->GetBufferPointer()[i];
    field->GetBufferPointer()[i][0] = vectors->GetBufferPointer()[i][0];
    field->GetBufferPointer()[i][1] = vectors->GetBufferPointer()[i][1];
  }
  WriteNifti(image, files.folder / "our-image.nii", 2);
  WriteNifti(field, files.folder / "our-field.nii", 2);
  EXPECT_TRUE(ReadText(files.folder / "our-image.nii") == ReadText(files.folder / "image.nii"));
  EXPECT_TRUE(ReadText(files.folder / "our-field.nii") == ReadText(files.folder / "field.nii"));
}

TEST(Planar, RegistrationWritesWhatClassesOfTwoDimensionsRead)
{
  const PlanarFiles files("planar-register");
  files.Run(files.Register("out_") + "--composite");
  const std::string prefix = files.folder / "out_";
  for (const std::string name : { "Warped.nii.gz", "InverseWarped.nii.gz", "1Warp.nii.gz", "1InverseWarp.nii.gz" })
  {
    EXPECT_EQ(DimensionsInFile(prefix + name), 2u) << name;
  }
  const auto affine = ReadPlanarTransform(prefix + "0GenericAffine.mat");
  ASSERT_NE(dynamic_cast<PlanarAffine *>(affine.GetPointer()), nullptr);
  auto forward = PlanarComposite::New(), backward = PlanarComposite::New();
  forward->AddTransform(affine);
  forward->AddTransform(ReadPlanarField(prefix + "1Warp.nii.gz"));
  backward->AddTransform(ReadPlanarField(prefix + "1InverseWarp.nii.gz"));
  backward->AddTransform(affine->GetInverseTransform());
  // NIfTI keeps places as floats, and intensities go up to about 180
  const auto warped = Read<PlanarImage>(prefix + "Warped.nii.gz");
  EXPECT_LT(LargestDifference(ResamplePlanar(files.moving, files.fixed, forward), warped), 0.01);
  EXPECT_LT(LargestDifference(ResamplePlanar(files.fixed, files.moving, backward),
                              Read<PlanarImage>(prefix + "InverseWarped.nii.gz")),
            0.01);
  const auto composite = ReadPlanarTransform(prefix + "Composite.h5");
  const auto inverse = ReadPlanarTransform(prefix + "InverseComposite.h5");
  ASSERT_NE(dynamic_cast<PlanarComposite *>(composite.GetPointer()), nullptr);
  ASSERT_NE(dynamic_cast<PlanarComposite *>(inverse.GetPointer()), nullptr);
  EXPECT_LT(LargestDistance(composite, forward), 1e-4);
  EXPECT_LT(LargestDistance(inverse, backward), 1e-4);

  // and it was a registration
  const auto before = ResamplePlanar(files.moving, files.fixed, PlanarAffine::New());
  double     differenceBefore = 0, difference = 0;
  for (itk::SizeValueType i = 0; i < warped->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    const float expected = files.fixed->GetBufferPointer()[i];
    differenceBefore += std::abs(before->GetBufferPointer()[i] - expected);
    difference += std::abs(warped->GetBufferPointer()[i] - expected);
  }
  EXPECT_LT(difference, 0.25 * differenceBefore);
}

TEST(Planar, RegistrationGoesOnFromItsFiles)
{
  const PlanarFiles files("planar-start");
  files.Run(files.Register("out_") + "--composite");
  const std::string prefix = files.folder / "out_", still = " --transform 'Greedy[]' --metric CC --convergence 0 -r ";
  const auto        warped = Read<PlanarImage>(prefix + "Warped.nii.gz");
  for (const std::string & start :
       { prefix + "1Warp.nii.gz " + prefix + "0GenericAffine.mat", prefix + "Composite.h5" })
  {
    files.Run(files.Register("again_") + still + start);
    // a warp and its inverse are drawn together again
    EXPECT_LT(LargestDifference(Read<PlanarImage>(files.folder / "again_Warped.nii.gz"), warped), 2) << start;
  }
}

TEST(Planar, TransformsOfTwoDimensionsAreApplied)
{
  const PlanarFiles files("planar-apply");
  const auto        expected = ResamplePlanar(files.moving, files.fixed, files.FieldThenAffine());
  const std::string apply = "apply -i " + (files.folder / "moving.mha") + " -r " + (files.folder / "fixed.nii.gz");
  for (const std::string end : { ".nii.gz", ".nii", ".mha", ".nrrd" })
  {
    files.Run(apply + files.list + " -o " + (files.folder / "o") + end);
    EXPECT_EQ(DimensionsInFile(files.folder / ("o" + end)), 2u) << end;
    EXPECT_LT(LargestDifference(Read<PlanarImage>(files.folder / ("o" + end)), expected), 0.01) << end;
  }
  // a composite, all steps in one field, and a plane of displacements that another format holds
  files.Run("compose" + files.list + " -o " + (files.folder / "all.h5"));
  const auto composite = ReadPlanarTransform(files.folder / "all.h5");
  ASSERT_NE(dynamic_cast<PlanarComposite *>(composite.GetPointer()), nullptr);
  EXPECT_LT(LargestDistance(composite, files.FieldThenAffine()), 1e-9);
  files.Run(apply + " -t " + (files.folder / "all.h5") + " -o " + (files.folder / "o.nii"));
  EXPECT_LT(LargestDifference(Read<PlanarImage>(files.folder / "o.nii"), expected), 0.01);
  for (const std::string end : { ".nii.gz", ".mha", ".nrrd" })
  {
    const std::string all = files.folder / ("all" + end);
    files.Run("compose -r " + (files.folder / "fixed.nii.gz") + files.list + " -o " + all);
    EXPECT_EQ(DimensionsInFile(all), 2u);
    EXPECT_LT(LargestDistance(ReadPlanarField(all), files.FieldThenAffine()), 0.01) << end; // linear between voxels
    files.Run(apply + " -t " + all + " -o " + (files.folder / "o.nii"));
    EXPECT_LT(LargestDifference(Read<PlanarImage>(files.folder / "o.nii"), expected), 0.01) << end;
  }
}

TEST(Planar, TransformsOfTwoDimensionsAreInvertedAndMeasured)
{
  const PlanarFiles files("planar-invert");
  const auto        undone = [](const PlanarTransform * first, const PlanarTransform * then) {
    auto both = PlanarComposite::New();
    both->AddTransform(const_cast<PlanarTransform *>(then));
    both->AddTransform(const_cast<PlanarTransform *>(first));
    return LargestDistance(both, PlanarAffine::New());
  };
  for (const std::string end : { ".mat", ".txt", ".tfm" })
  {
    files.Run("invert -t " + (files.folder / "a.mat") + " -o " + (files.folder / "a-1") + end);
    const auto inverse = ReadPlanarTransform(files.folder / ("a-1" + end));
    ASSERT_NE(dynamic_cast<PlanarAffine *>(inverse.GetPointer()), nullptr);
    EXPECT_LT(undone(files.affine, inverse), 1e-9);
  }
  files.Run("invert -t " + (files.folder / "u.nii.gz") + " -o " + (files.folder / "u-1.nii.gz"));
  EXPECT_LT(undone(files.field, ReadPlanarField(files.folder / "u-1.nii.gz")), 0.03);
  files.Run("compose" + files.list + " -o " + (files.folder / "c.h5"));
  files.Run("invert -t " + (files.folder / "c.h5") + " -o " + (files.folder / "c-1.h5"));
  EXPECT_LT(undone(files.FieldThenAffine(), ReadPlanarTransform(files.folder / "c-1.h5")), 0.03);

  const auto                   vectors = Read<PlanarField>(files.folder / "u.nii.gz");
  const PlanarField::IndexType middle = { { 20, 17 } };
  for (const std::string & reference : { std::string(), " -r " + (files.folder / "fixed.nii.gz") })
  {
    files.Run("jacobian -t " + (files.folder / "u.nii.gz") + reference + " -o " + (files.folder / "j.nii.gz"));
    const auto map = Read<PlanarImage>(files.folder / "j.nii.gz");
    EXPECT_EQ(DimensionsInFile(files.folder / "j.nii.gz"), 2u);
    EXPECT_NEAR(map->GetPixel(middle), DeterminantAt(vectors, middle), 1e-4);
  }
  const Outcome measured = files.Run("evaluate --warp " + (files.folder / "u.nii.gz"));
  EXPECT_NE(measured.output.find("of 2880 voxels"), std::string::npos) << measured.output;
}

TEST(Planar, PointsOfTwoDimensionsAreMoved)
{
  const PlanarFiles files("planar-points");
  const double      place[2] = { 4, -3 };
  const auto        moved = files.FieldThenAffine()->TransformPoint(PlanarTransform::InputPointType(place));
  const struct
  {
    std::string header, before, after;
  } tables[] = { { "x,y\n", "", "" }, { "", "", "" }, { "name,y,x\n", "a,", "" }, { "x,y,z,t\n", "", ",9,0" } };
  for (const auto & table : tables)
  {
    const bool        swapped = !table.before.empty();
    const std::string point = swapped ? "-3,4" : "4,-3";
    std::ofstream(files.folder / "p.csv") << table.header << table.before << point << table.after << "\n";
    files.Run("apply -i " + (files.folder / "p.csv") + files.list + " -o " + (files.folder / "q.csv"));
    char expected[64];
    std::snprintf(
      expected, sizeof(expected), "%.10g,%.10g", swapped ? moved[1] : moved[0], swapped ? moved[0] : moved[1]);
    EXPECT_EQ(ReadText(files.folder / "q.csv"), table.header + table.before + expected + table.after + "\n");
    const Outcome compared = files.Run("evaluate --fixed-points " + (files.folder / "p.csv") + " --moving-points " +
                                       (files.folder / "q.csv") + files.list);
    EXPECT_NE(compared.output.find("error 0.0000 mm"), std::string::npos) << compared.output;
  }
  // a z beside points of the plane means nothing
  std::ofstream(files.folder / "p.csv") << "x,y,z\n4,-3,7\n";
  std::ofstream(files.folder / "q.csv") << "x,y\n" << moved[0] << "," << moved[1] + 0.5 << "\n";
  const Outcome mixed = files.Run("evaluate --fixed-points " + (files.folder / "p.csv") + " --moving-points " +
                                  (files.folder / "q.csv") + files.list);
  EXPECT_NE(mixed.output.find("error 0.5000 mm"), std::string::npos) << mixed.output;
}

TEST(Planar, OneSliceInSpaceStaysInSpace)
{
  const Folder folder("one-slice");
  auto         slice = CopyGrid<Image>(MakePlanarImage(1.5, 0, 1).GetPointer());
  auto         other = CopyGrid<Image>(MakePlanarImage(0, 0, 0).GetPointer());
  for (const auto & image : { slice, other })
  {
    const auto plane = image == slice ? MakePlanarImage(1.5, 0, 1) : MakePlanarImage(0, 0, 0);
    auto       origin = image->GetOrigin();
    origin[2] = 25; // which ITK forgets of a field of one plane
    image->SetOrigin(origin);
    image->Allocate();
    std::copy_n(plane->GetBufferPointer(), plane->GetBufferedRegion().GetNumberOfPixels(), image->GetBufferPointer());
  }
  Write(slice, folder / "fixed.nii.gz");
  Write(other, folder / "moving.nii.gz");
  const Outcome outcome = RunProgram(folder,
                                     "register -q -f " + (folder / "fixed.nii.gz") + " -m " +
                                       (folder / "moving.nii.gz") + " -o " + (folder / "out_"));
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(DimensionsInFile(folder / "out_Warped.nii.gz"), 3u);
  EXPECT_NE(ReadTransform(folder / "out_0GenericAffine.mat"), nullptr);
  EXPECT_EQ(Read<Field>(folder / "out_1Warp.nii.gz")->GetBufferedRegion().GetSize(2), 1u);
  const Outcome applied = RunProgram(folder,
                                     "apply -i " + (folder / "moving.nii.gz") + " -r " + (folder / "fixed.nii.gz") +
                                       " -t " + (folder / "out_1Warp.nii.gz") + " " +
                                       (folder / "out_0GenericAffine.mat") + " -o " + (folder / "moved.nii.gz"));
  ASSERT_EQ(applied.code, 0) << applied.errors;
  EXPECT_LT(MeanDifference(Read(folder / "moved.nii.gz"), Read(folder / "out_Warped.nii.gz")), 1e-3);
}

TEST(Planar, TwoAndThreeDimensionsAreNotMixed)
{
  const PlanarFiles files("planar-mixed");
  const auto        volume = MakeImage(0, 0.1, 0);
  const std::string image = files.folder / "volume.nii.gz", field = files.folder / "field.nii.gz",
                    affine = files.folder / "affine.mat", plane = files.folder / "fixed.nii.gz",
                    planeField = files.folder / "u.nii.gz", planeAffine = files.folder / "a.mat";
  Write(volume, image);
  Write(MakeField(volume, 2), field);
  WriteTransform(MakeAffine(0.1), affine);
  WriteTransform(MakeAffine(0.1), files.folder / "affine.h5");
  std::ofstream(files.folder / "p.csv") << "x,y\n1,2\n";
  const std::string to = " -o " + (files.folder / "o.nii.gz"), registered = " -o " + (files.folder / "o_");
  const struct
  {
    std::string arguments, file, other;
  } cases[] = {
    { "register -f " + image + " -m " + plane + registered, plane, image },
    { "register -f " + plane + " -m " + image + registered, plane, image },
    { "plan -f " + plane + " -m " + image, plane, image },
    { "register -f " + plane + " -m " + plane + " --fixed-mask " + image + registered, plane, image },
    { "register -f " + plane + " -m " + plane + " --masks '[NULL," + image + "]'" + registered, plane, image },
    { "register -f " + plane + " -m " + plane + " -r " + field + registered, plane, field },
    { "register -f " + image + " -m " + image + " -r " + planeField + registered, image, planeField },
    { "register -f " + plane + " -m " + plane + " -r " + affine + registered, plane, affine },
    { "register -f " + image + " -m " + image + " -r " + planeAffine + registered, image, planeAffine },
    { "apply -i " + image + " -r " + plane + " -t identity" + to, plane, image },
    { "apply -i " + plane + " -r " + image + " -t identity" + to, plane, image },
    { "apply -i " + image + " -r " + image + " -t " + planeAffine + to, image, planeAffine },
    { "apply -i " + plane + " -r " + plane + " -t " + field + to, plane, field },
    { "apply -i " + plane + " -r " + plane + " -t " + (files.folder / "affine.h5") + to, plane, "affine.h5" },
    { "apply -i " + (files.folder / "p.csv") + " -t " + affine + " -o " + (files.folder / "o.csv"), "p.csv", affine },
    { "compose -t " + planeField + " " + affine + " -o " + (files.folder / "o.h5"), planeField, affine },
    { "compose -r " + image + " -t " + planeField + to, image, planeField },
    { "jacobian -r " + image + " -t " + planeField + to, image, planeField },
  };
  for (const auto & mixed : cases)
  {
    const Outcome outcome = RunProgram(files.folder, mixed.arguments);
    EXPECT_EQ(outcome.code, 1) << mixed.arguments;
    EXPECT_EQ(outcome.ErrorLines(), 1) << outcome.errors;
    for (const std::string & part : { mixed.file, mixed.other, std::string("two dim"), std::string("three dim") })
    {
      EXPECT_NE(outcome.errors.find(part), std::string::npos) << mixed.arguments << "\n" << outcome.errors;
    }
  }
  EXPECT_FALSE(fs::exists(files.folder / "o.nii.gz"));
  EXPECT_FALSE(fs::exists(files.folder / "o_0GenericAffine.mat"));
}
