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
#include "ffdpCheckedSizes.h"
#include "ffdpImageReading.h"
#include "ffdpRawImages.h"
#include "ffdpTransformTestSupport.h"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <sys/stat.h>
#include <vector>
#include <zlib.h>

using namespace programtest;

namespace
{

/** 4 x 3 x 2 voxels, and files that claim all kinds of things about them. */
struct HostileFiles
{
  Folder      folder;
  std::string good, out;

  explicit HostileFiles(const std::string & name)
    : folder(name)
    , good(folder / "good.nii.gz")
    , out(folder / "out.nii.gz")
  {
    Write(MakeImage(0, 0.1, 0), good);
  }

  void
  Put(const std::string & name, const std::string & bytes) const
  {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  }

  /** A MetaImage; `fields` come before the data file. */
  void
  PutMeta(const std::string & name,
          const std::string & data,
          const std::string & fields = "",
          const std::string & sizes = "NDims = 3\nDimSize = 4 3 2\n") const
  {
    this->Put(name,
              "ObjectType = Image\n" + sizes + "ElementType = MET_UCHAR\n" + fields + "ElementDataFile = " + data);
  }

  void
  PutNrrd(const std::string & name,
          const std::string & data,
          const std::string & fields = "encoding: raw\n",
          const std::string & sizes = "4 3 2") const
  {
    this->Put(name,
              "NRRD0004\ntype: uint8\ndimension: 3\nspace: left-posterior-superior\nsizes: " + sizes +
                "\nspace directions: (1,0,0) (0,1,0) (0,0,1)\n" + fields + data);
  }

  /** The good image with other bytes in its header. */
  template <typename T>
  void
  PutNifti(const std::string & name, const std::vector<std::pair<std::size_t, T>> & changes) const
  {
    Write(MakeImage(0, 0.1, 0), folder / name);
    std::string bytes = ReadText(folder / name);
    for (const auto & change : changes)
    {
      std::memcpy(&bytes[change.first], &change.second, sizeof(T));
    }
    this->Put(name, bytes);
  }

  void
  PutPipe(const std::string & name) const
  {
    ASSERT_EQ(mkfifo((folder / name).c_str(), 0600), 0);
  }

  std::string
  Apply(const std::string & name) const
  {
    return "apply -i " + (folder / name) + " -r " + good + " -t identity -o " + out;
  }

  /** One line that names the file and has the reason, within seconds, and nothing is written. */
  void
  ExpectRefusal(const std::string & arguments, const std::string & file, const std::string & reason) const
  {
    const Outcome outcome = RunProgram(folder, arguments);
    EXPECT_EQ(outcome.code, 1) << arguments;
    EXPECT_EQ(outcome.ErrorLines(), 1) << arguments << "\n" << outcome.errors;
    EXPECT_NE(outcome.errors.find(file), std::string::npos) << arguments << "\n" << outcome.errors;
    EXPECT_NE(outcome.errors.find(reason), std::string::npos) << arguments << "\n" << outcome.errors;
    EXPECT_FALSE(fs::exists(out)) << arguments;
    fs::remove(out);
  }
};

const std::string Voxels = "abcdefghijklmnopqrstuvwx"; // 4 x 3 x 2 bytes

std::string
Zip(const std::string & bytes)
{
  std::string zipped(compressBound(bytes.size()), '\0');
  uLongf      size = zipped.size();
  EXPECT_EQ(
    compress(reinterpret_cast<Bytef *>(&zipped[0]), &size, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size()),
    Z_OK);
  zipped.resize(size);
  return zipped;
}

void
WriteGzip(const std::string & bytes, const std::string & file)
{
  const gzFile out = gzopen(file.c_str(), "wb1");
  EXPECT_EQ(gzwrite(out, bytes.data(), unsigned(bytes.size())), int(bytes.size()));
  gzclose(out);
}

std::string
VoxelsOf(const std::string & file)
{
  const RawImage image = ReadRawImage(file, "image", false);
  return std::string(image.bytes.begin(), image.bytes.end());
}

} // namespace

