/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
// An installed ITK knows only the compiler that it was built with, and Debian's was built with g++. For its header of
// compilers, clang is that g++, which understands no less. The preset fuzz includes this before all else.
#if defined(__clang__) && __has_include(<itk_compiler_detection.h>)
#  pragma push_macro("__clang__")
#  pragma push_macro("__GNUC__")
#  pragma push_macro("__GNUC_MINOR__")
#  undef __clang__
#  undef __GNUC__
#  undef __GNUC_MINOR__
#  define __GNUC__ 12
#  define __GNUC_MINOR__ 2
#  include <itk_compiler_detection.h>
#  pragma pop_macro("__GNUC_MINOR__")
#  pragma pop_macro("__GNUC__")
#  pragma pop_macro("__clang__")
#endif
