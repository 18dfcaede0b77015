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

#include "itkBSplineTransform.h"
#include "itkBSplineTransformInitializer.h"
#include "itkLinearInterpolateImageFunction.h"
#include "itkNearestNeighborInterpolateImageFunction.h"
#include "itkResampleImageFilter.h"

#include <cstdint>
#include <cstdio>

using namespace programtest;

namespace
{

/** An image to resample, and a warp with an affine after it. */
struct Task
{
  Folder         folder;
  Image::Pointer image, reference;

  explicit Task(const std::string & name)
    : folder(name)
    , image(MakeImage(0, -0.2, 0))
    , reference(MakeImage(0, 0.1, 0))
  {
    Write(image, folder / "image.nii.gz");
    Write(reference, folder / "ref.nii.gz");
    Write(MakeField(reference, 3), folder / "u.nii.gz");
    WriteTransform(MakeAffine(0.15), folder / "a.mat");
  }

  Composite::Pointer
  Transform() const
  {
    auto composite = Composite::New();
    composite->AddTransform(ReadTransform(folder / "a.mat"));
    composite->AddTransform(ReadFieldTransform(folder / "u.nii.gz"));
    return composite;
  }

  std::string
  Apply(const std::string & file, const std::string & interpolation, const std::string & output) const
  {
    const Outcome outcome =
      RunProgram(folder,
                 "apply -i " + (folder / file) + " -r " + (folder / "ref.nii.gz") + " -t " + (folder / "u.nii.gz") +
                   " " + (folder / "a.mat") + " -n " + interpolation + " -o " + (folder / output));
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return folder / output;
  }
};

template <typename T>
typename itk::Image<T, 3>::Pointer
Convert(const Image * image, double scale)
{
  auto converted = itk::Image<T, 3>::New();
  converted->CopyInformation(image);
  converted->SetRegions(image->GetBufferedRegion());
  converted->Allocate();
  const auto count = image->GetBufferedRegion().GetNumberOfPixels();
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    converted->GetBufferPointer()[i] = T(scale * image->GetBufferPointer()[i]);
  }
  return converted;
}

template <typename TImage>
typename TImage::Pointer
ResampleByItk(const TImage *                       image,
              const Image *                        reference,
              const itk::Transform<double, 3, 3> * transform,
              bool                                 nearest)
{
  auto filter = itk::ResampleImageFilter<TImage, TImage>::New();
  filter->SetInput(image);
  filter->SetReferenceImage(reference);
  filter->UseReferenceImageOn();
  filter->SetTransform(transform);
  if (nearest)
  {
    filter->SetInterpolator(itk::NearestNeighborInterpolateImageFunction<TImage, double>::New());
  }
  filter->Update();
  return filter->GetOutput();
}

/** Voxels that differ by more than a little. */
template <typename TImage>
double
ShareOfDifferent(const TImage * a, const TImage * b, double tolerance)
{
  const auto count = a->GetBufferedRegion().GetNumberOfPixels();
  double     different = 0;
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    different += std::abs(double(a->GetBufferPointer()[i]) - double(b->GetBufferPointer()[i])) > tolerance ? 1 : 0;
  }
  return different / double(count);
}

itk::IOComponentEnum
ComponentOf(const std::string & file)
{
  auto io = itk::ImageIOFactory::CreateImageIO(file.c_str(), itk::ImageIOFactory::FileModeEnum::ReadMode);
  io->SetFileName(file);
  io->ReadImageInformation();
  return io->GetComponentType();
}

