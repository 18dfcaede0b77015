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
#include "ffdpCudaBackend.h"

#include <gtest/gtest.h>

#include <iostream>

/** Tests on the first GPU; 77, which ctest counts as skipped, where there is none. */
int
main(int argc, char ** argv)
{
  testing::InitGoogleTest(&argc, argv);
  const ffdp::CudaDevices found = ffdp::FindCudaDevices();
  if (found.devices.empty())
  {
    std::cout << "skipped: no CUDA device: " << found.whyNone << std::endl;
    return 77;
  }
  std::cout << "on " << found.devices.front().name << std::endl;
  return RUN_ALL_TESTS();
}
