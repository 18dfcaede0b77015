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
#ifndef ffdpLibraryChatter_h
#define ffdpLibraryChatter_h

#include <cstdio>
#include <mutex>

/** Libraries that read and write files print what goes wrong on stderr, in lines of their own, where this program says
 * it in one. While such an object lives, stderr goes to a file; what it holds is printed afterwards, unless an
 * exception ends the scope: then it is dropped. There is one stderr, and not all of these libraries can be called on
 * several threads: while it lives, other threads wait with theirs. */
class LibraryChatter
{
public:
  LibraryChatter();
  ~LibraryChatter();
  LibraryChatter(const LibraryChatter &) = delete;
  LibraryChatter &
  operator=(const LibraryChatter &) = delete;

private:
  std::unique_lock<std::recursive_mutex> m_Alone;
  std::FILE *                            m_Kept;
  int                                    m_Stderr = -1;
  int                                    m_Exceptions;
};

#endif
