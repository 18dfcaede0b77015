# Each public header compiles by itself, and twice in a row. ITK's macros do the same in module mode.

file(GLOB FFDP_HEADERS RELATIVE ${FFDP_SOURCE_DIR}/include CONFIGURE_DEPENDS ${FFDP_SOURCE_DIR}/include/*.h)
set(FFDP_HEADER_TESTS)
foreach(FFDP_HEADER IN LISTS FFDP_HEADERS)
  set(FFDP_HEADER_TEST ${CMAKE_CURRENT_BINARY_DIR}/HeaderTest/${FFDP_HEADER}.cxx)
  file(CONFIGURE OUTPUT ${FFDP_HEADER_TEST} CONTENT "#include \"${FFDP_HEADER}\"\n#include \"${FFDP_HEADER}\"\n")
  list(APPEND FFDP_HEADER_TESTS ${FFDP_HEADER_TEST})
endforeach()
add_library(FFDPHeaderTest OBJECT ${FFDP_HEADER_TESTS})
target_link_libraries(FFDPHeaderTest PRIVATE FFDP)
target_compile_options(FFDPHeaderTest PRIVATE -Wall -Wextra -Werror)
