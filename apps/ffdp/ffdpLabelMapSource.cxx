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
#include "ffdpLabelMapSource.h"

#include "ffdpCommandError.h"
#include "ffdpImageGrid.h"
#include "ffdpImageReading.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace
{

using Label = LabelSource::Label;

/** A vote looks at no more voxels than this along an axis: output voxels of 20 voxels of the map. */
constexpr int    LargestTaps = 64;
constexpr double LargestWidth = 20;

constexpr std::size_t LabelNumbers = 1 << 16;

/** The voxels along an axis that have a vote, with their weights. */
struct Taps
{
  int          count = 0;
  std::int64_t index[LargestTaps];
  double       weight[LargestTaps];
};

double
QuadraticSpline(double x)
{
  const double a = std::abs(x);
  return a < 0.5 ? 0.75 - a * a : a < 1.5 ? 0.5 * (1.5 - a) * (1.5 - a) : 0;
}

void
FillTaps(double x, double width, std::int64_t size, Taps & taps)
{
  const auto first = std::int64_t(std::ceil(x - 1.5 * width));
  const auto last = std::int64_t(std::floor(x + 1.5 * width));
  taps.count = int(std::min<std::int64_t>(LargestTaps, last - first + 1));
  for (int k = 0; k < taps.count; ++k)
  {
    taps.index[k] = std::min(size - 1, std::max<std::int64_t>(0, first + k));
    taps.weight[k] = QuadraticSpline((double(first + k) - x) / width);
  }
}

struct Candidate
{
  Label  label;
  double votes;
};

/** The winner among all voxels of the taps; `voxels` is the map, rows and planes are so many voxels apart. */
Label
CountVotes(const Label * voxels, std::int64_t row, std::int64_t plane, const Taps (&taps)[3])
{
  thread_local std::vector<Candidate> candidates;
  candidates.clear();
  for (int k = 0; k < taps[2].count; ++k)
  {
    for (int j = 0; j < taps[1].count; ++j)
    {
      const Label * line = voxels + taps[2].index[k] * plane + taps[1].index[j] * row;
      const double  weight = taps[2].weight[k] * taps[1].weight[j];
      for (int i = 0; i < taps[0].count; ++i)
      {
        const Label label = line[taps[0].index[i]];
        auto        mine = std::find_if(
          candidates.begin(), candidates.end(), [=](const Candidate & other) { return other.label == label; });
        if (mine == candidates.end())
        {
          mine = candidates.insert(mine, Candidate{ label, 0 });
        }
        mine->votes += weight * taps[0].weight[i];
      }
    }
  }
  double most = 0;
  for (const Candidate & candidate : candidates)
  {
    most = std::max(most, candidate.votes);
  }
  // Halfway between two voxels the rounding of coordinates must not decide.
  Label winner = std::numeric_limits<Label>::max();
  for (const Candidate & candidate : candidates)
  {
    if (candidate.votes >= (1 - 1e-9) * most)
    {
      winner = std::min(winner, candidate.label);
    }
  }
  return winner;
}

bool
AllAlike(const Label * voxels, std::int64_t row, std::int64_t plane, const Taps (&taps)[3])
{
  const Label label = voxels[taps[2].index[0] * plane + taps[1].index[0] * row + taps[0].index[0]];
  for (int k = 0; k < taps[2].count; ++k)
  {
    for (int j = 0; j < taps[1].count; ++j)
    {
      const Label * line = voxels + taps[2].index[k] * plane + taps[1].index[j] * row;
      for (int i = 0; i < taps[0].count; ++i)
      {
        if (line[taps[0].index[i]] != label)
        {
          return false;
        }
      }
    }
  }
  return true;
}

} // namespace

void
KeepLabels(LabelImage * image, const std::set<Label> & labels)
{
  std::vector<bool> keep(LabelNumbers, false);
  for (const Label label : labels)
  {
    keep[std::uint16_t(label)] = true;
  }
  Label * voxel = image->GetBufferPointer();
  for (auto count = image->GetBufferedRegion().GetNumberOfPixels(); count > 0; --count, ++voxel)
  {
    *voxel = keep[std::uint16_t(*voxel)] ? *voxel : Label(0);
  }
}

