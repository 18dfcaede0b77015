# The CUDA backend: compiled by NVIDIA's compiler into the library, and by the host's for the harness of test/cuda-host.
set(FFDP_CUDA_KERNELS
  ffdpCudaAdam.cu
  ffdpCudaComposition.cu
  ffdpCudaCorrelationMarch.cu
  ffdpCudaCorrelationSums.cu
  ffdpCudaCorrelationTile.cu
  ffdpCudaDownsample.cu
  ffdpCudaEdgeStrength.cu
  ffdpCudaFoldRepair.cu
  ffdpCudaGaussian.cu
  ffdpCudaImageGradient.cu
  ffdpCudaImageSlope.cu
  ffdpCudaIntensityHistogram.cu
  ffdpCudaInverse.cu
  ffdpCudaJacobian.cu
  ffdpCudaJointHistogram.cu
  ffdpCudaLocalCorrelation.cu
  ffdpCudaMaskCount.cu
  ffdpCudaMeanSquares.cu
  ffdpCudaMutualInformationGradient.cu
  ffdpCudaOldPlanes.cu
  ffdpCudaRadixSort.cu
  ffdpCudaResample.cu
  ffdpCudaSampler.cu
  ffdpCudaSamplerAdjoint.cu
  ffdpCudaSamplerBackward.cu
  ffdpCudaStatistics.cu
  ffdpCudaVoxelwise.cu
  ffdpCudaWarpGrid.cu
  ffdpCudaWarpProducts.cu
)
set(FFDP_CUDA_SRCS
  ffdpCudaBackend.cxx
  ffdpCudaDevice.cxx
  ${FFDP_CUDA_KERNELS}
)
list(TRANSFORM FFDP_CUDA_SRCS PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
set(FFDP_CUDA_INCLUDES
  ${CMAKE_CURRENT_LIST_DIR}
  ${CMAKE_CURRENT_LIST_DIR}/../cpu
  ${CMAKE_CURRENT_LIST_DIR}/../voxel
  ${CMAKE_CURRENT_LIST_DIR}/../../include)

# No contraction: a device rounds as the processor does. 554: a view of constants converts to itself, which is never asked.
set(FFDP_NVCC_OPTIONS --fmad=false --expt-relaxed-constexpr --diag-suppress=554)
