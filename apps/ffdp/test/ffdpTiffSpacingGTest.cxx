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
#include "ffdpGivenSpacing.h"
#include "ffdpImageHeader.h"
#include "ffdpLengthUnit.h"
#include "ffdpProgramTestSupport.h"
#include "ffdpTiffTestSupport.h"
#include "ffdpVoxelSpacing.h"

using namespace programtest;
using namespace tifftest;

namespace
{

const std::string Stack = "PhysicalSizeX=\"0.65\" PhysicalSizeY=\"0.65\" PhysicalSizeZ=\"2\"";

/** What ITK says of a stack without a unit. */
ImageHeader
MakeHeader(std::uint64_t x, std::uint64_t y, std::uint64_t z)
{
  ImageHeader header;
  header.format = "TIFFImageIO";
  header.axes.resize(3);
  header.axes[0].size = x;
  header.axes[1].size = y;
  header.axes[2].size = z;
  return header;
}

/** Writes a file and reads it back through the program; its spacing as it says, or what it complains of. */
struct Tried
{
  std::vector<double> spacing;
  std::string         errors;

  Tried(const Folder & folder, const TiffFile & tiff, const std::string & options = "")
  {
    const std::string in = folder / "a.tif", out = folder / "a.nrrd";
    fs::remove(out);
    tiff.Write(in);
    const Outcome outcome =
      RunProgram(folder, "apply -i " + in + " -r " + in + " -t identity -o " + out + " " + options);
    errors = outcome.errors;
    if (outcome.code == 0 && fs::exists(out))
    {
      const auto image = Read<Image>(out);
      for (unsigned int axis = 0; axis < (tiff.pages.size() > 1 ? 3 : 2); ++axis)
      {
        spacing.push_back(image->GetSpacing()[axis]);
      }
    }
    else
    {
      EXPECT_NE(outcome.code, 0);
      EXPECT_EQ(outcome.ErrorLines(), 1) << errors;
      EXPECT_NE(errors.find(in), std::string::npos) << errors;
    }
  }

  void
  Expect(const std::vector<double> & expected) const
  {
    ASSERT_EQ(spacing.size(), expected.size()) << errors;
    for (std::size_t axis = 0; axis < expected.size(); ++axis)
    {
      EXPECT_NEAR(spacing[axis], expected[axis], 1e-6 * expected[axis]) << "axis " << axis << " " << errors;
    }
  }

  void
  ExpectRefusal(const std::string & reason) const
  {
    EXPECT_TRUE(spacing.empty());
    EXPECT_NE(errors.find(reason), std::string::npos) << errors;
  }
};

TiffFile
MakeStack(const std::string & description)
{
  TiffFile tiff;
  tiff.description = description;
  return tiff;
}

TiffFile
MakePlane(std::uint32_t x, std::uint32_t y, unsigned unit)
{
  TiffFile tiff;
  tiff.pages.resize(1);
  tiff.xResolution[0] = x;
  tiff.yResolution[0] = y;
  tiff.xResolution[1] = tiff.yResolution[1] = 1;
  tiff.unit = unit;
  return tiff;
}

} // namespace

/** The resolution that programs write beside the metadata is in pixels per um, of which a TIFF knows nothing. */
TEST(TiffSpacing, OmeSaysItInMicrometers)
{
  const Folder folder("tiff-ome");
  TiffFile     tiff = MakeStack(Ome(Stack));
  tiff.xResolution[0] = tiff.yResolution[0] = 100;
  tiff.xResolution[1] = tiff.yResolution[1] = 65;
  tiff.unit = 2;
  for (const bool big : { false, true })
  {
    for (const bool bigEndian : { false, true })
    {
      tiff.big = big;
      tiff.bigEndian = bigEndian;
      Tried(folder, tiff).Expect({ 0.00065, 0.00065, 0.002 });
    }
  }
}

