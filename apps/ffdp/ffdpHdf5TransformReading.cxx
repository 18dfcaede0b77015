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
#include "ffdpHdf5TransformReading.h"

#include "ffdpCommandError.h"
#include "ffdpHdf5Handle.h"
#include "ffdpIsolation.h"
#include "ffdpMemory.h"
#include "ffdpRegularFile.h"
#include "ffdpSharedBytes.h"
#include "ffdpTextLines.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <sstream>

namespace
{

using Json = nlohmann::json;

const std::string GroupOfTransforms = "/TransformGroup";

/** A file that is open, and its name for messages. */
struct Input
{
  const std::string & file;
  Hdf5Handle          handle;

  explicit Input(const std::string & name)
    : file(name)
    , handle(H5Fopen(name.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT),
             H5Fclose,
             H5Fis_hdf5(name.c_str()) > 0 ? "it is damaged or cut off" : "it is no HDF5 file")
  {}

  [[noreturn]] void
  Refuse(const std::string & path, const std::string & reason) const
  {
    ThrowBadTransform(file, path, reason);
  }

  /** Whether there is something at a path. Throws if it is a link to another place or file. */
  bool
  Has(const std::string & path) const
  {
    if (H5Lexists(handle, path.c_str(), H5P_DEFAULT) <= 0)
    {
      return false;
    }
    H5L_info_t link;
    if (H5Lget_info(handle, path.c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD)
    {
      this->Refuse(path, "this is a link to another place, which is not followed");
    }
    return true;
  }
};

/** A dataset that is there, with its type and space. */
struct Dataset
{
  Hdf5Handle set, type, space;

