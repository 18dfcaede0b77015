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
#include "ffdpPicture.h"

#include <algorithm>
#include <new>
#include <zlib.h>

namespace
{

constexpr int Channels = 3;
constexpr int CompressionLevel = 5;

void
AppendNumber(std::string & to, std::uint32_t number)
{
  for (int shift = 24; shift >= 0; shift -= 8)
  {
    to += char((number >> shift) & 255);
  }
}

/** Length, type, data, checksum of type and data. */
void
AppendChunk(std::string & to, const std::string & type, const std::string & data)
{
  const std::string body = type + data;
  AppendNumber(to, std::uint32_t(data.size()));
  to += body;
  AppendNumber(to, std::uint32_t(crc32(0, reinterpret_cast<const Bytef *>(body.data()), uInt(body.size()))));
}

std::string
Compress(const std::string & bytes)
{
  uLongf      size = compressBound(uLong(bytes.size()));
  std::string to(size, '\0');
  if (compress2(reinterpret_cast<Bytef *>(&to[0]),
                &size,
                reinterpret_cast<const Bytef *>(bytes.data()),
                uLong(bytes.size()),
                CompressionLevel) != Z_OK)
  {
    throw std::bad_alloc();
  }
  to.resize(size);
  return to;
}

bool
IsGray(const Picture & picture)
{
  bool gray = true;
  for (std::size_t i = 0; i < picture.pixels.size() && gray; i += Channels)
  {
    gray = picture.pixels[i] == picture.pixels[i + 1] && picture.pixels[i] == picture.pixels[i + 2];
  }
  return gray;
}

std::string
EncodeBase64(const std::string & bytes)
{
  const char * const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string        text;
  for (std::size_t i = 0; i < bytes.size(); i += 3)
  {
    const std::size_t there = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t     three = 0;
    for (std::size_t k = 0; k < 3; ++k)
    {
      three = (three << 8) | (k < there ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k)
    {
      text += k <= there ? digits[(three >> (18 - 6 * k)) & 63] : '=';
    }
  }
  return text;
}

} // namespace

Picture::Picture(int columns, int rows)
  : width(columns)
  , height(rows)
  , pixels(std::size_t(columns) * std::size_t(rows) * Channels)
{}

void
Picture::Set(int column, int row, const Color & color)
{
  const auto     level = [](double c) { return std::uint8_t(255 * std::min(1.0, std::max(0.0, c)) + 0.5); };
  std::uint8_t * pixel = &pixels[Channels * (std::size_t(row) * std::size_t(width) + std::size_t(column))];
  pixel[0] = level(color.red);
  pixel[1] = level(color.green);
  pixel[2] = level(color.blue);
}

std::string
EncodePng(const Picture & picture)
{
  const bool        gray = IsGray(picture);
  const std::size_t step = gray ? Channels : 1; // of the numbers that are kept
  const std::size_t left = gray ? 1 : Channels; // where the pixel on the left is among these
  std::string       header;
  AppendNumber(header, std::uint32_t(picture.width));
  AppendNumber(header, std::uint32_t(picture.height));
  header += { char(8), char(gray ? 0 : 2), char(0), char(0), char(0) }; // 8 bits, gray or red green blue, plain
  std::string       rows;
  const std::size_t rowBytes = std::size_t(picture.width) * Channels;
  for (int y = 0; y < picture.height; ++y)
  {
    const std::uint8_t * row = &picture.pixels[std::size_t(y) * rowBytes];
    rows += char(1); // each number is stored as the difference to the pixel on its left
    for (std::size_t i = 0; i < rowBytes; i += step)
    {
      rows += char(row[i] - (i < left * step ? 0 : row[i - left * step]));
    }
  }
  std::string png = "\x89PNG\r\n\x1a\n";
  AppendChunk(png, "IHDR", header);
  AppendChunk(png, "IDAT", Compress(rows));
  AppendChunk(png, "IEND", "");
  return png;
}

std::string
MakeDataUrl(const Picture & picture)
{
  return "data:image/png;base64," + EncodeBase64(EncodePng(picture));
}
