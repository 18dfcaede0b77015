# cmake -DLIBRARY=... -DWITH_CUDA=ON|OFF -P CheckSymbols.cmake
# Built without CUDA, the library has nothing of its runtime in it. Built with CUDA, it does not ask the loader for the
# driver's library, so that it loads where there is no driver.
find_program(NM nm REQUIRED)
find_program(READELF readelf REQUIRED)
execute_process(COMMAND ${NM} --defined-only ${LIBRARY} OUTPUT_VARIABLE defined COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${NM} --undefined-only ${LIBRARY} OUTPUT_VARIABLE undefined COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${READELF} -d ${LIBRARY} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]* (__cuda|cuda[A-Z]|cu[A-Z][a-z]+[A-Z])[^\n]*" runtime "${defined}\n${undefined}")
list(LENGTH runtime count)
if(NOT WITH_CUDA AND count GREATER 0)
  message(FATAL_ERROR "${LIBRARY} was built without CUDA and has ${count} symbols of it: ${runtime}")
endif()
if(WITH_CUDA AND count EQUAL 0)
  message(FATAL_ERROR "${LIBRARY} was built with CUDA and has none of it")
endif()
if(dynamic MATCHES "libcuda\\.so")
  message(FATAL_ERROR "${LIBRARY} needs the driver's library to load")
endif()