  Dataset(const Input & input, const std::string & path)
    : set(H5Dopen2(input.handle, path.c_str(), H5P_DEFAULT), H5Dclose, path + " is damaged")
    , type(H5Dget_type(set), H5Tclose, path + " has no type")
    , space(H5Dget_space(set), H5Sclose, path + " has no size")
  {}
};

/** Whether all numbers of a list were written, and into this file: HDF5 reads zeros where nothing was, and can keep
 * numbers in other files. */
bool
HoldsAll(const Dataset & data, hsize_t count, const std::string & path)
{
  const Hdf5Handle made(H5Dget_create_plist(data.set), H5Pclose, path + " is damaged");
  hsize_t          chunk = 0, chunks = 0;
  switch (H5Pget_layout(made))
  {
    case H5D_COMPACT:
      return true;
    case H5D_CONTIGUOUS:
      return H5Pget_external_count(made) == 0 && H5Dget_storage_size(data.set) == count * H5Tget_size(data.type);
    case H5D_CHUNKED:
      return H5Pget_chunk(made, 1, &chunk) == 1 && chunk > 0 && H5Dget_num_chunks(data.set, data.space, &chunks) >= 0 &&
             chunks == count / chunk + (count % chunk > 0 ? 1 : 0);
    default:
      return false;
  }
}

/** Throws unless a dataset is one list of floating point numbers, all of them in this file; returns how many. */
std::size_t
CountNumbers(const Input & input, const std::string & path, const Dataset & data)
{
  hsize_t count = 0;
  if (H5Tget_class(data.type) != H5T_FLOAT || H5Sis_simple(data.space) <= 0 ||
      H5Sget_simple_extent_ndims(data.space) != 1 || H5Sget_simple_extent_dims(data.space, &count, nullptr) != 1)
  {
    input.Refuse(path, "this is not one list of floating point numbers");
  }
  if (!HoldsAll(data, count, path))
  {
    input.Refuse(path, "not all of these numbers are in the file");
  }
  return std::size_t(count);
}

/** Reads all numbers of a dataset as doubles to where there is room for them. */
void
ReadNumbers(const std::string & path, const Dataset & data, double * values)
{
  RequireHdf5(H5Dread(data.set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), path + " is damaged");
}

/** The path of numbers, under the name that ITK gives them, or gave them before 5.0. */
std::string
FindNumbers(const Input & input, const std::string & group, const std::string & name)
{
  for (const std::string & path : { group + "/Transform" + name, group + "/Tranform" + name })
  {
    if (input.Has(path))
    {
      return path;
    }
  }
  input.Refuse(group, "there are no Transform" + name);
}

/** The type of a transform: one text, of any length or of a fixed one. */
std::string
ReadType(const Input & input, const std::string & group)
{
  constexpr std::size_t Longest = 200;
  const std::string     path = group + "/TransformType";
  if (!input.Has(path))
  {
    input.Refuse(group, "there is no TransformType");
  }
  const Dataset data(input, path);
  if (H5Tget_class(data.type) != H5T_STRING || H5Sget_simple_extent_npoints(data.space) != 1)
  {
    input.Refuse(path, "this is not one text");
  }
  std::string text(Longest, '\0');
  if (H5Tis_variable_str(data.type) > 0)
  {
    char * found = nullptr;
    RequireHdf5(H5Dread(data.set, data.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &found), path + " is damaged");
    std::strncpy(&text[0], found ? found : "", Longest - 1);
    H5Dvlen_reclaim(data.type, data.space, H5P_DEFAULT, &found);
  }
  else if (H5Tget_size(data.type) < Longest)
  {
    RequireHdf5(H5Dread(data.set, data.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text[0]), path + " is damaged");
  }
  return text.c_str(); // up to the first NUL
}

/** A transform without its parameters. */
Json
Describe(const Input & input, const std::string & group)
{
  constexpr std::size_t MostFixed = 1000; // no type has so many
  Json                  transform = { { "place", group }, { "type", ReadType(input, group) } };
  if (transform["type"].get<std::string>().compare(0, 18, "CompositeTransform") == 0) // whose parts come after it
  {
    return transform;
  }
  const std::string   fixedPath = FindNumbers(input, group, "FixedParameters");
  const std::string   path = FindNumbers(input, group, "Parameters");
  const Dataset       fixedData(input, fixedPath);
  std::vector<double> fixed(CountNumbers(input, fixedPath, fixedData));
  if (fixed.size() > MostFixed)
  {
    input.Refuse(fixedPath, "there are " + std::to_string(fixed.size()) + " numbers, more than any transform has");
  }
  if (!fixed.empty())
  {
    ReadNumbers(fixedPath, fixedData, fixed.data());
  }
  transform["fixedPlace"] = fixedPath;
  transform["fixed"] = fixed;
  transform["parametersPlace"] = path;
  transform["count"] = CountNumbers(input, path, Dataset(input, path));
  return transform;
}

/** All of a file, in the format of messages between processes. */
std::string
DescribeAll(const std::string & file)
{
  constexpr hsize_t Most = 10000;
  const Input       input(file);
  if (!input.Has(GroupOfTransforms))
  {
    throw CommandError("transform '" + file + "' is an HDF5 file without transforms: it has no " + GroupOfTransforms);
  }
  const Hdf5Handle group(
    H5Gopen2(input.handle, GroupOfTransforms.c_str(), H5P_DEFAULT), H5Gclose, GroupOfTransforms + " is damaged");
  H5G_info_t info;
  RequireHdf5(H5Gget_info(group, &info), GroupOfTransforms + " is damaged");
  Json all = Json::array();
  for (hsize_t number = 0; number < std::min(info.nlinks, Most); ++number)
  {
    const std::string path = GroupOfTransforms + "/" + std::to_string(number);
    if (!input.Has(path))
    {
      input.Refuse(GroupOfTransforms,
                   "there are " + std::to_string(info.nlinks) + " groups, but none of them is " +
                     std::to_string(number));
    }
    all.push_back(Describe(input, path));
  }
  std::string text;
  Json::to_cbor(all, text);
  return text;
}

/** What DescribeAll() found. */
std::vector<StoredTransform>
TakeDescription(const std::string & text)
{
  std::vector<StoredTransform> list;
  for (const Json & found : Json::from_cbor(text))
  {
    StoredTransform stored;
    stored.place = found.at("place");
    stored.type = found.at("type");
    if (found.contains("fixed"))
    {
      stored.fixedParameters = { found.at("fixedPlace"), found.at("fixed").get<std::vector<double>>() };
      stored.parameters.place = found.at("parametersPlace");
      stored.parameters.count = found.at("count");
    }
    list.push_back(stored);
  }
  return list;
}

/** How many parameters there are in all. Throws if there is not enough memory for them, here and in a transform. */
std::size_t
CountParameters(const std::vector<StoredTransform> & list, const std::string & file)
{
  constexpr double OfAnyMachine = 1e18; // where the sum of integers is far from wrapping
  const double     available = std::min(AvailableBytes(), OfAnyMachine);
  double           needed = 0;
  std::size_t      count = 0;
  for (const StoredTransform & stored : list)
  {
    count += stored.parameters.count;
    needed += 2.0 * sizeof(double) * double(stored.parameters.count);
  }
  if (needed > available)
  {
    std::ostringstream message;
    message << std::setprecision(3) << "transform '" << file << "' needs " << needed / 1e9 << " GB of memory, and "
            << available / 1e9 << " GB are free";
    throw CommandError(message.str());
  }
  return count;
}

/** Headers take milliseconds: damaged ones, where HDF5 goes round in circles, are given up sooner than images are. */
ApartTask
ReadingBriefly(const std::string & file, std::uint64_t bytes = 0)
{
  ApartTask task = ReadingTask("transform", file, bytes);
  task.seconds = std::max(2.0, task.seconds - 3);
  return task;
}

} // namespace

std::vector<StoredTransform>
DescribeHdf5Transforms(const std::string & file)
{
  RequireRegularFile(file, "transform");
  return TakeDescription(RunApart(ReadingBriefly(file), [&] { return DescribeAll(file); }));
}

std::vector<StoredTransform>
ReadHdf5Transforms(const std::string & file)
{
  auto list = DescribeHdf5Transforms(file);
  RequireSoundTransforms(list, file); // so that counts are those of sound grids
  const std::size_t count = CountParameters(list, file);
  const auto        bytes = std::make_shared<SharedBytes>(sizeof(double) * count);
  const auto        values = std::shared_ptr<double>(bytes, reinterpret_cast<double *>(bytes->data()));
  RunApart(ReadingBriefly(file, bytes->size()), [&] {
    const Input input(file);
    double *    next = values.get();
    for (const StoredTransform & stored : list)
    {
      if (stored.parameters.count > 0)
      {
        const Dataset data(input, stored.parameters.place);
        if (CountNumbers(input, stored.parameters.place, data) != stored.parameters.count)
        {
          input.Refuse(stored.parameters.place, "the file changes while it is read");
        }
        ReadNumbers(stored.parameters.place, data, next);
        next += stored.parameters.count;
      }
    }
    return std::string();
  });
  const double * next = values.get();
  for (StoredTransform & stored : list)
  {
    stored.parameters.values = std::shared_ptr<const double>(values, next);
    next += stored.parameters.count;
  }
  return list;
}

std::vector<std::string>
ListHdf5Transforms(const std::string & file)
{
  std::vector<std::string> types;
  try
  {
    for (const StoredTransform & stored : DescribeHdf5Transforms(file))
    {
      types.push_back(stored.type);
    }
  }
  catch (const CommandError &) // which whoever reads it will say
  {}
  return types;
}
