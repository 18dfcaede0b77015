# Programs in bin, libraries in lib, both below our own build directory.

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${FFDP_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${FFDP_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${FFDP_BINARY_DIR}/lib)
