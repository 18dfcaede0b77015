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
#ifndef ffdpPointFiles_h
#define ffdpPointFiles_h

#include <array>
#include <string>
#include <vector>

/** Points in mm (LPS) as antsApplyTransformsToPoints takes them: one per line, columns separated by commas, a first
 * line with their names (x,y,z,t,label,comment). Without names, the first three columns are x, y and z. Where there is
 * no z, points are of the plane, at z = 0. */
struct PointTable
{
  struct Row
  {
    std::vector<std::string> cells; ///< as they are in the file
    std::array<double, 3>    point;
  };

  unsigned int               dimension = 3; ///< 2: x and y alone
  std::string                header;        ///< empty: the file has none
  std::array<std::size_t, 3> columns{ { 0, 1, 2 } };
  std::vector<Row>           rows;
};

/** Throws CommandError, with the number of the line, for what is not a point; `what` names the file in messages. */
PointTable
ReadPoints(const std::string & file, const std::string & what);

/** The table with all its columns and the present coordinates. */
void
WritePoints(const PointTable & table, const std::string & file);

#endif