TEST(HostileImages, SizesAreMultipliedWithCare)
{
  using Numbers = std::vector<std::uint64_t>;
  EXPECT_EQ(CheckedProduct(Numbers{ 2, 3, 4 }, "it"), 24u);
  EXPECT_EQ(CheckedProduct(Numbers{}, "it"), 1u);
  EXPECT_EQ(CheckedProduct(Numbers{ LargestSize, 0 }, "it"), 0u);
  EXPECT_EQ(CheckedProduct(Numbers{ LargestSize, 1 }, "it"), LargestSize);
  EXPECT_THROW(CheckedProduct(Numbers{ LargestSize, 2 }, "it"), CommandError);
  EXPECT_THROW(CheckedProduct(Numbers{ 0, LargestSize, 2 }, "it"), CommandError);
  EXPECT_THROW(CheckedProduct(Numbers{ std::uint64_t(1) << 32, std::uint64_t(1) << 32 }, "it"), CommandError); // is 0
  EXPECT_EQ(CheckedSum(2, 3, "it"), 5u);
  EXPECT_THROW(CheckedSum(LargestSize, 1, "it"), CommandError);
  EXPECT_THROW(CheckedSum(~std::uint64_t(0), 2, "it"), CommandError);
}

TEST(HostileImages, SizesThatWrapAreRefused)
{
  const HostileFiles files("hostile-sizes");
  files.PutMeta("wrap.mha", "LOCAL\n" + Voxels, "", "NDims = 3\nDimSize = 56089639 220650 372626\n"); // times 4: 4784
  files.PutMeta("minus.mha", "LOCAL\n" + Voxels, "", "NDims = 3\nDimSize = 4 -3 2\n");
  files.PutMeta("channels.mha",
                "LOCAL\n" + Voxels,
                "ElementNumberOfChannels = 2147483647\n",
                "NDims = 3\nDimSize = 2147483647 4 2\n");
  files.PutMeta("axes.mha", "LOCAL\n" + Voxels, "", "NDims = -1\nDimSize = 4 3 2\n");
  files.PutMeta("few.mha", "LOCAL\n" + Voxels, "", "NDims = 3\nDimSize = 4 3\n");
  files.PutNrrd("wrap.nrrd", "\n" + Voxels, "encoding: raw\n", "4294967296 4294967296 1");
  files.PutNrrd("long.nrrd", "\n" + Voxels, "encoding: raw\n", std::string(1000, '9') + " 3 2");
  using Change = std::pair<std::size_t, std::int16_t>;
  files.PutNifti<std::int16_t>(
    "seven.nii", { Change{ 40, 7 }, { 42, 32767 }, { 44, 32767 }, { 46, 32767 }, { 48, 32767 }, { 50, 32767 } });
  const std::string tooMuch = "more than any memory";
  files.ExpectRefusal(files.Apply("wrap.mha"), "image '" + (files.folder / "wrap.mha"), tooMuch);
  files.ExpectRefusal("apply -i " + files.good + " -r " + (files.folder / "wrap.mha") + " -t identity -o " + files.out,
                      "reference image '" + (files.folder / "wrap.mha"),
                      tooMuch);
  files.ExpectRefusal(files.Apply("channels.mha"), "channels.mha", tooMuch);
  files.ExpectRefusal(files.Apply("minus.mha"), "minus.mha", "size of '-3'");
  files.ExpectRefusal(files.Apply("axes.mha"), "axes.mha", "3 sizes for -1 axes");
  files.ExpectRefusal(files.Apply("few.mha"), "few.mha", "2 sizes for 3 axes");
  files.ExpectRefusal(files.Apply("wrap.nrrd"), "wrap.nrrd", tooMuch);
  files.ExpectRefusal(files.Apply("long.nrrd"), "long.nrrd", "size of '9999");
  files.ExpectRefusal(files.Apply("seven.nii"), "seven.nii", tooMuch);
}