template <typename T>
void
ExpectTypeIsKept(const Task & task, double scale, itk::IOComponentEnum component)
{
  const auto typed = Convert<T>(task.image, scale);
  Write(typed, task.folder / "typed.nii.gz");
  const std::string nearest = task.Apply("typed.nii.gz", "nearest", "nearest.nii.gz");
  EXPECT_EQ(ComponentOf(nearest), component);
  using ImageType = itk::Image<T, 3>;
  const auto expected = ResampleByItk<ImageType>(typed, task.reference, task.Transform(), true);
  // NIfTI keeps origins and directions as floats, so that few halves are rounded the other way
  EXPECT_LT(ShareOfDifferent<ImageType>(Read<ImageType>(nearest), expected, 0), 1e-3);
  EXPECT_EQ(ComponentOf(task.Apply("typed.nii.gz", "label", "label.nii.gz")), component);
  const std::string linear = task.Apply("typed.nii.gz", "linear", "linear.nii.gz");
  EXPECT_EQ(ComponentOf(linear), itk::IOComponentEnum::FLOAT);
  const auto smooth = ResampleByItk<Image>(
    Convert<float>(Read(task.folder / "typed.nii.gz"), 1), task.reference, task.Transform(), false);
  EXPECT_LT(ShareOfDifferent<Image>(Read(linear), smooth, 1e-3 * 140 * scale), 1e-3);
}

} // namespace

TEST(Apply, KeepsTheTypeOfLabels)
{
  const Task task("types");
  ExpectTypeIsKept<std::uint8_t>(task, 1, itk::IOComponentEnum::UCHAR);
  ExpectTypeIsKept<std::int16_t>(task, 100, itk::IOComponentEnum::SHORT);
  ExpectTypeIsKept<double>(task, 1, itk::IOComponentEnum::DOUBLE);
}

TEST(Apply, TakesWhatAntsApplyTransformsTakes)
{
  const Folder folder("ants-spelling");
  auto         labels = MakeImage(1, 0.1, 0);
  std::for_each(labels->GetBufferPointer(),
                labels->GetBufferPointer() + labels->GetBufferedRegion().GetNumberOfPixels(),
                [](float & value) { value = std::round(value / 40); });
  Write(labels, folder / "labels.nii.gz");
  WriteTransform(MakeAffine(0.1), folder / "a.mat");
  const auto apply = [&](const std::string & list, const std::string & interpolation) {
    const Outcome outcome = RunProgram(folder,
                                       "apply -i " + (folder / "labels.nii.gz") + " -r " + (folder / "labels.nii.gz") +
                                         " -n " + interpolation + " -o " + (folder / "o.nii") + " -t " + list);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return ReadText(folder / "o.nii");
  };
  const std::string affine = folder / "a.mat";
  const struct
  {
    std::string ours, theirs;
  } names[] = {
    { "linear", "Linear" }, { "nearest", "NearestNeighbor" }, { "label", "GenericLabel" }, { "label", "genericlabel" }
  };
  for (const auto & name : names)
  {
    EXPECT_TRUE(apply(affine, name.ours) == apply(affine, name.theirs)) << name.theirs;
  }
  EXPECT_TRUE(apply("'[" + affine + ",1]'", "nearest") == apply("'[ " + affine + " , 1 ]'", "nearest"));
  EXPECT_TRUE(apply(affine + " identity", "nearest") == apply(affine, "nearest"));
  EXPECT_FALSE(apply("'[" + affine + ", 1]'", "nearest") == apply(affine, "nearest"));
  apply("identity", "nearest");
  EXPECT_EQ(MeanDifference(Read(folder / "o.nii"), labels), 0);
}

TEST(Apply, LabelsBeyondFloatsSurvive)
{
  const Task task("large");
  auto       labels = Convert<std::int32_t>(task.image, 0);
  labels->FillBuffer(614454277); // as in an atlas of the mouse brain; no float
  Write(labels, task.folder / "labels.nii.gz");
  for (const char * interpolation : { "nearest", "label" })
  {
    const auto moved = Read<itk::Image<std::int32_t, 3>>(task.Apply("labels.nii.gz", interpolation, "moved.nii.gz"));
    EXPECT_EQ(moved->GetPixel({ { 22, 20, 15 } }), 614454277) << interpolation;
  }
}

