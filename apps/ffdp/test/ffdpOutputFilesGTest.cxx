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
#include "ffdpOutputFiles.h"

#include "ffdpCommandError.h"
#include "ffdpGzipWriter.h"
#include "ffdpImageFiles.h"
#include "ffdpNiftiWriter.h"
#include "ffdpOutputNames.h"
#include "ffdpProgramTestSupport.h"

#include "itkMultiThreaderBase.h"
#include "itkVector.h"

#include <csignal>
#include <cstring>
#include <random>
#include <zlib.h>

namespace
{

using namespace programtest;
using Field = itk::Image<itk::Vector<float, 3>, 3>;

std::string
Unzip(const std::string & file)
{
  std::string  bytes, buffer(1 << 16, '\0');
  const gzFile zipped = gzopen(file.c_str(), "rb");
  for (int n = 1; n > 0;)
  {
    n = gzread(zipped, &buffer[0], unsigned(buffer.size()));
    bytes.append(buffer, 0, std::size_t(std::max(n, 0)));
  }
  gzclose(zipped);
  return bytes;
}

/** True if the whole file is one gzip stream: some readers stop at the end of the first. */
bool
IsOneMember(const std::string & file)
{
  constexpr int GzipOnly = 31;
  std::string   zipped = ReadText(file), buffer(1 << 16, '\0');
  z_stream      stream{};
  inflateInit2(&stream, GzipOnly);
  stream.next_in = reinterpret_cast<Bytef *>(&zipped[0]);
  stream.avail_in = uInt(zipped.size());
  int state = Z_OK;
  while (state == Z_OK)
  {
    stream.next_out = reinterpret_cast<Bytef *>(&buffer[0]);
    stream.avail_out = uInt(buffer.size());
    state = inflate(&stream, Z_NO_FLUSH);
  }
  inflateEnd(&stream);
  return state == Z_STREAM_END && stream.avail_in == 0;
}

void
Zip(const std::string & bytes, const std::string & file, unsigned threads)
{
  GzipWriter writer(file, threads);
  writer.Append(bytes.size(), [&](std::uint64_t first, std::uint64_t count, unsigned char * to) {
    std::memcpy(to, bytes.data() + first, count);
  });
  writer.Finish();
}

/** Oblique, with unequal spacing. */
template <typename TImage>
typename TImage::Pointer
MakePlaced(itk::SizeValueType x, itk::SizeValueType y, itk::SizeValueType z)
{
  auto                           image = TImage::New();
  typename TImage::SizeType      size = { { x, y, z } };
  const double                   spacing[3] = { 0.9, 1.1, 2.5 };
  const double                   origin[3] = { -30, 12.5, 7 };
  typename TImage::DirectionType direction;
  direction.SetIdentity();
  direction[0][0] = direction[2][2] = 0.8;
  direction[0][2] = 0.6;
  direction[2][0] = -0.6;
  image->SetRegions(size);
  image->SetSpacing(spacing);
  image->SetOrigin(origin);
  image->SetDirection(direction);
  image->Allocate(true);
  return image;
}

std::vector<std::string>
ListFolder(const Folder & folder)
{
  std::vector<std::string> names;
  for (const auto & entry : fs::directory_iterator(folder.path))
  {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace

TEST(GzipWriter, OneStreamOfTheSameBytesForAnyNumberOfThreads)
{
  const Folder    folder("gzip");
  std::mt19937_64 random(1);
  std::string     bytes(3000001, '\0'); // several blocks; the last is odd
  for (std::size_t i = 0; i < bytes.size(); ++i)
  {
    // nothing, noise, and something between
    bytes[i] = i < 1000000 ? '\0' : char(random() & (i < 2000000 ? 255 : 3));
  }
  Zip(bytes, folder / "one.gz", 1);
  Zip(bytes, folder / "three.gz", 3);
  EXPECT_TRUE(Unzip(folder / "one.gz") == bytes);
  EXPECT_TRUE(ReadText(folder / "one.gz") == ReadText(folder / "three.gz"));
  EXPECT_TRUE(IsOneMember(folder / "one.gz"));
  EXPECT_LT(fs::file_size(folder / "one.gz"), 1400000u); // noise is stored, then two bits of each byte
  Zip("", folder / "nothing.gz", 1);
  EXPECT_EQ(Unzip(folder / "nothing.gz"), "");
  EXPECT_TRUE(IsOneMember(folder / "nothing.gz"));
}

TEST(GzipWriter, SaysThatTheDiskIsFull)
{
  if (!fs::exists("/dev/full"))
  {
    GTEST_SKIP() << "needs /dev/full";
  }
  EXPECT_THROW(Zip(std::string(100000, 'x'), "/dev/full", 1), CommandError);
  EXPECT_THROW(GzipWriter("/no/such/folder/file.gz"), CommandError);
}

TEST(NiftiWriter, WritesWhatItkWrites)
{
  const Folder    folder("nifti");
  std::mt19937_64 random(2);
  for (const itk::SizeValueType planes : { 1, 2, 40 })
  {
    const auto image = MakePlaced<Image>(90, 70, planes);
    const auto field = MakePlaced<Field>(90, 70, planes);
    const auto count = image->GetBufferedRegion().GetNumberOfPixels();
    for (itk::SizeValueType i = 0; i < count; ++i)
    {
      image->GetBufferPointer()[i] = float(random() % 1000) / 7;
      for (unsigned int c = 0; c < 3; ++c)
      {
        field->GetBufferPointer()[i][c] = float(random() % 1000) / 13;
      }
    }
    Write(image, folder / "itk.nii.gz");
    WriteNifti(image, folder / "ours.nii.gz");
    EXPECT_TRUE(Unzip(folder / "ours.nii.gz") == Unzip(folder / "itk.nii.gz")) << planes;
    Write(field, folder / "itk.nii.gz");
    WriteNifti(field, folder / "ours.nii.gz");
    EXPECT_TRUE(Unzip(folder / "ours.nii.gz") == Unzip(folder / "itk.nii.gz")) << planes;

    const auto read = Read<Field>(folder / "ours.nii.gz");
    EXPECT_TRUE(AreOnOneGrid(read, Read<Field>(folder / "itk.nii.gz")));
    EXPECT_EQ(read->GetLargestPossibleRegion(), field->GetLargestPossibleRegion());
    EXPECT_TRUE(planes == 1 || AreOnOneGrid(read, field)); // ITK forgets how a single plane was turned
    EXPECT_EQ(std::memcmp(read->GetBufferPointer(), field->GetBufferPointer(), 3 * count * sizeof(float)), 0);
  }
  EXPECT_EQ(ListFolder(folder).size(), 2u); // no header left
}

TEST(NiftiWriter, WarpsAreWrittenInMm)
{
  const Folder       folder("warp");
  const auto         grid = MakePlaced<Image>(13, 11, 7);
  const auto         count = grid->GetBufferedRegion().GetNumberOfPixels();
  std::vector<float> warp(3 * count);
  for (std::size_t i = 0; i < warp.size(); ++i)
  {
    warp[i] = float(i % 101) / 50 - 1;
  }
  WriteNiftiWarp(warp, grid, folder / "warp.nii.gz", *ffdp::MakeSelfCommunicator());
  const auto field = Read<Field>(folder / "warp.nii.gz");
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    itk::ContinuousIndex<double, 3> from, to;
    const auto                      index = grid->ComputeIndex(itk::OffsetValueType(i));
    for (unsigned int c = 0; c < 3; ++c)
    {
      from[c] = double(index[c]);
      to[c] = from[c] + warp[c * count + i];
    }
    Image::PointType a, b;
    grid->TransformContinuousIndexToPhysicalPoint(from, a);
    grid->TransformContinuousIndexToPhysicalPoint(to, b);
    for (unsigned int c = 0; c < 3; ++c)
    {
      ASSERT_NEAR(field->GetBufferPointer()[i][c], b[c] - a[c], 1e-6);
    }
  }
}

TEST(OutputSet, FilesAppearTogetherOrNotAtAll)
{
  const Folder folder("set");
  const auto   self = ffdp::MakeSelfCommunicator();
  WriteText("old", folder / "out_a.txt");
  {
    OutputSet set(folder / "out_", *self);
    WriteText("new", folder / "out_a.txt");
    WriteText("new", folder / "out_b.txt");
    EXPECT_EQ(ReadText(folder / "out_a.txt"), "old");
    EXPECT_FALSE(fs::exists(folder / "out_b.txt"));
  } // not committed
  EXPECT_EQ(ReadText(folder / "out_a.txt"), "old");
  EXPECT_EQ(ListFolder(folder), std::vector<std::string>{ "out_a.txt" });
  {
    OutputSet set(folder / "out_", *self);
    WriteText("new", folder / "out_a.txt");
    WriteText("new", folder / "out_b.txt");
    set.Commit();
    EXPECT_EQ(set.Files().size(), 2u);
  }
  EXPECT_EQ(ReadText(folder / "out_a.txt"), "new");
  EXPECT_EQ(ListFolder(folder), (std::vector<std::string>{ "out_a.txt", "out_b.txt" }));
}

TEST(OutputSet, RemovesWhatAKilledRunLeft)
{
  const Folder folder("leftover");
  const auto   self = ffdp::MakeSelfCommunicator();
  for (const std::string prefix : { "out_", "other_" })
  {
    const pid_t child = fork();
    if (child == 0)
    {
      OutputSet set(folder / prefix, *self);
      WriteText("whole, but without a name", folder / (prefix + "a.txt"));
      kill(getpid(), SIGKILL);
    }
    waitpid(child, nullptr, 0);
  }
  EXPECT_EQ(ListFolder(folder).size(), 2u); // a private folder and a lock: the second removed those of the first
  {
    const OutputSet alive(folder / "alive_", *self);
    const OutputSet set(folder / "out_", *self);
    EXPECT_EQ(ListFolder(folder).size(), 4u);
    EXPECT_THROW(OutputSet(folder / "alive_", *self), std::runtime_error);
  }
  EXPECT_TRUE(ListFolder(folder).empty());
}

TEST(OutputSet, AFailureInTheMiddleBringsAllOldFilesBack)
{
  const Folder folder("rollback");
  const auto   self = ffdp::MakeSelfCommunicator();
  WriteText("old", folder / "out_a.txt");
  WriteText("old", folder / "out_c.txt");
  WriteText("old", folder / "out_d.txt");
  {
    OutputSet set(folder / "out_", *self);
    for (const char * name : { "out_a.txt", "out_b.txt", "out_c.txt" })
    {
      WriteText("new", folder / name);
    }
    for (const std::string & name : ListFolder(folder))
    {
      std::error_code ignored;
      fs::remove(folder / (name + "/3.txt"), ignored); // the third cannot get its name
    }
    EXPECT_THROW(set.Commit({ folder / "out_d.txt" }), CommandError);
  }
  EXPECT_EQ(ListFolder(folder), (std::vector<std::string>{ "out_a.txt", "out_c.txt", "out_d.txt" }));
  for (const char * name : { "out_a.txt", "out_c.txt", "out_d.txt" })
  {
    EXPECT_EQ(ReadText(folder / name), "old") << name;
  }
  {
    OutputSet set(folder / "out_", *self);
    WriteText("new", folder / "out_a.txt");
    WriteText("new", folder / "out_b.txt");
    fs::create_directories(folder / "out_b.txt"); // meanwhile
    EXPECT_THROW(set.Commit(), CommandError);
  }
  EXPECT_EQ(ReadText(folder / "out_a.txt"), "old");
}

TEST(OutputSet, RemovesWhatAnEarlierRunWroteAndThisOneDoesNot)
{
  const Folder folder("outdated");
  const auto   self = ffdp::MakeSelfCommunicator();
  WriteText("old", folder / "out_a.txt");
  WriteText("old", folder / "out_b.txt");
  WriteText("old", folder / "other.txt");
  {
    OutputSet set(folder / "out_", *self);
    WriteText("new", folder / "out_a.txt");
    set.Commit({ folder / "out_a.txt", folder / "out_b.txt", folder / "out_c.txt" });
    EXPECT_EQ(set.Removed(), std::vector<std::string>{ folder / "out_b.txt" });
  }
  EXPECT_EQ(ListFolder(folder), (std::vector<std::string>{ "other.txt", "out_a.txt" }));
  EXPECT_EQ(ReadText(folder / "out_a.txt"), "new");
}

TEST(OutputFiles, ASignalRemovesWhatIsNotComplete)
{
  const Folder folder("signal");
  for (const int signal : { SIGINT, SIGTERM })
  {
    const pid_t child = fork();
    if (child == 0)
    {
      WriteAtomically(folder / "a.txt", [&](const std::string & name) {
        std::ofstream(name) << "half";
        std::ofstream(folder / "begun") << "now";
        sleep(60);
      });
      _exit(0);
    }
    while (!fs::exists(folder / "begun"))
    {
      usleep(1000);
    }
    kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_EQ(ListFolder(folder), std::vector<std::string>{ "begun" });
    fs::remove(folder / "begun");
  }
}

TEST(OutputFiles, TheNextWriterRemovesWhatAKilledOneLeft)
{
  const Folder folder("next");
  const pid_t  child = fork();
  if (child == 0)
  {
    WriteAtomically(folder / "b.txt", [](const std::string & name) {
      std::ofstream(name) << "half";
      kill(getpid(), SIGKILL);
    });
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(ListFolder(folder).size(), 1u);
  WriteText("whole", folder / "a.txt");
  EXPECT_EQ(ListFolder(folder), std::vector<std::string>{ "a.txt" });
}

TEST(OutputFiles, AFolderThatIsTriedIsMadeWhenTheFirstFileIsWritten)
{
  const Folder      folder("late");
  const std::string file = folder / "new/er/a.txt";
  RequireWritableFile(file);
  EXPECT_TRUE(ListFolder(folder).empty());
  WriteText("text", file);
  EXPECT_EQ(ReadText(file), "text");
  EXPECT_THROW(RequireWritableFile(file + "/b.txt"), CommandError);
}

TEST(OutputSet, MessagesNameTheFileAndNotItsTemporaryName)
{
  const Folder folder("message");
  try
  {
    WriteAtomically(folder / "a.nii.gz", [](const std::string & name) { throw CommandError("'" + name + "' is bad"); });
    FAIL();
  }
  catch (const CommandError & error)
  {
    EXPECT_EQ(error.what(), "'" + (folder / "a.nii.gz") + "' is bad");
  }
}