TEST(HostileImages, PlanesInSeveralFilesAreAllThere)
{
  const HostileFiles files("hostile-planes");
  files.Put("1.raw", Voxels.substr(0, 12));
  files.Put("2.raw", Voxels.substr(12));
  files.Put("short.raw", Voxels.substr(0, 11));
  files.PutPipe("3.raw");
  files.PutMeta("list.mhd", "LIST\n1.raw\n2.raw\n");
  files.PutMeta("pattern.mhd", "%d.raw 1 2 1\n");
  EXPECT_EQ(VoxelsOf(files.folder / "list.mhd"), Voxels);
  EXPECT_EQ(VoxelsOf(files.folder / "pattern.mhd"), Voxels);
  const struct
  {
    std::string name, data, reason;
  } cases[] = {
    { "missing.mhd", "LIST\n1.raw\nnone.raw\n", "its data file '" + (files.folder / "none.raw") + "' does not exist" },
    { "few.mhd", "LIST\n1.raw\n", "1 data files of 2" },
    { "short.mhd", "LIST\n1.raw\nshort.raw\n", "short.raw' is cut off: it holds 11 bytes of 12" },
    { "folder.mhd", "LIST\n1.raw\n.\n", "is a folder" },
    { "pipe.mhd", "LIST\n1.raw\n3.raw\n", "is a pipe" },
    { "end.mhd", "LIST\n1.raw\n2.raw", "line feed" },
    { "pattern-missing.mhd", "%d.raw 4 5 1\n", "4.raw' does not exist" },
    { "pattern-few.mhd", "%d.raw 1 1 1\n", "1 data files of 2" },
    { "pattern-pipe.mhd", "%d.raw 2 3 1\n", "3.raw' is a pipe" },
    { "pattern-written.mhd", "%s%n.raw 1 2 1\n", "not understood" },
    { "alone-folder.mhd", ".\n", "is a folder" },
    { "alone-missing.mhd", "none.raw\n", "none.raw' does not exist" },
    { "alone-short.mhd", "1.raw\n", "1.raw' is cut off: it holds 12 bytes of 24" },
    { "alone-pipe.mhd", "3.raw\n", "3.raw' is a pipe" }
  };
  for (const auto & one : cases)
  {
    files.PutMeta(one.name, one.data);
    files.ExpectRefusal(files.Apply(one.name), one.name, one.reason);
  }
  files.PutNrrd("pipe.nhdr", "data file: 3.raw\n");
  files.PutNrrd("list-pipe.nhdr", "data file: LIST\n1.raw\n3.raw\n");
  files.PutNrrd("pattern-pipe.nhdr", "data file: %d.raw 2 3 1\n");
  files.PutNrrd("list-few.nhdr", "data file: LIST\n1.raw\n");
  files.PutNrrd("list-short.nhdr", "data file: LIST\n1.raw\nshort.raw\n");
  for (const std::string name : { "pipe.nhdr", "list-pipe.nhdr", "pattern-pipe.nhdr" })
  {
    files.ExpectRefusal(files.Apply(name), name, "3.raw' is a pipe");
  }
  files.ExpectRefusal(files.Apply("list-few.nhdr"), "list-few.nhdr", "");
  files.ExpectRefusal(files.Apply("list-short.nhdr"), "list-short.nhdr", "");
}

TEST(HostileImages, TextHasAllNumbers)
{
  const HostileFiles files("hostile-text");
  std::string        all;
  for (const char voxel : Voxels)
  {
    all += std::to_string(int(voxel)) + " ";
  }
  const std::string half = all.substr(0, all.size() / 2);
  files.PutMeta("text.mha", "LOCAL\n" + all, "BinaryData = False\n");
  EXPECT_EQ(VoxelsOf(files.folder / "text.mha"), Voxels);
  files.PutMeta("half.mha", "LOCAL\n" + half, "BinaryData = False\n");
  files.PutMeta("words.mha", "LOCAL\n" + half + " word " + all, "BinaryData = False\n");
  files.ExpectRefusal(files.Apply("half.mha"), "half.mha", "numbers of 24");
  files.ExpectRefusal(files.Apply("words.mha"), "words.mha", "numbers of 24");
  files.PutNrrd("half.nrrd", "\n" + half, "encoding: ascii\n");
  files.PutNrrd("hex.nrrd", "\n6162636465", "encoding: hex\n");
  files.PutNrrd("skip.nrrd", "\nline\n" + Voxels.substr(1), "encoding: raw\nline skip: 1\n");
  for (const std::string name : { "half.nrrd", "hex.nrrd", "skip.nrrd" })
  {
    files.ExpectRefusal(files.Apply(name), name, "");
  }
}

