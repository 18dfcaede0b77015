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
#ifndef ffdpUnzippedStream_h
#define ffdpUnzippedStream_h

#include "ffdpRegularFile.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>
#include <zlib.h>

struct VoxelLayout;

/** What a compressed file, or a part of one, holds: from the first byte to the last, in gzip (also several streams one
 * after the other) or zlib. All checksums are compared, which libraries that read images do not do. A file that is not
 * compressed, whatever its name says, is read as it is. */
class UnzippedStream
{
public:
  /** Of a file, in compressed bytes. */
  struct Part
  {
    std::uint64_t start = 0, length = std::numeric_limits<std::uint64_t>::max();
  };

  enum class Content
  {
    MaybeGzip,
    Plain
  };

  /** `what` names the file in messages. needed: bytes that the header promises, so that it is known how many are
   * missing, or when there are too many. */
  UnzippedStream(const std::string & file,
                 const std::string & what,
                 std::uint64_t       needed,
                 Content             content = Content::MaybeGzip);

  /** A part of a file; it must be compressed. */
  UnzippedStream(const std::string & file, const std::string & what, std::uint64_t needed, const Part & part);
  ~UnzippedStream();
  UnzippedStream(const UnzippedStream &) = delete;
  UnzippedStream &
  operator=(const UnzippedStream &) = delete;

  /** The next bytes; throws CommandError if there are not so many, or if they are broken. */
  void
  Read(void * to, std::size_t count);

  /** Goes to a place behind those that were read. */
  void
  SkipTo(std::uint64_t place);

  /** Reads what is left, for the checksum behind it. Throws CommandError if that is more than some padding: a small
   * file can hold petabytes. */
  void
  Finish();

private:
  /** Fewer bytes than asked for at the end only. */
  std::size_t
  ReadSome(unsigned char * to, std::size_t count);

  /** Whether there are compressed bytes to go on with. */
  bool
  Fill();

  /** Whether another stream of gzip comes next. What else there may be is no part of the file, as for gzip itself. */
  bool
  HasNextStream();

  void
  Open(std::uint64_t start);

  [[noreturn]] void
  ThrowBroken() const;

  std::string                m_Name, m_What;
  FilePointer                m_File;
  std::uint64_t              m_Needed;
  std::uint64_t              m_LengthLeft; ///< of the part of the file
  std::uint64_t              m_Place = 0;  ///< in what it holds
  std::vector<unsigned char> m_Compressed, m_Skipped;
  z_stream                   m_Stream{};
  bool                       m_IsCompressed = true, m_IsAtEnd = false;
};

/** The stream in which the voxels of a file are, at the first of them; not for Text and Other, nor for several files.
 */
std::unique_ptr<UnzippedStream>
OpenVoxels(const VoxelLayout & layout, const std::string & what);

/** The place behind the last voxel in that stream. */
std::uint64_t
EndOfVoxels(const VoxelLayout & layout);

#endif
