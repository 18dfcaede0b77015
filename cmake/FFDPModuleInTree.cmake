# Builds FFDP inside ITK's own tree (Modules/Remote or Modules/External). ITK adds test/ and wrapping/ itself.

set(ITK_DIR ${CMAKE_BINARY_DIR})
itk_module_impl()
install(FILES ${FFDP_GENERATED_INCLUDE_DIR}/itkFFDPConfiguration.h
  DESTINATION ${FFDP_INSTALL_INCLUDE_DIR} COMPONENT Development)
itk_module_examples()
