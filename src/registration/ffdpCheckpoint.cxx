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
#include "ffdpCheckpoint.h"

#include "ffdpHash.h"

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace ffdp
{
namespace
{

constexpr std::uint64_t Magic = 0x3650444646ull; // "FFDP6": a change of what is stored needs another

double
Now()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::filesystem::path
FileIn(const std::string & directory)
{
  return std::filesystem::path(directory) / "ffdp-state";
}

void
AddMap(Hash & hash, const AffineMap & map)
{
  hash.AddBytes(map.matrix, sizeof(map.matrix));
  hash.AddBytes(map.offset, sizeof(map.offset));
}

/** Each plane has a number of its own, so that ranks find those of their planes. */
void
AddVolume(Hash & hash, Backend & backend, Communicator & communicator, const VolumeView<const float> & volume)
{
  hash.AddWord(std::uint64_t(volume.domain.z));
  std::vector<float>  plane(std::size_t(volume.domain.x * volume.domain.y));
  std::vector<double> halves; // of 64-bit numbers: what a double holds exactly
  for (std::int64_t z = volume.firstPlane; z < volume.EndPlane(); ++z)
  {
    backend.CopyToHost(plane.data(), volume.Row(0, z), plane.size() * sizeof(float));
    Hash own;
    own.AddBytes(plane.data(), plane.size() * sizeof(float));
    halves.insert(halves.end(), { double(own.Value() >> 32), double(own.Value() & 0xffffffffull) });
  }
  for (const double half : communicator.Gather(halves))
  {
    hash.AddNumber(half);
  }
}

void
AddStage(Hash & hash, const RegistrationStage & stage)
{
  hash.AddWord(std::uint64_t(stage.kind));
  for (const RegistrationMetric & metric : stage.metrics)
  {
    hash.AddWord(std::uint64_t(metric.kind));
    for (const double number : { double(metric.pair),
                                 metric.weight,
                                 double(metric.radius),
                                 metric.epsilon,
                                 double(metric.exactGradient),
                                 double(metric.bins),
                                 metric.fixedSlope,
                                 metric.movedSlope,
                                 double(metric.power),
                                 double(metric.ofEdges) })
    {
      hash.AddNumber(number);
    }
  }
  for (const ShrinkFactor & factor : stage.shrinkFactors)
  {
    for (const double number : { factor.axis[0], factor.axis[1], factor.axis[2], double(factor.bySpacing) })
    {
      hash.AddNumber(number);
    }
  }
  for (const int iterations : stage.iterations)
  {
    hash.AddNumber(iterations);
  }
  for (const double sigma : stage.smoothingSigmas)
  {
    hash.AddNumber(sigma);
  }
  for (const double number : { double(stage.smoothingInMm),
                               stage.tolerance,
                               double(stage.window),
                               double(stage.smallestSize),
                               stage.learningRate,
                               stage.searchAngle,
                               stage.searchStep,
                               stage.gradientSigma,
                               stage.warpSigma,
                               double(stage.sigmasInMm),
                               stage.axisWeight[0],
                               stage.axisWeight[1],
                               stage.axisWeight[2] })
  {
    hash.AddNumber(number);
  }
}

} // namespace

std::uint64_t
FingerprintOf(const std::vector<RegistrationStage> & stages)
{
  Hash hash;
  for (const RegistrationStage & stage : stages)
  {
    AddStage(hash, stage);
  }
  return hash.Value();
}

std::uint64_t
FingerprintOf(Backend &                              backend,
              Communicator &                         communicator,
              const std::vector<ImagePair> &         pairs,
              const RegistrationStart &              start,
              const std::vector<RegistrationStage> & stages)
{
  Hash hash;
  for (const ImagePair & pair : pairs)
  {
    AddMap(hash, pair.fixed.indexToPhysical);
    AddMap(hash, pair.moving.indexToPhysical);
    for (const VolumeView<const float> & volume :
         { pair.fixed.voxels, pair.moving.voxels, pair.fixedMask, pair.movingMask })
    {
      AddVolume(hash, backend, communicator, volume);
    }
  }
  AddMap(hash, start.affine);
  for (int c = 0; start.warp.IsGiven() && c < 3; ++c)
  {
    AddVolume(hash, backend, communicator, start.warp.Component(c));
  }
  hash.AddWord(FingerprintOf(stages));
  return hash.Value();
}

Checkpoint::Checkpoint(Communicator & communicator, const RegistrationCheckpoint & where, std::uint64_t fingerprint)
  : m_Communicator(communicator)
  , m_Where(where)
  , m_Fingerprint(fingerprint)
  , m_LastSave(Now())
{
  if (this->IsKept())
  {
    this->RequireOneDirectory();
  }
}

void
Checkpoint::RequireOneDirectory() const
{
  std::error_code             error;
  const std::filesystem::path probe = std::filesystem::path(m_Where.directory) / "ffdp-probe";
  if (m_Communicator.Rank() == 0)
  {
    std::filesystem::create_directories(m_Where.directory, error);
    std::ofstream(probe) << "whether all ranks see this directory\n";
  }
  std::int64_t nothing = 0;
  m_Communicator.Sum(&nothing, 1); // it is there now
  std::int64_t seen = std::filesystem::exists(probe, error) ? 1 : 0;
  m_Communicator.Sum(&seen, 1);
  if (m_Communicator.Rank() == 0)
  {
    std::filesystem::remove(probe, error);
  }
  if (seen != m_Communicator.Size())
  {
    throw std::invalid_argument(
      "the checkpoint directory " + m_Where.directory +
      (seen == 0 ? " cannot be written" : " is not the same for all ranks: name one that all hosts see"));
  }
}

bool
Checkpoint::Exists() const
{
  if (!this->IsKept())
  {
    return false;
  }
  std::int64_t seen = m_Communicator.Rank() == 0 && std::filesystem::exists(FileIn(m_Where.directory)) ? 1 : 0;
  m_Communicator.Sum(&seen, 1);
  return seen > 0;
}

void
Checkpoint::Load(const std::function<void(StateArchive &)> & exchange) const
{
  const std::string file = FileIn(m_Where.directory).string();
  StateArchive      archive(m_Communicator, file, StateArchive::Direction::Load);
  std::uint64_t     magic = 0, fingerprint = 0;
  archive.Exchange(magic);
  archive.Exchange(fingerprint);
  if (magic != Magic || fingerprint != m_Fingerprint)
  {
    throw std::invalid_argument(file +
                                " is the checkpoint of another registration (other images, options or version): remove "
                                "it or name another directory");
  }
  exchange(archive);
  archive.Close();
}

std::string
Checkpoint::Save(const std::function<void(StateArchive &)> & exchange)
{
  const std::filesystem::path file = FileIn(m_Where.directory);
  std::filesystem::path       unfinished = file;
  unfinished += ".unfinished";
  m_LastSave = Now(); // also if it fails: the disk may have room again when the next one is due
  std::error_code error;
  try
  {
    StateArchive  archive(m_Communicator, unfinished.string(), StateArchive::Direction::Save);
    std::uint64_t magic = Magic, fingerprint = m_Fingerprint;
    archive.Exchange(magic);
    archive.Exchange(fingerprint);
    exchange(archive);
    archive.Close();
  }
  catch (const StateNotWritten & failure) // on all ranks
  {
    if (m_Communicator.Rank() == 0)
    {
      std::filesystem::remove(unfinished, error);
    }
    return failure.what();
  }
  if (m_Communicator.Rank() == 0)
  {
    std::filesystem::rename(unfinished, file, error);
  }
  std::int64_t failed = error ? 1 : 0;
  m_Communicator.Sum(&failed, 1);
  m_LastSave = Now();
  return failed == 0
           ? std::string()
           : "cannot write " + file.string() + ": " + (error ? error.message() : std::string("the first rank cannot"));
}

bool
Checkpoint::IsDue() const
{
  return this->IsKept() && Now() - m_LastSave >= m_Where.seconds;
}

void
RemoveCheckpoint(const RegistrationCheckpoint & checkpoint)
{
  if (!checkpoint.directory.empty())
  {
    std::filesystem::remove(FileIn(checkpoint.directory));
    std::filesystem::remove(FileIn(checkpoint.directory).string() + ".unfinished");
  }
}

} // namespace ffdp
