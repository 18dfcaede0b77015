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
#include "ffdpTransformWriting.h"

#include "ffdpCommandError.h"
#include "ffdpHdf5TransformWriting.h"
#include "ffdpOutputNames.h"
#include "ffdpPlanarTransforms.h"
#include "ffdpTransformMatlab.h"
#include "ffdpTransformText.h"

#include "itkTransformFileWriter.h"

#include <cmath>

namespace
{

using AnyTransform = itk::TransformBaseTemplate<double>;

/** ITK's writers of .mat and .txt do not notice that a disk is full: throws CommandError unless a linear transform that
 * was just written is there. */
void
RequireReadBack(const AnyTransform * transform, const std::string & file)
{
  bool same = false;
  try
  {
    const auto   found = EndsWith(file, ".mat") ? ReadTransformMatlab(file) : ReadTransformText(file);
    const auto & expected = transform->GetParameters();
    same = found.size() == 1 && found[0].type == transform->GetTransformTypeAsString() &&
           found[0].parameters.count == expected.Size();
    for (itk::SizeValueType i = 0; same && i < expected.Size(); ++i)
    {
      // texts may have a digit less
      same = std::abs(found[0].parameters.values.get()[i] - expected[i]) <= 1e-9 * (1 + std::abs(expected[i]));
    }
  }
  catch (const CommandError &)
  {
    same = false;
  }
  if (!same)
  {
    itkGenericExceptionMacro("not all of it arrived: is the disk full?");
  }
}

void
WriteTransform(const AnyTransform * transform, const std::string & file)
{
  WriteAtomically(file, [&](const std::string & name) {
    if (IsHdf5File(name))
    {
      WriteHdf5Transform(transform, name, file);
      return;
    }
    auto writer = itk::TransformFileWriterTemplate<double>::New();
    writer->SetInput(transform);
    writer->SetFileName(name);
    writer->Update();
    RequireReadBack(transform, name);
  });
}

/** As it is in a file: of the plane or of space. */
void
WriteTransform(const TransformType * transform, const std::string & file, unsigned int dimension)
{
  if (dimension == PlaneDimension)
  {
    WriteTransform(LowerTransform(transform), file);
    return;
  }
  WriteTransform(transform, file);
}

} // namespace

void
RequireWritableTransform(const std::string & file)
{
  RequireWritableFile(file);
  if (!IsTransformFile(file) || EndsWith(file, ".xfm"))
  {
    throw CommandError("'" + file +
                       "' does not end like a file of transforms that can be written here (.mat, .txt, "
                       ".tfm, .h5)");
  }
}

void
WriteLinear(const ffdp::AffineMap & map, const std::string & file, unsigned int dimension)
{
  WriteTransform(MakeTransform(map), file, dimension);
}

void
RequireHolds(const CompositeType * transform, const std::string & file)
{
  if (!IsHdf5File(file) && !transform->IsLinear())
  {
    throw CommandError("'" + file + "' cannot hold a transform that is not linear: write a .h5 file");
  }
}

void
WriteTransforms(const CompositeType * transform, const std::string & file, unsigned int dimension)
{
  RequireHolds(transform, file);
  if (IsHdf5File(file))
  {
    WriteTransform(transform, file, dimension);
  }
  else
  {
    WriteLinear(LinearMapOf(transform), file, dimension);
  }
}
