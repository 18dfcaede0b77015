# How tests run on several processes: more ranks than cores are usual here, so an idle rank yields its core (a suite takes
# many times as long otherwise), nothing is bound to a core, and each rank has one thread. It is said in the environment,
# which an MPI that is not Open MPI ignores.
set(FFDP_MPI_TEST_ENVIRONMENT
  ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS=1
  OMPI_ALLOW_RUN_AS_ROOT=1
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_btl_base_warn_component_unused=0
  OMPI_MCA_hwloc_base_binding_policy=none
  OMPI_MCA_mpi_yield_when_idle=1
  OMPI_MCA_rmaps_base_oversubscribe=1
  PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe)