TEST(TiffSpacing, OmeSaysItInOtherUnits)
{
  const auto units = [](const std::string & unit) {
    return Ome(Stack + " PhysicalSizeXUnit=\"" + unit + "\" PhysicalSizeYUnit=\"" + unit + "\" PhysicalSizeZUnit=\"" +
               unit + "\"");
  };
  const Folder                          folder("tiff-units");
  const std::pair<const char *, double> known[] = { { "nm", 1e-6 },       { "mm", 1 },           { "cm", 10 },
                                                    { "&#181;m", 1e-3 },  { "\xC2\xB5m", 1e-3 }, { "\xCE\xBCm", 1e-3 },
                                                    { "\xC3\x85", 1e-7 }, { "m", 1000 } };
  for (const auto & unit : known)
  {
    ImageHeader header = MakeHeader(24, 20, 6);
    MakeStack(units(unit.first)).Write(folder / "a.tif");
    SettleSpacing(header, folder / "a.tif", "image");
    EXPECT_NEAR(header.axes[0].spacing / unit.second, 0.65, 1e-9) << unit.first;
    EXPECT_NEAR(header.axes[2].spacing / unit.second, 2, 1e-9) << unit.first;
  }
  Tried(folder, MakeStack(units("pixel"))).ExpectRefusal("how large its voxels are: give --spacing");
  Tried(folder, MakeStack(units("reference frame"))).ExpectRefusal("how large its voxels are: give --spacing");
  Tried(folder, MakeStack(units("furlong"))).ExpectRefusal("PhysicalSizeX is '0.65 furlong'");
}

TEST(TiffSpacing, LengthsOfUnits)
{
  EXPECT_EQ(MillimetersOf("micron"), 1e-3);
  EXPECT_EQ(MillimetersOf("Microns"), 1e-3);
  EXPECT_EQ(MillimetersOf("\xB5m"), 1e-3);
  EXPECT_EQ(MillimetersOf("inches"), 25.4);
  EXPECT_EQ(MillimetersOf("Mm"), 0);
  EXPECT_EQ(MillimetersOf(""), 0);
  EXPECT_TRUE(IsNoLength("Pixel"));
  EXPECT_FALSE(IsNoLength("mm"));
}

TEST(TiffSpacing, WhatOmeDoesNotSayIsAskedFor)
{
  const Folder folder("tiff-asked");
  const auto   noZ = MakeStack(Ome("PhysicalSizeX=\"0.65\" PhysicalSizeY=\"0.65\""));
  Tried(folder, noZ).ExpectRefusal("how far apart its planes are (its pixels are 0.00065x0.00065 mm): give --spacing");
  Tried(folder, noZ, "--spacing 0.65x0.65x2um").Expect({ 0.00065, 0.00065, 0.002 });
  Tried(folder, MakeStack(Ome(""))).ExpectRefusal("does not say how large its voxels are: give --spacing");
  Tried(folder, MakeStack("")).ExpectRefusal("does not say how large its voxels are: give --spacing");
  for (const char * size : { "-2", "NaN", "INF", "two", "" })
  {
    const auto tiff =
      MakeStack(Ome("PhysicalSizeX=\"0.65\" PhysicalSizeY=\"0.65\" PhysicalSizeZ=\"" + std::string(size) + "\""));
    Tried(folder, tiff).ExpectRefusal("PhysicalSizeZ is '" + std::string(size));
  }
  TiffFile plane =
    MakeStack(Ome("PhysicalSizeX=\"0.65\" PhysicalSizeY=\"0.5\"", "SizeZ=\"1\" SizeC=\"1\" SizeT=\"1\""));
  plane.pages.resize(1);
  Tried(folder, plane).Expect({ 0.00065, 0.0005 });
}

