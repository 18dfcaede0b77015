# Installs headers, library and a CMake package (plain mode; in module mode ITK's macros do it).
# An outside project then writes find_package(FFDP REQUIRED) and links FFDP::FFDP.

include(CMakePackageConfigHelpers)

set(FFDP_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/FFDP)

install(TARGETS FFDP EXPORT FFDPTargets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT RuntimeLibraries
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT RuntimeLibraries NAMELINK_COMPONENT Development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Development)
install(DIRECTORY include/ ${FFDP_GENERATED_INCLUDE_DIR}/
  DESTINATION ${FFDP_INSTALL_INCLUDE_DIR} COMPONENT Development
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hxx")

install(EXPORT FFDPTargets NAMESPACE FFDP:: DESTINATION ${FFDP_PACKAGE_DIR} COMPONENT Development)
list(JOIN FFDP_ITK_MODULES " " FFDP_ITK_MODULES_TEXT)
configure_package_config_file(cmake/FFDPConfig.cmake.in ${FFDP_BINARY_DIR}/FFDPConfig.cmake
  INSTALL_DESTINATION ${FFDP_PACKAGE_DIR})
write_basic_package_version_file(${FFDP_BINARY_DIR}/FFDPConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${FFDP_BINARY_DIR}/FFDPConfig.cmake ${FFDP_BINARY_DIR}/FFDPConfigVersion.cmake
  DESTINATION ${FFDP_PACKAGE_DIR} COMPONENT Development)
