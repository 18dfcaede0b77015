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
#ifndef ffdpMemoryNeeds_h
#define ffdpMemoryNeeds_h

#include "ffdpMemory.h"

/** What each command will hold, from the headers of its files: no voxel is read. `register` and `plan` have an estimate
 * of their own, stage by stage (ffdpProblem.h). All functions throw CommandError for a file that cannot be read. */

/** Transforms alone, for points. */
MemoryNeed
NeedOfTransforms(const std::vector<std::string> & transforms);

/** `asFloats`: what is interpolated linearly becomes floats. */
MemoryNeed
NeedOfApply(const std::string &              image,
            const std::string &              reference,
            const std::vector<std::string> & transforms,
            bool                             asFloats,
            const std::string &              output);

/** Without a reference, all transforms go into one file. */
MemoryNeed
NeedOfCompose(const std::vector<std::string> & transforms, const std::string & reference, const std::string & output);

MemoryNeed
NeedOfInvert(const std::string & transform, const std::string & output);

MemoryNeed
NeedOfJacobian(const std::vector<std::string> & transforms, const std::string & reference, const std::string & output);

/** Empty names are of parts that are not evaluated. */
struct EvaluatedFiles
{
  std::string              fixedLabels, movedLabels, fixed, moved, mask, warp;
  std::vector<std::string> transforms;
  bool                     surfaces = true;
};

MemoryNeed
NeedOfEvaluate(const EvaluatedFiles & files);

/** What `synthesize` makes, in voxels. */
struct SyntheticSizes
{
  double      result = 0; ///< voxels of the image
  double      plane = 0;  ///< of which so many are in a plane
  double      nodes = 0;  ///< of the random warp
  std::string labels;     ///< the map that is painted, if any
  std::string output;
};

MemoryNeed
NeedOfSynthesize(const SyntheticSizes & sizes);

/** Of a volume of so many voxels. */
MemoryNeed
NeedOfBench(double voxels);

#endif
