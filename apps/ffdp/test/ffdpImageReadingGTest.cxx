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
#include "ffdpImageReading.h"

#include "ffdpGivenSpacing.h"
#include "ffdpPartition.h"
#include "ffdpPlaneSource.h"
#include "ffdpRankTestSupport.h"

#include "itkVector.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

namespace
{

using namespace programtest;
using Field = itk::Image<itk::Vector<float, 3>, 3>;

/** 43 planes: they do not divide, and with eight ranks three have none. */
template <typename TImage>
typename TImage::Pointer
MakeNumbers()
{
  auto                           image = TImage::New();
  const double                   spacing[3] = { 0.9, 1.1, 2.5 };
  const double                   origin[3] = { -30, 12.5, 7 };
  typename TImage::DirectionType direction;
  direction.SetIdentity();
  direction[0][0] = direction[2][2] = 0.8;
  direction[0][2] = 0.6;
  direction[2][0] = -0.6;
  image->SetRegions(typename TImage::SizeType{ { 13, 7, 43 } });
  image->SetSpacing(spacing);
  image->SetOrigin(origin);
  image->SetDirection(direction);
  image->Allocate(true);
  return image;
}

template <typename T>
typename itk::Image<T, 3>::Pointer
MakeScalars()
{
  std::mt19937_64 random(7);
  auto            image = MakeNumbers<itk::Image<T, 3>>();
  for (itk::SizeValueType i = 0; i < image->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    const auto bits = random();
    image->GetBufferPointer()[i] = std::is_integral_v<T> ? T(bits) : T(double(std::int64_t(bits)) / 3e9);
  }
  return image;
}

Field::Pointer
MakeVectors()
{
  auto image = MakeNumbers<Field>();
  for (itk::SizeValueType i = 0; i < image->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    for (unsigned int c = 0; c < 3; ++c)
    {
      image->GetBufferPointer()[i][c] = float(i) / 3 + 1000 * float(c);
    }
  }
  return image;
}

std::size_t
PlaneBytes(const itk::ImageBase<3> * image, std::size_t pixel)
{
  const ffdp::Extent size = ExtentOf(image);
  return std::size_t(size.x * size.y) * pixel;
}

/** Reads with several numbers of ranks what ITK reads as a whole. sent: whether rank 0 has to send planes. */
template <typename TImage, typename TRead>
void
ExpectPlanesOfItk(const std::string & file, bool sent, const TRead & read)
{
  constexpr std::size_t Pixel = sizeof(typename TImage::PixelType);
  const auto            expected = Read<TImage>(file);
  const std::size_t     bytes = expected->GetBufferedRegion().GetNumberOfPixels() * Pixel;
  for (const int ranks : RankCounts)
  {
    std::string                whole(bytes, '\0');
    std::vector<std::uint64_t> messages(static_cast<std::size_t>(ranks));
    ffdp::test::RunRanks(ranks, [&](ffdp::Communicator & communicator) {
      const auto image = read(file, communicator);
      const auto own = PlanesOf(image);
      const auto due = ffdp::Partition(ExtentOf(image).z, ranks).Owned(communicator.Rank());
      EXPECT_EQ(own.first, due.first);
      EXPECT_EQ(own.end, due.end);
      EXPECT_EQ(image->GetLargestPossibleRegion(), expected->GetLargestPossibleRegion());
      EXPECT_EQ(image->GetSpacing(), expected->GetSpacing());
      EXPECT_EQ(image->GetOrigin(), expected->GetOrigin());
      EXPECT_EQ(image->GetDirection(), expected->GetDirection());
      EXPECT_NE(image->GetBufferPointer(), nullptr); // a view of nothing would stand for "not given"
      const std::size_t plane = PlaneBytes(image, Pixel);
      std::memcpy(&whole[0] + std::size_t(own.first) * plane,
                  image->GetBufferPointer(),
                  std::size_t(own.end - own.first) * plane);
      messages[std::size_t(communicator.Rank())] = communicator.SentBytes();
    });
    EXPECT_EQ(std::memcmp(whole.data(), expected->GetBufferPointer(), bytes), 0) << file << " " << ranks;
    const auto        own = ffdp::Partition(ExtentOf(expected).z, ranks).Owned(0);
    const std::size_t others = bytes - std::size_t(own.end) * PlaneBytes(expected, Pixel);
    for (std::size_t rank = 0; rank < messages.size(); ++rank)
    {
      EXPECT_EQ(messages[rank], rank == 0 && sent ? others : 0u) << file << " " << ranks;
    }
  }
}

void
ExpectScalarsOfItk(const std::string & file, bool sent)
{
  ExpectPlanesOfItk<Image>(file, sent, [](const std::string & name, ffdp::Communicator & communicator) {
    return ReadImage(name, "image", communicator);
  });
}

void
ExpectVectorsOfItk(const std::string & file, bool sent)
{
  ExpectPlanesOfItk<Field>(file, sent, [](const std::string & name, ffdp::Communicator & communicator) {
    return ReadField(name, communicator);
  });
}

void
WriteBytes(const std::string & file, const std::string & bytes)
{
  std::ofstream(file, std::ios::binary) << bytes;
}

void
Reverse(std::string & bytes, std::size_t at, std::size_t size)
{
  std::reverse(bytes.begin() + std::ptrdiff_t(at), bytes.begin() + std::ptrdiff_t(at + size));
}

/** The bytes of an image's voxels, most significant first. */
template <typename T>
std::string
BigEndianVoxels(const itk::Image<T, 3> * image)
{
  std::string bytes(reinterpret_cast<const char *>(image->GetBufferPointer()),
                    image->GetBufferedRegion().GetNumberOfPixels() * sizeof(T));
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(T))
  {
    Reverse(bytes, i, sizeof(T));
  }
  return bytes;
}

