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
#include "ffdpRegisterStart.h"

#include "ffdpAgreement.h"
#include "ffdpCommandError.h"
#include "ffdpHdf5TransformReading.h"
#include "ffdpImageGrid.h"
#include "ffdpImageReading.h"
#include "ffdpPlaneDelivery.h"
#include "ffdpStageText.h"
#include "ffdpTransformFiles.h"

#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace
{

using Point = std::array<double, 3>;

const char * const StartOption = "--initial-moving-transform";
const char * const WarpComesFirst = "a displacement field must come first: it is applied before linear transforms";

Point
PhysicalOf(const FloatImage * image, const Point & index)
{
  return PlaceImage(image).indexToPhysical(index);
}

Point
MiddleOf(const FloatImage * image)
{
  const ffdp::Extent size = ExtentOf(image);
  return PhysicalOf(image, { { 0.5 * double(size.x - 1), 0.5 * double(size.y - 1), 0.5 * double(size.z - 1) } });
}

/** Of the intensities above the smallest. Sums per plane are added in the order of planes, for any number of ranks. */
Point
CenterOfMass(const FloatImage * image, ffdp::Communicator & communicator)
{
  const auto    voxels = PlaceImage(image).voxels;
  const float * begin = voxels.data;
  const float * end = begin + voxels.planes * voxels.planeStride;
  double smallest = begin < end ? -double(*std::min_element(begin, end)) : -std::numeric_limits<double>::infinity();
  communicator.Maximum(&smallest, 1);
  smallest = -smallest;
  std::vector<double> planeSums; // mass and the three moments of each
  for (std::int64_t z = voxels.firstPlane; z < voxels.EndPlane(); ++z)
  {
    double mass = 0, moment[2] = { 0, 0 };
    for (std::int64_t y = 0; y < voxels.domain.y; ++y)
    {
      const float * row = voxels.Row(y, z);
      double        rowMass = 0, rowMoment = 0;
      for (std::int64_t x = 0; x < voxels.domain.x; ++x)
      {
        const double weight = double(row[x]) - smallest;
        rowMass += weight;
        rowMoment += weight * double(x);
      }
      mass += rowMass;
      moment[0] += rowMoment;
      moment[1] += rowMass * double(y);
    }
    planeSums.insert(planeSums.end(), { mass, moment[0], moment[1], mass * double(z) });
  }
  double                    sum[4] = { 0, 0, 0, 0 };
  const std::vector<double> all = communicator.Gather(planeSums);
  for (std::size_t i = 0; i < all.size(); ++i)
  {
    sum[i % 4] += all[i];
  }
  return PhysicalOf(image, { { sum[1] / sum[0], sum[2] / sum[0], sum[3] / sum[0] } });
}

/** The shift that brings a place of the fixed image to that of the moving one: ANTs' 0 middles, 1 centers of mass, 2
 * origins. */
ffdp::AffineMap
AlignPlaces(const Source &       source,
            const std::string &  which,
            const FloatImage *   fixed,
            const FloatImage *   moving,
            ffdp::Communicator & communicator)
{
  const auto place = [&](const FloatImage * image) {
    return which == "0"   ? MiddleOf(image)
           : which == "1" ? CenterOfMass(image, communicator)
                          : PhysicalOf(image, { { 0, 0, 0 } });
  };
  if (which != "0" && which != "1" && which != "2")
  {
    source.Refuse("the last number is 0 (middles of the images), 1 (centers of mass) or 2 (origins)");
  }
  const Point     from = place(fixed), to = place(moving);
  ffdp::AffineMap map;
  for (int i = 0; i < 3; ++i)
  {
    map.offset[i] = to[std::size_t(i)] - from[std::size_t(i)];
  }
  return map;
}

/** Room for the planes of a warp that this rank owns, as the warp of the start. Returns their number of voxels. */
std::size_t
MakeStartWarp(RegisterInputs & inputs)
{
  const auto voxels = PlaceImage(inputs.fixed).voxels;
  const auto count = std::size_t(voxels.planes * voxels.planeStride);
  inputs.startWarp.resize(std::max<std::size_t>(1, 3 * count)); // a rank without planes has a warp all the same
  const float * const u = inputs.startWarp.data();
  inputs.start.warp =
    ffdp::WarpView<const float>::Planar(u, u + count, u + 2 * count, voxels.domain, voxels.firstPlane, voxels.planes);
  return count;
}

/** From a field in mm to planar displacements in voxels. */
void
ReadStartWarp(const std::string & file, ffdp::Communicator & communicator, RegisterInputs & inputs)
{
  const auto field = ReadField(file, communicator);
  if (!AreOnOneGrid(field, inputs.fixed))
  {
    throw CommandError("displacement field '" + file + "' is not on the grid of the fixed image");
  }
  const ffdp::PlacedImage fixed = PlaceImage(inputs.fixed);
  const ffdp::AffineMap   toVoxels = fixed.indexToPhysical.Inverse();
  const std::size_t       count = MakeStartWarp(inputs);
  for (std::size_t i = 0; i < count; ++i)
  {
    const auto & v = field->GetBufferPointer()[i];
    for (std::size_t c = 0; c < 3; ++c)
    {
      const double * row = toVoxels.matrix + 3 * c;
      inputs.startWarp[c * count + i] = float(row[0] * v[0] + row[1] * v[1] + row[2] * v[2]);
    }
  }
}

/** Transforms of a file: A (x + u(x)) + t, with A and t of the linear ones alone. */
struct LoadedStart
{
  ffdp::AffineMap        linear;
  bool                   hasWarp = false;
  CompositeType::Pointer transform; ///< on rank 0
};

/** Rank 0 reads the file, for all. */
LoadedStart
LoadStart(const std::string & entry, ffdp::Communicator & communicator, const DimensionedFile & fixed)
{
  LoadedStart         start;
  std::vector<double> numbers;
  DoOnFirst(communicator, [&] {
    const TransformList list = ReadTransforms({ entry });
    RequireOneDimension(list.file, fixed);
    start.transform = list.transform;
    for (itk::SizeValueType n = 0; n < list.transform->GetNumberOfTransforms(); ++n)
    {
      const TransformType * part = list.transform->GetNthTransformConstPointer(n);
      start.hasWarp = start.hasWarp || !part->IsLinear();
      start.linear = part->IsLinear() ? ffdp::Compose(start.linear, LinearMapOf(part)) : start.linear;
    }
    if (start.hasWarp && !(std::abs(start.linear.Determinant()) > 1e-12))
    {
      throw CommandError(list.file.name + " is singular, so no stage can start from it");
    }
    numbers.assign(start.linear.matrix, start.linear.matrix + 9);
    numbers.insert(numbers.end(), start.linear.offset, start.linear.offset + 3);
    numbers.push_back(start.hasWarp ? 1 : 0);
  });
  numbers = communicator.Gather(numbers);
  std::copy_n(numbers.begin(), 9, start.linear.matrix);
  std::copy_n(numbers.begin() + 9, 3, start.linear.offset);
  start.hasWarp = numbers[12] != 0;
  return start;
}

/** The warp u of a transform A (x + u(x)) + t at the voxels of the fixed image, in voxels. Rank 0 has the transform. */
class SampledWarp : public PlaneSource
{
public:
  SampledWarp(const LoadedStart & start, const FloatImage * fixed)
    : PlaneSource(3, 1)
    , m_Transform(start.transform)
    , m_Size(ExtentOf(fixed))
    , m_ToMm(IndexToPhysical(fixed))
    , m_ToVoxels(ffdp::Compose(m_ToMm.Inverse(), start.linear.Inverse()))
  {}

  bool
  IsRandomAccess() const override
  {
    return false;
  }

  void
  Read(int, const ffdp::PlaneRange & planes, float * to) override
  {
    const auto rows = itk::SizeValueType((planes.end - planes.first) * m_Size.y);
    itk::MultiThreaderBase::New()->ParallelizeArray(
      0,
      rows,
      [&](itk::SizeValueType row) {
        const double y = double(std::int64_t(row) % m_Size.y);
        const double z = double(planes.first + std::int64_t(row) / m_Size.y);
        float *      u = to + 3 * m_Size.x * std::int64_t(row);
        for (std::int64_t x = 0; x < m_Size.x; ++x, u += 3)
        {
          const Point index{ { double(x), y, z } };
          const auto  moved = m_Transform->TransformPoint(CompositeType::InputPointType(m_ToMm(index).data()));
          const Point found = m_ToVoxels(Point{ { moved[0], moved[1], moved[2] } });
          for (std::size_t c = 0; c < 3; ++c)
          {
            u[c] = float(found[c] - index[c]);
          }
        }
      },
      nullptr);
  }

private:
  CompositeType::ConstPointer m_Transform;
  ffdp::Extent                m_Size;
  ffdp::AffineMap             m_ToMm;
  ffdp::AffineMap             m_ToVoxels; ///< back through the linear part
};

/** The warp of a composite transform, which may lie on any grid. */
void
SampleStartWarp(const LoadedStart & start, ffdp::Communicator & communicator, RegisterInputs & inputs)
{
  const std::size_t count = MakeStartWarp(inputs);
  const auto        voxels = PlaceImage(inputs.fixed).voxels;
  SampledWarp       source(start, inputs.fixed);
  DeliverPlanes(communicator, source, voxels.domain, [&](int, const ffdp::PlaneRange & planes, const float * from) {
    const auto first = std::size_t((planes.first - voxels.firstPlane) * voxels.planeStride);
    const auto end = std::size_t((planes.end - voxels.firstPlane) * voxels.planeStride);
    for (std::size_t i = first; i < end; ++i, from += 3)
    {
      for (std::size_t c = 0; c < 3; ++c)
      {
        inputs.startWarp[c * count + i] = from[c];
      }
    }
  });
}

/** FILE, [FILE,1] for its inverse, [FIXED,MOVING,0|1|2] or [0|1|2]. isFirst: nothing was applied to a point before. */
ffdp::AffineMap
ReadStartTransform(const Source & source, bool isFirst, ffdp::Communicator & communicator, RegisterInputs & inputs)
{
  if (source.text.front() == '[')
  {
    const Words fields = SplitList(source.text);
    if (fields.size() == 1)
    {
      return AlignPlaces(source, fields[0], inputs.fixed, inputs.moving, communicator);
    }
    if (fields.size() == 3)
    {
      const auto fixed = ReadImage(fields[0], "fixed image", communicator);
      const auto moving = ReadImage(fields[1], "moving image", communicator);
      return AlignPlaces(source, fields[2], fixed, moving, communicator);
    }
    if (fields.size() != 2 || (fields[1] != "0" && fields[1] != "1"))
    {
      source.Refuse("is not of the form FILE, [FILE,1] or [FIXED,MOVING,1]");
    }
  }
  const LoadedStart start = LoadStart(source.text, communicator, inputs.file);
  if (start.hasWarp)
  {
    if (!isFirst)
    {
      source.Refuse(WarpComesFirst);
    }
    SampleStartWarp(start, communicator, inputs);
  }
  return start.linear;
}

bool
IsWarp(const std::string & file)
{
  for (const char * end : { ".nii", ".nii.gz", ".mha", ".mhd", ".nrrd" })
  {
    if (EndsWith(file, end))
    {
      return true;
    }
  }
  return false;
}

/** The file of a displacement field that stands alone, or as [FILE,0]; empty for anything else. */
std::string
WarpOf(const Source & source)
{
  const bool  bracketed = !source.text.empty() && source.text.front() == '[';
  const Words fields = bracketed ? SplitList(source.text) : Words{ source.text };
  if (fields.size() == 2 && fields[1] == "1" && IsWarp(fields[0]))
  {
    source.Refuse("a displacement field is not inverted here: give the file of its inverse, like 1InverseWarp.nii.gz, "
                  "or make one with ffdp invert");
  }
  const bool alone = fields.size() == 1 || (fields.size() == 2 && fields[1] == "0");
  return alone && IsWarp(fields[0]) ? fields[0] : "";
}

} // namespace

