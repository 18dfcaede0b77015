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
#ifndef ffdpNiftiHeader_h
#define ffdpNiftiHeader_h

#include <cstdint>
#include <cstring>
#include <string>

/** Numbers of the header of a NIfTI-1 file as they are there: libraries mend some of them. */
class NiftiHeader
{
public:
  static constexpr std::size_t Bytes = 348;

  /** Of one file, or of a pair of .hdr and .img, either of which may be named. */
  explicit NiftiHeader(const std::string & file);

  bool
  IsKnown() const
  {
    return m_Known;
  }
  bool
  IsBigEndian() const
  {
    return m_Big;
  }
  bool
  HasMagic(const char * magic) const
  {
    constexpr std::size_t MagicAt = 344;
    return std::memcmp(m_Bytes + MagicAt, magic, 4) == 0;
  }
  std::uint64_t
  Short(std::size_t at) const
  {
    return std::uint64_t(m_Bytes[m_Big ? at + 1 : at]) + 256 * std::uint64_t(m_Bytes[m_Big ? at : at + 1]);
  }
  /** dim[]: how many axes there are, then the voxels along each. */
  std::uint64_t
  Size(std::size_t axis) const
  {
    constexpr std::size_t SizesAt = 40;
    return this->Short(SizesAt + 2 * axis);
  }
  /** pixdim[], from axis 1 on. */
  float
  Spacing(std::size_t axis) const
  {
    constexpr std::size_t SpacingsAt = 76;
    return this->Float(SpacingsAt + 4 * axis);
  }
  /** Of the unit of lengths; 1 if it is not known, as in files of ANALYZE. */
  double
  Millimeters() const
  {
    constexpr std::size_t   UnitsAt = 123;
    constexpr unsigned char OfSpace = 7, Meter = 1, Micrometer = 3;
    const bool              known = this->HasMagic("n+1") || this->HasMagic("ni1");
    const int               unit = known ? m_Bytes[UnitsAt] & OfSpace : 0;
    return unit == Meter ? 1e3 : unit == Micrometer ? 1e-3 : 1;
  }
  float
  Float(std::size_t at) const
  {
    unsigned char bytes[4];
    for (std::size_t i = 0; i < 4; ++i)
    {
      bytes[i] = m_Bytes[at + (m_Big ? 3 - i : i)];
    }
    float number;
    std::memcpy(&number, bytes, sizeof(number));
    return number;
  }

private:
  unsigned char m_Bytes[Bytes] = {};
  bool          m_Known = false;
  bool          m_Big = false;
};

/** Why the spacing in the header of a NIfTI file cannot be used; empty if it can, or if this is another file. A
 * negative one is no reason by itself: some programs write it, and its size counts. */
std::string
WhatIsWrongWithSpacing(const std::string & file, bool negativeToo);

/** Throws CommandError for a NIfTI file whose header the library must not see, since it would crash, hang or write
 * beyond the end of an image: numbers of its place in space that are not finite or huge, colors as the values of
 * vectors, a nonsensical number of axes. */
void
RequireSoundNifti(const std::string & file, const std::string & what);

#endif
