# The ITK modules that our headers and sources include, in one place for module mode (itk-module.cmake), plain mode and
# the installed package.
set(FFDP_ITK_MODULES
  ITKCommon
  ITKDisplacementField
  ITKImageFunction
  ITKImageGrid
  ITKMetricsv4
  ITKOptimizersv4
  ITKRegistrationMethodsv4
  ITKSpatialObjects
  ITKTransform
)
