# A fixed sentence, not the README: ITK's macros re-parse the description as CMake code, where a quote or
# a semicolon in prose would break the configuration.
set(DOCUMENTATION
  "Flash Fused Distributed Primitives for image registration. Similarity metrics, implicit composite
sampling, smoothing, warp arithmetic and optimizer steps as fused loops with bounded extra memory.")

include(${CMAKE_CURRENT_LIST_DIR}/cmake/FFDPItkModules.cmake)

itk_module(FFDP
  ENABLE_SHARED
  EXCLUDE_FROM_DEFAULT
  DEPENDS
    ${FFDP_ITK_MODULES}
  TEST_DEPENDS
    ITKGoogleTest
    ITKIOTransformBase
    ITKIOTransformHDF5
    ITKTestKernel
  DESCRIPTION
    "${DOCUMENTATION}"
)
