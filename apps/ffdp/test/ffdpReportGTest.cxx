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
#include "ffdpReportPictures.h"

#include "ffdpProgramTestSupport.h"

#include "itkRGBPixel.h"


namespace
{

using namespace programtest;

std::size_t
CountOf(const std::string & text, const std::string & word)
{
  std::size_t count = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size()))
  {
    ++count;
  }
  return count;
}

/** What is wrong with the nesting of a page's tags, or nothing. */
std::string
FindFault(const std::string & page)
{
  std::vector<std::string> open;
  for (auto at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1))
  {
    const auto end = page.find('>', at);
    if (end == std::string::npos)
    {
      return "a tag does not end";
    }
    const std::string tag = page.substr(at + 1, end - at - 1);
    if (tag[0] == '!' || tag.back() == '/')
    {
      continue;
    }
    const bool  closing = tag[0] == '/';
    std::string name = tag.substr(closing);
    name.resize(std::min(name.size(), name.find_first_of(" \n")));
    if (!closing)
    {
      open.push_back(name);
    }
    else if (open.empty() || open.back() != name)
    {
      return "</" + name + "> closes " + (open.empty() ? "nothing" : open.back());
    }
    else
    {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back() + " is not closed";
}

/** A 2-D image with a blob somewhere. */
void
WriteFlat(const std::string & file, double x0)
{
  using Flat = itk::Image<float, 2>;
  auto           image = Flat::New();
  Flat::SizeType size = { { 60, 40 } };
  const double   spacing[2] = { 1, 2 };
  image->SetRegions(size);
  image->SetSpacing(spacing);
  image->Allocate();
  itk::ImageRegionIteratorWithIndex<Flat> voxel(image, image->GetBufferedRegion());
  for (; !voxel.IsAtEnd(); ++voxel)
  {
    const double x = double(voxel.GetIndex()[0]) - x0, y = 2 * (double(voxel.GetIndex()[1]) - 20);
    voxel.Set(float(100 * std::exp(-(x * x + y * y) / 200) + 20 * std::sin(x / 3) * std::cos(y / 4)));
  }
  Write(image, file);
}

} // namespace

