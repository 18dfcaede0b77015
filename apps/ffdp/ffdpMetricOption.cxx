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
#include "ffdpMetricOption.h"

#include "ffdpLocalCorrelation.h"

#include <algorithm>

namespace
{

using Metric = ffdp::RegistrationMetric;

/** The number of the pair that a metric compares; a new pair is added to the list. */
int
FindPair(const Source & source, const ImageNames & named, std::vector<ImageNames> & pairs)
{
  if (named.fixed.empty() != named.moving.empty())
  {
    source.Refuse("names one image; two are needed, or none");
  }
  if (named.fixed.empty())
  {
    if (pairs.empty())
    {
      source.Refuse("names no images, and there is no --fixed and --moving");
    }
    return 0;
  }
  for (std::size_t i = 0; i < pairs.size(); ++i)
  {
    if (pairs[i].fixed == named.fixed && pairs[i].moving == named.moving)
    {
      return int(i);
    }
  }
  pairs.push_back(named);
  return int(pairs.size()) - 1;
}

/** Takes fields like power=1 out of those of local correlation. A name that is not known here may be a file's. */
void
TakeNamedFields(const Source & source, Words & fields, Metric & metric)
{
  const auto part = [&](const std::string & word, const std::string & what) {
    const double number = source.Number(word, what, 0);
    if (number > 1)
    {
      source.Refuse("the " + what + " '" + word + "' is above 1");
    }
    return number;
  };
  const auto take = [&](const std::string & field) {
    const auto        equals = field.find('=');
    const std::string name = equals == std::string::npos ? "" : LowerCase(field.substr(0, equals));
    const std::string word = equals == std::string::npos ? "" : field.substr(equals + 1);
    if (name == "power")
    {
      metric.power = source.Count(word, name, 1);
      if (metric.power > ffdp::MostCorrelationPower)
      {
        source.Refuse("the power '" + word + "' is above " + std::to_string(ffdp::MostCorrelationPower));
      }
    }
    else if (name == "epsilon")
    {
      metric.epsilon = source.Number(word, name, 0);
    }
    else if (name == "movedslope")
    {
      metric.movedSlope = part(word, "part of the moved image's slope");
    }
    else if (name == "fixedslope")
    {
      metric.fixedSlope = part(word, "part of the fixed image's slope");
    }
    else if (name == "gradient")
    {
      if (LowerCase(word) != "exact" && LowerCase(word) != "ants")
      {
        source.Refuse("the gradient '" + word + "' is neither exact nor ants");
      }
      metric.exactGradient = LowerCase(word) == "exact";
    }
    else
    {
      return false;
    }
    return true;
  };
  Words others;
  for (const std::string & field : fields)
  {
    if (!take(field))
    {
      others.push_back(field);
    }
  }
  fields = std::move(others);
}

/** ANTs picks some voxels to save time; here all are used. */
void
CheckSampling(const Source & source, const Words & fields, std::size_t first, std::vector<std::string> & notes)
{
  if (fields.size() <= first)
  {
    return;
  }
  const std::string strategy = LowerCase(fields[first]);
  if (strategy != "none" && strategy != "regular" && strategy != "random" && !strategy.empty())
  {
    source.Refuse("'" + fields[first] + "' is not a way to sample: None, Regular or Random");
  }
  if (fields.size() > first + 1)
  {
    source.Number(fields[first + 1], "share of voxels", 0);
  }
  if (fields.size() > first + 2)
  {
    source.Refuse("has too many fields");
  }
  if (!strategy.empty() && strategy != "none")
  {
    notes.push_back(source.option + " '" + source.text + "': every voxel is used, sampling is ignored");
  }
}

} // namespace

ffdp::RegistrationMetric
ParseMetric(const Source & source, StageList & list)
{
  Call   call = ParseCall(source);
  Metric metric;
  if (call.name == "cc" || call.name == "lncc")
  {
    metric.kind = Metric::Kind::LocalCorrelation;
  }
  else if (call.name == "mi" || call.name == "mattes")
  {
    metric.kind = Metric::Kind::MutualInformation;
  }
  else if (call.name == "meansquares")
  {
    metric.kind = Metric::Kind::MeanSquares;
  }
  else
  {
    source.Refuse("there is no such metric; there are CC, MI (or Mattes) and MeanSquares");
  }
  ImageNames images;
  Words &    fields = call.fields;
  if (metric.kind == Metric::Kind::LocalCorrelation)
  {
    TakeNamedFields(source, fields, metric);
  }
  if (!fields.empty() && !IsNumber(fields[0]))
  {
    images.fixed = fields[0];
    images.moving = fields.size() > 1 ? fields[1] : "";
    fields.erase(fields.begin(), fields.begin() + std::ptrdiff_t(std::min<std::size_t>(2, fields.size())));
  }
  else if (fields.size() == 1 && metric.kind != Metric::Kind::MeanSquares)
  {
    source.Refuse("is one number a weight or a size? Write both, as in CC[1,4] and MI[1,32]");
  }
  metric.pair = FindPair(source, images, list.pairs);
  if (!fields.empty() && !fields[0].empty())
  {
    metric.weight = source.Number(fields[0], "weight", 0);
  }
  if (fields.size() > 1 && !fields[1].empty())
  {
    if (metric.kind == Metric::Kind::LocalCorrelation)
    {
      metric.radius = source.Count(fields[1], "radius", 1);
    }
    else if (metric.kind == Metric::Kind::MutualInformation)
    {
      metric.bins = source.Count(fields[1], "number of bins", 5);
    }
  }
  CheckSampling(source, fields, 2, list.notes);
  return metric;
}
