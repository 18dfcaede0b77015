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
#include "itkFFDPRegistrationProcess.h"

#include "ffdpCheckpoint.h"
#include "ffdpGatherLists.h"
#include "ffdpPartition.h"
#include "ffdpPlaneTransfer.h"

#include <algorithm>

/** What the ranks of a registration agree on, and what they give each other. */
namespace itk
{
namespace
{

/** What must be the same on all ranks, as numbers. */
std::vector<double>
Characterize(const std::vector<ffdp::ImagePair> &           pairs,
             const ffdp::WarpedStart *                      start,
             const FFDPRegistrationProcess::StageListType & stages,
             bool                                           checkpointed)
{
  std::vector<double> numbers;
  const auto          addMap = [&numbers](const ffdp::AffineMap & map) {
    numbers.insert(numbers.end(), map.matrix, map.matrix + 9);
    numbers.insert(numbers.end(), map.offset, map.offset + 3);
  };
  for (const ffdp::ImagePair & pair : pairs)
  {
    for (const ffdp::PlacedImage & image : { pair.fixed, pair.moving })
    {
      const ffdp::Extent & size = image.voxels.domain;
      numbers.insert(numbers.end(), { double(size.x), double(size.y), double(size.z) });
      addMap(image.indexToPhysical);
    }
    numbers.insert(numbers.end(), { double(pair.fixedMask.IsGiven()), double(pair.movingMask.IsGiven()) });
  }
  numbers.push_back(start ? 1 : 0);
  if (start)
  {
    addMap(start->affine);
    numbers.push_back(start->hasWarp ? 1 : 0);
  }
  const std::uint64_t print = ffdp::FingerprintOf(stages);
  numbers.insert(numbers.end(), { double(print >> 32), double(print & 0xffffffffu), checkpointed ? 1.0 : 0.0 });
  return numbers;
}

/** What went wrong, without the file and the line that ITK puts in front. */
std::string
Describe(const std::exception & error)
{
  const auto * const ofItk = dynamic_cast<const ExceptionObject *>(&error);
  const std::string  text = ofItk ? ofItk->GetDescription() : error.what();
  return text.empty() ? "for a reason that it does not give" : text; // an empty text would mean that nothing is wrong
}

} // namespace

ffdp::PlaneRange
FFDPRegistrationProcess::GetOwnedPlanes(std::int64_t planes) const
{
  const ffdp::Communicator & ranks = this->GetRanks();
  return ffdp::Partition(planes, ranks.Size()).Owned(ranks.Rank());
}

void
FFDPRegistrationProcess::DoOnAllRanks(const std::function<void()> & work) const
{
  try
  {
    work();
  }
  catch (const std::exception & error)
  {
    this->TellOtherRanks(error);
    throw;
  }
  this->HearOtherRanks();
}

void
FFDPRegistrationProcess::TellOtherRanks(const std::exception & failure) const
{
  ffdp::GatherTexts(this->GetRanks(), Describe(failure));
}

void
FFDPRegistrationProcess::HearOtherRanks() const
{
  const std::vector<std::string> complaints = ffdp::GatherTexts(this->GetRanks(), "");
  for (std::size_t rank = 0; rank < complaints.size(); ++rank)
  {
    if (!complaints[rank].empty())
    {
      itkExceptionMacro("Rank " << rank << " failed: " << complaints[rank]);
    }
  }
}

void
FFDPRegistrationProcess::MeetOtherRanks(const std::vector<ffdp::ImagePair> & pairs, const ffdp::WarpedStart * start)
{
  m_OthersWait = false;
  this->HearOtherRanks();
  const auto problems = ffdp::GatherLists(
    this->GetRanks(),
    Characterize(pairs, start, this->FindStages(pairs.size(), start), !m_CheckpointDirectory.empty()));
  for (std::size_t rank = 1; rank < problems.size(); ++rank)
  {
    if (problems[rank] != problems.front())
    {
      itkExceptionMacro("Rank " << rank
                                << " has another problem than rank 0: the grid of an image, a mask, a stage, the "
                                << "initial transform or whether there is a checkpoint differs. An image of a part of "
                                   "the planes needs a source: "
                                << "of one without, ITK takes the part for the whole");
    }
  }
}

bool
FFDPRegistrationProcess::HasObserverFailedOnAnyRank() const
{
  double failed = m_ObserverError ? 1 : 0;
  this->GetRanks().Maximum(&failed, 1);
  return failed > 0;
}

void
FFDPRegistrationProcess::GatherPlanes(const double * own,
                                      double *       whole,
                                      std::int64_t   planes,
                                      std::int64_t   planeValues) const
{
  ffdp::Communicator &                ranks = this->GetRanks();
  const ffdp::Extent                  size{ planeValues, 1, planes };
  const ffdp::PlaneRange              owned = this->GetOwnedPlanes(planes);
  const std::vector<ffdp::PlaneRange> wanted = ffdp::GatherRanges(ranks, { 0, whole ? planes : 0 });
  const ffdp::PlaneChannel<double>    channel{ { own, size, owned.first, owned.end - owned.first }, { whole, size } };
  const auto transfer = ffdp::StartPlanes<double>(ranks, ffdp::Partition(planes, ranks.Size()), wanted, { channel });
  if (whole)
  {
    std::copy_n(own, (owned.end - owned.first) * planeValues, whole + owned.first * planeValues);
  }
  transfer->Wait();
}

} // namespace itk
