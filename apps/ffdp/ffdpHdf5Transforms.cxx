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
#include "ffdpHdf5Transforms.h"

#include "itkCompositeTransformIOHelper.h"
#include "itkVersion.h"
#include "itk_H5Cpp.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <list>
#include <unistd.h>

namespace
{

using AnyTransform = itk::TransformBaseTemplate<double>;

const std::string GroupOfTransforms = "/TransformGroup";
const std::string TypeName = "/TransformType";

/** Throws for the negative numbers by which the library says that it failed. */
template <typename TResult>
TResult
Require(TResult result)
{
  if (result < 0)
  {
    itkGenericExceptionMacro("HDF5 could not write all of it: is the disk full?");
  }
  return result;
}

/** An object of the library, closed at the end of its life, or before to know whether that succeeds. */
class Handle
{
public:
  Handle(hid_t id, herr_t (*close)(hid_t))
    : m_Id(Require(id))
    , m_Close(close)
  {}
  ~Handle()
  {
    if (m_Id >= 0)
    {
      m_Close(m_Id);
    }
  }
  Handle(const Handle &) = delete;
  Handle &
  operator=(const Handle &) = delete;

  operator hid_t() const { return m_Id; }

  void
  Close()
  {
    const hid_t id = m_Id;
    m_Id = -1;
    Require(m_Close(id));
  }

private:
  hid_t m_Id;
  herr_t (*m_Close)(hid_t);
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

/** A file that the library cannot even begin is one that it complains of at the end of the program. */
void
RequireRoomForABeginning(const std::string & file)
{
  std::ofstream out(file, std::ios::binary);
  out << std::string(4096, '\0');
  out.close();
  Require(out ? 0 : -1);
}

/** The library cannot be told to give a file up: what it could not write it tries again when the file is closed, and
 * complains at the end of the program. So that goes elsewhere. */
void
SendRestElsewhere(hid_t file)
{
  void *            handle = nullptr;
  std::FILE * const elsewhere = std::tmpfile();
  if (elsewhere && H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 && handle)
  {
    dup2(fileno(elsewhere), *static_cast<int *>(handle));
  }
  if (elsewhere)
  {
    std::fclose(elsewhere);
  }
}

} // namespace

void
WriteHdf5Transform(const AnyTransform * transform, const std::string & file)
{
  RequireRoomForABeginning(file);
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  Require(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18)); // as ITK does, for older readers
  Require(H5Pset_fclose_degree(access, H5F_CLOSE_STRONG));
  const TimelessProperties properties(H5P_FILE_CREATE);
  Handle                   out(H5Fcreate(file.c_str(), H5F_ACC_TRUNC, properties, access), H5Fclose);
  try
  {
    WriteAll(out, transform);
  }
  catch (const itk::ExceptionObject &)
  {
    SendRestElsewhere(out);
    throw;
  }
  out.Close();
}

double
CountHdf5Parameters(const std::string & file)
{
  H5E_auto2_t print = nullptr;
  void *      printed = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &print, &printed);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); // the reader of the file says what is wrong with it
  double count = 0;
  try
  {
    const Handle opened(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    const Handle group(H5Gopen2(opened, GroupOfTransforms.c_str(), H5P_DEFAULT), H5Gclose);
    H5G_info_t   info;
    Require(H5Gget_info(group, &info));
    for (hsize_t i = 0; i < info.nlinks; ++i)
    {
      for (const char * name : { "/TransformParameters", "/TranformParameters", "/TransformFixedParameters" })
      {
        const std::string transform = std::to_string(i), path = transform + name; // older files misspell it
        if (H5Lexists(group, transform.c_str(), H5P_DEFAULT) > 0 && H5Lexists(group, path.c_str(), H5P_DEFAULT) > 0)
        {
          const Handle values(H5Dopen2(group, path.c_str(), H5P_DEFAULT), H5Dclose);
          const Handle space(H5Dget_space(values), H5Sclose);
          count += double(Require(H5Sget_simple_extent_npoints(space)));
        }
      }
    }
  }
  catch (const itk::ExceptionObject &)
  {
    count = 0;
  }
  H5Eset_auto2(H5E_DEFAULT, print, printed);
  return count;
}

std::vector<std::string>
ListHdf5Transforms(const std::string & file)
{
  std::vector<std::string> types;
  H5E_BEGIN_TRY
  {
    const hid_t in = H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    for (int number = 0; in >= 0; ++number)
    {
      const std::string path = GroupOfTransforms + "/" + std::to_string(number) + TypeName;
      const hid_t       set = H5Dopen2(in, path.c_str(), H5P_DEFAULT);
      const hid_t       space = set >= 0 ? H5Dget_space(set) : -1;
      const Handle      type(MakeTextType(), H5Tclose);
      char *            text = nullptr;
      const bool        isOne = space >= 0 && H5Sget_simple_extent_npoints(space) == 1;
      if (isOne && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) >= 0 && text)
      {
        types.emplace_back(text);
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, &text);
      }
      H5Sclose(space);
      H5Dclose(set);
      if (types.size() != std::size_t(number) + 1)
      {
        break;
      }
    }
    H5Fclose(in);
  }
  H5E_END_TRY
  return types;
}
