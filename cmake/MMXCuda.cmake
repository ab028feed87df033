# CUDA is optional: only the assembler (ptxas), its disassemblers, with which
# machine code is checked, and cuda.h, for tests, are looked for. Under CI a
# missing assembler is an error, so that GPU tests cannot be skipped by accident.
find_program(MMX_PTXAS ptxas HINTS /usr/local/cuda/bin ENV CUDA_HOME
             PATH_SUFFIXES bin)
find_program(MMX_NVDISASM nvdisasm HINTS /usr/local/cuda/bin ENV CUDA_HOME
             PATH_SUFFIXES bin)
find_program(MMX_CUOBJDUMP cuobjdump HINTS /usr/local/cuda/bin ENV CUDA_HOME
             PATH_SUFFIXES bin)
find_path(MMX_CUDA_INCLUDE cuda.h HINTS /usr/local/cuda/include ENV CUDA_HOME
          PATH_SUFFIXES include)
if(MMX_PTXAS)
  message(STATUS "ptxas: ${MMX_PTXAS}")
elseif("$ENV{CI}" STREQUAL "true" AND MMX_BUILD_COMPILER)
  message(FATAL_ERROR
    "expected ptxas on this machine because CI=true, but found none; install "
    "the CUDA toolkit or set -DMMX_PTXAS=/path/to/ptxas")
else()
  message(STATUS "ptxas: not found, kernels for GPUs stay PTX")
endif()
