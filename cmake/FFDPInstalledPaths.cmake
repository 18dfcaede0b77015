# Programs find the library beside them, wherever the tree is moved to, and other libraries where they were when the
# program was linked. The build tree has the folders of the installed one, so that both are served by one RPATH: CMake
# would make room for another with an empty entry in the build tree's, for which the loader takes the current folder.

include(GNUInstallDirs)

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${FFDP_BINARY_DIR}/${CMAKE_INSTALL_BINDIR})
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${FFDP_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${FFDP_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})

file(RELATIVE_PATH FFDP_LIBRARIES_FROM_PROGRAMS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
if(APPLE)
  set(CMAKE_INSTALL_RPATH "@loader_path/${FFDP_LIBRARIES_FROM_PROGRAMS}")
else()
  set(CMAKE_INSTALL_RPATH "$ORIGIN/${FFDP_LIBRARIES_FROM_PROGRAMS}")
endif()
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
