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
#include "ffdpCommunicator.h"

namespace ffdp
{
namespace
{

class NothingPending : public PendingTransfer
{
public:
  void
  Wait() override
  {}
};

class SelfCommunicator : public Communicator
{
public:
  int
  Rank() const override
  {
    return 0;
  }
  int
  Size() const override
  {
    return 1;
  }
  void
  Maximum(double *, std::size_t) override
  {}
  void
  Sum(std::int64_t *, std::size_t) override
  {}
  std::vector<double>
  Gather(const std::vector<double> & own) override
  {
    return own;
  }
  std::unique_ptr<PendingTransfer>
  Start(const std::vector<Message> &, const std::vector<Message> &) override
  {
    return std::make_unique<NothingPending>(); // there is nobody to send to
  }
  std::uint64_t
  SentBytes() const override
  {
    return 0;
  }
};

} // namespace

std::unique_ptr<Communicator>
MakeSelfCommunicator()
{
  return std::make_unique<SelfCommunicator>();
}

} // namespace ffdp