/** ITK would read all of these as one volume. */
TEST(TiffSpacing, SeveralStacksAreRefused)
{
  const Folder folder("tiff-stacks");
  const auto   counts = [](const std::string & text) { return MakeStack(Ome(Stack, text)); };
  const auto   twoChannels = counts("SizeZ=\"3\" SizeC=\"2\" SizeT=\"1\"");
  Tried(folder, twoChannels).ExpectRefusal("holds 2 channels of 3 planes each (OME): save the one");
  Tried(folder, twoChannels, "--spacing 1x1x1").ExpectRefusal("holds 2 channels of 3 planes each");
  Tried(folder, counts("SizeZ=\"1\" SizeC=\"2\" SizeT=\"3\"")).ExpectRefusal("holds 2 channels and 3 time points");
  // tifffile counts planes as channels where it is not told what they are
  const auto channels = counts("SizeZ=\"1\" SizeC=\"6\" SizeT=\"1\"");
  Tried(folder, channels).ExpectRefusal("or give --spacing AxBxC if they are the planes of a volume");
  Tried(folder, channels, "--spacing 1x1x3").Expect({ 1, 1, 3 });
  Tried(folder, counts("SizeZ=\"30\" SizeC=\"1\" SizeT=\"1\""))
    .ExpectRefusal("holds 30 planes by its metadata (OME), and");
  Tried(folder, counts("SizeZ=\"18446744073709551615\" SizeC=\"1\" SizeT=\"1\"")).ExpectRefusal("18446744073709551615");
  std::string two = Ome(Stack);
  two.replace(
    two.find("</OME>"), 6, two.substr(two.find("<Image"), two.find("</OME>") - two.find("<Image")) + "</OME>");
  Tried(folder, MakeStack(two)).ExpectRefusal("holds 2 images (OME)");
  std::string turned = Ome(Stack);
  turned.replace(turned.find("<TiffData"), 9, "<TiffData FirstZ=\"5\"");
  Tried(folder, MakeStack(turned)).ExpectRefusal("another order");
  std::string wide = Ome(Stack);
  wide.replace(wide.find("SizeX=\"24\""), 10, "SizeX=\"48\"");
  Tried(folder, MakeStack(wide)).ExpectRefusal("24x20 pixels, and its metadata (OME) say 48x20");
}

TEST(TiffSpacing, PagesOfOneSizeAndThumbnails)
{
  const Folder folder("tiff-pages");
  TiffFile     tiff = MakeStack(Ome(Stack, "SizeZ=\"5\" SizeC=\"1\" SizeT=\"1\""));
  tiff.pages[5] = { 12, 10, 1 };
  Tried(folder, tiff).Expect({ 0.00065, 0.00065, 0.002 });
  tiff.pages[5].kind = 0;
  Tried(folder, MakeStack("")).ExpectRefusal("voxels");
  tiff.description = "";
  Tried(folder, tiff).ExpectRefusal("pages of different sizes");
}

TEST(TiffSpacing, ImageJ)
{
  const Folder folder("tiff-imagej");
  TiffFile     tiff;
  tiff.xResolution[0] = tiff.yResolution[0] = 100;
  tiff.xResolution[1] = 65;
  tiff.yResolution[1] = 50;
  tiff.unit = 1;
  for (const char * unit : { "micron", "um", "\\u00B5m", "\xC2\xB5m", "\xB5m" })
  {
    tiff.description = "ImageJ=1.53t\nimages=6\nslices=6\nunit=" + std::string(unit) + "\nspacing=2.0\nloop=false\n";
    Tried(folder, tiff).Expect({ 0.00065, 0.0005, 0.002 });
  }
  tiff.description = "ImageJ=1.53t\nimages=6\nunit=mm\nloop=false\n";
  const Tried left(folder, tiff);
  left.Expect({ 0.65, 0.5, 1 });
  EXPECT_NE(left.errors.find("note: "), std::string::npos) << left.errors;
  tiff.description = "ImageJ=1.53t\nimages=6\nslices=6\nspacing=2.0\nloop=false\n";
  Tried(folder, tiff).ExpectRefusal("does not say how large its voxels are");
  tiff.description = "ImageJ=1.53t\nimages=6\nchannels=2\nslices=3\nunit=um\nspacing=2.0\n";
  Tried(folder, tiff).ExpectRefusal("holds 2 channels of 3 planes each (ImageJ)");
  tiff.description = "ImageJ=1.53t\nimages=900\nslices=900\nunit=um\nspacing=2.0\n";
  Tried(folder, tiff).ExpectRefusal("holds 900 planes by its metadata (ImageJ), and has 6 pages");
}

