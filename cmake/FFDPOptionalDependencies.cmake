# What FFDP can use but does not need. Off unless asked for, and an error when asked for and not there: a
# default that follows the machine would make builds differ without a word.

option(FFDP_USE_CUDA "Build the CUDA backend" OFF)
option(FFDP_USE_MPI "Build the MPI communicator" OFF)
option(FFDP_USE_NCCL "Build the NCCL communicator (needs CUDA and MPI)" OFF)

if(FFDP_USE_NCCL AND NOT (FFDP_USE_CUDA AND FFDP_USE_MPI))
  message(FATAL_ERROR "FFDP_USE_NCCL needs FFDP_USE_CUDA and FFDP_USE_MPI as well.")
endif()

if(FFDP_USE_CUDA)
  find_package(CUDAToolkit QUIET)
  if(NOT CUDAToolkit_FOUND)
    message(FATAL_ERROR "FFDP_USE_CUDA is on, but no CUDA toolkit was found. Set CUDAToolkit_ROOT, or turn it off.")
  endif()
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 90-real 100-real 120) # the last one also for what comes after it
  endif()
  if(NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
  endif()
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  enable_language(CUDA)
endif()

if(FFDP_USE_MPI)
  find_package(MPI QUIET COMPONENTS C)
  if(NOT MPI_C_FOUND)
    message(FATAL_ERROR "FFDP_USE_MPI is on, but no MPI was found. Set MPI_HOME, or turn it off.")
  endif()
  set_target_properties(MPI::MPI_C PROPERTIES IMPORTED_GLOBAL TRUE) # in ITK's tree, other modules may link us
  # Module mode: what code that uses the module has to find first. The installed package of plain mode does so itself.
  set(FFDP_EXPORT_CODE_INSTALL "find_package(MPI REQUIRED COMPONENTS C)")
  set(FFDP_EXPORT_CODE_BUILD "${FFDP_EXPORT_CODE_INSTALL}")
endif()

if(FFDP_USE_NCCL)
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR})
  if(NOT NCCL_INCLUDE_DIR OR NOT NCCL_LIBRARY)
    message(FATAL_ERROR "FFDP_USE_NCCL is on, but NCCL was not found. "
                        "Set NCCL_INCLUDE_DIR and NCCL_LIBRARY, or turn it off.")
  endif()
endif()

# Tells code that includes us how we were built. In ITK's tree, generated headers live beside ITKCommon's.
if(ITK_SOURCE_DIR)
  set(FFDP_GENERATED_INCLUDE_DIR ${ITKCommon_BINARY_DIR})
else()
  set(FFDP_GENERATED_INCLUDE_DIR ${FFDP_BINARY_DIR}/include)
endif()
configure_file(src/itkFFDPConfiguration.h.in ${FFDP_GENERATED_INCLUDE_DIR}/itkFFDPConfiguration.h)
