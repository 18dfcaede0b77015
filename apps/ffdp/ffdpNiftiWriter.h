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
#ifndef ffdpNiftiWriter_h
#define ffdpNiftiWriter_h

#include "ffdpCommunicator.h"
#include "ffdpDimension.h"

#include "itkImage.h"
#include "itkVector.h"

#include <string>
#include <vector>

/** NIfTI files of floats as ITK writes them, with the header that ITK makes, on all threads and without a copy of the
 * voxels. Each writes to the very name that it is given.
 *
 * All ranks make these calls, each with the planes that it owns (see ffdp::Partition), and the file has the same bytes
 * for any number of them. Planes of a .nii.gz go to rank 0 in the order of the file, a few megabytes at a time; each
 * rank writes its own planes of a .nii in place. Where one rank cannot write, all throw CommandError. Without a
 * communicator: all planes.
 *
 * dimension 2: the image has one plane, and is written as ITK writes one of two dimensions; of vectors, x and y. */
void
WriteNifti(const itk::Image<float, 3> * image,
           const std::string &          file,
           ffdp::Communicator &         communicator,
           unsigned int                 dimension = SpaceDimension);
void
WriteNifti(const itk::Image<float, 3> * image, const std::string & file, unsigned int dimension = SpaceDimension);

void
WriteNifti(const itk::Image<itk::Vector<float, 3>, 3> * field,
           const std::string &                          file,
           unsigned int                                 dimension = SpaceDimension);

/** Displacements in voxels of a grid (three planar volumes of the planes that this rank owns) as a field in mm. */
void
WriteNiftiWarp(const std::vector<float> & warp,
               const itk::ImageBase<3> *  grid,
               const std::string &        file,
               ffdp::Communicator &       communicator,
               unsigned int               dimension = SpaceDimension);

/** Throws CommandError for an image with more voxels along an axis than a NIfTI file can say; `what` names it. */
void
RequireNiftiSize(const itk::ImageBase<3> * image, const std::string & what);

#endif
