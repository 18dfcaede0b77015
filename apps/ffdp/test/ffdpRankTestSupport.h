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
#ifndef ffdpRankTestSupport_h
#define ffdpRankTestSupport_h

#include "ffdpCommandError.h"
#include "ffdpImageGrid.h"
#include "ffdpProgramTestSupport.h"
#include "ffdpThreadRanks.h"

#include <cstring>
#include <functional>
#include <mutex>
#include <set>

/** What tests of reading and writing by several ranks share. */
namespace programtest
{

const int RankCounts[] = { 1, 2, 3, 5, 8 };

/** The planes of a whole image that a rank owns. */
template <typename TImage>
typename TImage::Pointer
TakeOwnPlanes(const TImage * whole, const ffdp::Communicator & communicator)
{
  auto       own = MakeOwnPlanes<TImage>(whole, communicator);
  const auto plane = ExtentOf(whole).x * ExtentOf(whole).y;
  std::memcpy(own->GetBufferPointer(),
              whole->GetBufferPointer() + PlanesOf(own).first * plane,
              own->GetBufferedRegion().GetNumberOfPixels() * sizeof(typename TImage::PixelType));
  return own;
}

/** The same of a whole warp, three planar volumes. */
inline std::vector<float>
TakeOwnPlanes(const std::vector<float> & whole, const ffdp::Extent & size, const ffdp::PlaneRange & planes)
{
  std::vector<float> own;
  const std::int64_t plane = size.x * size.y;
  for (int c = 0; c < 3; ++c)
  {
    const auto volume = whole.begin() + c * size.Voxels();
    own.insert(own.end(), volume + planes.first * plane, volume + planes.end * plane);
  }
  return own;
}

/** The messages of a call that throws CommandError on all ranks: one, if they agree. */
inline std::set<std::string>
CollectErrors(int ranks, const std::function<void(ffdp::Communicator &)> & call)
{
  std::mutex            mutex;
  std::set<std::string> errors;
  int                   thrown = 0;
  ffdp::test::RunRanks(ranks, [&](ffdp::Communicator & communicator) {
    try
    {
      call(communicator);
    }
    catch (const CommandError & error)
    {
      const std::lock_guard<std::mutex> lock(mutex);
      errors.insert(error.what());
      ++thrown;
    }
  });
  EXPECT_EQ(thrown, ranks);
  return errors;
}

/** All ranks throw the same, for this reason. */
inline void
ExpectError(const std::string & reason, const std::function<void(ffdp::Communicator &)> & call)
{
  for (const int ranks : { 1, 3, 8 })
  {
    const auto errors = CollectErrors(ranks, call);
    ASSERT_EQ(errors.size(), 1u) << reason;
    EXPECT_NE(errors.begin()->find(reason), std::string::npos) << *errors.begin();
  }
}

} // namespace programtest

#endif
