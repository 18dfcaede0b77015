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
#include "ffdpTiffTags.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

namespace
{

[[noreturn]] void
ThrowDamaged(const std::string & reason)
{
  throw std::runtime_error("is a damaged TIFF file: " + reason);
}

/** Bytes of a regular file. */
class FileBytes
{
public:
  explicit FileBytes(const std::string & file)
    : m_Descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) // a pipe without a writer does not hang
  {
    struct stat status = {};
    if (m_Descriptor >= 0 && fstat(m_Descriptor, &status) == 0 && S_ISREG(status.st_mode))
    {
      m_Size = std::uint64_t(status.st_size);
    }
  }
  ~FileBytes()
  {
    if (m_Descriptor >= 0)
    {
      close(m_Descriptor);
    }
  }
  FileBytes(const FileBytes &) = delete;
  FileBytes &
  operator=(const FileBytes &) = delete;

  std::uint64_t
  Size() const
  {
    return m_Size;
  }

  /** what: names the place in the message if the file is too short for it. */
  std::string
  Read(std::uint64_t offset, std::uint64_t count, const char * what) const
  {
    if (offset > m_Size || count > m_Size - offset)
    {
      ThrowDamaged(std::string(what) + " is beyond the end of the file");
    }
    std::string bytes(std::size_t(count), '\0');
    for (std::size_t done = 0; done < bytes.size();)
    {
      const ssize_t got = pread(m_Descriptor, &bytes[done], bytes.size() - done, off_t(offset + done));
      if (got < 0 && errno == EINTR)
      {
        continue;
      }
      if (got <= 0)
      {
        throw std::runtime_error(std::string("cannot be read: ") + (got < 0 ? std::strerror(errno) : "it got shorter"));
      }
      done += std::size_t(got);
    }
    return bytes;
  }

private:
  int           m_Descriptor = -1;
  std::uint64_t m_Size = 0;
};

/** An entry of a directory; `value` holds the value itself, or where it is. */
struct Entry
{
  unsigned      tag = 0, type = 0;
  std::uint64_t count = 0;
  std::string   value;
};

class TiffReader
{
public:
  explicit TiffReader(const FileBytes & bytes)
    : m_Bytes(bytes)
  {}

  /** Reads the start of the file; false if it is not that of a TIFF. */
  bool
  Open()
  {
    if (m_Bytes.Size() < 8)
    {
      return false;
    }
    const std::string start = m_Bytes.Read(0, 8, "the header");
    const std::string order = start.substr(0, 2);
    m_BigEndian = order == "MM";
    const std::uint64_t version = this->Number(start, 2, 2);
    m_Big = version == 43;
    if ((order != "II" && order != "MM") || (version != 42 && version != 43))
    {
      return false;
    }
    if (m_Big && (this->Number(start, 4, 2) != 8 || this->Number(start, 6, 2) != 0))
    {
      ThrowDamaged("its offsets do not have 8 bytes");
    }
    m_Next = m_Big ? this->Number(m_Bytes.Read(8, 8, "the header"), 0, 8) : this->Number(start, 4, 4);
    return true;
  }

