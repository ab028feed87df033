//===- TileRoleEmitter.cpp - Code of roles as ops -------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tile-specialize-warps and tile-pipeline: the derived code of a kernel's roles
// written as tile.roles.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mmx/Dialect/Tile/TileRoleOps.h"
#include "mmx/Transforms/TilePasses.h"
#include "mmx/Transforms/TileRoleCode.h"

namespace mmx::tile {
#define GEN_PASS_DEF_TILEPIPELINE
#define GEN_PASS_DEF_TILESPECIALIZEWARPS
#include "mmx/Transforms/TilePasses.h.inc"
} // namespace mmx::tile

using namespace mlir;
using namespace mmx::tile;

namespace {
struct EmittedCounts {
  int64_t roles = 0, instructions = 0, sections = 0, copies = 0;
};

class RoleEmitter {
public:
  RoleEmitter(const ScheduleInfo &info, const RolePrograms &programs,
              bool pipelined)
      : info(info), programs(programs), pipelined(pipelined),
        builder(info.getKernel().getLoc(), info.getKernel().getContext()) {}

  FailureOr<EmittedCounts> emit();

private:
  void emitBarriers(unsigned ring);
  void emitRole(unsigned role);
  void emitLoop(const RoleCode &code);
  void emitSection(const RoleCode &code, StringRef kind, int64_t number,
                   const Section &section);
  void emitInstruction(const Instruction &instruction);
  void emitRun(const Instruction &instruction);
  FlatSymbolRefAttr getSymbol(StringRef name) {
    return FlatSymbolRefAttr::get(builder.getContext(), name);
  }

  IntegerAttr getInteger(int64_t value) {
    return builder.getI64IntegerAttr(value);
  }

  const ScheduleInfo &info;
  const RolePrograms &programs;
  bool pipelined;
  EmittedCounts counts;
  ImplicitLocOpBuilder builder;
};
} // namespace

FailureOr<EmittedCounts> RoleEmitter::emit() {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(info.getKernel());
  auto roles =
      RolesOp::create(builder, getSymbol(info.getKernel().getSymName()));
  builder.setInsertionPointToEnd(&roles.getBody().emplaceBlock());
  for (unsigned ring = 0; ring < info.rings.size(); ++ring)
    emitBarriers(ring);
  for (unsigned role = 0; role < info.roles.size(); ++role)
    emitRole(role);
  if (failed(verifyListing(info.getKernel(), roles)))
    return failure();
  return counts;
}

void RoleEmitter::emitBarriers(unsigned index) {
  const RingInfo &ring = info.rings[index];
  BarriersOp::create(builder, getSymbol(ring.getName()),
                     getInteger(ring.getDepth()),
                     getInteger(ring.local ? 0 : info.getFullCount(index)),
                     getInteger(info.getTransferBytes(index)),
                     getInteger(ring.local ? 0 : info.getEmptyCount(index)),
                     ring.multicast ? builder.getUnitAttr() : UnitAttr(),
                     ring.local ? builder.getUnitAttr() : UnitAttr());
}

void RoleEmitter::emitRole(unsigned role) {
  const RoleCode *code = programs.getCode(role, info.getKernel());
  if (!code)
    return;
  ++counts.roles;
  OpBuilder::InsertionGuard guard(builder);
  const RoleInfo &roleInfo = info.roles[role];
  auto op = RoleOp::create(builder, getSymbol(roleInfo.getName()),
                           getInteger(roleInfo.attr.getWarps()),
                           getInteger(roleInfo.getInstances()));
  builder.setInsertionPointToEnd(&op.getBody().emplaceBlock());
  emitLoop(*code);
}

void RoleEmitter::emitLoop(const RoleCode &code) {
  if (!pipelined)
    return emitSection(code, "step", 0, code.derived);
  for (auto [number, section] : llvm::enumerate(code.prologue))
    emitSection(code, "prologue", number, section);
  emitSection(code, "steady", 0, code.steady);
  for (auto [number, section] : llvm::enumerate(code.epilogue))
    emitSection(code, "epilogue", number, section);
  // With one stage the guarded form is the empty one: no iteration.
  if (code.stages > 1)
    emitSection(code, "guarded", 0, code.guarded);
}

void RoleEmitter::emitSection(const RoleCode &code, StringRef kind,
                              int64_t number, const Section &section) {
  ++counts.sections;
  OpBuilder::InsertionGuard guard(builder);
  FlatSymbolRefAttr loop;
  if (code.loop != info.getKernel())
    loop = getSymbol(info.getLoopName(code.loop));
  auto op = SectionOp::create(builder, builder.getStringAttr(kind),
                              getInteger(number), loop);
  builder.setInsertionPointToEnd(&op.getBody().emplaceBlock());
  for (const Instruction &instruction : section)
    emitInstruction(instruction);
}

