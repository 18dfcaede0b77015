# Builds FFDP against an installed ITK, without ITK's module macros.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()

set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

include(cmake/FFDPInstalledPaths.cmake)

option(BUILD_SHARED_LIBS "Build shared libraries" ON)
option(FFDP_BUILD_BENCHMARK "Build ffdp_benchmark (needs Google Benchmark)" ON)
option(FFDP_BUILD_PROGRAM "Build the command line program ffdp (needs CLI11 and nlohmann_json)" ON)
option(FFDP_BUILD_FACTORIES "Build itk::FFDPFactories and the tests of the ITK classes (minutes to compile)" ON)
option(FFDP_BUILD_EXAMPLES "Build the examples" ON)

include(CTest) # BUILD_TESTING, on by default

include(cmake/FFDPItkModules.cmake)
set(FFDP_INSTALL_INCLUDE_DIR include/FFDP)
add_subdirectory(src)
include(cmake/FFDPInstall.cmake)
include(cmake/FFDPPrograms.cmake)
if(BUILD_TESTING)
  add_subdirectory(test)
endif()
