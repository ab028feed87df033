//===- KernelEstimate.cpp - The predicted time of a kernel ----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEstimate.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mmx/Conversion/Passes.h"
#include "targets.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::tile;

/// Between two events around a kernel that does nothing.
static constexpr double launchTime = 4e-6;
/// Shared memory that a block needs besides its own, and threads and blocks of
/// a multiprocessor.
static constexpr int64_t reservedBytes = 1024, threadsPerCore = 2048,
                         blocksPerCore = 32;

/// Bytes in a cycle that every multiprocessor gets from the cache that they
/// share when all ask.
static constexpr double cacheBytes = 32;

FailureOr<KernelNeeds> mmx::findKernelNeeds(KernelOp kernel) {
  OwningOpRef<ModuleOp> module(ModuleOp::create(kernel.getLoc()));
  module->push_back(kernel->clone());
  KernelNeeds needs;
  needs.scheduled = static_cast<bool>(kernel.getScheduleAttr());
  PassManager manager(kernel.getContext());
  if (needs.scheduled)
    manager.addPass(createConvertTileToHopper());
  else
    manager.addPass(createConvertTileToSIMT());
  if (failed(manager.run(*module)))
    return failure();
  Operation *function = module->lookupSymbol(kernel.getSymName());
  auto number = [&](StringRef name) {
    return function->getAttrOfType<IntegerAttr>(name).getInt();
  };
  needs.threads = number("mmx.threads");
  needs.shared = number("mmx.shared");
  return needs;
}

/// Roles that alternate or load have the registers of the multiprocessor to
/// themselves; the lowering for threads leaves the registers to the assembler.
static int64_t countPerCore(const KernelNeeds &needs, const Target &target) {
  if (needs.scheduled)
    return 1;
  int64_t byShared =
      (target.sramBytes + reservedBytes) / (needs.shared + reservedBytes);
  return std::max<int64_t>(
      std::min({byShared, threadsPerCore / needs.threads, blocksPerCore}), 1);
}

/// The time of a multiprocessor that runs `cells` cells at a time.
static double timeWave(const CellTime &cell, double cells) {
  return std::max(cell.cycles, cells * cell.issue);
}

static FailureOr<CellTime> timeCell(KernelOp kernel, const KernelWork &work,
                                    const KernelNeeds &needs,
                                    double tensorRate) {
  if (!needs.scheduled)
    return timeBlock(kernel, work, needs.threads);
  FailureOr<ScheduleInfo> info = ScheduleInfo::create(kernel);
  if (failed(info))
    return failure();
  FailureOr<RolePrograms> programs = RolePrograms::derive(*info);
  if (failed(programs))
    return failure();
  return timeRoles(*info, *programs, work, tensorRate);
}

FailureOr<KernelEstimate> mmx::estimateKernel(KernelOp kernel,
                                              ArrayRef<int64_t> extents,
                                              const KernelNeeds &needs,
                                              const Target &target) {
  FailureOr<KernelWork> work = KernelWork::measure(kernel, extents);
  if (failed(work))
    return failure();
  auto cells = static_cast<int64_t>(work->activeCells);
  KernelEstimate estimate{*work, {}, needs};
  if (cells == 0)
    return estimate;
  double tensorRate = target.matrixRate / double(target.cores) / target.clock;
  FailureOr<CellTime> cell = timeCell(kernel, *work, needs, tensorRate);
  if (failed(cell))
    return failure();
  estimate.cell = *cell;
  estimate.perCore = countPerCore(needs, target);
  int64_t together = target.cores * estimate.perCore;
  estimate.waves = (cells + together - 1) / together;
  int64_t rest = cells - (estimate.waves - 1) * together;
  double cycles =
      double(estimate.waves - 1) * timeWave(*cell, double(estimate.perCore)) +
      timeWave(*cell, std::ceil(double(rest) / double(target.cores)));
  estimate.chain = cycles / target.clock;
  estimate.memory = work->distinctBytes / (target.bandwidth * copyShare);
  if (needs.scheduled)
    estimate.tensor = work->flops / target.matrixRate;
  estimate.cache =
      work->movedBytes / (cacheBytes * double(target.cores) * target.clock);
  estimate.total =
      launchTime + std::max({estimate.chain, estimate.memory, estimate.cache});
  return estimate;
}

//===----------------------------------------------------------------------===//
// In words
//===----------------------------------------------------------------------===//

/// Iterations of the loop that a cell runs most, among those with products.
static double countSteps(KernelOp kernel, const KernelWork &work) {
  double steps = 0;
  kernel.walk([&](MmaOp mma) { steps = std::max(steps, work.getRuns(mma)); });
  return steps;
}

static std::string describeRegisters(KernelOp kernel,
                                     const KernelNeeds &needs) {
  if (!needs.scheduled)
    return "registers as the assembler gives them";
  std::string text = "registers";
  llvm::raw_string_ostream stream(text);
  for (RoleAttr role : kernel.getScheduleAttr().getRoles()) {
    stream << " @" << role.getName().getValue() << " "
           << (role.getWarps() == 1 ? 24 : role.getRegs());
    if (role.getInstances() > 1)
      stream << " x " << role.getInstances();
  }
  return text;
}

std::string KernelEstimate::describe(KernelOp kernel,
                                     const Target &target) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto us = [](double seconds) {
    return llvm::formatv("{0:f1} us", seconds * 1e6).str();
  };
  stream << "@" << kernel.getSymName() << " on "
         << llvm::StringRef(target.name.data(), target.name.size())
         << ": predicted " << us(total) << ", limited by "
         << (total <= 2 * launchTime            ? "the launch"
             : memory >= std::max(chain, cache) ? "memory"
             : cache >= chain                   ? "the shared cache"
                                                : "the cells")
         << "; " << llvm::formatv("{0:f1}", work.distinctBytes / 1e6)
         << " MB are " << us(memory) << " of memory, "
         << llvm::formatv("{0:f1}", work.movedBytes / 1e6)
         << " MB enter or leave multiprocessors in " << us(cache) << ", "
         << llvm::formatv("{0:f2}", work.flops / 1e9) << " GFLOP";
  if (needs.scheduled)
    stream << " are " << us(tensor) << " of tensor cores";
  stream << "; ";
  if (double(work.getCells()) > work.activeCells)
    stream << static_cast<int64_t>(work.activeCells) << " of ";
  stream << work.getCells()
         << (work.getCells() == 1 ? " cell takes " : " cells take ")
         << us(cell.cycles / target.clock);
  if (double steps = countSteps(kernel, work); steps > 1) {
    stream << " (" << llvm::formatv("{0:f0}", cell.cycles / steps)
           << " cycles for each of " << llvm::format("%.6g", steps)
           << " iterations";
    if (needs.scheduled)
      stream << ", tensor cores busy in "
             << llvm::formatv("{0:f0}", cell.tensor / steps)
             << ", shared memory in "
             << llvm::formatv("{0:f0}", cell.shared / steps);
    stream << ")";
  }
  stream << " each, " << perCore << " at a time on each of " << target.cores
         << " multiprocessors, in " << waves
         << (waves == 1 ? " wave; " : " waves; ") << needs.threads
         << " threads, " << needs.shared << " bytes of shared memory, "
         << describeRegisters(kernel, needs);
  return text;
}
