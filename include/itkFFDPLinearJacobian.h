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
#ifndef itkFFDPLinearJacobian_h
#define itkFFDPLinearJacobian_h

#include "ffdpSampler.h"
#include "itkFFDPLinearProbe.h"

#include "itkTransform.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace itk
{
namespace FFDPMetricDetail
{

/** The Jacobian of a linear transform with respect to its parameters, which is affine in the point: its values at D + 1
 * points say all. */
template <typename TParametersValueType, unsigned int VDimension>
class LinearJacobian
{
public:
  using TransformType = Transform<TParametersValueType, VDimension, VDimension>;
  using ProbeType = FFDPTransformStackDetail::Probe;

  LinearJacobian(const TransformType * transform, const ProbeType & probe);

  /** False if the Jacobian is not affine in the point after all. */
  bool
  IsAffine() const
  {
    return m_IsAffine;
  }

  SizeValueType
  GetNumberOfParameters() const
  {
    return m_Center.cols();
  }

  /** The derivative times `scale`, given the sums of d q^T and of d over points q in physical space. */
  template <typename TValue>
  void
  Multiply(const ffdp::MapGradient & moments, double scale, TValue * derivative) const;

private:
  using JacobianType = typename TransformType::JacobianType;

  static JacobianType
  JacobianAt(const TransformType * transform, const double * at);

  ProbeType    m_Probe;
  JacobianType m_Center;
  JacobianType m_Slope[VDimension]; ///< per mm along each physical axis
  bool         m_IsAffine = true;
};

template <typename TParametersValueType, unsigned int VDimension>
auto
LinearJacobian<TParametersValueType, VDimension>::JacobianAt(const TransformType * transform, const double * at)
  -> JacobianType
{
  typename TransformType::InputPointType point;
  for (unsigned int c = 0; c < VDimension; ++c)
  {
    point[c] = static_cast<TParametersValueType>(at[c]);
  }
  JacobianType jacobian;
  transform->ComputeJacobianWithRespectToParameters(point, jacobian);
  return jacobian;
}

template <typename TParametersValueType, unsigned int VDimension>
LinearJacobian<TParametersValueType, VDimension>::LinearJacobian(const TransformType * transform,
                                                                 const ProbeType &     probe)
  : m_Probe(probe)
{
  if (transform->GetNumberOfParameters() == 0) // the identity
  {
    return;
  }
  for (double & c : m_Probe.center) // points that the transform can tell apart
  {
    c = static_cast<TParametersValueType>(c);
  }
  m_Center = JacobianAt(transform, m_Probe.center);
  double       farthest[3] = { m_Probe.center[0], m_Probe.center[1], m_Probe.center[2] };
  JacobianType expected = m_Center;
  for (unsigned int c = 0; c < VDimension; ++c)
  {
    double at[3] = { m_Probe.center[0], m_Probe.center[1], m_Probe.center[2] };
    at[c] = farthest[c] = static_cast<TParametersValueType>(m_Probe.center[c] + m_Probe.reach);
    m_Slope[c] = JacobianAt(transform, at);
    m_Slope[c] -= m_Center;
    expected += m_Slope[c];
    m_Slope[c] /= static_cast<TParametersValueType>(at[c] - m_Probe.center[c]);
  }
  const JacobianType found = JacobianAt(transform, farthest);
  double             largest = 0;
  double             error = 0;
  for (unsigned int r = 0; r < found.rows(); ++r)
  {
    for (unsigned int p = 0; p < found.cols(); ++p)
    {
      largest = std::max({ largest, std::abs(double(found(r, p))), std::abs(double(m_Center(r, p))) });
      error = std::max(error, std::abs(double(found(r, p)) - double(expected(r, p))));
    }
  }
  m_IsAffine = error <= 1e3 * std::numeric_limits<TParametersValueType>::epsilon() * largest;
}

template <typename TParametersValueType, unsigned int VDimension>
template <typename TValue>
void
LinearJacobian<TParametersValueType, VDimension>::Multiply(const ffdp::MapGradient & moments,
                                                           double                    scale,
                                                           TValue *                  derivative) const
{
  for (unsigned int p = 0; p < m_Center.cols(); ++p)
  {
    double sum = 0;
    for (unsigned int r = 0; r < VDimension; ++r)
    {
      sum += moments[9 + r] * m_Center(r, p);
      for (unsigned int c = 0; c < VDimension; ++c)
      {
        sum += (moments[3 * r + c] - moments[9 + r] * m_Probe.center[c]) * m_Slope[c](r, p);
      }
    }
    derivative[p] = static_cast<TValue>(scale * sum);
  }
}

} // end namespace FFDPMetricDetail
} // end namespace itk

#endif
