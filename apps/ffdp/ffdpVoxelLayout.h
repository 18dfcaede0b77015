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
#ifndef ffdpVoxelLayout_h
#define ffdpVoxelLayout_h

#include "ffdpImageHeader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/** Where a file of a NIfTI image, a MetaImage or a NRRD has its voxels, and how they are stored. ITK says what is in a
 * file, but not where. */
struct VoxelLayout
{
  enum class Storage
  {
    Plain,
    Gzip,   ///< the whole file, offset and bytes are those of what it holds
    Stream, ///< gzip or zlib from offset on; bytes are compressed ones, 0: all that follow
    Text,   ///< numbers in decimal: `values` of them
    Other   ///< compressed in another way, in several files: bytes are all that is known, and perhaps not them
  };

  std::string              header; ///< the file that was named
  std::string              file;   ///< beside the header, or the same
  std::vector<std::string> parts;  ///< where several files hold `bytes` each
  Storage                  storage = Storage::Other;
  std::uint64_t            offset = 0;                                             ///< of the first voxel
  std::uint64_t            bytes = 0;                                              ///< of all voxels
  std::uint64_t            values = 0;                                             ///< of Text
  std::uint64_t            unzipped = 0;                                           ///< bytes that a Stream holds
  itk::IOComponentEnum     component = itk::IOComponentEnum::UNKNOWNCOMPONENTTYPE; ///< as stored
  bool                     bigEndian = false;
  bool                     componentsApart = false;  ///< a volume of the first of them, then of the second, as in NIfTI
  double                   slope = 1, intercept = 0; ///< of NIfTI: what values are multiplied with, and what is added
  bool                     onlyItkKnows = false;     ///< what the values mean, and versions of it differ
};

/** Nothing for a file of another kind, or one that is too broken to tell. Throws CommandError for sizes whose product
 * is too large, and for data files that are there and not regular; `what` names the file in messages. */
std::optional<VoxelLayout>
FindVoxels(const std::string & file, const std::string & what);

/** Begins messages about the file that has the voxels, and names the header if that is another. */
std::string
DataFileOf(const VoxelLayout & layout, const std::string & what);

#endif
