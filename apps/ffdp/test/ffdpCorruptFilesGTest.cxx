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
#include "ffdpImageReading.h"
#include "ffdpLabelMaps.h"
#include "ffdpRawImages.h"
#include "ffdpTransformTestSupport.h"

#include <cstdint>
#include <functional>
#include <random>
#include <zlib.h>

using namespace programtest;

namespace
{

using Labels = itk::Image<std::uint16_t, 3>;

/** Regions of labels, with noise between them, so that there is something to compress and something to break. */
Labels::Pointer
MakeLabels()
{
  auto         labels = Labels::New();
  std::mt19937 random(3);
  labels->SetRegions(Labels::SizeType{ { 40, 30, 24 } });
  labels->Allocate();
  for (itk::SizeValueType i = 0; i < labels->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    labels->GetBufferPointer()[i] = std::uint16_t(i / 500 + (i % 7 == 0 ? random() % 9 : 0));
  }
  return labels;
}

template <typename TImage>
void
WriteCompressed(const TImage & image, const std::string & file)
{
  auto writer = itk::ImageFileWriter<typename TImage::ObjectType>::New();
  writer->SetInput(image);
  writer->SetFileName(file);
  writer->UseCompressionOn();
  writer->Update();
}

/** Where the compressed part of a file begins. */
std::size_t
StartOfVoxels(const std::string & bytes, const std::string & ending)
{
  return ending == ".mha" ? bytes.find("LOCAL") + 6 : ending == ".nrrd" ? bytes.find("\n\n") + 2 : 0;
}

/** Files with one bit changed or an end cut off, at random: they give the same voxels (a few bits of a compressed file
 * mean nothing) or none. */
void
ExpectRefused(const std::string &                                     good,
              const std::string &                                     ending,
              const std::function<std::string(const std::string &)> & read)
{
  constexpr std::size_t GzipHeader = 10; // says when, and on what system: that does not matter
  const std::string     bytes = ReadText(good), file = good + "-broken" + ending;
  const std::size_t     start = StartOfVoxels(bytes, ending) + (ending == ".mha" ? 0 : GzipHeader);
  std::mt19937          random(1);
  const std::string     voxels = read(good);
  int                   taken = 0;
  for (int i = 0; i < 40; ++i)
  {
    std::string       broken = bytes;
    const std::size_t at = start + random() % (bytes.size() - start);
    if (i % 3 == 0)
    {
      broken.resize(at);
    }
    else
    {
      broken[at] = char(broken[at] ^ (1 << random() % 8));
    }
    std::ofstream(file, std::ios::binary) << broken;
    try
    {
      EXPECT_TRUE(read(file) == voxels) << good << (i % 3 == 0 ? " cut at " : " changed at ") << at;
      ++taken;
    }
    catch (const CommandError &)
    {}
  }
  EXPECT_LE(taken, 3) << good;
}

template <typename TImage>
std::string
BytesOf(const TImage & image)
{
  return std::string(reinterpret_cast<const char *>(image->GetBufferPointer()),
                     image->GetBufferedRegion().GetNumberOfPixels() * sizeof(*image->GetBufferPointer()));
}

} // namespace

TEST(CorruptFiles, NoReaderTakesThem)
{
  const Folder folder("corrupt");
  const auto   image = MakeImage(0, 0.1, 0);
  const auto   read = [](const std::string & file) { return BytesOf(ReadImage(file, "image")); };
  const auto   readRaw = [](const std::string & file) {
    const auto raw = ReadRawImage(file, "image", true);
    return std::string(raw.bytes.begin(), raw.bytes.end());
  };
  const auto readLabels = [](const std::string & file) { return BytesOf(ReadLabelMap(file, "labels").image); };
  const auto readField = [](const std::string & file) { return BytesOf(ReadField(file)); };
  for (const std::string ending : { ".nii.gz", ".mha", ".nrrd" })
  {
    WriteCompressed(MakeLabels(), folder / "labels" + ending);
    ExpectRefused(folder / "labels" + ending, ending, readLabels);
    ExpectRefused(folder / "labels" + ending, ending, readRaw);
    ExpectRefused(folder / "labels" + ending, ending, read);
    WriteCompressed(image, folder / "image" + ending);
    ExpectRefused(folder / "image" + ending, ending, read);
    WriteCompressed(MakeField(image, 2), folder / "field" + ending);
    ExpectRefused(folder / "field" + ending, ending, readField);
  }
}

