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
#include "ffdpMicroscopyMetadata.h"

#include "ffdpLengthUnit.h"
#include "ffdpStageText.h"

#include <expat.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace
{

/** 0 unless it is a whole number. */
std::uint64_t
WholeNumber(const std::string & text)
{
  const std::string word = Trim(text);
  std::uint64_t     number = 0;
  const auto        read = std::from_chars(word.data(), word.data() + word.size(), number);
  return read.ec == std::errc() && read.ptr == word.data() + word.size() ? number : 0;
}

/** `name` says where the length stands. 0 and lengths in pixels are not known lengths; others that make no sense are
 * wrong. */
VoxelSide
SideOf(const std::string & name, double length, const std::string & unit)
{
  if (length == 0 || IsNoLength(unit))
  {
    return {};
  }
  const double mm = length * MillimetersOf(unit);
  if (mm > 0 && std::isfinite(mm))
  {
    return { mm, "" };
  }
  std::ostringstream text;
  text << name << " is '" << length << " " << Shorten(unit) << "'";
  return { 0, text.str() };
}

VoxelSide
SideOf(const std::string & name, const std::string & length, const std::string & unit)
{
  const std::string word = Trim(length);
  return IsNumber(word) ? SideOf(name, std::strtod(word.c_str(), nullptr), unit)
                        : VoxelSide{ 0, name + " is '" + Shorten(length) + "'" };
}

/** What expat calls while it reads OME-XML. */
class OmeReader
{
public:
  explicit OmeReader(std::uint64_t samples)
    : m_Samples(std::max<std::uint64_t>(samples, 1))
    , m_Parser(XML_ParserCreate(nullptr), XML_ParserFree)
  {
    if (!m_Parser)
    {
      throw std::bad_alloc();
    }
    XML_SetUserData(m_Parser.get(), this);
    XML_SetElementHandler(
      m_Parser.get(),
      [](void * self, const char * name, const char ** attributes) {
        static_cast<OmeReader *>(self)->Begin(name, attributes);
      },
      [](void * self, const char *) { --static_cast<OmeReader *>(self)->m_Depth; });
    XML_SetStartDoctypeDeclHandler(m_Parser.get(), [](void * self, const char *, const char *, const char *, int) {
      static_cast<OmeReader *>(self)->Stop("declares a document type");
    });
  }

  std::optional<MicroscopyMetadata>
  Read(const std::string & xml)
  {
    const bool whole = XML_Parse(m_Parser.get(), xml.data(), int(xml.size()), 1) == XML_STATUS_OK;
    if (!m_IsOme && (m_Reason.empty() || xml.find("<OME") == std::string::npos))
    {
      return std::nullopt;
    }
    if (!whole)
    {
      const std::string reason = m_Reason.empty() ? "line " + std::to_string(XML_GetCurrentLineNumber(m_Parser.get())) +
                                                      ": " + XML_ErrorString(XML_GetErrorCode(m_Parser.get()))
                                                  : m_Reason;
      throw std::runtime_error("has damaged OME metadata (" + reason + ")");
    }
    m_Metadata.images = m_Images;
    return m_Images == 0 ? std::nullopt : std::optional<MicroscopyMetadata>(m_Metadata); // none: it is in another file
  }

private:
  using Attributes = std::map<std::string, std::string>;

  void
  Stop(const char * reason)
  {
    m_Reason = reason;
    XML_StopParser(m_Parser.get(), XML_FALSE);
  }

  void
  Begin(const char * name, const char ** pairs)
  {
    constexpr int DeepestElement = 64; // those of OME are a dozen deep
    const char *  colon = std::strrchr(name, ':');
    const char *  element = colon ? colon + 1 : name;
    if (++m_Depth > DeepestElement)
    {
      this->Stop("its elements are nested too deeply");
    }
    else if (m_Depth == 1)
    {
      m_IsOme = std::strcmp(element, "OME") == 0;
      if (!m_IsOme)
      {
        XML_StopParser(m_Parser.get(), XML_FALSE);
      }
    }
    else if (m_Depth == 3 && std::strcmp(element, "Pixels") == 0 && ++m_Images == 1)
    {
      this->TakePixels(Take(pairs));
    }
    else if (m_Depth == 4 && std::strcmp(element, "TiffData") == 0 && m_Images == 1)
    {
      // Without a number of a page it is about the first one or all of them, in order.
      Attributes data = Take(pairs);
      m_Metadata.inOrder =
        m_Metadata.inOrder && (data.count("IFD") == 0 || WholeNumber(data["IFD"]) == WholeNumber(data["FirstZ"]));
    }
  }

  static Attributes
  Take(const char ** pairs)
  {
    Attributes attributes;
    for (; *pairs; pairs += 2)
    {
      attributes[pairs[0]] = pairs[1];
    }
    return attributes;
  }

  void
  TakePixels(Attributes pixels)
  {
    m_Metadata.writer = "OME";
    m_Metadata.width = WholeNumber(pixels["SizeX"]);
    m_Metadata.height = WholeNumber(pixels["SizeY"]);
    m_Metadata.slices = WholeNumber(pixels["SizeZ"]);
    m_Metadata.times = WholeNumber(pixels["SizeT"]);
    m_Metadata.channels = WholeNumber(pixels["SizeC"]);
    if (m_Metadata.channels % m_Samples == 0)
    {
      m_Metadata.channels /= m_Samples; // those of a color are in one page
    }
    const char * axes[] = { "PhysicalSizeX", "PhysicalSizeY", "PhysicalSizeZ" };
    for (int axis = 0; axis < 3; ++axis)
    {
      const auto length = pixels.find(axes[axis]), unit = pixels.find(std::string(axes[axis]) + "Unit");
      if (length != pixels.end())
      {
        m_Metadata.sides[axis] = SideOf(axes[axis], length->second, unit == pixels.end() ? "um" : unit->second);
      }
    }
  }

  std::uint64_t                                           m_Samples, m_Images = 0;
  std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> m_Parser;
  MicroscopyMetadata                                      m_Metadata;
  std::string                                             m_Reason; ///< why it was stopped
  int                                                     m_Depth = 0;
  bool                                                    m_IsOme = false;
};

/** ImageJ writes characters outside of ASCII like Java: \u00B5m. */
std::string
ReplaceEscapes(const std::string & text)
{
  const std::string micro = "\\u00b5";
  const auto        at = LowerCase(text).find(micro);
  return at == std::string::npos ? text : text.substr(0, at) + "\xC2\xB5" + text.substr(at + micro.size());
}

std::map<std::string, std::string>
SplitLines(const std::string & text)
{
  std::map<std::string, std::string> lines;
  std::istringstream                 in(text);
  for (std::string line; std::getline(in, line);)
  {
    const auto equals = line.find('=');
    if (equals != std::string::npos)
    {
      const std::string value = line.substr(equals + 1);
      lines.emplace(line.substr(0, equals), value.substr(0, value.find('\r')));
    }
  }
  return lines;
}

} // namespace

