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
#include <cctype>
#include <set>

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

/** A field NAME=VALUE. A folder in front tells a file from it whose name has such a sign. */
struct NamedField
{
  std::string name, value; ///< the name in lower case; empty: it is something else

  explicit NamedField(const std::string & field)
  {
    const auto        equals = field.find('=');
    const std::string word = Trim(field.substr(0, equals));
    if (equals != std::string::npos &&
        std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isalpha(c) != 0; }))
    {
      name = LowerCase(word);
      value = Trim(field.substr(equals + 1));
    }
  }
};

/** What local correlation knows by a name. False if there is no such name. */
bool
SetByName(const Source & source, const NamedField & field, Metric & metric)
{
  const auto part = [&](const std::string & what) {
    const double number = source.Number(field.value, what, 0);
    if (number > 1)
    {
      source.Refuse("the " + what + " '" + field.value + "' is above 1");
    }
    return number;
  };
  if (field.name == "power")
  {
    metric.power = source.Count(field.value, field.name, 1);
    if (metric.power > ffdp::MostCorrelationPower)
    {
      source.Refuse("the power '" + field.value + "' is above " + std::to_string(ffdp::MostCorrelationPower));
    }
  }
  else if (field.name == "epsilon")
  {
    metric.epsilon = part(field.name);
  }
  else if (field.name == "movedslope")
  {
    metric.movedSlope = part("part of the moved image's slope");
  }
  else if (field.name == "fixedslope")
  {
    metric.fixedSlope = part("part of the fixed image's slope");
  }
  else if (field.name == "gradient")
  {
    if (LowerCase(field.value) != "exact" && LowerCase(field.value) != "ants")
    {
      source.Refuse("the gradient '" + field.value + "' is neither exact nor ants");
    }
    metric.exactGradient = LowerCase(field.value) == "exact";
  }
  else
  {
    return false;
  }
  return true;
}

/** Takes fields like power=1 out of the others. */
void
TakeNamedFields(const Source & source, Words & fields, Metric & metric)
{
  std::set<std::string> seen;
  Words                 others;
  for (const std::string & text : fields)
  {
    const NamedField field(text);
    if (field.name.empty())
    {
      others.push_back(text);
      continue;
    }
    if (metric.kind != Metric::Kind::LocalCorrelation)
    {
      source.Refuse("'" + text + "': only CC and Edges have fields with names");
    }
    if (!SetByName(source, field, metric))
    {
      source.Refuse("'" + text +
                    "': there is no such name; there are power, epsilon, movedSlope, fixedSlope and gradient");
    }
    if (!seen.insert(field.name).second)
    {
      source.Refuse("'" + text + "': this name is there twice");
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
  else if (call.name == "edges")
  {
    metric.kind = Metric::Kind::LocalCorrelation;
    metric.ofEdges = true;
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
    source.Refuse("there is no such metric; there are CC, Edges, MI (or Mattes) and MeanSquares");
  }
  ImageNames images;
  Words &    fields = call.fields;
  TakeNamedFields(source, fields, metric);
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
