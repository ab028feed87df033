//===- RoleDelays.cpp - Warps that drift apart on purpose -----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleWriter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::hopper;

/// An eighth of the places, warps and iterations sleep, for at most this many
/// nanoseconds; a power of two.
static constexpr int64_t longestDelay = 2048;

/// One step of the murmur hash finalizer (Appleby, MurmurHash3).
static Value mix(Emitter &e, Value hash, int64_t factor) {
  Type type = hash.getType();
  Value high = arith::ShRUIOp::create(
      e, hash, arith::ConstantIntOp::create(e, type, 15));
  Value folded = arith::XOrIOp::create(e, hash, high);
  return arith::MulIOp::create(e, folded,
                               arith::ConstantIntOp::create(e, type, factor));
}

/// Before an instruction of a role: a delay that depends on the seed, the
/// place, the warp, the cell and the iteration.
void RoleWriter::delay(Value iteration) {
  if (race.delays == 0)
    return;
  Value hash = number32(int32_t(race.delays * 0x9E3779B1u + place++));
  Value cell = toI32(gpu::BlockIdOp::create(e, gpu::Dimension::x).getResult());
  for (gpu::Dimension dimension : {gpu::Dimension::y, gpu::Dimension::z})
    cell = arith::AddIOp::create(
        e, arith::MulIOp::create(e, cell, number32(131)),
        toI32(gpu::BlockIdOp::create(e, dimension).getResult()));
  for (Value part : {warp, cell, toI32(iteration)})
    hash = mix(e, arith::XOrIOp::create(e, hash, part), int32_t(0x85EBCA6B));
  hash = mix(e, hash, int32_t(0xC2B2AE35));
  Value chosen = arith::CmpIOp::create(
      e, arith::CmpIPredicate::eq,
      arith::ShRUIOp::create(e, hash, number32(29)), number32(0));
  e.ifThen(chosen, [&] {
    NVVM::NanosleepOp::create(
        e, arith::AndIOp::create(e, hash, number32(longestDelay - 1)));
  });
}
