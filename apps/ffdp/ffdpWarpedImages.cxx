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
#include "ffdpWarpedImages.h"

#include "ffdpImageGrid.h"

#include "ffdpRingSampler.h"

#include <algorithm>

namespace
{

/** From voxels of one image to voxels of another, by a map of points. */
ffdp::AffineMap
IndexMap(const FloatImage * from, const ffdp::AffineMap & map, const FloatImage * to)
{
  return Compose(IndexToPhysical(to).Inverse(), Compose(map, IndexToPhysical(from)));
}

ffdp::CompositeMap
LinearPartOf(const ffdp::AffineMap & map)
{
  ffdp::CompositeMap composite;
  std::copy_n(map.matrix, 9, composite.A);
  std::copy_n(map.offset, 3, composite.t);
  return composite;
}

/** ITK's rule for what is inside, and 0 outside. */
ffdp::RingParameters
ItkBorder()
{
  ffdp::RingParameters parameters;
  parameters.sampler.border = ffdp::Border::Edge;
  return parameters;
}

ffdp::VolumeView<float>
OwnVoxels(FloatImage * image)
{
  const ffdp::PlaneRange planes = PlanesOf(image);
  return { image->GetBufferPointer(), ExtentOf(image), planes.first, planes.end - planes.first };
}

} // namespace

ffdp::WarpView<const float>
OwnWarp(const std::vector<float> & warp, const ffdp::RegistrationResult & result)
{
  const std::size_t   count = warp.size() / 3;
  const float * const u = warp.data();
  return ffdp::WarpView<const float>::Planar(u,
                                             u + count,
                                             u + 2 * count,
                                             result.warpSize,
                                             result.warpPlanes.first,
                                             result.warpPlanes.end - result.warpPlanes.first);
}

FloatImage::Pointer
WarpMoving(const ffdp::RegistrationResult & result,
           const FloatImage *               fixed,
           const FloatImage *               moving,
           ffdp::Backend &                  backend,
           ffdp::Communicator &             communicator)
{
  const ffdp::AffineMap map = IndexMap(fixed, result.affine, moving);
  ffdp::CompositeMap    composite = LinearPartOf(map);
  ffdp::WarpInput       warp;
  std::copy_n(map.matrix, 9, composite.S);
  if (result.hasWarp)
  {
    warp = OwnWarp(result.warp, result);
  }
  const auto warped = MakeOwnPlanes<FloatImage>(fixed, communicator);
  RingSample(backend, communicator, PlaceImage(moving).voxels, composite, warp, OwnVoxels(warped), ItkBorder());
  return warped;
}

FloatImage::Pointer
WarpFixed(const ffdp::RegistrationResult & result,
          const FloatImage *               fixed,
          const FloatImage *               moving,
          ffdp::Backend &                  backend,
          ffdp::Communicator &             communicator)
{
  const auto               warped = MakeOwnPlanes<FloatImage>(moving, communicator);
  const auto               output = OwnVoxels(warped);
  const ffdp::CompositeMap linear = LinearPartOf(IndexMap(moving, result.affine.Inverse(), fixed));
  std::vector<float>       displacement;
  ffdp::WarpInput          warp;
  if (result.hasWarp)
  {
    const std::int64_t count = output.planes * output.planeStride;
    displacement.resize(std::size_t(3 * count));
    float * const u = displacement.data();
    const auto    view =
      ffdp::WarpView<float>::Planar(u, u + count, u + 2 * count, output.domain, output.firstPlane, output.planes);
    for (int c = 0; c < 3; ++c)
    {
      RingSample(backend,
                 communicator,
                 OwnWarp(result.inverseWarp, result).Component(c),
                 linear,
                 {},
                 view.Component(c),
                 ItkBorder());
    }
    warp = view;
  }
  RingSample(backend, communicator, PlaceImage(fixed).voxels, linear, warp, output, ItkBorder());
  return warped;
}
