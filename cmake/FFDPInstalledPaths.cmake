# Installed programs find the library beside them, wherever the installed tree is moved to, and other libraries where
# they were when the program was linked.

include(GNUInstallDirs)

file(RELATIVE_PATH FFDP_LIBRARIES_FROM_PROGRAMS ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
if(APPLE)
  set(CMAKE_INSTALL_RPATH "@loader_path/${FFDP_LIBRARIES_FROM_PROGRAMS}")
else()
  set(CMAKE_INSTALL_RPATH "$ORIGIN/${FFDP_LIBRARIES_FROM_PROGRAMS}")
endif()
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