TEST(TiffSpacing, PlainPictures)
{
  const Folder folder("tiff-plain");
  Tried(folder, MakePlane(20000, 10000, 3)).Expect({ 0.0005, 0.001 });
  Tried(folder, MakePlane(25400, 12700, 2)).Expect({ 0.001, 0.002 });
  for (const TiffFile & tiff : { MakePlane(72, 72, 2), MakePlane(300, 300, 2), MakePlane(1, 1, 3), MakePlane(2, 2, 2) })
  {
    const Tried tried(folder, tiff);
    tried.Expect({ 1, 1 });
    EXPECT_NE(tried.errors.find("note: "), std::string::npos) << tried.errors;
  }
  const Tried unitless(folder, MakePlane(1538, 1538, 1));
  unitless.Expect({ 1, 1 });
  EXPECT_NE(unitless.errors.find("not which unit"), std::string::npos) << unitless.errors;
  const Tried silent(folder, MakePlane(0, 0, 0)); // as a PNG
  silent.Expect({ 1, 1 });
  EXPECT_EQ(silent.errors, "");
  TiffFile stack = MakePlane(20000, 20000, 3);
  stack.pages.resize(4);
  Tried(folder, stack).ExpectRefusal("how far apart its planes are (its pixels are 0.0005x0.0005 mm)");
}

TEST(TiffSpacing, OptionsAreChecked)
{
  const Folder folder("tiff-options");
  const auto   stack = MakeStack(Ome(Stack));
  Tried(folder, stack, "--spacing 0.5x0.5").ExpectRefusal("has two numbers, and image '");
  Tried(folder, MakePlane(0, 0, 0), "--spacing 0.5x0.5x1").ExpectRefusal("has three numbers, and image '");
  Tried(folder, stack, "--spacing 0.5x0.5x1 --reference-spacing 1x1x1").ExpectRefusal("has one size of voxels by");
  for (const char * text :
       { "0x1x1", "1x-1x1", "1x1xinf", "nanx1x1", "1", "1x1x1x1", "axbxc", "1x1x1furlong", "x", "um" })
  {
    EXPECT_THROW(ParseSpacing("--spacing", text), UsageError) << text;
  }
  EXPECT_EQ(ParseSpacing("--spacing", "0.5x0.25x2").mm, std::vector<double>({ 0.5, 0.25, 2 }));
  EXPECT_EQ(ParseSpacing("--spacing", "500x250 um").mm, std::vector<double>({ 0.5, 0.25 }));
  EXPECT_EQ(ParseSpacing("--spacing", "1e-3x1e-3x1e-3m").mm, std::vector<double>({ 1, 1, 1 }));
}

/** Where an image is stays as the file has it. */
TEST(TiffSpacing, OptionsReplaceTheSpacingOfAnyFile)
{
  const Folder folder("tiff-any");
  Write(MakeImage(0, 0.3, 0), folder / "a.nrrd");
  const std::string in = folder / "a.nrrd", out = folder / "b.nrrd";
  const Outcome     outcome =
    RunProgram(folder, "apply -i " + in + " -r " + in + " -t identity -n nearest -o " + out + " --spacing 0.5x0.25x2");
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const auto before = Read<Image>(in), after = Read<Image>(out);
  EXPECT_DOUBLE_EQ(after->GetSpacing()[0], 0.5);
  EXPECT_DOUBLE_EQ(after->GetSpacing()[1], 0.25);
  EXPECT_DOUBLE_EQ(after->GetSpacing()[2], 2);
  EXPECT_EQ(after->GetOrigin(), before->GetOrigin());
  EXPECT_EQ(after->GetDirection(), before->GetDirection());
  EXPECT_EQ(MeanDifference(before, after), 0);
}

