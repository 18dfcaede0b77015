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
#include "ffdpRingSampler.h"

#include "ffdpAllocationMeter.h"
#include "ffdpPartition.h"
#include "ffdpTestSupport.h"
#include "ffdpThreadRanks.h"

#include <gtest/gtest.h>

namespace ffdp
{

/** All ranks reach the whole image, which is the worst there can be: they still have no more than a slab each. */
TEST(RingMemory, ExtraMemoryIsOneSlab)
{
  const Extent              size{ 64, 64, 48 };
  const test::Volume<float> image = test::RandomVolume(size, 1);
  CompositeMap              turned;
  turned.A[4] = turned.A[8] = 0;
  turned.A[5] = turned.A[7] = 1;

  for (const int ranks : { 2, 3, 6 })
  {
    const std::size_t slab = std::size_t(size.x * size.y * (size.z / ranks)) * sizeof(float);
    for (const bool adjoint : { false, true })
    {
      for (const bool full : { false, true })
      {
        std::vector<test::Volume<float>> inputs, outputs;
        for (int rank = 0; rank < ranks; ++rank)
        {
          const PlaneRange own = Partition(size.z, ranks).Owned(rank);
          inputs.push_back(image.Slab(own.first, own.end));
          outputs.push_back(inputs.back());
        }
        const auto        backend = MakeCpuBackend(1);
        const std::size_t peak = test::MeasurePeakAllocation([&] {
          test::RunRanks(ranks, [&](Communicator & communicator) {
            const auto            rank = std::size_t(communicator.Rank());
            const auto &          input = inputs[rank];
            test::Volume<float> & output = outputs[rank];
            RingParameters        ring;
            ring.full = full;
            if (adjoint)
            {
              RingSampleAdjoint(*backend, communicator, input.View(), turned, {}, output.View(), ring);
            }
            else
            {
              RingSample(*backend, communicator, input.View(), turned, {}, output.View(), ring);
            }
          });
        });
        const std::size_t lists = 100000; // of planes, messages and threads
        EXPECT_LE(peak, std::size_t(ranks) * (slab + lists)) << ranks << " ranks, adjoint " << adjoint;
        EXPECT_GE(peak, slab / 3) << "nothing was measured";
      }
    }
  }
}

} // namespace ffdp