std::string
Shorten(const std::string & text)
{
  constexpr std::size_t Longest = 40;
  std::string           line = text.substr(0, Longest);
  std::replace_if(
    line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7F'; }, ' ');
  return line + (text.size() > Longest ? "..." : "");
}

std::optional<MicroscopyMetadata>
ParseOme(const std::string & description, std::uint64_t samples)
{
  const std::string mark = "\xEF\xBB\xBF"; // of UTF-8
  const auto        start = description.find_first_not_of(" \t\r\n", description.compare(0, 3, mark) == 0 ? 3 : 0);
  if (start == std::string::npos || description[start] != '<')
  {
    return std::nullopt;
  }
  return OmeReader(samples).Read(description.substr(start));
}

std::optional<MicroscopyMetadata>
ParseImageJ(const std::string & description, double xResolution, double yResolution, std::uint64_t pages)
{
  if (description.compare(0, 7, "ImageJ=") != 0)
  {
    return std::nullopt;
  }
  auto               lines = SplitLines(description);
  const auto         count = [&](const char * name) { return lines.count(name) ? WholeNumber(lines[name]) : 1; };
  MicroscopyMetadata metadata;
  metadata.writer = "ImageJ";
  metadata.channels = count("channels");
  metadata.times = count("frames");
  // Old versions count images, and leave it at that if all are slices.
  metadata.slices =
    lines.count("slices") || metadata.channels > 1 || metadata.times > 1 ? count("slices") : count("images");
  const std::string unit = ReplaceEscapes(lines["unit"]);
  const double      resolutions[] = { xResolution, yResolution };
  const char *      names[] = { "yunit", "zunit" };
  for (int axis = 0; axis < 3; ++axis)
  {
    const bool        own = axis > 0 && lines.count(names[axis - 1]) > 0;
    const std::string axisUnit = own ? ReplaceEscapes(lines[names[axis - 1]]) : unit;
    VoxelSide &       side = metadata.sides[axis];
    if (axis < 2 && resolutions[axis] > 0)
    {
      side = SideOf("its pixel size", 1 / resolutions[axis], axisUnit);
    }
    else if (axis == 2 && lines.count("spacing"))
    {
      const std::string spacing = Trim(lines["spacing"]);
      side = SideOf("spacing", spacing.substr(spacing.compare(0, 1, "-") == 0), axisUnit); // ImageJ drops the sign
    }
    else if (axis == 2 && pages > 1 && !IsNoLength(axisUnit))
    {
      side = SideOf("spacing", 1.0, axisUnit);
      metadata.notes = "leaves the spacing of its slices out, which in ImageJ's files means 1 " + Shorten(axisUnit);
    }
  }
  return metadata;
}
