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
#ifndef itkFFDPRegistrationProcess_h
#define itkFFDPRegistrationProcess_h

#include "FFDPExport.h"
#include "ffdpRegistration.h"
#include "ffdpWarpVectors.h"
#include "itkFFDPCompatibility.h"

#include "itkProcessObject.h"

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace itk
{

/** \class FFDPRegistrationProcess
 * \brief What GridParallelImageRegistrationMethod is without its images: stages, device, checkpoint, events, figures of
 * the result.
 *
 * Compiled once, in the library, for all types of images.
 *
 * \ingroup FFDP
 */
class FFDP_EXPORT FFDPRegistrationProcess : public ProcessObject
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(FFDPRegistrationProcess);

  using Self = FFDPRegistrationProcess;
  using Superclass = ProcessObject;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;
  using StageType = ffdp::RegistrationStage;
  using StageListType = std::vector<StageType>;

  itkOverrideGetNameOfClassMacro(FFDPRegistrationProcess);

  void
  SetStages(const StageListType & stages);
  void
  AddStage(const StageType & stage);
  /** The stages that were set; none: the default ones are run. */
  const StageListType &
  GetStages() const
  {
    return m_Stages;
  }

  /** A folder for the state of the run, written now and then; empty: none. The same registration that finds it goes on
   * from there, to the same result. It stays there after Update() until RemoveCheckpoint(): call that when the
   * transforms are safe. */
  itkSetStringMacro(CheckpointDirectory);
  itkGetStringMacro(CheckpointDirectory);
  /** Between two saves. */
  itkSetMacro(CheckpointSeconds, double);
  itkGetConstMacro(CheckpointSeconds, double);
  void
  RemoveCheckpoint() const;

  /** The device that computes; none: the processor, with as many threads as there are work units. */
  void
  SetBackend(std::shared_ptr<ffdp::Backend> backend);

  /** SetBackend() by name: "cpu", "cuda" (the first GPU) or "cuda:N". Throws an exception, with the reason, if it is
   * not there. */
  void
  SetDevice(const std::string & name);

  /** What was set: "cpu", or the name of the backend. */
  std::string
  GetDevice() const
  {
    return m_Backend ? m_Backend->Name() : "cpu";
  }

  /** The processes that solve the problem together; null: this one alone. It is the caller's, and must live as long as
   * it is set. With MPI: ffdp::MakeMpiCommunicator() (ffdpMpiCommunicator.h). */
  void
  SetCommunicator(ffdp::Communicator * communicator);
  ffdp::Communicator *
  GetCommunicator() const
  {
    return m_Communicator;
  }

  /** All ranks make this call, and all run if one of them has something new. Where one of them fails before it can
   * begin, by an input that it cannot read or use, all throw: that rank what went wrong, the others an ExceptionObject
   * that names it. To update an output, or a filter downstream, does not ask other ranks whether they have something
   * new: it is for one rank alone, after this call. */
  void
  Update() override;

  /** The same: transforms have no regions. */
  void
  UpdateLargestPossibleRegion() override
  {
    this->Update();
  }

  /** Forgets the figures of the run before. */
  void
  PrepareOutputs() override;

  /** Of the warp x + u(x): smallest determinant of its Jacobian, and the number of voxels where it is not positive. */
  itkGetConstMacro(SmallestJacobian, double);
  itkGetConstMacro(NumberOfFolds, SizeValueType);
  /** The same of its inverse. */
  itkGetConstMacro(SmallestInverseJacobian, double);
  itkGetConstMacro(NumberOfInverseFolds, SizeValueType);
  /** Voxels whose displacement was changed at the end, to take out folds. */
  itkGetConstMacro(NumberOfIronedVoxels, SizeValueType);
  /** Largest distance, in voxels, between a point and where inverse warp and warp take it. */
  itkGetConstMacro(LargestInverseError, double);
  const std::vector<ffdp::LevelReport> &
  GetLevelReports() const
  {
    return m_LevelReports;
  }
  /** What was done differently from what was asked. */
  const std::vector<std::string> &
  GetNotes() const
  {
    return m_Notes;
  }

  /** For observers of IterationEvent: all that is known of the iteration, and its parts under their own names. */
  const ffdp::RegistrationProgress &
  GetCurrentProgress() const
  {
    return m_CurrentProgress;
  }
  SizeValueType
  GetCurrentStage() const
  {
    return static_cast<SizeValueType>(m_CurrentProgress.stage);
  }
  std::string
  GetCurrentStageName() const
  {
    return m_CurrentProgress.stageName;
  }
  SizeValueType
  GetCurrentLevel() const
  {
    return static_cast<SizeValueType>(m_CurrentProgress.level);
  }
  /** From 1 on each level. */
  SizeValueType
  GetCurrentIteration() const
  {
    return static_cast<SizeValueType>(m_CurrentProgress.iteration);
  }
  /** Smaller is more similar. */
  double
  GetCurrentMetricValue() const
  {
    return m_CurrentProgress.value;
  }
  /** Largest movement of a voxel in this iteration, in voxels of the level. */
  double
  GetCurrentStep() const
  {
    return m_CurrentProgress.step;
  }

protected:
  FFDPRegistrationProcess();
  ~FFDPRegistrationProcess() override;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;

  /** This process alone, if no communicator was set. */
  ffdp::Communicator &
  GetRanks() const
  {
    return m_Communicator ? *m_Communicator : *m_Self;
  }

  /** Of a volume of so many planes, those that this rank owns. */
  ffdp::PlaneRange
  GetOwnedPlanes(std::int64_t planes) const;

  // All ranks make the calls of this group, in the same order.

  /** Ends what a rank does by itself: throws on all of them if one has failed, or has another problem than the first
   * one: other grids, masks or stages. */
  void
  MeetOtherRanks(const std::vector<ffdp::ImagePair> & pairs, const ffdp::WarpedStart * start);

  /** Throws unless the image, all ranks together, has only finite voxels that are not all the same. */
  void
  RequireContrast(const ffdp::PlacedImage & image, const std::string & name) const;

  /** Throws if the mask, which may be missing, has nothing inside on any rank. */
  void
  RequireInside(const ffdp::VolumeView<const float> & mask, const std::string & name) const;

  /** Runs the stages, with events, and keeps what the getters tell. The warps are in what is returned. `start` may be
   * missing. Throws ExceptionObject, ProcessAborted if that was asked for on any rank. */
  ffdp::RegistrationResult
  RunStages(const std::vector<ffdp::ImagePair> & pairs, const ffdp::WarpedStart * start);

  /** Brings the planes of all ranks together. `own` are those of this rank, `whole` has room for all of them or, on a
   * rank that does not want them, is null. A plane is `planeValues` values. */
  void
  GatherPlanes(const double * own, double * whole, std::int64_t planes, std::int64_t planeValues) const;

  /** Does what a rank does by itself. Where one of them fails all throw: that rank what went wrong, the others an
   * ExceptionObject that names it. */
  void
  DoOnAllRanks(const std::function<void()> & work) const;

  /** Throws unless the corners of both grids are in the same places, up to a tenth of a voxel. */
  void
  RequireOneGrid(const ffdp::PlacedImage & image,
                 const std::string &       name,
                 const ffdp::PlacedImage & other,
                 const std::string &       otherName) const;

private:
  /** Whether ITK would run, because something is newer than the outputs. */
  bool
  HasSomethingNew();
  void
  RunIfAnyRankHasSomethingNew();
  /** Throws if another rank tells that it has failed. */
  void
  HearOtherRanks() const;
  void
  TellOtherRanks(const std::exception & failure) const;
  StageListType
  FindStages(std::size_t pairs, const ffdp::WarpedStart * start) const;
  bool
  Observe(const ffdp::RegistrationProgress & progress);
  bool
  HasObserverFailedOnAnyRank() const;
  void
  ThrowWhatObserverThrew();
  void
  Forget();
  void
  Keep(const ffdp::RegistrationResult & result);
  void
  NoteUnusedPairs(const StageListType & stages, std::size_t pairs);

  StageListType                       m_Stages;
  std::string                         m_CheckpointDirectory;
  double                              m_CheckpointSeconds{ 60 };
  std::shared_ptr<ffdp::Backend>      m_Backend;
  ffdp::Communicator *                m_Communicator{ nullptr };
  std::unique_ptr<ffdp::Communicator> m_Self;
  bool                                m_OthersWait{ false }; ///< to hear whether this rank can begin
  std::exception_ptr                  m_ObserverError;

  ffdp::RegistrationProgress     m_CurrentProgress;
  double                         m_SmallestJacobian{ 1 };
  SizeValueType                  m_NumberOfFolds{ 0 };
  double                         m_SmallestInverseJacobian{ 1 };
  SizeValueType                  m_NumberOfInverseFolds{ 0 };
  SizeValueType                  m_NumberOfIronedVoxels{ 0 };
  double                         m_LargestInverseError{ 0 };
  std::vector<ffdp::LevelReport> m_LevelReports;
  std::vector<std::string>       m_Notes;
};

} // namespace itk

#endif
