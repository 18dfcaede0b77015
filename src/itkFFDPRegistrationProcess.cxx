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
#include "ffdpDeviceName.h"
#include "ffdpParallel.h"
#include "ffdpStageList.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

namespace itk
{
FFDPRegistrationProcess::FFDPRegistrationProcess()
  : m_Self(ffdp::MakeSelfCommunicator())
{
  // ITK starts with several work units per thread, which would all be threads here.
  this->SetNumberOfWorkUnits(ffdp::ResolveThreads(0));
}

FFDPRegistrationProcess::~FFDPRegistrationProcess() = default;

void
FFDPRegistrationProcess::SetStages(const StageListType & stages)
{
  m_Stages = stages;
  this->Modified();
}

void
FFDPRegistrationProcess::AddStage(const StageType & stage)
{
  m_Stages.push_back(stage);
  this->Modified();
}

void
FFDPRegistrationProcess::SetDevice(const std::string & name)
{
  try
  {
    this->SetBackend(ffdp::MakeDeviceBackend(name));
  }
  catch (const std::exception & error)
  {
    itkExceptionMacro("SetDevice: " << error.what());
  }
}

void
FFDPRegistrationProcess::SetBackend(std::shared_ptr<ffdp::Backend> backend)
{
  if (m_Backend != backend)
  {
    m_Backend = std::move(backend);
    this->Modified();
  }
}

void
FFDPRegistrationProcess::SetCommunicator(ffdp::Communicator * communicator)
{
  if (m_Communicator != communicator)
  {
    m_Communicator = communicator;
    this->Modified();
  }
}

void
FFDPRegistrationProcess::Update()
{
  const bool outer = std::exchange(m_OthersWait, true);
  try
  {
    if (!m_Updating) // otherwise an observer calls, and ITK does nothing
    {
      this->RunIfAnyRankHasSomethingNew();
    }
    Superclass::Update();
  }
  catch (const std::exception & error)
  {
    const bool othersWait = std::exchange(m_OthersWait, outer);
    if (othersWait && !outer)
    {
      this->ResetPipeline(); // after a failure upstream ITK would not run the next Update(), and the others would wait
      this->TellOtherRanks(error);
    }
    throw;
  }
  m_OthersWait = outer;
}

bool
FFDPRegistrationProcess::HasSomethingNew()
{
  try
  {
    this->UpdateOutputInformation();
  }
  catch (const std::exception &) // comes again when ITK runs, and is told to the others there
  {
    this->ResetPipeline();
    this->PrepareOutputs(); // the others, which run, lose theirs
    return true;
  }
  const DataObject * const output = this->GetPrimaryOutput();
  return output->GetUpdateMTime() < output->GetPipelineMTime() || output->GetDataReleased();
}

void
FFDPRegistrationProcess::RunIfAnyRankHasSomethingNew()
{
  const bool hasNew = this->HasSomethingNew();
  double     anyHasNew = hasNew ? 1 : 0;
  this->GetRanks().Maximum(&anyHasNew, 1);
  if (anyHasNew > 0 && !hasNew)
  {
    this->Modified();
  }
}

void
FFDPRegistrationProcess::PrepareOutputs()
{
  Superclass::PrepareOutputs();
  this->Forget();
}

void
FFDPRegistrationProcess::RemoveCheckpoint() const
{
  ffdp::RegistrationCheckpoint checkpoint;
  checkpoint.directory = m_CheckpointDirectory;
  ffdp::RemoveCheckpoint(checkpoint);
}

void
FFDPRegistrationProcess::RequireContrast(const ffdp::PlacedImage & image, const std::string & name) const
{
  ffdp::Statistics statistics;
  if (image.voxels.planes > 0)
  {
    statistics = ffdp::CombineStatistics(ffdp::PlaneStatistics(image.voxels, {}, this->GetNumberOfWorkUnits()));
  }
  double range[2] = { -double(statistics.minimum), double(statistics.maximum) };
  this->GetRanks().Maximum(range, 2);
  this->GetRanks().Sum(&statistics.notFinite, 1);
  if (statistics.notFinite > 0)
  {
    itkExceptionMacro("The " << name << " has " << statistics.notFinite << " voxels that are infinite or not a number");
  }
  if (!(range[1] > -range[0]))
  {
    itkExceptionMacro("The " << name << " is constant: there is nothing to align");
  }
}

void
FFDPRegistrationProcess::RequireInside(const ffdp::VolumeView<const float> & mask, const std::string & name) const
{
  if (!mask.IsGiven())
  {
    return;
  }
  const float * const end = mask.data + mask.planes * mask.planeStride;
  double              inside = std::find(mask.data, end, 1.0f) != end ? 1 : 0;
  this->GetRanks().Maximum(&inside, 1);
  if (inside == 0)
  {
    itkExceptionMacro("The " << name << " is empty");
  }
}

void
FFDPRegistrationProcess::RequireOneGrid(const ffdp::PlacedImage & image,
                                        const std::string &       name,
                                        const ffdp::PlacedImage & other,
                                        const std::string &       otherName) const
{
  constexpr double      Voxels = 0.1;
  const ffdp::Extent &  size = image.voxels.domain;
  bool                  same = size == other.voxels.domain;
  const ffdp::AffineMap toImage = ffdp::Compose(image.indexToPhysical.Inverse(), other.indexToPhysical);
  for (int corner = 0; corner < 8 && same; ++corner)
  {
    const double at[3] = { double(corner & 1 ? size.x - 1 : 0),
                           double(corner & 2 ? size.y - 1 : 0),
                           double(corner & 4 ? size.z - 1 : 0) };
    double       there[3];
    toImage.Apply(at, there);
    same = std::hypot(there[0] - at[0], there[1] - at[1], there[2] - at[2]) < Voxels;
  }
  if (!same)
  {
    itkExceptionMacro("The " << name << " is not on the grid of the " << otherName
                             << ": size, origin, spacing or direction differ");
  }
}

FFDPRegistrationProcess::StageListType
FFDPRegistrationProcess::FindStages(std::size_t pairs, const ffdp::WarpedStart * start) const
{
  if (!m_Stages.empty())
  {
    return m_Stages;
  }
  StageListType stages;
  for (StageType & stage : ffdp::MakeStages())
  {
    const bool isSearch = stage.kind == StageType::Kind::Moments;
    if (start && (isSearch || (start->hasWarp && !ffdp::IsDeformable(stage))))
    {
      continue;
    }
    const ffdp::RegistrationMetric metric = stage.metrics.front();
    stage.metrics.assign(pairs, metric);
    for (std::size_t pair = 0; pair < pairs; ++pair)
    {
      stage.metrics[pair].pair = static_cast<int>(pair);
    }
    stages.push_back(stage);
  }
  return stages;
}

bool
FFDPRegistrationProcess::Observe(const ffdp::RegistrationProgress & progress)
{
  try
  {
    if (!progress.isEnd)
    {
      m_CurrentProgress = progress;
      this->InvokeEvent(IterationEvent());
    }
    this->UpdateProgress(static_cast<float>(progress.fraction));
  }
  catch (...)
  {
    m_ObserverError = std::current_exception(); // thrown again when all ranks have stopped
    return false;
  }
  return !this->GetAbortGenerateData();
}

void
FFDPRegistrationProcess::ThrowWhatObserverThrew()
{
  if (m_ObserverError)
  {
    std::rethrow_exception(std::exchange(m_ObserverError, nullptr));
  }
}

void
FFDPRegistrationProcess::Forget()
{
  m_CurrentProgress = ffdp::RegistrationProgress();
  m_ObserverError = nullptr;
  this->Keep(ffdp::RegistrationResult());
}

void
FFDPRegistrationProcess::Keep(const ffdp::RegistrationResult & result)
{
  m_SmallestJacobian = result.smallestJacobian;
  m_NumberOfFolds = static_cast<SizeValueType>(result.folds);
  m_SmallestInverseJacobian = result.smallestInverseJacobian;
  m_NumberOfInverseFolds = static_cast<SizeValueType>(result.inverseFolds);
  m_NumberOfIronedVoxels = static_cast<SizeValueType>(result.ironed);
  m_LargestInverseError = result.inverseResidual;
  m_LevelReports = result.levels;
  m_Notes = result.notes;
}

void
FFDPRegistrationProcess::NoteUnusedPairs(const StageListType & stages, std::size_t pairs)
{
  std::vector<bool> used(pairs, false);
  for (const StageType & stage : stages)
  {
    for (const ffdp::RegistrationMetric & metric : stage.metrics)
    {
      used.at(static_cast<std::size_t>(metric.pair)) = true;
    }
  }
  for (std::size_t pair = 0; pair < pairs; ++pair)
  {
    if (!used[pair])
    {
      m_Notes.push_back("image pair " + std::to_string(pair) + " was not used: no metric names it");
    }
  }
}

ffdp::RegistrationResult
FFDPRegistrationProcess::RunStages(const std::vector<ffdp::ImagePair> & pairs, const ffdp::WarpedStart * start)
{
  ffdp::RegistrationStart where;
  if (start)
  {
    where.affine = start->affine;
    if (start->hasWarp)
    {
      const float * const u = start->warp.data();
      const std::size_t   count = start->warp.size() / 3;
      where.warp = ffdp::WarpView<const float>::Planar(u,
                                                       u + count,
                                                       u + 2 * count,
                                                       pairs.front().fixed.voxels.domain,
                                                       start->planes.first,
                                                       start->planes.end - start->planes.first);
    }
  }
  const StageListType          stages = this->FindStages(pairs.size(), start);
  ffdp::RegistrationCheckpoint checkpoint;
  checkpoint.directory = m_CheckpointDirectory;
  checkpoint.seconds = m_CheckpointSeconds;
  const std::shared_ptr<ffdp::Backend> backend =
    m_Backend ? m_Backend : std::shared_ptr<ffdp::Backend>(ffdp::MakeCpuBackend(this->GetNumberOfWorkUnits()));
  try
  {
    ffdp::RegistrationResult result = ffdp::Register(
      *backend,
      this->GetRanks(),
      pairs,
      where,
      stages,
      [this](const ffdp::RegistrationProgress & progress) { return this->Observe(progress); },
      checkpoint);
    if (this->HasObserverFailedOnAnyRank()) // in the last event, after which nothing is left to stop
    {
      throw ffdp::RegistrationAborted();
    }
    this->Keep(result);
    this->NoteUnusedPairs(stages, pairs.size());
    return result;
  }
  catch (const ffdp::RegistrationAborted &)
  {
    this->ThrowWhatObserverThrew();
    ProcessAborted aborted(__FILE__, __LINE__);
    aborted.SetDescription(std::string(this->GetNameOfClass()) + ": AbortGenerateData was set" +
                           (this->GetAbortGenerateData() ? "" : " on another rank, or an observer failed there"));
    throw aborted;
  }
  catch (const std::bad_alloc &)
  {
    throw MemoryAllocationError(
      __FILE__, __LINE__, std::string(this->GetNameOfClass()) + ": there is not enough memory", ITK_LOCATION);
  }
  catch (const std::exception & error)
  {
    this->ThrowWhatObserverThrew(); // that the run was stopped for it and its state could not be saved came after
    itkExceptionMacro("Cannot register: " << error.what());
  }
}

void
FFDPRegistrationProcess::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Stages: " << m_Stages.size() << std::endl;
  for (const StageType & stage : m_Stages)
  {
    os << indent.GetNextIndent() << ffdp::DescribeStage(stage) << std::endl;
  }
  os << indent << "CheckpointDirectory: " << m_CheckpointDirectory << std::endl;
  os << indent << "CheckpointSeconds: " << m_CheckpointSeconds << std::endl;
  os << indent << "Backend: " << (m_Backend ? m_Backend->Name() : "(default)") << std::endl;
  os << indent << "Communicator: ";
  if (m_Communicator)
  {
    os << "rank " << m_Communicator->Rank() << " of " << m_Communicator->Size() << std::endl;
  }
  else
  {
    os << "(default)" << std::endl;
  }
  os << indent << "CurrentProgress: stage " << m_CurrentProgress.stage << " " << m_CurrentProgress.stageName
     << ", level " << m_CurrentProgress.level << ", iteration " << m_CurrentProgress.iteration << ", value "
     << m_CurrentProgress.value << ", step " << m_CurrentProgress.step << std::endl;
  os << indent << "SmallestJacobian: " << m_SmallestJacobian << std::endl;
  os << indent << "NumberOfFolds: " << m_NumberOfFolds << std::endl;
  os << indent << "SmallestInverseJacobian: " << m_SmallestInverseJacobian << std::endl;
  os << indent << "NumberOfInverseFolds: " << m_NumberOfInverseFolds << std::endl;
  os << indent << "NumberOfIronedVoxels: " << m_NumberOfIronedVoxels << std::endl;
  os << indent << "LargestInverseError: " << m_LargestInverseError << std::endl;
  os << indent << "LevelReports: " << m_LevelReports.size() << std::endl;
  for (const ffdp::LevelReport & level : m_LevelReports)
  {
    os << indent.GetNextIndent() << "stage " << level.stage << " " << level.stageName << ", " << level.size.x << "x"
       << level.size.y << "x" << level.size.z << ": " << level.iterations << " iterations, " << level.firstValue
       << " -> " << level.lastValue << ", " << level.seconds << " s" << std::endl;
  }
  os << indent << "Notes: " << m_Notes.size() << std::endl;
  for (const std::string & note : m_Notes)
  {
    os << indent.GetNextIndent() << note << std::endl;
  }
}

} // namespace itk
