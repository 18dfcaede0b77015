# Tests that run on several processes.

include(${FFDP_SOURCE_DIR}/cmake/FFDPMpiTestEnvironment.cmake)

# What is written against a communicator is tested on threads by FFDPGTestDriver; here the same sources run over MPI.
add_executable(FFDPMpiGTestDriver
  ffdpCommunicatorGTest.cxx
  ffdpGridGTest.cxx
  ffdpMpiCommunicatorGTest.cxx
  ffdpMpiTestMain.cxx
  ffdpRingSamplerGTest.cxx
  ffdpTestRanksMpi.cxx
  itkGridParallelRanksErrorsGTest.cxx
  itkGridParallelRanksGTest.cxx
  ${FFDPInternalSources}
)
target_link_libraries(FFDPMpiGTestDriver PRIVATE FFDP ${ITK_LIBRARIES} GTest::gtest)
target_include_directories(FFDPMpiGTestDriver PRIVATE ${FFDPInternalIncludes})
target_compile_options(FFDPMpiGTestDriver PRIVATE -Wall -Wextra)

# ffdp_add_mpi_test(NAME RANKS FILTER): the tests that match FILTER, on RANKS processes.
function(ffdp_add_mpi_test name ranks filter)
  set(test ${name}OnRanks${ranks})
  add_test(NAME ${test}
    COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS}
            $<TARGET_FILE:FFDPMpiGTestDriver> ${MPIEXEC_POSTFLAGS} --gtest_color=no --gtest_filter=${filter})
  set_tests_properties(${test} PROPERTIES
    PROCESSORS 2
    TIMEOUT 600
    ENVIRONMENT "${FFDP_MPI_TEST_ENVIRONMENT}")
endfunction()

foreach(FFDP_RANKS 1 2 3 4 5 8)
  # The ring sampler has seen all sizes on threads.
  ffdp_add_mpi_test(FFDPMpi ${FFDP_RANKS} *-*RingSampler*/TwoSlabsToAll:*RingSampler*/AllSlabsToOne:*RingSampler*/Flat)
endforeach()

if(FFDP_BUILD_EXAMPLES)
  add_test(NAME GridParallelRegistrationOnRanks3
    COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 3 ${MPIEXEC_PREFLAGS}
            $<TARGET_FILE:GridParallelRegistration> ${MPIEXEC_POSTFLAGS} 48)
  set_tests_properties(GridParallelRegistrationOnRanks3 PROPERTIES
    PROCESSORS 2
    TIMEOUT 600
    ENVIRONMENT "${FFDP_MPI_TEST_ENVIRONMENT}")
endif()
