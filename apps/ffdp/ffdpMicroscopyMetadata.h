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
#ifndef ffdpMicroscopyMetadata_h
#define ffdpMicroscopyMetadata_h

#include <cstdint>
#include <optional>
#include <string>

/** The side of a voxel along an axis. */
struct VoxelSide
{
  double      mm = 0; ///< 0: not said
  std::string wrong;  ///< what makes no sense in it, as in "PhysicalSizeZ is -2"
};

/** What OME or ImageJ wrote into a TIFF file about its pages. */
struct MicroscopyMetadata
{
  std::string   writer;     ///< "OME" or "ImageJ"
  std::uint64_t images = 1; ///< series or positions of OME
  /** Of the first image; 0: not said. */
  std::uint64_t width = 0, height = 0, slices = 0, channels = 0, times = 0;
  bool          inOrder = true; ///< page n is slice n, as far as it is said
  VoxelSide     sides[3];
  std::string   notes; ///< what was taken though it is not said; empty: nothing
};

/** Takes the OME-XML of an ImageDescription apart; nothing if it is something else. Throws std::runtime_error with a
 * reason that goes behind the name of the file if it is damaged, nested too deeply, or declares a document type or
 * entities, which OME-XML has none of. `samples`: values per pixel, which OME counts as channels. */
std::optional<MicroscopyMetadata>
ParseOme(const std::string & description, std::uint64_t samples);

/** The same for the lines of ImageJ, which keeps pixels per unit in the resolution of the file. */
std::optional<MicroscopyMetadata>
ParseImageJ(const std::string & description, double xResolution, double yResolution, std::uint64_t pages);

/** Text of a file as a part of a message: one short line. */
std::string
Shorten(const std::string & text);

#endif
