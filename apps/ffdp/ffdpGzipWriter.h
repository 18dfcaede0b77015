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
#ifndef ffdpGzipWriter_h
#define ffdpGzipWriter_h

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

/** Writes one gzip stream on all threads. Data is cut into blocks that are compressed on their own and joined at byte
 * boundaries, so it is one member that every reader takes, and its bytes do not depend on the number of threads.
 *
 * Matching of strings finds nothing in floats and takes most of the time: blocks get Huffman codes and runs only, which
 * is smaller than gzip -6 on warps and several times faster. A block that hardly shrinks (noise) is stored.
 * Extra memory: some 20 MB. Throws CommandError when the disk is full. */
class GzipWriter
{
public:
  /** What is compressed at a time. Data may be appended in several parts: if all but the last are multiples of this,
   * the file has the same bytes. */
  static constexpr std::int64_t BatchBytes = 1 << 23;

  explicit GzipWriter(const std::string & file, unsigned threads = 0);
  ~GzipWriter();
  GzipWriter(const GzipWriter &) = delete;
  GzipWriter &
  operator=(const GzipWriter &) = delete;

  /** Bytes [first, first + count) of what is being appended. Called on many threads. */
  using Producer = std::function<void(std::uint64_t first, std::uint64_t count, unsigned char * to)>;

  void
  Append(std::uint64_t bytes, const Producer & produce);

  /** Ends the stream; without it the file is not complete. */
  void
  Finish();

private:
  struct Block;

  void
  Put(const void * bytes, std::size_t count);

  std::string        m_Name;
  std::FILE *        m_File;
  unsigned           m_Threads;
  unsigned long      m_Checksum = 0;
  std::uint64_t      m_Bytes = 0;
  std::vector<Block> m_Blocks; ///< of a batch; their memory serves all batches
};

#endif