/** A NIfTI file as a machine of the other byte order would have written it. */
std::string
TurnNifti(std::string bytes, std::size_t voxelSize)
{
  const auto turn = [&](std::size_t from, std::size_t to, std::size_t size) {
    for (std::size_t at = from; at < to; at += size)
    {
      Reverse(bytes, at, size);
    }
  };
  turn(0, 4, 4);
  turn(32, 36, 4);
  turn(36, 38, 2);
  turn(40, 56, 2);
  turn(56, 68, 4);
  turn(68, 76, 2);
  turn(76, 120, 4);
  turn(120, 122, 2);
  turn(124, 148, 4);
  turn(252, 256, 2);
  turn(256, 328, 4);
  turn(352, bytes.size(), voxelSize);
  return bytes;
}

void
SetScale(std::string & nifti, float slope, float intercept)
{
  std::memcpy(&nifti[112], &slope, sizeof(slope));
  std::memcpy(&nifti[116], &intercept, sizeof(intercept));
}

template <typename T>
void
ExpectType(const Folder & folder, bool inNifti)
{
  const auto image = MakeScalars<T>();
  if (inNifti)
  {
    Write(image, folder / "a.nii");
    Write(image, folder / "a.nii.gz");
    ExpectScalarsOfItk(folder / "a.nii", false);
    ExpectScalarsOfItk(folder / "a.nii.gz", true);
    const std::string nifti = ReadText(folder / "a.nii");
    WriteBytes(folder / "big.nii", TurnNifti(nifti, sizeof(T)));
    ExpectScalarsOfItk(folder / "big.nii", false);
    for (const auto & scale : { std::make_pair(0.37f, -4.25f), std::make_pair(1.0f, 3.0f), std::make_pair(0.0f, 9.0f) })
    {
      std::string scaled = nifti;
      SetScale(scaled, scale.first, scale.second);
      WriteBytes(folder / "scaled.nii", scaled);
      ExpectScalarsOfItk(folder / "scaled.nii", false);
    }
  }
  for (const char * name : { "a.mha", "a.mhd", "a.nrrd", "a.nhdr" })
  {
    Write(image, folder / name);
    ExpectScalarsOfItk(folder / name, false);
  }
}

} // namespace

TEST(ImageReading, PlanesOfRawFilesOfAllTypes)
{
  const Folder folder("planes-types");
  ExpectType<std::uint8_t>(folder, true);
  ExpectType<std::int8_t>(folder, true);
  ExpectType<std::uint16_t>(folder, true);
  ExpectType<std::int16_t>(folder, true);
  ExpectType<std::uint32_t>(folder, true);
  ExpectType<std::int32_t>(folder, true);
  ExpectType<float>(folder, true);
  ExpectType<double>(folder, true);
  ExpectType<unsigned long long>(folder, false);
  ExpectType<long long>(folder, false);
}

