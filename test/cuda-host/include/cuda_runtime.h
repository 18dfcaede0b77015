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
#ifndef ffdp_cuda_host_cuda_runtime_h
#define ffdp_cuda_host_cuda_runtime_h

/** Stands in front of NVIDIA's header of this name: what the sources of src/cuda use of CUDA, for the compiler of the
 * host. Kernels run on the processor; see ffdpCudaHost.h. */
#include "ffdpCudaHostTypes.h"

#include "ffdpCudaHostApi.h"

#include "ffdpCudaHost.h"
#include "ffdpCudaHostKernel.h"
#include "ffdpCudaHostMath.h"

#endif
