# CUDA is optional: only the assembler (ptxas) and its disassembler are looked
# for, and only for tests. Under CI a missing assembler is an error, so that
# GPU tests cannot be skipped by accident.
find_program(MMX_PTXAS ptxas HINTS /usr/local/cuda/bin ENV CUDA_HOME
             PATH_SUFFIXES bin)
find_program(MMX_CUOBJDUMP cuobjdump HINTS /usr/local/cuda/bin ENV CUDA_HOME
             PATH_SUFFIXES bin)
if(MMX_PTXAS)
  message(STATUS "ptxas: ${MMX_PTXAS}")
elseif("$ENV{CI}" STREQUAL "true" AND MMX_BUILD_COMPILER)
  message(FATAL_ERROR
    "expected ptxas on this machine because CI=true, but found none; install "
    "the CUDA toolkit or set -DMMX_PTXAS=/path/to/ptxas")
else()
  message(STATUS "ptxas: not found, kernels for GPUs stay PTX")
endif()
