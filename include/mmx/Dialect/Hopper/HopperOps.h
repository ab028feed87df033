//===- HopperOps.h - Operations of the hopper dialect -----------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_DIALECT_HOPPER_HOPPEROPS_H
#define MMX_DIALECT_HOPPER_HOPPEROPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Dialect/LLVMIR/NVVMRequiresSMTraits.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mmx/Dialect/Hopper/HopperDialect.h"

#define GET_OP_CLASSES
#include "mmx/Dialect/Hopper/HopperOps.h.inc"

#endif // MMX_DIALECT_HOPPER_HOPPEROPS_H
