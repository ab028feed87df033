//===- CudaApiTest.cpp - Our declarations against those of CUDA -----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where CUDA is installed, the compiler checks the values and layouts of
// CudaApi.h. Otherwise this file is empty.
//
//===----------------------------------------------------------------------===//

#if __has_include(<cuda.h>)

#include "runtime/device/CudaApi.h"

#include <cstddef>
#include <cuda.h>
#include <type_traits>

namespace cuda = mmx::runtime::cuda;

static_assert(cuda::success == CUDA_SUCCESS);
static_assert(cuda::outOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(cuda::noDevice == CUDA_ERROR_NO_DEVICE);
static_assert(cuda::invalidImage == CUDA_ERROR_INVALID_IMAGE);
static_assert(cuda::noBinaryForGpu == CUDA_ERROR_NO_BINARY_FOR_GPU);
static_assert(cuda::computeCapabilityMajor ==
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(cuda::computeCapabilityMinor ==
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(cuda::maxThreadsPerBlock ==
              CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
static_assert(cuda::maxDynamicShared ==
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(cuda::nonPortableCluster ==
              CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
static_assert(cuda::jitErrorLog == CU_JIT_ERROR_LOG_BUFFER);
static_assert(cuda::jitErrorLogSize == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
static_assert(cuda::streamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(cuda::captureThreadLocal == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
static_assert(cuda::eventDefault == CU_EVENT_DEFAULT);
static_assert(cuda::eventDisableTiming == CU_EVENT_DISABLE_TIMING);
static_assert(cuda::attributeCluster == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
static_assert(cuda::attributeProgrammatic ==
              CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
static_assert(cuda::mapUInt8 == CU_TENSOR_MAP_DATA_TYPE_UINT8);
static_assert(cuda::mapInt32 == CU_TENSOR_MAP_DATA_TYPE_INT32);
static_assert(cuda::mapFloat32 == CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
static_assert(cuda::mapFloat64 == CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
static_assert(cuda::mapBFloat16 == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
static_assert(cuda::promote128Bytes == CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
static_assert(CU_TENSOR_MAP_SWIZZLE_32B == 1 &&
              CU_TENSOR_MAP_SWIZZLE_64B == 2 &&
              CU_TENSOR_MAP_SWIZZLE_128B == 3);
static_assert(CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA == 1);

static_assert(std::is_same_v<cuda::Device, CUdevice>);
static_assert(std::is_same_v<cuda::Pointer, CUdeviceptr>);
static_assert(sizeof(cuda::TensorMap) == sizeof(CUtensorMap) &&
              alignof(cuda::TensorMap) >= 64);
static_assert(sizeof(cuda::LaunchAttribute) == sizeof(CUlaunchAttribute) &&
              offsetof(cuda::LaunchAttribute, value) ==
                  offsetof(CUlaunchAttribute, value));
static_assert(sizeof(cuda::LaunchConfig) == sizeof(CUlaunchConfig) &&
              offsetof(cuda::LaunchConfig, stream) ==
                  offsetof(CUlaunchConfig, hStream) &&
              offsetof(cuda::LaunchConfig, attributeCount) ==
                  offsetof(CUlaunchConfig, numAttrs));

#endif
