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
#ifndef ffdpTiffTags_h
#define ffdpTiffTags_h

#include <cstdint>
#include <optional>
#include <string>

/** What the directories of a TIFF file say that ITK's reader does not tell. */
struct TiffTags
{
  std::uint64_t width = 0, height = 0; ///< of the first page
  std::uint64_t samples = 1;           ///< values per pixel of the first page
  std::uint64_t pages = 0;             ///< directories, without thumbnails and masks
  bool          alike = true;          ///< all these pages have the width and height of the first directory
  bool          tiled = false;
  std::string   description; ///< of the first page; OME and ImageJ keep their metadata there
  /** Pixels per unit; 0: not said, or nonsense. */
  double xResolution = 0, yResolution = 0;
  int    resolutionUnit = 0; ///< 1: none, 2: inch, 3: centimeter; 0: not said
};

/** Reads the directories of a TIFF or BigTIFF of either byte order; nothing for a file of another kind. Throws
 * std::runtime_error with a reason like "is a damaged TIFF file: ..." that goes behind the name of the file.
 *
 * These are a few strict lines of our own because libtiff is made to get something out of every file: it goes on with
 * warnings where this has to refuse, and what it holds in memory depends on counts in the file. Here no offset or
 * count is used before it was compared with the size of the file. */
std::optional<TiffTags>
ReadTiffTags(const std::string & file);

#endif
