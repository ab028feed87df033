//===- MMXInterpreterOps.h - One function for each mmx op -------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `evaluate(op, operands)` gives the results of one op. Operands have the
// types of the IR, but what their elements say (row numbers, tables) is
// checked here. An operand that nobody else holds is updated in place.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_REFERENCE_MMXINTERPRETEROPS_H
#define MMX_LIB_REFERENCE_MMXINTERPRETEROPS_H

#include "mmx/Dialect/MMX/MMXOps.h"
#include "mmx/Reference/Tensor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"

namespace mmx::reference {

using Values = llvm::SmallVector<Tensor>;
using Result = llvm::Expected<Values>;

/// "location: 'op' message".
llvm::Error makeError(mlir::Operation *op, const llvm::Twine &message);

/// Calls `body(begin, end)` on parts of [0, count), on several threads if
/// `count * cost` operations are worth it.
void parallelFor(int64_t count, int64_t cost,
                 llvm::function_ref<void(int64_t, int64_t)> body);

/// result[m, n] = sum_k lhs[m, k] rhs[n, k], row-major.
void multiplyTransposed(const double *lhs, int64_t m, const double *rhs,
                        int64_t n, int64_t k, double *result);

double sigmoid(double x);

//===----------------------------------------------------------------------===//
// Checks of tables
//===----------------------------------------------------------------------===//

/// Every entry lies in [0, count).
llvm::Error checkRange(mlir::Operation *op, llvm::StringRef name,
                       llvm::ArrayRef<int32_t> entries, int64_t count);
/// Every entry lies in [0, count) and none occurs twice.
llvm::Error checkDistinct(mlir::Operation *op, llvm::StringRef name,
                          llvm::ArrayRef<int32_t> entries, int64_t count);
/// `starts` rises from 0 to `tokens`.
llvm::Error checkStarts(mlir::Operation *op, llvm::ArrayRef<int32_t> starts,
                        int64_t tokens);

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

// Rows, norms, elementwise, heads.
Result evaluate(EmbeddingOp op, Values &operands);
Result evaluate(TakeRowsOp op, Values &operands);
Result evaluate(LinearOp op, Values &operands);
Result evaluate(RMSNormOp op, Values &operands);
Result evaluate(SumSquaresOp op, Values &operands);
Result evaluate(NormalizeOp op, Values &operands);
Result evaluate(SiluOp op, Values &operands);
Result evaluate(GateOp op, Values &operands);
Result evaluate(SwigluOp op, Values &operands);
Result evaluate(ResidualOp op, Values &operands);
Result evaluate(MixOp op, Values &operands);
Result evaluate(AddOp op, Values &operands);
Result evaluate(ConvertOp op, Values &operands);
Result evaluate(SplitHeadsOp op, Values &operands);
Result evaluate(MergeHeadsOp op, Values &operands);

// Attention.
Result evaluate(LightningAttentionOp op, Values &operands);
Result evaluate(LightningStepOp op, Values &operands);
Result evaluate(RopeTableOp op, Values &operands);
Result evaluate(RopeOp op, Values &operands);
Result evaluate(SoftmaxAttentionOp op, Values &operands);
Result evaluate(CacheAppendOp op, Values &operands);
Result evaluate(AttendOp op, Values &operands);

// Experts.
Result evaluate(RouteOp op, Values &operands);
Result evaluate(ExpertsOp op, Values &operands);
Result evaluate(GroupTokensOp op, Values &operands);
Result evaluate(ExpertsUpOp op, Values &operands);
Result evaluate(ExpertsDownOp op, Values &operands);
Result evaluate(CombineOp op, Values &operands);

// Blocks and segments.
Result evaluate(BlockScoresOp op, Values &operands);
Result evaluate(DecayMaskOp op, Values &operands);
Result evaluate(BlockValuesOp op, Values &operands);
Result evaluate(BlockReadoutOp op, Values &operands);
Result evaluate(QueryDecayOp op, Values &operands);
Result evaluate(KeyDecayOp op, Values &operands);
Result evaluate(BlockOuterOp op, Values &operands);
Result evaluate(BlockDecayOp op, Values &operands);
Result evaluate(SegmentTableOp op, Values &operands);
Result evaluate(ZeroStatesOp op, Values &operands);
Result evaluate(ScanStatesOp op, Values &operands);

} // namespace mmx::reference

#endif // MMX_LIB_REFERENCE_MMXINTERPRETEROPS_H
