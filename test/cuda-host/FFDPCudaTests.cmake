# The tests that run on the harness and on a GPU.

# Test bodies that the CPU's primitives have, too: the functions that they call are defined by ffdpDevice*.cxx, which
# copy what they are given to the device and call the kernels.
set(FFDPCudaTestBodies
  ffdpAdamCompositionGTest.cxx
  ffdpAdamGTest.cxx
  ffdpCompositionGTest.cxx
  ffdpDownsampleGTest.cxx
  ffdpEdgeStrengthGTest.cxx
  ffdpFoldRepairGTest.cxx
  ffdpGaussianGTest.cxx
  ffdpImageSlopeGTest.cxx
  ffdpInverseGTest.cxx
  ffdpJacobianGTest.cxx
  ffdpLocalCorrelationGTest.cxx
  ffdpMeanSquaresGTest.cxx
  ffdpMutualInformationGTest.cxx
  ffdpResampleGTest.cxx
  ffdpSamplerBackwardGTest.cxx
  ffdpSamplerGTest.cxx
  ffdpStatisticsGTest.cxx
  ffdpWarpGridGTest.cxx
  ffdpWarpProductsGTest.cxx
)
list(TRANSFORM FFDPCudaTestBodies PREPEND ${FFDP_SOURCE_DIR}/test/)

set(FFDPCudaSharedTests
  ffdpCudaAdamGTest.cxx
  ffdpCudaCompositionGTest.cxx
  ffdpCudaDeviceMetricGTest.cxx
  ffdpCudaDownsampleGTest.cxx
  ffdpCudaEdgeStrengthGTest.cxx
  ffdpCudaFoldRepairGTest.cxx
  ffdpCudaGaussianGTest.cxx
  ffdpCudaImageSlopeGTest.cxx
  ffdpCudaInverseGTest.cxx
  ffdpCudaJacobianGTest.cxx
  ffdpCudaLocalCorrelationGTest.cxx
  ffdpCudaMeanSquaresGTest.cxx
  ffdpCudaMutualInformationGTest.cxx
  ffdpCudaRadixSortGTest.cxx
  ffdpCudaRegistrationEstimateGTest.cxx
  ffdpCudaRegistrationGTest.cxx
  ffdpCudaResampleGTest.cxx
  ffdpCudaSamplerGTest.cxx
  ffdpCudaStatisticsGTest.cxx
  ffdpCudaVoxelwiseGTest.cxx
  ffdpCudaWarpGridGTest.cxx
  ffdpDeviceAdam.cxx
  ffdpDeviceComposition.cxx
  ffdpDeviceDownsample.cxx
  ffdpDeviceEdgeStrength.cxx
  ffdpDeviceFoldRepair.cxx
  ffdpDeviceGaussian.cxx
  ffdpDeviceImageSlope.cxx
  ffdpDeviceInverse.cxx
  ffdpDeviceJacobian.cxx
  ffdpDeviceLocalCorrelation.cxx
  ffdpDeviceMeanSquares.cxx
  ffdpDeviceMutualInformation.cxx
  ffdpDeviceResample.cxx
  ffdpDeviceSampler.cxx
  ffdpDeviceStatistics.cxx
  ffdpDeviceWarpGrid.cxx
  ffdpDeviceWarpProducts.cxx
  ffdpTestDevice.cxx
)
list(TRANSFORM FFDPCudaSharedTests PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
list(APPEND FFDPCudaSharedTests ${FFDPCudaTestBodies})
