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
#ifndef ffdpTiffTestSupport_h
#define ffdpTiffTestSupport_h

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

/** What tests of TIFF files share: files written byte by byte. */
namespace tifftest
{

struct TiffPage
{
  unsigned width = 24, height = 20;
  unsigned kind = 0; ///< NewSubfileType: 1 is a thumbnail
};

/** Of bytes, uncompressed, with a description and a resolution on each page as they are given. */
struct TiffFile
{
  bool                  big = false, bigEndian = false, tiled = false; ///< tiled: one tile of the size of the page
  std::string           description;
  std::uint32_t         xResolution[2] = { 0, 0 }, yResolution[2] = { 0, 0 }; ///< fractions; 0/0: none
  unsigned              unit = 0;                                             ///< 0: none written
  std::vector<TiffPage> pages = std::vector<TiffPage>(6);

  std::string
  Bytes() const
  {
    std::string bytes = bigEndian ? "MM" : "II";
    this->Add(bytes, big ? 43 : 42, 2);
    if (big)
    {
      this->Add(bytes, 8, 2);
      this->Add(bytes, 0, 2);
    }
    std::size_t link = bytes.size(); // where the place of the next directory goes
    this->Add(bytes, 0, this->OffsetBytes());
    for (const TiffPage & page : pages)
    {
      this->AddPage(bytes, page, link);
    }
    return bytes;
  }

  void
  Write(const std::string & file) const
  {
    std::ofstream(file, std::ios::binary) << this->Bytes();
  }

private:
  std::size_t
  OffsetBytes() const
  {
    return big ? 8 : 4;
  }

  void
  Add(std::string & bytes, std::uint64_t number, std::size_t size) const
  {
    for (std::size_t i = 0; i < size; ++i)
    {
      bytes += char(number >> (8 * (bigEndian ? size - 1 - i : i)));
    }
  }

  void
  AddPage(std::string & bytes, const TiffPage & page, std::size_t & link) const
  {
    const std::size_t pixelsAt = bytes.size();
    for (unsigned i = 0; i < page.width * page.height; ++i)
    {
      const int x = int(i % page.width) - 11, y = int(i / page.width) - 9;
      bytes += char(x * x + 2 * y * y < 60 ? 200 - x * x : 10 + int(link % 3));
    }
    const std::size_t textAt = bytes.size();
    bytes += description + '\0';
    bytes.resize((bytes.size() + 7) / 8 * 8);
    const std::size_t resolutionAt = bytes.size();
    for (const std::uint32_t number : { xResolution[0], xResolution[1], yResolution[0], yResolution[1] })
    {
      this->Add(bytes, number, 4);
    }
    constexpr unsigned Ascii = 2, Short = 3, Long = 4;
    std::string        entries;
    int                count = 0;
    const auto         add = [&](unsigned tag, unsigned type, std::uint64_t values, std::uint64_t value) {
      this->Add(entries, tag, 2);
      this->Add(entries, type, 2);
      this->Add(entries, values, this->OffsetBytes());
      const std::size_t size = type == Short ? 2 : type == Long ? 4 : this->OffsetBytes();
      this->Add(entries, value, size);
      entries.resize(entries.size() + this->OffsetBytes() - size);
      ++count;
    };
    add(254, Long, 1, page.kind);
    add(256, Long, 1, page.width);
    add(257, Long, 1, page.height);
    add(258, Short, 1, 8);
    add(259, Short, 1, 1);
    add(262, Short, 1, 1);
    if (description.size() >= 8)
    {
      add(270, Ascii, description.size() + 1, textAt);
    }
    add(273, Long, 1, pixelsAt);
    add(277, Short, 1, 1);
    add(278, Long, 1, page.height);
    add(279, Long, 1, page.width * page.height);
    if (xResolution[0] + xResolution[1] > 0)
    {
      this->AddFraction(entries, 282, resolutionAt);
      this->AddFraction(entries, 283, resolutionAt + 8);
      count += 2;
    }
    if (unit > 0)
    {
      add(296, Short, 1, unit);
    }
    if (tiled)
    {
      add(322, Long, 1, page.width);
      add(323, Long, 1, page.height);
      add(324, Long, 1, pixelsAt);
      add(325, Long, 1, page.width * page.height);
    }
    std::string place;
    this->Add(place, bytes.size(), this->OffsetBytes());
    bytes.replace(link, place.size(), place);
    this->Add(bytes, std::uint64_t(count), big ? 8 : 2);
    bytes += entries;
    link = bytes.size();
    this->Add(bytes, 0, this->OffsetBytes());
  }

  /** A fraction has 8 bytes: it stands in the entry of a BigTIFF, and elsewhere in others. */
  void
  AddFraction(std::string & entries, unsigned tag, std::size_t at) const
  {
    const std::uint32_t * fraction = tag == 282 ? xResolution : yResolution;
    this->Add(entries, tag, 2);
    this->Add(entries, 5, 2);
    this->Add(entries, 1, this->OffsetBytes());
    if (big)
    {
      this->Add(entries, fraction[0], 4);
      this->Add(entries, fraction[1], 4);
    }
    else
    {
      this->Add(entries, at, 4);
    }
  }
};

/** OME-XML with these attributes of its Pixels beside the sizes, which are those of TiffFile. */
inline std::string
Ome(const std::string & attributes, const std::string & counts = "SizeZ=\"6\" SizeC=\"1\" SizeT=\"1\"")
{
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
         "<OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\"><Image ID=\"Image:0\">"
         "<Pixels ID=\"Pixels:0\" DimensionOrder=\"XYZCT\" Type=\"uint8\" SizeX=\"24\" SizeY=\"20\" " +
         counts + " " + attributes + "><TiffData IFD=\"0\" PlaneCount=\"6\"/></Pixels></Image></OME>";
}

} // namespace tifftest

#endif
