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
#ifndef itkFFDPStackDerivative_h
#define itkFFDPStackDerivative_h

#include "ffdpImageMetric.h"
#include "itkFFDPLinearJacobian.h"
#include "itkFFDPTransformStack.h"

#include "itkCompositeTransform.h"
#include "itkDisplacementFieldTransform.h"
#include "itkTransform.h"

#include <cstddef>
#include <string>
#include <vector>

/** From what is optimized in a stack of transforms to the derivatives that ffdp's metrics compute, and back. */
namespace itk
{
namespace FFDPMetricDetail
{

/** \class StackDerivative
 * \brief Which transforms of a stack are optimized, and the derivatives for them.
 *
 * Either a displacement field that is applied first (local support), or linear transforms anywhere (global support).
 * The linear transforms between two fields make a segment; each segment of which some are optimized has a derivative of
 * its own. Transforms must outlive this object. \ingroup FFDP
 */
template <typename TParametersValueType, unsigned int VDimension>
class StackDerivative
{
public:
  using TransformType = Transform<TParametersValueType, VDimension, VDimension>;
  using CompositeType = CompositeTransform<TParametersValueType, VDimension>;
  using FieldTransformType = DisplacementFieldTransform<TParametersValueType, VDimension>;
  using JacobianType = LinearJacobian<TParametersValueType, VDimension>;
  using GridType = ImageBase<VDimension>;

  /** Returns false and says why not if the fast path has no such derivative. */
  bool
  Read(const TransformType * transform,
       bool                  hasLocalSupport,
       const GridType *      grid,
       const GridType *      image,
       std::string &         whyNot);

  /** 1 for local support. */
  std::size_t
  GetNumberOfSegments() const
  {
    return m_Segments.size();
  }

  /** Sets up a problem for one of the derivatives. */
  void
  Plan(std::size_t segment, ffdp::MetricProblem & problem) const;

  /** The derivative for the parameters of one segment times `scale`, from the moments of its problem. */
  template <typename TDerivative>
  void
  Multiply(std::size_t segment, const ffdp::MapGradient & moments, double scale, TDerivative & derivative) const;

private:
  /** A transform of the stack, composites being opened. */
  struct Step
  {
    const TransformType *      transform;
    const FieldTransformType * field; ///< the same, or null
    bool                       isOptimized;
  };
  struct Segment
  {
    std::size_t               fieldsBefore;
    SizeValueType             firstParameter;
    std::vector<JacobianType> jacobian; ///< one, or none for a field
  };

  void
  ListSteps(const TransformType * transform, bool isOptimized);
  bool
  OptimizesFirstFieldOnly() const;
  bool
  ListSegments(const TransformType * transform, const FFDPTransformStackDetail::Probe & probe, std::string & whyNot);
  bool
  AddSegment(const TransformType *                   transform,
             std::size_t                             fieldsBefore,
             const FFDPTransformStackDetail::Probe & probe,
             std::string &                           whyNot);
  bool
  ReadSlopes(std::string & whyNot);
  static bool
  ReadSlope(const FieldTransformType * field,
            const ffdp::WarpStep &     step,
            ffdp::FieldSlope &         slope,
            std::string &              whyNot);
  static bool
  AgreesWithField(const FieldTransformType * field, const ffdp::WarpStep & step, const ffdp::FieldSlope & slope);

  std::vector<Step>             m_Steps; ///< in the order in which they are applied
  std::vector<Segment>          m_Segments;
  ffdp::WarpChain               m_Chain;
  std::vector<ffdp::FieldSlope> m_Slopes;
  ffdp::AffineMap               m_GridToPoint;
  ffdp::AffineMap               m_ImageToPoint;
  bool                          m_HasLocalSupport = false;
};

} // end namespace FFDPMetricDetail
} // end namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkFFDPStackDerivative.hxx"
#endif

#endif