TEST(Apply, LabelsAreElectedByLinearWeights)
{
  const Task task("vote");
  const auto labels = Convert<std::uint8_t>(task.image, 0.05); // 0 to 9
  Write(labels, task.folder / "labels.nii.gz");
  const auto moved = Read<itk::Image<std::uint8_t, 3>>(task.Apply("labels.nii.gz", "label", "moved.nii.gz"));
  // the vote by definition: the label whose indicator, resampled linearly, is largest
  auto best = itk::Image<float, 3>::New();
  best->CopyInformation(task.reference);
  best->SetRegions(task.reference->GetBufferedRegion());
  best->Allocate();
  best->FillBuffer(-1);
  auto       elected = Convert<std::uint8_t>(best, 0);
  const auto count = best->GetBufferedRegion().GetNumberOfPixels();
  for (int label = 0; label < 10; ++label)
  {
    auto indicator = Convert<float>(task.image, 0);
    for (itk::SizeValueType i = 0; i < count; ++i)
    {
      indicator->GetBufferPointer()[i] = labels->GetBufferPointer()[i] == label ? 1.0f : 0.0f;
    }
    const auto share = ResampleByItk<Image>(indicator, task.reference, task.Transform(), false);
    for (itk::SizeValueType i = 0; i < count; ++i)
    {
      if (share->GetBufferPointer()[i] > best->GetBufferPointer()[i])
      {
        best->GetBufferPointer()[i] = share->GetBufferPointer()[i];
        elected->GetBufferPointer()[i] = std::uint8_t(label);
      }
    }
  }
  EXPECT_LT((ShareOfDifferent<itk::Image<std::uint8_t, 3>>(moved, elected, 0)), 1e-3); // ties, and floats of NIfTI
}

TEST(Apply, SeriesVolumeByVolume)
{
  const Task task("series");
  using Series = itk::Image<std::int16_t, 4>;
  auto                  series = Series::New();
  Series::SpacingType   spacing;
  Series::PointType     origin;
  Series::DirectionType direction;
  direction.SetIdentity();
  origin.Fill(0);
  spacing.Fill(2.5);
  const auto size = task.image->GetBufferedRegion().GetSize();
  for (unsigned int i = 0; i < 3; ++i)
  {
    spacing[i] = task.image->GetSpacing()[i];
    origin[i] = task.image->GetOrigin()[i];
    for (unsigned int j = 0; j < 3; ++j)
    {
      direction[i][j] = task.image->GetDirection()[i][j];
    }
  }
  series->SetRegions(Series::SizeType{ { size[0], size[1], size[2], 3 } });
  series->SetSpacing(spacing);
  series->SetOrigin(origin);
  series->SetDirection(direction);
  series->Allocate();
  const auto count = task.image->GetBufferedRegion().GetNumberOfPixels();
  for (itk::SizeValueType i = 0; i < 3 * count; ++i)
  {
    series->GetBufferPointer()[i] = std::int16_t(task.image->GetBufferPointer()[i % count] * float(1 + i / count));
  }
  Write(series, task.folder / "series.nii.gz");
  for (const bool nearest : { false, true })
  {
    const auto moved =
      Read<itk::Image<float, 4>>(task.Apply("series.nii.gz", nearest ? "nearest" : "linear", "moved.nii.gz"));
    ASSERT_EQ(moved->GetBufferedRegion().GetSize(3), 3u);
    EXPECT_NEAR(moved->GetSpacing()[3], 2.5, 1e-6);
    for (int volume = 0; volume < 3; ++volume)
    {
      auto one = Convert<float>(task.image, 0);
      for (itk::SizeValueType i = 0; i < count; ++i)
      {
        one->GetBufferPointer()[i] = series->GetBufferPointer()[itk::SizeValueType(volume) * count + i];
      }
      const auto expected = ResampleByItk<Image>(one, task.reference, task.Transform(), nearest);
      auto       got = Convert<float>(expected, 0);
      std::copy_n(moved->GetBufferPointer() + itk::SizeValueType(volume) * count, count, got->GetBufferPointer());
      EXPECT_LT(ShareOfDifferent<Image>(got, expected, 0.5), 1e-3) << volume;
    }
  }
}

