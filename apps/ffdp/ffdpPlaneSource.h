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
#ifndef ffdpPlaneSource_h
#define ffdpPlaneSource_h

#include "ffdpImageHeader.h"
#include "ffdpVoxelLayout.h"

#include "ffdpVolume.h"

#include <memory>
#include <string>

/** Planes of the image in a file, as floats. */
class PlaneSource
{
public:
  virtual ~PlaneSource() = default;

  /** Whether any planes can be read without those before them, so that each rank reads its own. */
  virtual bool
  IsRandomAccess() const = 0;

  /** Values that lie side by side for a voxel; the file holds Volumes() such volumes, one after the other. */
  int
  ValuesPerVoxel() const
  {
    return m_ValuesPerVoxel;
  }
  int
  Volumes() const
  {
    return m_Volumes;
  }

  /** Without random access, in the order of the file. Throws CommandError for a file that was cut off or is broken. */
  virtual void
  Read(int volume, const ffdp::PlaneRange & planes, float * to) = 0;

protected:
  PlaneSource(int valuesPerVoxel, int volumes)
    : m_ValuesPerVoxel(valuesPerVoxel)
    , m_Volumes(volumes)
  {}

private:
  int m_ValuesPerVoxel;
  int m_Volumes;
};

/** The planes of an image whose header was read; `what` names it in messages. Raw voxels are read from the file itself,
 * and so are those in gzip or zlib, in order; HDF5 through ITK; with any other file ITK reads the whole image first.
 * Values are those that itk::ImageFileReader gives. */
std::unique_ptr<PlaneSource>
OpenPlanes(const std::string & file, const std::string & what, const ImageHeader & header);

/** Whether what was found in the file is what ITK says is in it, so that it can be read without ITK. */
bool
IsUnderstood(const VoxelLayout & layout, const ImageHeader & header);

/** Whether OpenPlanes() will hold the whole image of a file, in the type that it has. */
bool
NeedsWholeImage(const std::string & file, const ImageHeader & header);

#endif