TEST(HostileImages, ACompressedFileEndsAtTheSizeOfItsHeader)
{
  const HostileFiles files("hostile-bombs");
  const std::string  zipped = Zip(Voxels), bomb = Zip(std::string(50 << 20, '\0'));
  files.PutMeta("unsized.mha", "LOCAL\n" + zipped, "CompressedData = True\n"); // ITK 5.2 gives other voxels
  EXPECT_EQ(VoxelsOf(files.folder / "unsized.mha"), Voxels);
  files.PutMeta(
    "bomb.mha", "LOCAL\n" + bomb, "CompressedData = True\nCompressedDataSize = " + std::to_string(bomb.size()) + "\n");
  Write(MakeImage(0, 0.1, 0), files.folder / "image.nii");
  WriteGzip(ReadText(files.folder / "image.nii") + std::string(300 << 20, '\0'), files.folder / "bomb.nii.gz");
  WriteGzip(ReadText(files.folder / "image.nii") + std::string(100, '\0'), files.folder / "padded.nii.gz");
  EXPECT_NO_THROW(ReadImage(files.folder / "padded.nii.gz", "image"));
  files.ExpectRefusal(files.Apply("bomb.mha"), "bomb.mha", "more than the 24 bytes that its header promises");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(ReadImage(files.folder / "bomb.nii.gz", "image"), CommandError);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1)); // 300 MB take longer
  files.ExpectRefusal(files.Apply("bomb.nii.gz"), "bomb.nii.gz", "that its header promises");
}

TEST(HostileImages, NiftiPlacesAreNumbers)
{
  const HostileFiles files("hostile-places");
  const float        nan = std::numeric_limits<float>::quiet_NaN();
  using Change = std::pair<std::size_t, float>;
  constexpr std::size_t Quaternion = 256, Row = 280, VoxelsAt = 108;
  files.PutNifti<float>("row.nii", { Change{ Row, nan } });
  files.PutNifti<float>("huge.nii", { Change{ Row, 3e38f } });
  files.PutNifti<float>("quaternion.nii", { Change{ Quaternion, nan } });
  files.PutNifti<float>("start.nii", { Change{ VoxelsAt, nan } });
  files.PutNifti<float>("far.nii", { Change{ VoxelsAt, 3e38f } });
  for (const std::string name : { "row.nii", "huge.nii" })
  {
    files.ExpectRefusal("plan -f " + (files.folder / name) + " -m " + files.good, name, "an sform with numbers");
  }
  files.PutMeta("trace.mha", "LOCAL\n" + Voxels, "TransformMatrix = 1 1e-320 0 0 1 0 0 0 1\n");
  const std::string trace = files.folder / "trace.mha";
  EXPECT_EQ(RunProgram(files.folder, "evaluate --fixed " + trace + " --moved " + trace).errors, "");
  files.PutMeta("tiny.mha", "LOCAL\n" + Voxels, "ElementSpacing = 1 1e-320 1\n");
  files.PutMeta("skewed.mha", "LOCAL\n" + Voxels, "TransformMatrix = 1 1e38 0 0 1 0 0 0 1\n");
  files.ExpectRefusal(files.Apply("tiny.mha"), "tiny.mha", "too small or too large");
  files.ExpectRefusal(files.Apply("skewed.mha"), "skewed.mha", "too small or too large");
  files.ExpectRefusal(files.Apply("quaternion.nii"), "quaternion.nii", "a qform with numbers");
  files.ExpectRefusal(files.Apply("start.nii"), "start.nii", "begin at byte");
  files.ExpectRefusal(files.Apply("far.nii"), "far.nii", "begin at byte");
}