TEST(Report, HasItsPartsAndIsWellFormed)
{
  const Pair    pair("report");
  const Outcome outcome = RunProgram(pair.folder, pair.Arguments() + " -p fast");
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const std::string page = ReadText(pair.folder / "out_report.html");
  EXPECT_EQ(FindFault(page), "");
  // three planes: fixed; moving three times; three overlays; three checkerboards; grid; Jacobian
  EXPECT_EQ(CountOf(page, "data:image/png;base64,"), 3u * (1 + 3 + 3 + 3 + 1 + 1));
  EXPECT_EQ(CountOf(page, "class=\"lines\""), 3u);
  EXPECT_EQ(CountOf(page, "class=\"chart\""), 4u); // rigid, affine, greedy, histogram
  for (const std::string part : { "Axial",
                                  "Coronal",
                                  "Sagittal",
                                  "peak memory",
                                  "folded voxels",
                                  "44 × 40 × 30",
                                  "1 × 1 × 1.3 mm",
                                  ">LPS<",
                                  "-p fast",
                                  "ffdp 0." })
  {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(CountOf(page, "http"), 0u); // nothing from elsewhere
  EXPECT_EQ(CountOf(page, "<script"), 0u);
}

TEST(Report, ShowsFlatImagesAndLinearTransforms)
{
  const Folder folder("flat");
  WriteFlat(folder / "a.mha", 28);
  WriteFlat(folder / "b.mha", 33);
  const std::string run =
    "register -f " + (folder / "a.mha") + " -m " + (folder / "b.mha") + " -o " + (folder / "out_") + " -p fast";
  ASSERT_EQ(RunProgram(folder, run).code, 0);
  std::string page = ReadText(folder / "out_report.html");
  EXPECT_EQ(FindFault(page), "");
  EXPECT_EQ(CountOf(page, "data:image/png;base64,"), 12u);        // one plane
  EXPECT_NE(page.find("aspect-ratio:0.7500"), std::string::npos); // 60 mm by 80 mm
  EXPECT_EQ(page.find("class=\"left\""), std::string::npos);      // nobody knows what is left

  ASSERT_EQ(RunProgram(folder, run + " -t rigid").code, 0);
  page = ReadText(folder / "out_report.html");
  EXPECT_EQ(FindFault(page), "");
  EXPECT_EQ(CountOf(page, "data:image/png;base64,"), 7u); // no linear part beside the result, no warp
  EXPECT_EQ(page.find("Deformation"), std::string::npos);
}

TEST(Report, LeavesOutPlanesThatAreLines)
{
  const auto self = ffdp::MakeSelfCommunicator();
  const auto planesOf = [&](unsigned int x, unsigned int y, unsigned int z) {
    auto            image = Image::New();
    Image::SizeType size = { { x, y, z } };
    image->SetRegions(size);
    image->Allocate(true);
    return ChoosePlanes(image, *self);
  };
  ASSERT_EQ(planesOf(1, 30, 40).size(), 1u);
  EXPECT_EQ(planesOf(1, 30, 40).front().title, "Sagittal");
  ASSERT_EQ(planesOf(30, 1, 40).size(), 1u);
  EXPECT_EQ(planesOf(30, 1, 40).front().title, "Coronal");
  EXPECT_EQ(planesOf(2, 30, 40).size(), 3u);
  EXPECT_EQ(planesOf(1, 40, 1).size(), 1u); // there is nothing else to show
  EXPECT_EQ(planesOf(1, 1, 40).size(), 3u);
}

TEST(Report, IsOfAModestHeightForLongImages)
{
  const Folder folder("long");
  for (const double shift : { 0.0, 1.5 })
  {
    auto            image = Image::New();
    Image::SizeType size = { { 4, 4, 500 } };
    image->SetRegions(size);
    image->Allocate();
    for (itk::ImageRegionIteratorWithIndex<Image> voxel(image, image->GetBufferedRegion()); !voxel.IsAtEnd(); ++voxel)
    {
      const double z = double(voxel.GetIndex()[2]) - shift;
      voxel.Set(float(50 * std::sin(z / 9) + 20 * std::sin(z / 23) + double(voxel.GetIndex()[0])));
    }
    Write(image, folder / (shift == 0 ? "a.mha" : "b.mha"));
  }
  ASSERT_EQ(RunProgram(folder,
                       "register -f " + (folder / "a.mha") + " -m " + (folder / "b.mha") + " -o " + (folder / "out_") +
                         " -p fast")
              .code,
            0);
  const std::string page = ReadText(folder / "out_report.html");
  EXPECT_EQ(CountOf(page, "aspect-ratio:0.0500;max-width:28px"), 2u * 12); // of 560 pixels height
  EXPECT_EQ(CountOf(page, "aspect-ratio:1.0000;max-width:560px"), 12u);
  EXPECT_LT(page.size(), 1000000u);
}

TEST(Report, PicturesAreReadAsTheyWerePainted)
{
  const Folder folder("png");
  for (const bool gray : { false, true })
  {
    Picture picture(5, 3);
    for (int row = 0; row < 3; ++row)
    {
      for (int column = 0; column < 5; ++column)
      {
        const double level = column / 5.0;
        picture.Set(column, row, { level, gray ? level : row / 3.0, gray ? level : (column * row) / 15.0 });
      }
    }
    picture.Set(4, 2, { 2, gray ? 2.0 : -1.0, gray ? 2.0 : 0.5 }); // kept within what a pixel can be
    EXPECT_EQ(int(picture.pixels[3 * 14]), 255);
    EXPECT_EQ(int(picture.pixels[3 * 14 + 1]), gray ? 255 : 0);
    std::ofstream(folder / "a.png", std::ios::binary) << EncodePng(picture);
    const auto read = Read<itk::Image<itk::RGBPixel<unsigned char>, 2>>(folder / "a.png");
    ASSERT_EQ(read->GetLargestPossibleRegion().GetSize(0), 5u);
    ASSERT_EQ(read->GetLargestPossibleRegion().GetSize(1), 3u);
    for (unsigned int i = 0; i < 15; ++i)
    {
      for (unsigned int c = 0; c < 3; ++c)
      {
        EXPECT_EQ(read->GetBufferPointer()[i][c], picture.pixels[3 * i + c]);
      }
    }
  }
}

/** A grid whose axes run to other sides of the patient than those of the page. */
TEST(Report, SlicesAreTurnedAsOneLooksAtPatients)
{
  auto                 image = Image::New();
  Image::SizeType      size = { { 4, 5, 6 } };
  const double         spacing[3] = { 3, 2, 1 };
  Image::DirectionType direction; // x runs to the feet, y to the right, z to the front
  direction.Fill(0);
  direction[2][0] = direction[0][1] = direction[1][2] = -1;
  image->SetRegions(size);
  image->SetSpacing(spacing);
  image->SetDirection(direction);
  image->Allocate();
  for (unsigned int i = 0; i < 120; ++i)
  {
    image->GetBufferPointer()[i] = float(i);
  }
  EXPECT_EQ(NameOrientation(image), "IRA");
  const auto self = ffdp::MakeSelfCommunicator();
  const auto planes = ChoosePlanes(image, *self);
  ASSERT_EQ(planes.size(), 3u);
  const SlicePlane & axial = planes[0];
  EXPECT_EQ(axial.title, "Axial");
  EXPECT_EQ(axial.normal, 0);
  EXPECT_EQ(axial.left + axial.right + axial.top + axial.bottom, "RLAP");
  EXPECT_EQ(axial.width, 5);
  EXPECT_EQ(axial.height, 6);
  EXPECT_DOUBLE_EQ(axial.aspect, 10.0 / 6.0);
  // the top left pixel is at the patient's right and front: y and z at their ends
  EXPECT_EQ(axial.VoxelAt(0, 0)[1], 4);
  EXPECT_EQ(axial.VoxelAt(0, 0)[2], 5);
  const SlicePlane & coronal = planes[1];
  EXPECT_EQ(coronal.left + coronal.right + coronal.top + coronal.bottom, "RLSI");
  EXPECT_EQ(coronal.VoxelAt(0, 0)[0], 0); // the head is where x begins
  const SlicePlane & sagittal = planes[2];
  EXPECT_EQ(sagittal.left + sagittal.right + sagittal.top + sagittal.bottom, "APSI");
  EXPECT_EQ(sagittal.VoxelAt(0, 0)[2], 5);
  EXPECT_EQ(CutSlice(image, sagittal, *self)[0], float(sagittal.VoxelAt(0, 0)[0] + 4 * sagittal.position + 20 * 5));

  // the image itself through the identity, and through a step of one voxel
  EXPECT_EQ(CutSlice(image, image, axial, ffdp::AffineMap(), {}, *self), CutSlice(image, axial, *self));
  std::vector<float> warp(360, 0.0f);
  std::fill_n(warp.begin() + 240, 120, -1.0f);
  const auto warpView = ffdp::WarpView<const float>::Planar(warp.data(), ffdp::Extent{ 4, 5, 6 });
  const auto moved = CutSlice(image, image, axial, ffdp::AffineMap(), CutSlice(warpView, axial, *self), *self);
  EXPECT_EQ(moved[0], CutSlice(image, axial, *self)[0] - 20);
  EXPECT_TRUE(std::isnan(moved.back())); // outside
}

/** A CT, where 0 is much brighter than air. */
TEST(Report, WhatIsOutsideIsDarkAndDoesNotCount)
{
  SlicePlane plane;
  plane.width = 5;
  plane.height = 1;
  const float  none = std::numeric_limits<float>::quiet_NaN();
  const Slice  fixed{ -1000, 40, 40, -1000, 40 }, moving{ -1000, 40, none, none, 20 };
  const Window window = ChooseWindow({ moving, { none } });
  EXPECT_EQ(window.low, -1000);
  EXPECT_EQ(window.high, 20); // nearly the brightest of three
  const Picture gray = PaintGray(plane, moving, window);
  EXPECT_EQ(int(gray.pixels[3 * 1]), 255);
  EXPECT_EQ(int(gray.pixels[3 * 2]), 0);
  const Picture overlay = PaintOverlay(plane, fixed, window, moving, window);
  EXPECT_EQ(int(overlay.pixels[3 * 1]), 255);
  EXPECT_EQ(int(overlay.pixels[3 * 2]), 0);
  EXPECT_EQ(int(overlay.pixels[3 * 2 + 1]), 0); // the fixed image is not compared to anything there
  EXPECT_EQ(ChooseWindow({ { none } })(none), 0);
}
