//===- ExpandMath.h - Elementary functions in plain arithmetic --*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_CONVERSION_TILELOWERING_EXPANDMATH_H
#define MMX_LIB_CONVERSION_TILELOWERING_EXPANDMATH_H

#include "mlir/IR/PatternMatch.h"

namespace mmx::lowering {

/// exp, sin, cos and others, and conversions of bf16, scalar or vector, as
/// arithmetic that gives the same bits on every processor: no call to libm and
/// no instruction that flushes subnormal numbers.
///
/// exp in f32 is within 1.1 ulp, subnormal results included. sin and cos in f64
/// are within 2 ulp for arguments up to 2^28; in f32 they are computed in f64.
void populateMathExpansions(mlir::RewritePatternSet &patterns);

} // namespace mmx::lowering

#endif // MMX_LIB_CONVERSION_TILELOWERING_EXPANDMATH_H
