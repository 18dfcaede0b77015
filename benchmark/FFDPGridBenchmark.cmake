# ffdp_grid_benchmark: memory, messages and time of a registration over MPI ranks.

find_package(MPI REQUIRED COMPONENTS C)
add_executable(ffdp_grid_benchmark
  ffdp_grid_benchmark.cxx
  ffdpGridBenchmarkOptions.cxx
  ffdpGridMeasurement.cxx
  ffdpGridPhantom.cxx
  ffdpGridReport.cxx
  ffdpMpiLauncher.cxx
  ../test/ffdpAllocationMeter.cxx
  ${FFDP_SOURCE_DIR}/src/grid/ffdpRingSampler.cxx) # not exported; the program measures it by itself, too
target_include_directories(ffdp_grid_benchmark PRIVATE
  ../test ${FFDP_SOURCE_DIR}/src/cpu ${FFDP_SOURCE_DIR}/src/grid)
target_compile_definitions(ffdp_grid_benchmark PRIVATE
  FFDP_MPIEXEC="${MPIEXEC_EXECUTABLE}" FFDP_MPIEXEC_NUMPROC_FLAG="${MPIEXEC_NUMPROC_FLAG}")
target_link_libraries(ffdp_grid_benchmark PRIVATE FFDP)

if(BUILD_TESTING)
  set(FFDP_GRID_JSON ${CMAKE_CURRENT_BINARY_DIR}/grid.json)
  add_test(NAME GridBenchmarkSmallVolume
    COMMAND ffdp_grid_benchmark --strong --size 24x20x32 --ranks 1,2 --iterations 3 --json ${FFDP_GRID_JSON})
  add_test(NAME GridBenchmarkJson
    COMMAND ${CMAKE_COMMAND} -D FILE=${FFDP_GRID_JSON} -D RANKS=1\\;2
      -P ${CMAKE_CURRENT_SOURCE_DIR}/CheckGridJson.cmake)
  set_tests_properties(GridBenchmarkSmallVolume PROPERTIES FIXTURES_SETUP FFDPGridBenchmarkJson PROCESSORS 2 TIMEOUT 600)
  set_tests_properties(GridBenchmarkJson PROPERTIES FIXTURES_REQUIRED FFDPGridBenchmarkJson)
  add_test(NAME GridBenchmarkRefusesBadSize COMMAND ffdp_grid_benchmark --size 10x10)
  add_test(NAME GridBenchmarkRefusesUnknownStage COMMAND ffdp_grid_benchmark --stage bspline)
  set_tests_properties(GridBenchmarkRefusesBadSize GridBenchmarkRefusesUnknownStage PROPERTIES WILL_FAIL TRUE)
endif()
