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
#ifndef ffdpDataFiles_h
#define ffdpDataFiles_h

#include <string>
#include <vector>

/** The files, among those that are there, that hold the voxels of an image whose header is in this file: one, several
 * of a list or of a pattern, or the other of .hdr and .img. None of a file that holds all itself, or is no image. */
std::vector<std::string>
ListDataFiles(const std::string & file);

#endif
