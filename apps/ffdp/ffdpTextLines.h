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
#ifndef ffdpTextLines_h
#define ffdpTextLines_h

#include <cstddef>
#include <string>

/** The lines of a text file, one after the other. A line without a line break may be a part of one, and a number in it
 * a part of a number: so the last line needs one, too. */
class TextLines
{
public:
  /** Throws CommandError for what is no regular file. `what` names it in messages, like "points"; `longest` counts the
   * characters of a line. */
  TextLines(const std::string & file, const std::string & what, std::size_t longest);

  /** Takes the next line that is not empty, without blanks at both ends. Returns false at the end. Throws CommandError
   * for a line that is too long, has no line break, or holds a NUL. */
  bool
  Next(std::string & line);

  /** The number of the line, as in "line 4". */
  std::string
  Place() const;

  /** Throws CommandError with the file, the number of the line and a reason. */
  [[noreturn]] void
  Refuse(const std::string & reason) const;

private:
  std::string m_Name; ///< what 'file'
  std::string m_Text;
  std::size_t m_Longest;
  std::size_t m_At = 0;
  std::size_t m_Number = 0;
};

/** Reads a number whatever the locale; false unless all characters make one that is finite. */
bool
ParseNumber(const char * begin, const char * end, double & number);

/** A text from a file as messages can show it: in quotes, of a moderate length, and without control characters. */
std::string
Quote(const std::string & text);

#endif