std::string
FindStartWarp(const RegisterOptions & options)
{
  return options.start.empty() ? "" : WarpOf({ StartOption, Trim(options.start.front()) });
}

bool
StartsFromWarp(const RegisterOptions & options)
{
  std::string first = options.start.empty() ? "" : Trim(options.start.front());
  if (!first.empty() && first.front() == '[') // [FILE,0]
  {
    first = Trim(first.substr(1, first.find_first_of(",]") - 1));
  }
  const auto types = IsHdf5File(first) ? ListHdf5Transforms(first) : Words();
  return !FindStartWarp(options).empty() || std::any_of(types.begin(), types.end(), [](const std::string & type) {
    return type.find("Field") != std::string::npos || type.find("BSpline") != std::string::npos;
  });
}

/** In the order of `ffdp apply`: what stands first is applied to a point of the fixed image first. */
void
ReadStart(const RegisterOptions & options, ffdp::Communicator & communicator, RegisterInputs & inputs)
{
  for (std::size_t i = 0; i < options.start.size(); ++i)
  {
    const Source source{ StartOption, Trim(options.start[i]) };
    if (source.text.empty())
    {
      source.Refuse("is empty");
    }
    const std::string warp = WarpOf(source);
    if (warp.empty())
    {
      inputs.start.affine =
        ffdp::Compose(ReadStartTransform(source, i == 0, communicator, inputs), inputs.start.affine);
    }
    else if (i > 0)
    {
      source.Refuse(WarpComesFirst);
    }
    else
    {
      ReadStartWarp(warp, communicator, inputs);
    }
  }
}