TEST(ImageReading, PlanesOfPairsOfFiles)
{
  const Folder folder("planes-pairs");
  Write(MakeScalars<std::int16_t>(), folder / "a.hdr");
  ExpectScalarsOfItk(folder / "a.hdr", false);
  ExpectScalarsOfItk(folder / "a.img", false);
}

TEST(ImageReading, PlanesOfHandwrittenHeaders)
{
  const Folder      folder("planes-headers");
  const std::string voxels = BigEndianVoxels(MakeScalars<std::int16_t>().GetPointer());
  const std::string meta = "ObjectType = Image\nNDims = 3\nDimSize = 13 7 43\nElementType = MET_SHORT\n"
                           "ElementSpacing = 1 2 3\nElementByteOrderMSB = True\n";
  WriteBytes(folder / "local.mha", meta + "ElementDataFile = LOCAL\n" + voxels);
  WriteBytes(folder / "behind.raw", std::string(100, 'x') + voxels);
  WriteBytes(folder / "behind.mhd", meta + "HeaderSize = 100\nElementDataFile = behind.raw\n");
  WriteBytes(folder / "last.mhd", meta + "HeaderSize = -1\nElementDataFile = behind.raw\n");
  const std::string nrrd = "NRRD0004\n# a comment: with a colon\ntype: short\ndimension: 3\nsizes: 13 7 43\n"
                           "spacings: 1 2 3\nencoding: raw\nendian: big\n";
  WriteBytes(folder / "attached.nrrd", nrrd + "\n" + voxels);
  WriteBytes(folder / "skip.nhdr", nrrd + "byte skip: 100\ndata file: behind.raw\n");
  WriteBytes(folder / "last.nhdr", nrrd + "byteskip: -1\ndatafile: ./behind.raw\n");
  for (const char * name : { "local.mha", "behind.mhd", "last.mhd", "attached.nrrd", "skip.nhdr", "last.nhdr" })
  {
    ExpectScalarsOfItk(folder / name, false);
  }
}

TEST(ImageReading, PlanesOfVectors)
{
  const Folder folder("planes-vectors");
  const auto   field = MakeVectors();
  for (const char * name : { "a.nii", "a.nii.gz", "a.mha", "a.nrrd", "a.hdf5" })
  {
    Write(field, folder / name);
    ExpectVectorsOfItk(folder / name, name == std::string("a.nii.gz"));
  }
}

TEST(ImageReading, PlanesOfFilesThatItkReads)
{
  const Folder folder("planes-itk");
  const auto   image = MakeScalars<std::int16_t>();
  Write(image, folder / "a.hdf5");
  ExpectScalarsOfItk(folder / "a.hdf5", false);
  for (const char * name : { "zipped.mha", "zipped.nrrd" })
  {
    auto writer = itk::ImageFileWriter<itk::Image<std::int16_t, 3>>::New();
    writer->SetInput(image);
    writer->SetFileName(folder / name);
    writer->UseCompressionOn();
    writer->Update();
    ExpectScalarsOfItk(folder / name, true);
  }
  Write(MakeScalars<std::uint16_t>(), folder / "a.tif");
  const auto                     spacing = Read(folder / "a.tif")->GetSpacing();
  const std::vector<std::string> stacks{ folder / "a.tif" }; // which say nothing of the third axis
  GiveSpacing({ "--spacing", "", { spacing[0], spacing[1], spacing[2] } }, [stacks] { return stacks; });
  ExpectScalarsOfItk(folder / "a.tif", true);
}

TEST(ImageReading, OnePlane)
{
  const Folder folder("planes-2d");
  using Plane = itk::Image<float, 2>;
  auto plane = Plane::New();
  plane->SetRegions(Plane::SizeType{ { 9, 8 } });
  plane->Allocate(true);
  plane->GetBufferPointer()[17] = 3;
  for (const char * name : { "a.nii", "a.nii.gz", "a.mha", "a.nrrd" })
  {
    Write(plane, folder / name);
    ExpectScalarsOfItk(folder / name, false); // there is nobody else to send to
  }
}

