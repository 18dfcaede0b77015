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
#include "ffdpAgreement.h"
#include "ffdpImageFiles.h"
#include "ffdpNiftiWriter.h"
#include "ffdpOutputFiles.h"
#include "ffdpRankTestSupport.h"

#include <csignal>
#include <sys/resource.h>
#include <zlib.h>

namespace
{

using namespace programtest;

/** Compressed in two batches, as a warp. */
constexpr itk::SizeValueType Size[3] = { 123, 117, 53 };

Image::Pointer
MakeWaves()
{
  auto image = Image::New();
  image->SetRegions(Image::SizeType{ { Size[0], Size[1], Size[2] } });
  image->SetSpacing(Image::SpacingType(1.25));
  image->Allocate();
  for (itk::SizeValueType i = 0; i < image->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    image->GetBufferPointer()[i] = float(std::sin(double(i) / 700) * 100);
  }
  return image;
}

std::vector<float>
MakeWarp(const ffdp::Extent & size)
{
  std::vector<float> warp(std::size_t(3 * size.Voxels()));
  for (std::size_t i = 0; i < warp.size(); ++i)
  {
    warp[i] = float(i % 1013) / 100 - 5;
  }
  return warp;
}

std::vector<std::string>
ListFiles(const Folder & folder)
{
  std::vector<std::string> names;
  for (const auto & entry : fs::directory_iterator(folder.path))
  {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

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

/** No file of this process gets larger while this lives. */
class FileLimit
{
public:
  explicit FileLimit(rlim_t bytes)
  {
    getrlimit(RLIMIT_FSIZE, &m_Before);
    m_Handler = std::signal(SIGXFSZ, SIG_IGN); // a write that fails will do
    const rlimit limit{ bytes, m_Before.rlim_max };
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit()
  {
    setrlimit(RLIMIT_FSIZE, &m_Before);
    std::signal(SIGXFSZ, m_Handler);
  }

private:
  rlimit m_Before{};
  void (*m_Handler)(int) = SIG_DFL;
};

} // namespace

TEST(PlaneWriting, FilesHaveTheSameBytesForAnyNumberOfRanks)
{
  const Folder       folder("plane-writing");
  const auto         image = MakeWaves();
  const ffdp::Extent size = ExtentOf(image);
  const auto         warp = MakeWarp(size);
  for (const std::string ending : { ".nii.gz", ".nii" })
  {
    std::string alone[2];
    for (const int ranks : RankCounts)
    {
      const std::string names[2] = { folder / ("image" + ending), folder / ("warp" + ending) };
      ffdp::test::RunRanks(ranks, [&](ffdp::Communicator & communicator) {
        const auto own = TakeOwnPlanes(image.GetPointer(), communicator);
        WriteImage(own, names[0], communicator);
        WriteWarp(TakeOwnPlanes(warp, size, PlanesOf(own)), own, names[1], communicator);
      });
      for (int i = 0; i < 2; ++i)
      {
        const std::string bytes = ReadText(names[i]);
        alone[i] = ranks == 1 ? bytes : alone[i];
        EXPECT_TRUE(bytes == alone[i]) << names[i] << " " << ranks;
      }
    }
  }
  for (const std::string name : { "image.nii", "warp.nii" })
  {
    EXPECT_TRUE(Unzip(folder / (name + ".gz")) == ReadText(folder / name)) << name;
  }
  const auto read = Read<Image>(folder / "image.nii");
  EXPECT_EQ(std::memcmp(read->GetBufferPointer(), image->GetBufferPointer(), std::size_t(size.Voxels()) * 4), 0);
  EXPECT_EQ(ListFiles(folder).size(), 4u); // nothing temporary
}

TEST(PlaneWriting, NoRankKeepsWhatItSends)
{
  const Folder folder("plane-bytes");
  const auto   image = MakeWaves();
  for (const std::string ending : { ".nii.gz", ".nii" })
  {
    ffdp::test::RunRanks(4, [&](ffdp::Communicator & communicator) {
      const auto own = TakeOwnPlanes(image.GetPointer(), communicator);
      WriteImage(own, folder / ("a" + ending), communicator);
      const bool sends = ending == ".nii.gz" && communicator.Rank() > 0;
      EXPECT_EQ(communicator.SentBytes(), sends ? own->GetBufferedRegion().GetNumberOfPixels() * sizeof(float) : 0u);
    });
  }
}

TEST(PlaneWriting, AFullDiskIsAnErrorOnAllRanks)
{
  const Folder folder("plane-full");
  const auto   image = MakeWaves();
  for (const std::string ending : { ".nii.gz", ".nii" })
  {
    const FileLimit limit(200000); // in the midst of the file
    ExpectError("a" + ending + "' cannot be written", [&](ffdp::Communicator & communicator) {
      WriteImage(TakeOwnPlanes(image.GetPointer(), communicator), folder / ("a" + ending), communicator);
    });
  }
  EXPECT_TRUE(ListFiles(folder).empty());
}

TEST(PlaneWriting, AnAxisThatNiftiCannotHoldIsRefused)
{
  const Folder folder("plane-long");
  auto         image = Image::New();
  image->SetRegions(Image::SizeType{ { 2, 1, 32768 } });
  image->Allocate(true);
  ExpectError("32768 voxels along an axis", [&](ffdp::Communicator & communicator) {
    WriteImage(TakeOwnPlanes(image.GetPointer(), communicator), folder / "a.nii", communicator);
  });
  EXPECT_TRUE(ListFiles(folder).empty());
}

TEST(OutputSet, FilesOfAllRanksAppearTogetherOrNotAtAll)
{
  const Folder folder("set-ranks");
  const auto   write = [&](ffdp::Communicator & communicator, const std::string & name, int bad) {
    WriteAtomically(folder / name, communicator, [&](const std::string & temporary) {
      DoTogether(communicator, [&] {
        if (communicator.Rank() == 0)
        {
          std::ofstream(temporary) << "text";
        }
        if (communicator.Rank() == bad)
        {
          throw CommandError("'" + temporary + "' is bad");
        }
      });
    });
  };
  ffdp::test::RunRanks(3, [&](ffdp::Communicator & communicator) {
    OutputSet set(folder / "out_", communicator);
    write(communicator, "out_a.txt", -1);
    EXPECT_FALSE(fs::exists(folder / "out_a.txt"));
    EXPECT_THROW(write(communicator, "out_b.txt", 2), CommandError);
  });
  EXPECT_TRUE(ListFiles(folder).empty());
  const auto errors = CollectErrors(3, [&](ffdp::Communicator & communicator) { write(communicator, "out_b.txt", 2); });
  EXPECT_EQ(errors, std::set<std::string>{ "'" + (folder / "out_b.txt") + "' is bad (on rank 2 of 3)" });
  ffdp::test::RunRanks(3, [&](ffdp::Communicator & communicator) {
    OutputSet set(folder / "out_", communicator);
    write(communicator, "out_a.txt", -1);
    write(communicator, "out_b.txt", -1);
    set.Commit();
    EXPECT_TRUE(fs::exists(folder / "out_a.txt")); // on every rank that goes on
  });
  EXPECT_EQ(ListFiles(folder).size(), 2u);
}

TEST(PlaneWriting, ARankThatFailsAloneWaitsForNoOther)
{
  const Folder folder("plane-alone");
  const auto   write = [&](ffdp::Communicator & communicator) {
    WriteAtomically(folder / "a.txt", communicator, [&](const std::string & temporary) {
      if (communicator.Rank() == 1)
      {
        throw CommandError("'" + temporary + "' is bad");
      }
      DoTogether(communicator, [] {}); // in the midst of writing
    });
  };
  try
  {
    ffdp::test::RunRanks(3, write);
    FAIL();
  }
  catch (const CommandError & error)
  {
    EXPECT_EQ(error.what(), "'" + (folder / "a.txt") + "' is bad"); // of that rank, not of one that waits for it
  }
  EXPECT_TRUE(ListFiles(folder).empty());
}
