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
#ifndef ffdpLabelTable_h
#define ffdpLabelTable_h

#include "ffdpLabelSource.h"

#include <map>
#include <set>
#include <string>

/** How the voxels of a label look: independent, normal. */
struct LabelStatistics
{
  double mean = 0;
  double deviation = 0;
};

using LabelTable = std::map<LabelSource::Label, LabelStatistics>;

/** Intensities for the labels of FreeSurfer and SynthSeg, which the procedural head also has. contrast: t1 or t2. */
LabelTable
BuiltInTable(const std::string & contrast);

/** One's own: lines of label,mean,sd (anything behind them is left alone); a first line without numbers is a header. */
LabelTable
ReadLabelTable(const std::string & file);

/** The labels of FreeSurfer and SynthSeg that remain when a skull is stripped: the brain with its ventricles, without
 * the fluid around it. */
std::set<LabelSource::Label>
BrainLabels();

/** Throws CommandError, which names them, if labels have no entry. `where` names the table. */
void
RequireEntries(const LabelTable & table, const std::vector<LabelSource::Label> & labels, const std::string & where);

#endif
