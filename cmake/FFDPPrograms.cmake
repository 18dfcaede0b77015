# What is built on top of the library, in both modes.

if(FFDP_BUILD_EXAMPLES)
  add_subdirectory(examples)
endif()
if(FFDP_BUILD_PROGRAM)
  add_subdirectory(apps/ffdp)
endif()
if(FFDP_BUILD_BENCHMARK)
  add_subdirectory(benchmark)
endif()