LabelMapSource::LabelMapSource(const std::string & file)
  : m_Image(LabelImage::New())
{
  const auto image = ReadImage(file, "label map");
  m_Image->CopyInformation(image);
  m_Image->SetRegions(image->GetBufferedRegion());
  m_Image->Allocate();
  using Limits = std::numeric_limits<Label>;
  const auto count = image->GetBufferedRegion().GetNumberOfPixels();
  bool       any = false;
  for (itk::SizeValueType i = 0; i < count; ++i)
  {
    const float value = image->GetBufferPointer()[i];
    if (value != std::floor(value) || value < float(Limits::min()) || value > float(Limits::max()))
    {
      throw CommandError("label map '" + file + "' has a voxel of " + std::to_string(value) +
                         ", which is not a label: a whole number of 16 bits");
    }
    m_Image->GetBufferPointer()[i] = Label(value);
    any = any || value != 0;
  }
  if (!any)
  {
    throw CommandError("label map '" + file + "' is empty: there is no label but 0");
  }
}

void
LabelMapSource::SetSteps(const double (&step)[3][3])
{
  const ffdp::AffineMap toIndex = this->FromPhysical();
  for (int i = 0; i < 3; ++i)
  {
    m_Width[i] = 1;
    for (int j = 0; j < 3; ++j)
    {
      const double * m = toIndex.matrix + 3 * i;
      const double   voxels = std::abs(m[0] * step[j][0] + m[1] * step[j][1] + m[2] * step[j][2]);
      m_Width[i] = std::min(LargestWidth, std::max(m_Width[i], voxels));
    }
  }
}

LabelBox
LabelMapSource::FindBox() const
{
  const auto    size = m_Image->GetBufferedRegion().GetSize();
  const Label * voxel = m_Image->GetBufferPointer();
  LabelBox      box;
  bool          any = false;
  for (std::int64_t z = 0; z < std::int64_t(size[2]); ++z)
  {
    for (std::int64_t y = 0; y < std::int64_t(size[1]); ++y)
    {
      for (std::int64_t x = 0; x < std::int64_t(size[0]); ++x, ++voxel)
      {
        if (*voxel != 0)
        {
          const std::int64_t at[3] = { x, y, z };
          for (int c = 0; c < 3; ++c)
          {
            box.first[c] = any ? std::min(box.first[c], at[c]) : at[c];
            box.end[c] = any ? std::max(box.end[c], at[c] + 1) : at[c] + 1;
          }
          any = true;
        }
      }
    }
  }
  return box;
}

ffdp::AffineMap
LabelMapSource::FromPhysical() const
{
  return IndexToPhysical(m_Image.GetPointer()).Inverse();
}

LabelSource::Label
LabelMapSource::LabelAt(const double (&position)[3]) const
{
  const auto size = m_Image->GetBufferedRegion().GetSize();
  Taps       taps[3];
  for (int c = 0; c < 3; ++c)
  {
    if (!(position[c] >= -0.5) || !(position[c] < double(size[c]) - 0.5))
    {
      return 0;
    }
    FillTaps(position[c], m_Width[c], std::int64_t(size[c]), taps[c]);
  }
  const auto    row = std::int64_t(size[0]);
  const auto    plane = row * std::int64_t(size[1]);
  const Label * voxels = m_Image->GetBufferPointer();
  if (AllAlike(voxels, row, plane, taps))
  {
    return voxels[taps[2].index[0] * plane + taps[1].index[0] * row + taps[0].index[0]];
  }
  return CountVotes(voxels, row, plane, taps);
}

std::vector<LabelSource::Label>
LabelMapSource::Labels() const
{
  std::vector<bool> seen(LabelNumbers, false);
  const Label *     voxel = m_Image->GetBufferPointer();
  for (auto count = m_Image->GetBufferedRegion().GetNumberOfPixels(); count > 0; --count, ++voxel)
  {
    seen[std::uint16_t(*voxel)] = true;
  }
  std::vector<Label> labels;
  for (int label = std::numeric_limits<Label>::min(); label <= std::numeric_limits<Label>::max(); ++label)
  {
    if (seen[std::uint16_t(label)] && label != 0)
    {
      labels.push_back(Label(label));
    }
  }
  return labels;
}
