# Builds FFDP as an ITK module against an ITK build tree.

# Otherwise ITK's macros put our library and programs into ITK's build tree. Python modules have to go there.
if(NOT ITK_WRAP_PYTHON)
  include(cmake/FFDPOutputDirectories.cmake)
endif()

option(FFDP_BUILD_BENCHMARK "Build ffdp_benchmark (needs Google Benchmark)" OFF)
option(FFDP_BUILD_EXAMPLES "Build the examples" OFF)

list(APPEND CMAKE_MODULE_PATH ${ITK_CMAKE_DIR})
include(ITKModuleExternal)
install(FILES ${FFDP_GENERATED_INCLUDE_DIR}/itkFFDPConfiguration.h
  DESTINATION ${FFDP_INSTALL_INCLUDE_DIR} COMPONENT Development)

include(cmake/FFDPPrograms.cmake)