  TiffTags
  ReadAll()
  {
    constexpr std::size_t Most = 1 << 20; // libtiff reads no more
    TiffTags              tags;
    for (std::set<std::uint64_t> seen; m_Next != 0;)
    {
      if (!seen.insert(m_Next).second || seen.size() > Most)
      {
        ThrowDamaged(seen.size() > Most ? "it has more than a million pages" : "its directories form a loop");
      }
      this->ReadDirectory(tags, seen.size() == 1);
    }
    return tags;
  }

private:
  std::uint64_t
  Number(const std::string & bytes, std::size_t at, std::size_t size) const
  {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < size; ++i)
    {
      const auto byte = static_cast<unsigned char>(bytes.at(at + (m_BigEndian ? i : size - 1 - i)));
      number = number << 8 | byte;
    }
    return number;
  }

  /** The next directory, and where the one after it is. */
  void
  ReadDirectory(TiffTags & tags, bool first)
  {
    constexpr const char * What = "a directory";
    constexpr std::size_t  MostEntries = 4096; // tags have two bytes, and files a few dozen of them
    const std::size_t      countBytes = m_Big ? 8 : 2, entryBytes = m_Big ? 20 : 12, offsetBytes = m_Big ? 8 : 4;
    const std::uint64_t    entries = this->Number(m_Bytes.Read(m_Next, countBytes, What), 0, countBytes);
    if (entries == 0 || entries > MostEntries)
    {
      ThrowDamaged("a directory has " + std::to_string(entries) + " entries");
    }
    const std::string bytes = m_Bytes.Read(m_Next + countBytes, entries * entryBytes + offsetBytes, What);
    TiffTags          page;
    std::uint64_t     kind = 0; // of the page: a thumbnail, a mask
    for (std::size_t i = 0; i < entries; ++i)
    {
      Entry             entry;
      const std::size_t at = i * entryBytes;
      entry.tag = unsigned(this->Number(bytes, at, 2));
      entry.type = unsigned(this->Number(bytes, at + 2, 2));
      entry.count = this->Number(bytes, at + 4, offsetBytes);
      entry.value = bytes.substr(at + 4 + offsetBytes, offsetBytes);
      this->TakeEntry(entry, first, page, kind);
    }
    m_Next = this->Number(bytes, std::size_t(entries) * entryBytes, offsetBytes);
    constexpr std::uint64_t Thumbnail = 1, Mask = 4;
    const bool              counts = (kind & (Thumbnail | Mask)) == 0;
    if (first)
    {
      tags = page;
    }
    else if (counts)
    {
      tags.alike = tags.alike && page.width == tags.width && page.height == tags.height;
    }
    tags.pages += counts ? 1 : 0;
  }

  void
  TakeEntry(const Entry & entry, bool first, TiffTags & page, std::uint64_t & kind) const
  {
    switch (entry.tag)
    {
      case 254:
        kind = this->WholeNumber(entry);
        break;
      case 256:
        page.width = this->WholeNumber(entry);
        break;
      case 257:
        page.height = this->WholeNumber(entry);
        break;
      case 270:
        page.description = first && page.description.empty() ? this->Text(entry) : page.description;
        break;
      case 277:
        page.samples = this->WholeNumber(entry);
        break;
      case 282:
        page.xResolution = first ? this->Real(entry) : 0;
        break;
      case 283:
        page.yResolution = first ? this->Real(entry) : 0;
        break;
      case 322:
        page.tiled = true; // the width of a tile
        break;
      case 296:
        page.resolutionUnit = int(std::min<std::uint64_t>(this->WholeNumber(entry), 4));
        break;
      default:
        break;
    }
  }

  /** The bytes of `count` values of so many bytes each. */
  std::string
  Values(const Entry & entry, std::uint64_t bytesEach, const char * what) const
  {
    if (entry.count > m_Bytes.Size() / bytesEach)
    {
      ThrowDamaged(std::string(what) + " is beyond the end of the file");
    }
    const std::uint64_t bytes = entry.count * bytesEach;
    return bytes <= entry.value.size() ? entry.value.substr(0, std::size_t(bytes))
                                       : m_Bytes.Read(this->Number(entry.value, 0, entry.value.size()), bytes, what);
  }

  /** The first value of an entry of bytes, shorts or longs. */
  std::uint64_t
  WholeNumber(const Entry & entry) const
  {
    const std::size_t size = entry.type == 1 ? 1 : entry.type == 3 ? 2 : entry.type == 4 ? 4 : entry.type == 16 ? 8 : 0;
    if (size == 0 || entry.count == 0 || entry.count > entry.value.size() / size)
    {
      return 0; // ITK's reader decides what becomes of it
    }
    return this->Number(entry.value, 0, size);
  }

  double
  Real(const Entry & entry) const
  {
    double number = 0;
    if (entry.count != 1)
    {
      return number;
    }
    if (entry.type == 5) // a fraction
    {
      const std::string bytes = this->Values(entry, 8, "its resolution");
      number = double(this->Number(bytes, 0, 4)) / double(this->Number(bytes, 4, 4));
    }
    else if (entry.type == 11)
    {
      const auto bits = std::uint32_t(this->Number(this->Values(entry, 4, "its resolution"), 0, 4));
      float      value;
      std::memcpy(&value, &bits, sizeof(value));
      number = double(value);
    }
    else if (entry.type == 12)
    {
      const std::uint64_t bits = this->Number(this->Values(entry, 8, "its resolution"), 0, 8);
      std::memcpy(&number, &bits, sizeof(number));
    }
    else
    {
      number = double(this->WholeNumber(entry));
    }
    return std::isfinite(number) && number > 0 ? number : 0;
  }

  /** Up to its first zero. */
  std::string
  Text(const Entry & entry) const
  {
    constexpr std::uint64_t Most = 64 << 20;
    constexpr unsigned      Byte = 1, Ascii = 2, Undefined = 7;
    if (entry.type != Byte && entry.type != Ascii && entry.type != Undefined)
    {
      return "";
    }
    if (entry.count > Most)
    {
      ThrowDamaged("its description has " + std::to_string(entry.count) + " bytes");
    }
    const std::string text = this->Values(entry, 1, "its description");
    return text.substr(0, text.find('\0'));
  }

  const FileBytes & m_Bytes;
  std::uint64_t     m_Next = 0; ///< offset of the next directory
  bool              m_BigEndian = false, m_Big = false;
};

} // namespace

std::optional<TiffTags>
ReadTiffTags(const std::string & file)
{
  const FileBytes bytes(file);
  TiffReader      reader(bytes);
  if (!reader.Open())
  {
    return std::nullopt;
  }
  return reader.ReadAll();
}
