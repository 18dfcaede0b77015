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
#include <cuda_runtime.h>

#include <mpi.h>

/** GPUs go on while the host waits for other processes. Those of the harness do not, so they do their work before: the
 * collective calls of MPI that a communicator makes are taken here first (this is what MPI's profiling names are for). */
extern "C"
{

int
MPI_Allreduce(const void * from, void * to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  cudaDeviceSynchronize();
  return PMPI_Allreduce(from, to, count, type, op, comm);
}

int
MPI_Allgather(const void * from,
              int          fromCount,
              MPI_Datatype fromType,
              void *       to,
              int          toCount,
              MPI_Datatype toType,
              MPI_Comm     comm)
{
  cudaDeviceSynchronize();
  return PMPI_Allgather(from, fromCount, fromType, to, toCount, toType, comm);
}

int
MPI_Allgatherv(const void * from,
               int          fromCount,
               MPI_Datatype fromType,
               void *       to,
               const int *  toCounts,
               const int *  begins,
               MPI_Datatype toType,
               MPI_Comm     comm)
{
  cudaDeviceSynchronize();
  return PMPI_Allgatherv(from, fromCount, fromType, to, toCounts, begins, toType, comm);
}

} // extern "C"
