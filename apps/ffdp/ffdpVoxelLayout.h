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

#include "itkCommonEnums.h"

#include <cstdint>
#include <optional>
#include <string>

/** Where a file of a NIfTI image, a MetaImage or a NRRD has its voxels, and how they are stored. ITK says what is in a
 * file, but not where. */
struct VoxelLayout
{
  enum class Storage
  {
    Plain,
    Gzip,   ///< the whole file, offset and bytes are those of what it holds
    Stream, ///< gzip or zlib from offset on; bytes are compressed ones, 0: all that follow
    Other   ///< compressed in another way, as text, in several files: bytes are all that is known, and perhaps not them
  };

  std::string          file; ///< beside the header, or the same
  Storage              storage = Storage::Other;
  std::uint64_t        offset = 0;                                             ///< of the first voxel
  std::uint64_t        bytes = 0;                                              ///< of all voxels
  std::uint64_t        unzipped = 0;                                           ///< bytes that a Stream holds at least
  itk::IOComponentEnum component = itk::IOComponentEnum::UNKNOWNCOMPONENTTYPE; ///< as stored
  bool                 bigEndian = false;
  bool                 componentsApart = false;  ///< a volume of the first of them, then of the second, as in NIfTI
  double               slope = 1, intercept = 0; ///< of NIfTI: what values are multiplied with, and what is added
  bool                 onlyItkKnows = false;     ///< what the values mean, and versions of it differ
};

/** Nothing for a file of another kind, or one that is too broken to tell. */
std::optional<VoxelLayout>
FindVoxels(const std::string & file);

#endif
