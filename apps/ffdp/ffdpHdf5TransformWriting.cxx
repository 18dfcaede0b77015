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
#include "ffdpHdf5TransformWriting.h"

#include "ffdpCommandError.h"
#include "ffdpHdf5Handle.h"
#include "ffdpIsolation.h"
#include "ffdpOutputFiles.h"

#include "itkCompositeTransformIOHelper.h"
#include "itkVersion.h"

#include <algorithm>
#include <list>

namespace
{

using AnyTransform = itk::TransformBaseTemplate<double>;

const std::string GroupOfTransforms = "/TransformGroup";
const std::string TypeName = "/TransformType";

const std::string NotWritten = "HDF5 could not write all of it";

/** Throws for the negative numbers by which the library says that it failed. */
template <typename TResult>
TResult
Require(TResult result)
{
  return RequireHdf5(result, NotWritten);
}

class Handle : public Hdf5Handle
{
public:
  Handle(hid_t id, herr_t (*close)(hid_t))
    : Hdf5Handle(id, close, NotWritten)
  {}

  void
  Close()
  {
    Hdf5Handle::Close(NotWritten);
  }
};

/** Properties of objects that do not keep the time when they are made. */
class TimelessProperties : public Handle
{
public:
  explicit TimelessProperties(hid_t kind)
    : Handle(H5Pcreate(kind), H5Pclose)
  {
    Require(H5Pset_obj_track_times(*this, false));
  }
};

void
MakeGroup(hid_t file, const std::string & path)
{
  const TimelessProperties properties(H5P_GROUP_CREATE);
  Handle(H5Gcreate2(file, path.c_str(), H5P_DEFAULT, properties, H5P_DEFAULT), H5Gclose).Close();
}

/** `count` values of a type, in memory and in the file. */
void
WriteValues(hid_t file, const std::string & path, hid_t type, hsize_t count, const void * values, bool compressed)
{
  constexpr hsize_t        LargestChunk = 1 << 20;
  constexpr unsigned int   CompressionLevel = 5; // ITK's, as the chunk is
  const Handle             space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const TimelessProperties properties(H5P_DATASET_CREATE);
  if (compressed && count > 0)
  {
    const hsize_t chunk = std::min(count, LargestChunk);
    Require(H5Pset_chunk(properties, 1, &chunk));
    Require(H5Pset_deflate(properties, CompressionLevel));
  }
  Handle set(H5Dcreate2(file, path.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose);
  Require(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  set.Close();
}

hid_t
MakeTextType()
{
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE); // what ITK reads
  return type;
}

void
WriteText(hid_t file, const std::string & path, const std::string & text)
{
  const Handle       type(MakeTextType(), H5Tclose);
  const char * const value = text.c_str();
  WriteValues(file, path, type, 1, &value, false);
}

void
WriteOne(hid_t file, const std::string & group, const AnyTransform * transform)
{
  const std::string type = transform->GetTransformTypeAsString();
  MakeGroup(file, group);
  WriteText(file, group + TypeName, type);
  if (type.find("CompositeTransform") == std::string::npos) // whose parts come after it
  {
    const auto & fixed = transform->GetFixedParameters();
    const auto & parameters = transform->GetParameters();
    WriteValues(file, group + "/TransformFixedParameters", H5T_NATIVE_DOUBLE, fixed.Size(), fixed.data_block(), false);
    WriteValues(
      file, group + "/TransformParameters", H5T_NATIVE_DOUBLE, parameters.Size(), parameters.data_block(), true);
  }
}

void
WriteAll(hid_t file, const AnyTransform * transform)
{
  WriteText(file, "/ITKVersion", itk::Version::GetITKVersion());
  WriteText(file, "/HDFVersion", H5_VERS_INFO);
  MakeGroup(file, GroupOfTransforms);
  itk::CompositeTransformIOHelperTemplate<double> helper;
  std::list<AnyTransform::ConstPointer>           all{ transform };
  if (std::string(transform->GetNameOfClass()) == "CompositeTransform")
  {
    all = helper.GetTransformList(transform); // the composite comes first
  }
  int number = 0;
  for (const auto & one : all)
  {
    WriteOne(file, GroupOfTransforms + "/" + std::to_string(number++), one);
  }
  Require(H5Fflush(file, H5F_SCOPE_GLOBAL));
}

void
WriteFile(const AnyTransform * transform, const std::string & file)
{
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  Require(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18)); // as ITK does, for older readers
  Require(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG));
  const TimelessProperties properties(H5P_FILE_CREATE);
  Handle                   out(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, properties, access), H5Fclose);
  WriteAll(out, transform);
  out.Close();
}

} // namespace

void
WriteHdf5Transform(const AnyTransform * transform, const std::string & file, const std::string & name)
{
  const std::uint64_t bytes = sizeof(double) * std::uint64_t(transform->GetNumberOfParameters());
  RunApart(WritingTask(name, bytes), [&] {
    try
    {
      WriteFile(transform, file);
    }
    catch (const std::runtime_error & failure)
    {
      throw CommandError("'" + name + "' cannot be written: " + failure.what() + ": " + ReasonOfLoss(file));
    }
    return std::string();
  });
}