TEST(CorruptFiles, AHeaderThatAsksForLessIsNoExcuse)
{
  const Folder folder("shrunk");
  Write(MakeImage(0, 0.1, 0), folder / "image.nii");
  const std::string plain = ReadText(folder / "image.nii");
  const gzFile stored = gzopen((folder / "image.nii.gz").c_str(), "wb0"); // not compressed: bytes stay what they are
  ASSERT_EQ(gzwrite(stored, plain.data(), unsigned(plain.size())), int(plain.size()));
  gzclose(stored);
  EXPECT_NO_THROW(ReadImage(folder / "image.nii.gz", "image"));
  std::string       bytes = ReadText(folder / "image.nii.gz");
  const std::size_t planesAt = bytes.find(plain.substr(0, 40)) + 46; // dim[3]
  ASSERT_EQ(bytes[planesAt], 30);
  bytes[planesAt] = 20;
  std::ofstream(folder / "shrunk.nii.gz", std::ios::binary) << bytes;
  EXPECT_THROW(ReadImage(folder / "shrunk.nii.gz", "image"), CommandError);
  EXPECT_THROW(ReadRawImage(folder / "shrunk.nii.gz", "image", true), CommandError);
}

TEST(CorruptFiles, SeveralStreamsInOneFileAreRead)
{
  const Folder folder("streams");
  Write(MakeImage(0, 0.1, 0), folder / "image.nii");
  const std::string plain = ReadText(folder / "image.nii");
  std::string       all;
  for (const auto & part : { plain.substr(0, 1000), std::string(), plain.substr(1000) })
  {
    const gzFile out = gzopen((folder / "part.gz").c_str(), "wb");
    gzwrite(out, part.data(), unsigned(part.size()));
    gzclose(out);
    all += ReadText(folder / "part.gz");
  }
  std::ofstream(folder / "parts.nii.gz", std::ios::binary) << all;
  std::ofstream(folder / "padded.nii.gz", std::ios::binary) << all << std::string(3, '\0'); // as gzip takes it
  std::ofstream(folder / "plain.nii.gz", std::ios::binary) << plain;
  const auto expected = ReadImage(folder / "image.nii", "image");
  for (const char * name : { "parts.nii.gz", "padded.nii.gz", "plain.nii.gz" })
  {
    EXPECT_EQ(MeanDifference(ReadImage(folder / name, "image"), expected), 0) << name;
    EXPECT_NO_THROW(ReadRawImage(folder / name, "image", true)) << name;
  }
  std::ofstream(folder / "cut.nii.gz", std::ios::binary) << all.substr(0, all.size() - 4);
  EXPECT_THROW(ReadImage(folder / "cut.nii.gz", "image"), CommandError);
}

TEST(CorruptFiles, CommandsSaySoInOneLine)
{
  const Folder folder("corrupt-commands");
  WriteCompressed(MakeLabels(), folder / "labels.nii.gz");
  WriteTransform(MakeAffine(0.1), folder / "affine.mat");
  std::string bytes = ReadText(folder / "labels.nii.gz");
  bytes[bytes.size() - 6] = char(bytes[bytes.size() - 6] ^ 4); // of the checksum: the header can still be read
  std::ofstream(folder / "bad.nii.gz", std::ios::binary) << bytes;
  const std::string good = folder / "labels.nii.gz", bad = folder / "bad.nii.gz", out = folder / "out.nii.gz";
  for (const std::string & arguments :
       { "apply -n label -i " + bad + " -r " + good + " -t " + (folder / "affine.mat") + " -o " + out,
         "evaluate --fixed-labels " + good + " --moved-labels " + bad,
         "synthesize --labels " + bad + " -o " + out })
  {
    const Outcome outcome = RunProgram(folder, arguments);
    EXPECT_EQ(outcome.code, 1) << arguments;
    EXPECT_EQ(outcome.ErrorLines(), 1) << outcome.errors;
    EXPECT_NE(outcome.errors.find("bad.nii.gz' is broken: it cannot be unzipped"), std::string::npos) << outcome.errors;
    EXPECT_FALSE(fs::exists(out));
  }
}