TEST(ImageReading, PlanesBehind2To31Voxels)
{
  const Folder       folder("planes-large");
  const ffdp::Extent size{ 2048, 2048, 520 };
  const std::string  header = "ObjectType = Image\nNDims = 3\nDimSize = 2048 2048 520\nElementType = MET_UCHAR\n"
                              "ElementDataFile = LOCAL\n";
  std::string        plane(std::size_t(size.x * size.y), '\0');
  for (std::size_t i = 0; i < plane.size(); ++i)
  {
    plane[i] = char(i * 7);
  }
  WriteBytes(folder / "a.mha", header);
  fs::resize_file(folder / "a.mha", header.size() + std::uintmax_t(size.Voxels() - size.x * size.y)); // of holes
  std::ofstream(folder / "a.mha", std::ios::binary | std::ios::app) << plane;
  const auto         source = OpenPlanes(folder / "a.mha", "image", ReadImageHeader(folder / "a.mha", "image"));
  std::vector<float> values(plane.size());
  source->Read(0, { size.z - 1, size.z }, values.data());
  for (std::size_t i = 0; i < plane.size(); ++i)
  {
    ASSERT_EQ(values[i], float(static_cast<unsigned char>(plane[i])));
  }
}

TEST(ImageReading, AllRanksRefuseABrokenFile)
{
  const Folder folder("planes-broken");
  const auto   image = MakeScalars<float>();
  for (const std::string name : { "a.nii", "a.nii.gz", "a.mha", "a.mhd", "a.nrrd" })
  {
    Write(image, folder / name);
    const std::string file = name == "a.mhd" ? "a.raw" : name;
    const std::string whole = ReadText(folder / file);
    WriteBytes(folder / file, whole.substr(0, whole.size() - 700)); // planes of the last rank, of whichever it is
    ExpectError("cut off", [&](ffdp::Communicator & communicator) { ReadImage(folder / name, "image", communicator); });
  }
  std::string zipped;
  Write(image, folder / "b.nii.gz");
  zipped = ReadText(folder / "b.nii.gz");
  zipped[zipped.size() - 6] = char(zipped[zipped.size() - 6] + 1); // of the checksum
  WriteBytes(folder / "b.nii.gz", zipped);
  ExpectError("broken",
              [&](ffdp::Communicator & communicator) { ReadImage(folder / "b.nii.gz", "image", communicator); });
  image->GetBufferPointer()[13 * 7 * 42] = std::numeric_limits<float>::infinity();
  for (const char * name : { "nan.nii", "nan.nii.gz", "nan.mha", "nan.nrrd" })
  {
    Write(image, folder / name);
    ExpectError("not a number",
                [&](ffdp::Communicator & communicator) { ReadImage(folder / name, "image", communicator); });
  }
}

TEST(ImageReading, AllRanksRefuseWhatCannotBeAligned)
{
  const Folder folder("planes-flat");
  auto         flat = MakeNumbers<Image>();
  Write(flat, folder / "flat.nii");
  ExpectError("constant", [&](ffdp::Communicator & communicator) {
    ReadImageWithContrast(folder / "flat.nii", "image", communicator);
  });
  ExpectError("is empty",
              [&](ffdp::Communicator & communicator) { ReadMask(folder / "flat.nii", "mask", flat, communicator); });
  flat->GetBufferPointer()[5] = 2; // of rank 0 alone
  Write(flat, folder / "spot.nii");
  for (const int ranks : RankCounts)
  {
    std::int64_t inside = 0;
    ffdp::test::RunRanks(ranks, [&](ffdp::Communicator & communicator) {
      EXPECT_NO_THROW(ReadImageWithContrast(folder / "spot.nii", "image", communicator));
      const auto   mask = ReadMask(folder / "spot.nii", "mask", flat, communicator);
      const auto   count = mask->GetBufferedRegion().GetNumberOfPixels();
      std::int64_t ones = std::count(mask->GetBufferPointer(), mask->GetBufferPointer() + count, 1.0f);
      communicator.Sum(&ones, 1);
      if (communicator.Rank() == 0)
      {
        inside = ones;
      }
    });
    EXPECT_EQ(inside, 1);
  }
}

