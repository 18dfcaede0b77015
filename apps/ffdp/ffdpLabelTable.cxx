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
#include "ffdpLabelTable.h"

#include "ffdpCommandError.h"
#include "ffdpRegularFile.h"

#include <cmath>
#include <fstream>
#include <sstream>

namespace
{

struct Tissue
{
  LabelSource::Label left, right; ///< the same where a structure has no sides
  bool               brain;
  LabelStatistics    t1, t2;
};

/** Typical of head scans at 1.5 to 3 T, on a scale where white matter is about 105 in T1; before the blur. */
const Tissue Tissues[] = {
  { 2, 41, true, { 105, 6 }, { 80, 6 } },       // white matter of the cerebrum
  { 3, 42, true, { 72, 9 }, { 112, 9 } },       // cortex
  { 4, 43, true, { 25, 8 }, { 205, 12 } },      // lateral ventricle
  { 5, 44, true, { 28, 9 }, { 198, 14 } },      // its inferior horn
  { 7, 46, true, { 98, 6 }, { 83, 6 } },        // white matter of the cerebellum
  { 8, 47, true, { 69, 9 }, { 109, 9 } },       // cortex of the cerebellum
  { 10, 49, true, { 88, 7 }, { 91, 7 } },       // thalamus
  { 11, 50, true, { 77, 6 }, { 102, 7 } },      // caudate
  { 12, 51, true, { 82, 6 }, { 95, 7 } },       // putamen
  { 13, 52, true, { 97, 6 }, { 70, 7 } },       // pallidum
  { 14, 14, true, { 30, 9 }, { 198, 14 } },     // third ventricle
  { 15, 15, true, { 28, 9 }, { 200, 14 } },     // fourth ventricle
  { 16, 16, true, { 90, 8 }, { 87, 8 } },       // brain stem
  { 17, 53, true, { 73, 8 }, { 114, 9 } },      // hippocampus
  { 18, 54, true, { 72, 7 }, { 113, 8 } },      // amygdala
  { 24, 24, false, { 30, 10 }, { 200, 16 } },   // fluid around the brain
  { 25, 57, true, { 80, 12 }, { 135, 14 } },    // lesion
  { 26, 58, true, { 74, 7 }, { 105, 8 } },      // accumbens
  { 28, 60, true, { 92, 8 }, { 84, 8 } },       // ventral diencephalon
  { 30, 62, true, { 60, 12 }, { 120, 15 } },    // vessel
  { 31, 63, true, { 45, 12 }, { 165, 18 } },    // choroid plexus
  { 72, 72, true, { 30, 9 }, { 198, 14 } },     // fifth ventricle
  { 77, 77, true, { 80, 10 }, { 125, 12 } },    // white matter hypointensities
  { 80, 80, true, { 78, 10 }, { 125, 12 } },    // other hypointensities
  { 85, 85, true, { 82, 9 }, { 95, 9 } },       // optic chiasm
  { 136, 163, true, { 45, 12 }, { 165, 18 } },  // choroid plexus of the lateral ventricle
  { 137, 164, true, { 45, 12 }, { 165, 18 } },  // choroid plexus of the inferior horn
  { 251, 252, true, { 108, 6 }, { 77, 6 } },    // corpus callosum, posterior
  { 253, 254, true, { 108, 6 }, { 77, 6 } },    // corpus callosum, central
  { 255, 255, true, { 108, 6 }, { 77, 6 } },    // corpus callosum, anterior
  { 502, 502, false, { 20, 8 }, { 25, 10 } },   // artery
  { 506, 506, false, { 32, 6 }, { 215, 10 } },  // eye
  { 507, 507, false, { 84, 20 }, { 62, 16 } },  // other soft tissue
  { 508, 508, false, { 58, 8 }, { 48, 8 } },    // muscle
  { 509, 509, false, { 64, 14 }, { 150, 20 } }, // mucosa
  { 511, 511, false, { 98, 14 }, { 72, 12 } },  // skin
  { 512, 512, false, { 86, 8 }, { 90, 8 } },    // spinal cord
  { 514, 514, false, { 38, 12 }, { 55, 14 } },  // vein
  { 515, 515, false, { 14, 5 }, { 12, 5 } },    // compact bone
  { 516, 516, false, { 92, 16 }, { 66, 13 } },  // spongy bone
  { 530, 530, false, { 82, 8 }, { 92, 8 } },    // optic nerve
};

} // namespace

LabelTable
BuiltInTable(const std::string & contrast)
{
  LabelTable table;
  for (const Tissue & tissue : Tissues)
  {
    table[tissue.left] = table[tissue.right] = contrast == "t1" ? tissue.t1 : tissue.t2;
  }
  return table;
}

std::set<LabelSource::Label>
BrainLabels()
{
  std::set<LabelSource::Label> labels;
  for (const Tissue & tissue : Tissues)
  {
    if (tissue.brain)
    {
      labels.insert({ tissue.left, tissue.right });
    }
  }
  return labels;
}

LabelTable
ReadLabelTable(const std::string & file)
{
  RequireRegularFile(file, "table");
  std::ifstream in(file);
  if (!in)
  {
    throw CommandError("table '" + file + "' cannot be opened");
  }
  LabelTable  table;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number)
  {
    if (line.find_first_not_of(" \t\r") == std::string::npos)
    {
      continue;
    }
    std::istringstream fields(line);
    int                label = 0;
    char               first = 0, second = 0;
    LabelStatistics    entry;
    const bool         whole =
      fields >> label >> first >> entry.mean >> second >> entry.deviation && first == ',' && second == ',';
    if (!whole && number == 1)
    {
      continue;
    }
    const std::string where = "table '" + file + "', line " + std::to_string(number) + ": ";
    if (!whole || !(entry.deviation >= 0) || label != LabelSource::Label(label))
    {
      throw CommandError(where + "not of the form label,mean,sd");
    }
    constexpr double Largest = 1e18; // as for the voxels of images
    if (!(std::abs(entry.mean) <= Largest && entry.deviation <= Largest))
    {
      throw CommandError(where + "a mean or a deviation beyond 1e18");
    }
    if (!table.emplace(LabelSource::Label(label), entry).second)
    {
      throw CommandError(where + "label " + std::to_string(label) + " is there twice");
    }
  }
  if (table.empty())
  {
    throw CommandError("table '" + file + "' is empty");
  }
  return table;
}

void
RequireEntries(const LabelTable & table, const std::vector<LabelSource::Label> & labels, const std::string & where)
{
  std::string missing;
  for (const LabelSource::Label label : labels)
  {
    if (table.count(label) == 0)
    {
      missing += (missing.empty() ? "" : ", ") + std::to_string(label);
    }
  }
  if (!missing.empty())
  {
    throw CommandError(where + " says nothing about label " + missing +
                       ": give --table FILE.csv with label,mean,sd for each");
  }
}
