# Installs FFDP into an empty directory, builds the outside project of this folder against it, and runs it.

file(REMOVE_RECURSE ${WORK_DIR})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${FFDP_BINARY_DIR} --prefix ${WORK_DIR}/prefix --config ${CONFIG}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK_DIR}/build -G ${GENERATOR}
    -D CMAKE_PREFIX_PATH=${WORK_DIR}/prefix
    -D CMAKE_BUILD_TYPE=${CONFIG}
    -D CMAKE_CXX_COMPILER=${CXX_COMPILER}
    -D CMAKE_C_COMPILER=${C_COMPILER}
    -D CMAKE_CXX_FLAGS=${CXX_FLAGS}
    -D ITK_DIR=${ITK_DIR}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/build --config ${CONFIG} COMMAND_ERROR_IS_FATAL ANY)

find_program(CONSUMER consumer PATHS ${WORK_DIR}/build ${WORK_DIR}/build/${CONFIG} NO_DEFAULT_PATH REQUIRED)
execute_process(COMMAND ${CONSUMER} COMMAND_ERROR_IS_FATAL ANY)