TEST(ImageReading, AllRanksNoticeThatOneSeesAnotherFile)
{
  const Folder folder("planes-unequal");
  auto         image = MakeScalars<float>();
  Write(image, folder / "a.nii");
  Write(image, folder / "a.nii.gz");
  Write(MakeScalars<std::int16_t>(), folder / "short.nii");
  image->SetOrigin(Image::PointType());
  Write(image, folder / "moved.nii");
  const auto read = [&](const std::string & other) {
    return CollectErrors(4, [&, other](ffdp::Communicator & communicator) {
      ReadImage(folder / (communicator.Rank() == 2 ? other : "a.nii"), "image", communicator);
    });
  };
  for (const char * other : { "short.nii", "moved.nii", "a.nii.gz" })
  {
    for (const std::string & error : read(other)) // each names the file that its rank was asked for
    {
      EXPECT_NE(error.find("not the same on all ranks"), std::string::npos) << error;
      EXPECT_NE(error.find("on rank 2"), std::string::npos) << error;
    }
  }
  const auto missing = read("missing.nii");
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_NE(missing.begin()->find("missing.nii' does not exist (on rank 2 of 4)"), std::string::npos);
}

namespace
{

/** A NIfTI file in micrometres: as if it had been written so, or with nothing but the unit changed. */
void
WriteInMicrometers(const std::string & from, const std::string & to, bool lengthsToo)
{
  constexpr std::size_t UnitsAt = 123, SpacingsAt = 80, QuaternionOffsetAt = 268, RowsAt = 280;
  std::string           bytes = ReadText(from);
  const auto            scale = [&](std::size_t at, std::size_t count) {
    for (std::size_t end = at + 4 * count; lengthsToo && at < end; at += 4)
    {
      float number;
      std::memcpy(&number, &bytes[at], sizeof(number));
      number *= 1000;
      std::memcpy(&bytes[at], &number, sizeof(number));
    }
  };
  scale(SpacingsAt, 3);
  scale(QuaternionOffsetAt, 3);
  scale(RowsAt, 12);
  bytes[UnitsAt] = 3;
  std::ofstream(to, std::ios::binary) << bytes;
}

} // namespace

TEST(ImageReading, NiftiInMicrometersIsInPlace)
{
  const Folder      folder("micrometers");
  const std::string plain = folder / "plain.nii", micro = folder / "micro.nii";
  Write(MakeImage(0, 0.1, 1), plain);
  WriteInMicrometers(plain, micro, true);
  EXPECT_TRUE(AreOnOneGrid(ReadGrid(micro, "image"), ReadGrid(plain, "image")));
  EXPECT_TRUE(AreOnOneGrid(ReadImage(micro, "image"), ReadImage(plain, "image")));
}

TEST(ImageReading, SizesThatCannotBeRightAreNamed)
{
  const Folder      folder("sizes");
  const std::string plain = folder / "plain.nii", micro = folder / "micro.nii", close = folder / "close.nii";
  const auto        image = MakeImage(0, 0.1, 1);
  Write(image, plain);
  WriteInMicrometers(plain, micro, false);
  const auto run = [&](const std::string & fixed, const std::string & moving) {
    return RunProgram(folder,
                      "register --transform 'Rigid[]' --metric MI --convergence 0 -f " + fixed + " -m " + moving +
                        " -o " + (folder / "out_"));
  };
  for (const Outcome & outcome : { run(plain, micro), run(micro, plain) })
  {
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.ErrorLines(), 1) << outcome.errors;
    EXPECT_NE(outcome.errors.find("micro.nii' (0.044 x 0.04 x 0.039 mm) is smaller than a voxel"), std::string::npos)
      << outcome.errors;
    EXPECT_NE(outcome.errors.find("plain.nii' (44 x 40 x 39 mm)"), std::string::npos) << outcome.errors;
  }
  auto stripe = Image::New();
  stripe->SetRegions(Image::SizeType{ { 301, 4, 4 } });
  stripe->Allocate(true);
  Write(stripe, folder / "long.nii");
  image->SetSpacing(itk::Vector<double, 3>(0.05));
  Write(image, close);
  EXPECT_NE(
    run(close, folder / "long.nii").errors.find("warning: fixed image '" + close + "' (2.2 x 2 x 1.5 mm) is far"),
    std::string::npos);
}
