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
#ifndef ffdpStoredTransform_h
#define ffdpStoredTransform_h

#include "itkTransformBase.h"

#include <memory>
#include <string>
#include <vector>

/** Numbers of a transform, and where they are in its file. */
struct StoredNumbers
{
  std::string                   place; ///< like "line 4", "byte 20" or "/TransformGroup/1/TransformParameters"
  std::size_t                   count = 0;
  std::shared_ptr<const double> values; ///< null: not read yet

  StoredNumbers() = default;
  StoredNumbers(const std::string & where, std::vector<double> numbers);
};

/** A transform as a file holds it, whatever its format. Each reader of a format is strict about the format; whether the
 * numbers make a transform is found out here, before any class of ITK gets them: these read beyond short arrays, and
 * allocate grids of any size. */
struct StoredTransform
{
  std::string   place; ///< of the type
  std::string   type;  ///< like "AffineTransform_double_3_3"
  StoredNumbers parameters, fixedParameters;
};

/** Throws CommandError about a transform, naming the file and the place in it. */
[[noreturn]] void
ThrowBadTransform(const std::string & file, const std::string & place, const std::string & reason);

/** Throws CommandError unless the types are known here, are all of two or all of three dimensions, and have as many
 * numbers as they need. Parameters need not have been read yet. */
void
RequireSoundTransforms(const std::vector<StoredTransform> & list, const std::string & file);

/** What RequireSoundTransforms() lets through as transforms of ITK, in the order in which a composite holds them. A
 * composite itself is left out. Throws CommandError. */
std::vector<itk::TransformBaseTemplate<double>::Pointer>
MakeTransforms(const std::vector<StoredTransform> & list, const std::string & file);

#endif