TEST(Apply, VectorsAndOtherTransforms)
{
  const Task task("vectors");
  // vectors: each component as an image of its own
  const auto field = Read<Field>(task.folder / "u.nii.gz");
  const auto moved = Read<Field>(task.Apply("u.nii.gz", "linear", "moved.nii.gz"));
  auto       component = Convert<float>(task.reference, 0), got = Convert<float>(task.reference, 0);
  const auto count = component->GetBufferedRegion().GetNumberOfPixels();
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    component->GetBufferPointer()[i] = field->GetBufferPointer()[i][1];
    got->GetBufferPointer()[i] = moved->GetBufferPointer()[i][1];
  }
  const auto expected = ResampleByItk<Image>(component, task.reference, task.Transform(), false);
  EXPECT_LT(ShareOfDifferent<Image>(got, expected, 1e-3), 1e-3);
  EXPECT_EQ(RunProgram(task.folder,
                       "apply -n label -i " + (task.folder / "u.nii.gz") + " -r " + (task.folder / "ref.nii.gz") +
                         " -t " + (task.folder / "a.mat") + " -o " + (task.folder / "x.nii.gz"))
              .code,
            1);
  // a B-spline is neither linear nor a field
  using Spline = itk::BSplineTransform<double, 3, 3>;
  auto spline = Spline::New();
  auto initializer = itk::BSplineTransformInitializer<Spline, Image>::New();
  initializer->SetTransform(spline);
  initializer->SetImage(task.reference);
  initializer->InitializeTransform();
  auto parameters = spline->GetParameters();
  for (unsigned int i = 0; i < parameters.Size(); ++i)
  {
    parameters[i] = 2 * std::sin(double(i));
  }
  spline->SetParameters(parameters);
  WriteTransform(spline, task.folder / "spline.h5");
  const Outcome outcome =
    RunProgram(task.folder,
               "apply -i " + (task.folder / "image.nii.gz") + " -r " + (task.folder / "ref.nii.gz") + " -t " +
                 (task.folder / "spline.h5") + " -o " + (task.folder / "bent.nii.gz"));
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  EXPECT_LT(ShareOfDifferent<Image>(
              Read(task.folder / "bent.nii.gz"), ResampleByItk<Image>(task.image, task.reference, spline, false), 0.02),
            1e-3);
}

TEST(Apply, PointsKeepTheirColumns)
{
  const Task task("columns");
  std::ofstream(task.folder / "p.csv") << "x,y,z,t,label,comment\r\n1,2,3,0,7,left, of it\r\n\r\n-4.5,0,6e0,0,8,\r\n";
  std::ofstream(task.folder / "q.csv") << "1 , 2,3\n";
  const std::string transforms = " -t " + (task.folder / "u.nii.gz") + " " + (task.folder / "a.mat") + " -o ";
  ASSERT_EQ(RunProgram(task.folder, "apply -i " + (task.folder / "p.csv") + transforms + (task.folder / "o.csv")).code,
            0);
  std::istringstream out(ReadText(task.folder / "o.csv"));
  std::string        header, first, second, rest;
  std::getline(out, header);
  std::getline(out, first);
  std::getline(out, second);
  EXPECT_FALSE(std::getline(out, rest));
  EXPECT_EQ(header, "x,y,z,t,label,comment");
  const auto   transform = task.Transform();
  const double points[2][3] = { { 1, 2, 3 }, { -4.5, 0, 6 } };
  const auto   a = transform->TransformPoint(Point(points[0])), b = transform->TransformPoint(Point(points[1]));
  char         expected[2][200];
  std::snprintf(expected[0], 200, "%.10g,%.10g,%.10g,0,7,left, of it", a[0], a[1], a[2]);
  std::snprintf(expected[1], 200, "%.10g,%.10g,%.10g,0,8,", b[0], b[1], b[2]);
  EXPECT_EQ(first, expected[0]);
  EXPECT_EQ(second, expected[1]);
  ASSERT_EQ(RunProgram(task.folder, "apply -i " + (task.folder / "q.csv") + transforms + (task.folder / "o.csv")).code,
            0);
  std::snprintf(expected[0], 200, "%.10g,%.10g,%.10g\n", a[0], a[1], a[2]);
  EXPECT_EQ(ReadText(task.folder / "o.csv"), expected[0]);
}
