# Installs FFDP and moves the installed tree to FOLDER: nothing in it may know where it was installed to.

set(first_place ${FOLDER}-at-first)
file(REMOVE_RECURSE ${FOLDER} ${first_place})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${FFDP_BINARY_DIR} --prefix ${first_place} --config ${CONFIG}
  COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${first_place} ${FOLDER})
