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
#ifndef ffdpPicture_h
#define ffdpPicture_h

#include <cstdint>
#include <string>
#include <vector>

struct Color
{
  double red = 0, green = 0, blue = 0; ///< 0 to 1
};

/** Pixels of 8-bit red, green and blue, from the top left. */
struct Picture
{
  int                       width = 0, height = 0;
  std::vector<std::uint8_t> pixels;

  Picture(int columns, int rows);

  void
  Set(int column, int row, const Color & color);
};

/** The bytes of a PNG file. */
std::string
EncodePng(const Picture & picture);

/** A picture that can stand in a page: the address of an <img>. */
std::string
MakeDataUrl(const Picture & picture);

#endif