TEST(TiffSpacing, RegistrationsWriteTheRightGeometry)
{
  const Folder      folder("tiff-register");
  const std::string fixed = folder / "fixed.tif", moving = folder / "moving.tif", mask = folder / "mask.tif";
  MakeStack(Ome(Stack)).Write(fixed);
  MakeStack("").Write(moving);
  MakeStack("").Write(mask);
  const std::string run = "register -p fast -t rigid -f " + fixed + " -m " + moving + " -o " + (folder / "o_") + " ";
  Outcome           outcome = RunProgram(folder, run);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.errors.find("moving image '" + moving + "' does not say how large"), std::string::npos);
  outcome = RunProgram(folder, run + "--moving-spacing 0.7x0.7x2um --fixed-spacing 0.6x0.6x2um --fixed-mask " + mask);
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_NEAR(Read<Image>(folder / "o_Warped.nii.gz")->GetSpacing()[0], 0.0006, 1e-9);
  EXPECT_NEAR(Read<Image>(folder / "o_InverseWarped.nii.gz")->GetSpacing()[0], 0.0007, 1e-9);
  EXPECT_NEAR(Read<Image>(folder / "o_InverseWarped.nii.gz")->GetSpacing()[2], 0.002, 1e-9);
  outcome = RunProgram(folder, run + "--spacing 1x1x1 --moving-spacing 1x1x1");
  EXPECT_NE(outcome.code, 0);
  EXPECT_EQ(outcome.ErrorLines(), 1) << outcome.errors;
}

/** The program's own files of this kind have no place for a third spacing. */
TEST(TiffSpacing, StacksCanBeWritten)
{
  const Folder folder("tiff-write");
  MakeStack(Ome(Stack)).Write(folder / "a.tif");
  const Outcome outcome = RunProgram(
    folder, "apply -i " + (folder / "a.tif") + " -r " + (folder / "a.tif") + " -t identity -o " + (folder / "b.tif"));
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
}

TEST(TiffSpacing, HostileMetadata)
{
  const Folder folder("tiff-xml");
  std::string  bomb = "<?xml version=\"1.0\"?><!DOCTYPE OME [<!ENTITY a \"aaaaaaaaaa\">";
  for (char name = 'b'; name < 'k'; ++name)
  {
    const std::string last = std::string("&") + char(name - 1) + ";";
    bomb += std::string("<!ENTITY ") + name + " \"";
    for (int i = 0; i < 10; ++i)
    {
      bomb += last;
    }
    bomb += "\">";
  }
  bomb += "]><OME><Image><Pixels SizeX=\"&j;\"/></Image></OME>";
  Tried(folder, MakeStack(bomb)).ExpectRefusal("declares a document type");
  std::string deep = "<OME>";
  for (int i = 0; i < 100000; ++i)
  {
    deep += "<a>";
  }
  Tried(folder, MakeStack(deep)).ExpectRefusal("nested too deeply");
  const auto broken = MakeStack(Ome(Stack + " PhysicalSizeXUnit=\"\xB5m\"")); // of Latin-1
  Tried(folder, broken).ExpectRefusal("has damaged OME metadata (line 1: not well-formed (invalid token)): give");
  Tried(folder, broken, "--spacing 0.65x0.65x2um").Expect({ 0.00065, 0.00065, 0.002 });
  const std::string whole = Ome(Stack);
  Tried(folder, MakeStack(whole.substr(0, whole.size() - 3))).ExpectRefusal("damaged OME metadata");
  Tried(folder, MakeStack(Ome(Stack + " PhysicalSizeXUnit=\"a&#10;b" + std::string(5000, 'c') + "\"")))
    .ExpectRefusal("'0.65 a bccc");
  Tried(folder, MakeStack("<html><body>no metadata</body>")).ExpectRefusal("does not say how large");
}