TEST(HostileImages, ColorsAreNoDisplacements)
{
  const HostileFiles files("hostile-colors");
  Write(MakeField(MakeImage(0, 0.1, 0), 2), files.folder / "vectors.nii");
  std::string        bytes = ReadText(files.folder / "vectors.nii");
  const std::int16_t rgb[2] = { 128, 24 };
  std::memcpy(&bytes[70], rgb, sizeof(rgb)); // type and bits
  files.Put("vectors.nii", bytes);
  using Colors = itk::Image<itk::RGBPixel<std::uint8_t>, 3>;
  auto colors = Colors::New();
  colors->SetRegions(Colors::SizeType{ { 4, 3, 2 } });
  colors->Allocate(true);
  Write(colors, files.folder / "colors.nii");
  Write(colors, files.folder / "colors.nrrd");
  Write(colors, files.folder / "colors.mha");
  for (const std::string & command : { "jacobian -o " + files.out + " -t ",
                                       "apply -r " + files.good + " -i " + files.good + " -o " + files.out + " -t " })
  {
    files.ExpectRefusal(command + (files.folder / "vectors.nii"), "vectors.nii", "colors");
    files.ExpectRefusal(command + (files.folder / "colors.nii"), "colors.nii", "no displacements");
    files.ExpectRefusal(command + (files.folder / "colors.nrrd"), "colors.nrrd", "no displacements");
    files.ExpectRefusal(command + (files.folder / "colors.mha"), "colors.mha", "no displacements");
  }
  files.ExpectRefusal(files.Apply("vectors.nii"), "vectors.nii", "colors");
}

TEST(HostileImages, DamageThatCrashesLibrariesIsALine)
{
  const HostileFiles files("hostile-damage");
  using Plane = itk::Image<std::uint8_t, 2>;
  auto plane = Plane::New();
  plane->SetRegions(Plane::SizeType{ { 64, 64 } });
  plane->Allocate(true);
  Write(plane, files.folder / "plane.nii");
  for (int i = 0; i < 64 * 64; ++i)
  {
    plane->GetBufferPointer()[i] = std::uint8_t(i * i);
  }
  Write(plane, files.folder / "whole.png");
  const std::string png = ReadText(files.folder / "whole.png");
  files.Put("cut.png", png.substr(0, png.size() / 2));
  files.ExpectRefusal("apply -i " + (files.folder / "cut.png") + " -r " + (files.folder / "plane.nii") +
                        " -t identity -o " + files.out,
                      "cut.png",
                      "");
  Write(MakeImage(0, 0.1, 0), files.folder / "whole.hdf5");
  const std::string hdf5 = ReadText(files.folder / "whole.hdf5");
  for (std::size_t at = 8; at < 4000 && at < hdf5.size(); at += 397)
  {
    std::string damaged = hdf5;
    for (std::size_t i = at; i < at + 24; ++i)
    {
      damaged[i] = char(~damaged[i]);
    }
    files.Put("damaged.hdf5", damaged);
    fs::remove(files.out);
    const Outcome outcome = RunProgram(files.folder, files.Apply("damaged.hdf5"));
    EXPECT_TRUE(outcome.code == 0 || (outcome.code == 1 && outcome.ErrorLines() == 1)) << at << outcome.errors;
    EXPECT_TRUE(outcome.code == 0 || outcome.errors.find("damaged.hdf5") != std::string::npos) << at << outcome.errors;
  }
  fs::remove(files.out);
  files.PutNrrd("origin.nrrd", "\n" + Voxels, "encoding: raw\nspace origin: (" + std::string(3000, 'x') + ")\n");
  files.ExpectRefusal(files.Apply("origin.nrrd"), "origin.nrrd", "");
}

TEST(HostileImages, OnlyRegularFilesAreOpened)
{
  const HostileFiles files("hostile-pipes");
  for (const std::string ending : { ".nii.gz", ".nii", ".mha", ".nrrd", ".png", ".hdf5", ".tif" })
  {
    files.PutPipe("pipe" + ending);
    files.ExpectRefusal("register -q -p fast -f " + (files.folder / ("pipe" + ending)) + " -m " + files.good + " -o " +
                          (files.folder / "o_"),
                        "pipe" + ending,
                        "is a pipe");
  }
  files.ExpectRefusal("evaluate --fixed /dev/zero --moved " + files.good, "/dev/zero", "is a device");
  Write(MakeImage(0, 0.1, 0), files.folder / "pair.hdr");
  fs::remove(files.folder / "pair.img");
  files.PutPipe("pair.img");
  for (const std::string name : { "pair.hdr", "pair.img" })
  {
    files.ExpectRefusal(files.Apply(name), name, "is a pipe");
  }
  fs::create_symlink(files.good, files.folder / "link.nii.gz");
  EXPECT_NO_THROW(ReadImage(files.folder / "link.nii.gz", "image"));
}
