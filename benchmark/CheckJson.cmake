# The file is an array with one object per primitive, in order, with all fields; numbers are positive.
cmake_minimum_required(VERSION 3.22.1)

set(names lncc_ants lncc_exact mi_bspline mi_approximate mi_mattes mean_squares
  sampler_forward sampler_backward gaussian_warp compose adam downsample
  metric_lncc metric_mattes metric_mean_squares resample_composite)
set(without_itk sampler_backward adam)

file(READ ${FILE} json)
string(JSON length LENGTH "${json}")
list(LENGTH names expected)
if(NOT length EQUAL expected)
  message(FATAL_ERROR "${length} results instead of ${expected}")
endif()

set(index 0)
foreach(name IN LISTS names)
  string(JSON actual GET "${json}" ${index} name)
  if(NOT actual STREQUAL name)
    message(FATAL_ERROR "result ${index} is '${actual}' instead of '${name}'")
  endif()
  foreach(field size threads ns_per_voxel triad_multiple itk_ratio extra_bytes)
    string(JSON type TYPE "${json}" ${index} ${field})
    string(JSON value GET "${json}" ${index} ${field})
    if(field STREQUAL "itk_ratio" AND name IN_LIST without_itk)
      if(NOT type STREQUAL "NULL")
        message(FATAL_ERROR "${name}: itk_ratio is '${value}' instead of null")
      endif()
    elseif(NOT type STREQUAL "NUMBER" OR NOT value GREATER 0)
      message(FATAL_ERROR "${name}: ${field} is '${value}'")
    endif()
  endforeach()
  math(EXPR index "${index} + 1")
endforeach()
