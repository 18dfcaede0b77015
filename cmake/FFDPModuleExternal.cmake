# Builds FFDP as an ITK module against an ITK build tree.

# Otherwise ITK's macros put our library and programs into ITK's build tree. Python modules have to go there.
if(NOT ITK_WRAP_PYTHON)
  include(cmake/FFDPOutputDirectories.cmake)
endif()

option(FFDP_BUILD_BENCHMARK "Build ffdp_benchmark (needs Google Benchmark)" OFF)
option(FFDP_BUILD_PROGRAM "Build the command line program ffdp (needs CLI11 and nlohmann_json)" OFF)
option(FFDP_BUILD_EXAMPLES "Build the examples" OFF)

# With tests on, ITK's macros would download these style checkers while building; a build works without a network.
option(ITK_USE_CLANG_FORMAT "Download clang-format and install a commit hook" OFF)
option(ITK_USE_KWSTYLE "Download and run KWStyle" OFF)
mark_as_advanced(ITK_USE_CLANG_FORMAT ITK_USE_KWSTYLE)

list(APPEND CMAKE_MODULE_PATH ${ITK_CMAKE_DIR})
include(ITKModuleExternal)
install(FILES ${FFDP_GENERATED_INCLUDE_DIR}/itkFFDPConfiguration.h
  DESTINATION ${FFDP_INSTALL_INCLUDE_DIR} COMPONENT Development)

include(cmake/FFDPPrograms.cmake)