/** Each cut and each 4 bytes set to the largest number, in every kind of file: a reason, and no crash. */
TEST(TiffSpacing, HostileBytes)
{
  const Folder folder("tiff-bytes");
  int          refused = 0;
  for (const int kind : { 0, 1, 2, 3 })
  {
    TiffFile tiff = MakeStack(Ome(Stack, "SizeZ=\"2\" SizeC=\"1\" SizeT=\"1\""));
    tiff.big = kind > 1;
    tiff.bigEndian = kind % 2 == 1;
    tiff.pages.assign(2, { 2, 2, 0 });
    tiff.xResolution[0] = tiff.yResolution[0] = tiff.xResolution[1] = tiff.yResolution[1] = 7;
    const std::string file = folder / "a.tif" + std::to_string(kind);
    const std::string bytes = tiff.Bytes();
    const auto        attempt = [&] {
      ImageHeader header = MakeHeader(2, 2, 2);
      try
      {
        SettleSpacing(header, file, "image");
      }
      catch (const CommandError & error)
      {
        ++refused;
        EXPECT_EQ(std::string(error.what()).rfind("image '", 0), 0u) << error.what();
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      }
    };
    tiff.Write(file);
    std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
    const auto   put = [&](std::size_t at, const std::string & word) {
      stream.seekp(std::streamoff(at));
      stream.write(word.data(), std::streamsize(word.size()));
      stream.flush();
    };
    for (std::size_t at = 4; at + 4 <= bytes.size(); at += 2)
    {
      for (const char * word : { "\xFF\xFF\xFF\xFF", "\x7F\xFF\xFF\xFF", "\xFF\xFF\xFF\x7F" })
      {
        put(at, std::string(word, 4));
        attempt();
      }
      put(at, bytes.substr(at, 4));
    }
    for (std::size_t size = bytes.size() - 1; size > 8; --size)
    {
      fs::resize_file(file, size);
      attempt();
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(TiffSpacing, LoopsAndCutsEndInOneLine)
{
  const Folder folder("tiff-cut");
  TiffFile     tiff = MakeStack(Ome(Stack));
  std::string  bytes = tiff.Bytes();
  for (const std::size_t size : { bytes.size() - 2, bytes.size() - 100, bytes.size() / 2, bytes.size() / 4 })
  {
    std::ofstream(folder / "a.tif", std::ios::binary) << bytes.substr(0, size);
    const Outcome outcome = RunProgram(
      folder, "apply -i " + (folder / "a.tif") + " -r " + (folder / "a.tif") + " -t identity -o " + (folder / "o.mha"));
    EXPECT_EQ(outcome.code, 1) << size;
    EXPECT_EQ(outcome.ErrorLines(), 1) << outcome.errors;
    EXPECT_NE(outcome.errors.find("a.tif"), std::string::npos) << outcome.errors;
  }
  bytes.replace(bytes.size() - 4, 4, bytes.substr(4, 4)); // the last directory leads to the first
  std::ofstream(folder / "a.tif", std::ios::binary) << bytes;
  ImageHeader header = MakeHeader(24, 20, 6);
  EXPECT_THROW(SettleSpacing(header, folder / "a.tif", "image"), CommandError);
}

/** ITK would read them as colors of 8 bits. */
TEST(TiffSpacing, GrayTilesAreRefused)
{
  const Folder folder("tiff-tiles");
  TiffFile     tiff = MakeStack(Ome(Stack));
  tiff.tiled = true;
  Tried(folder, tiff).ExpectRefusal("is stored in tiles");
}