void RoleEmitter::emitRun(const Instruction &instruction) {
  const ScheduledOp &op = info.ops.find(instruction.op)->second;
  int64_t copies =
      pipelined ? std::max<int64_t>(programs.getCopies(instruction.op), 1) : 1;
  counts.copies += copies > 1;
  RunOp::create(builder,
                builder.getStringAttr(instruction.op->getName().getStringRef()),
                getInteger(op.order), getInteger(op.stage), getInteger(copies));
}

void RoleEmitter::emitInstruction(const Instruction &instruction) {
  ++counts.instructions;
  int64_t stage = instruction.at.stage;
  auto onRing = [&]<typename OpTy>() {
    OpTy::create(builder, getSymbol(info.rings[instruction.ring].getName()),
                 getInteger(stage));
  };
  switch (instruction.kind) {
  case InstructionKind::Op:
    return emitRun(instruction);
  case InstructionKind::Loop: {
    OpBuilder::InsertionGuard guard(builder);
    auto loop =
        RunLoopOp::create(builder, getSymbol(info.getLoopName(instruction.op)),
                          getInteger(stage));
    builder.setInsertionPointToEnd(&loop.getBody().emplaceBlock());
    return emitLoop(*instruction.body);
  }
  case InstructionKind::WaitMma:
    WaitMmaOp::create(builder, getInteger(info.getOrder(instruction.op)),
                      pipelined ? getInteger(instruction.pending)
                                : IntegerAttr(),
                      getInteger(stage));
    return;
  case InstructionKind::WaitEmpty:
    return onRing.operator()<WaitEmptyOp>();
  case InstructionKind::Expect:
    return onRing.operator()<ExpectOp>();
  case InstructionKind::WaitStores:
    return onRing.operator()<WaitStoresOp>();
  case InstructionKind::Fence:
    return onRing.operator()<FenceOp>();
  case InstructionKind::ArriveFull:
    return onRing.operator()<ArriveFullOp>();
  case InstructionKind::WaitFull:
    return onRing.operator()<WaitFullOp>();
  case InstructionKind::ArriveEmpty:
    return onRing.operator()<ArriveEmptyOp>();
  case InstructionKind::TurnBegin:
    TurnBeginOp::create(builder, getSymbol(instruction.turn));
    return;
  case InstructionKind::TurnEnd:
    TurnEndOp::create(builder, getSymbol(instruction.turn));
    return;
  }
}

/// Puts the code of the roles behind `kernel`.
static FailureOr<EmittedCounts> emitRoles(KernelOp kernel, bool pipelined) {
  FailureOr<ScheduleInfo> info = ScheduleInfo::create(kernel);
  if (failed(info))
    return failure();
  FailureOr<RolePrograms> programs = RolePrograms::derive(*info);
  if (failed(programs))
    return failure();
  return RoleEmitter(*info, *programs, pipelined).emit();
}

namespace {
class TileSpecializeWarps
    : public mmx::tile::impl::TileSpecializeWarpsBase<TileSpecializeWarps> {
  void runOnOperation() override {
    SmallVector<KernelOp> kernels(getOperation().getOps<KernelOp>());
    for (KernelOp kernel : kernels) {
      if (!kernel.getScheduleAttr())
        continue;
      FailureOr<EmittedCounts> counts = emitRoles(kernel, /*pipelined=*/false);
      if (failed(counts))
        return signalPassFailure();
      numRoles += counts->roles;
      numInstructions += counts->instructions;
    }
  }
};

class TilePipeline : public mmx::tile::impl::TilePipelineBase<TilePipeline> {
  void runOnOperation() override {
    SmallVector<RolesOp> all(getOperation().getOps<RolesOp>());
    for (RolesOp roles : all) {
      auto kernel = getOperation().lookupSymbol<KernelOp>(roles.getKernel());
      if (!kernel) {
        roles.emitOpError("expected the kernel ") << roles.getKernelAttr();
        return signalPassFailure();
      }
      FailureOr<EmittedCounts> counts = emitRoles(kernel, /*pipelined=*/true);
      if (failed(counts))
        return signalPassFailure();
      roles.erase();
      numSections += counts->sections;
      numCopies += counts->copies;
    }
  }
};
} // namespace
