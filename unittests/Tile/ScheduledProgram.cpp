//===- ScheduledProgram.cpp - Schedules under many interleavings ----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduledProgram.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "mmx/Reference/TileInputs.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <cstring>
#include <ostream>

using namespace mlir;
using namespace mmx::tile;

static MLIRContext &getContext() {
  static MLIRContext context = [] {
    DialectRegistry registry;
    registry.insert<affine::AffineDialect, arith::ArithDialect,
                    math::MathDialect, scf::SCFDialect, TileDialect>();
    return MLIRContext(registry, MLIRContext::Threading::DISABLED);
  }();
  return context;
}

int Outcomes::count(const std::string &outcome) const {
  auto it = counts.find(outcome);
  return it == counts.end() ? 0 : it->second;
}

int Outcomes::getNumFailed() const {
  int failed = 0;
  for (auto &[outcome, count] : counts)
    failed += outcome == "equal" ? 0 : count;
  return failed;
}

std::ostream &mmx::tile::operator<<(std::ostream &out,
                                    const Outcomes &outcomes) {
  if (outcomes.isRejected())
    return out << "rejected: " << outcomes.rejection;
  for (auto &[outcome, count] : outcomes.counts)
    out << outcome << " " << count << "  ";
  return out;
}

ScheduledProgram::ScheduledProgram(const std::string &file,
                                   std::vector<int64_t> extents,
                                   const Edits &edits)
    : extents(std::move(extents)) {
  auto buffer =
      llvm::MemoryBuffer::getFile(std::string(MMX_TILE_PROGRAMS) + "/" + file);
  EXPECT_TRUE(buffer) << file;
  std::string text = (*buffer)->getBuffer().str();
  for (auto &[from, to] : edits) {
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    for (; at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  }
  module = parseSourceString<ModuleOp>(text, &getContext());
  EXPECT_TRUE(module) << file;
  kernel = *module->getOps<KernelOp>().begin();
}

/// The part of a fault that says its kind.
static std::string classify(StringRef fault) {
  return fault.split(':').first.split(" on ").first.str();
}

static bool equalArrays(KernelOp kernel, const KernelInputs &a,
                        const KernelInputs &b) {
  for (auto [x, y] : llvm::zip_equal(a.arguments, b.arguments)) {
    size_t size = x.array ? x.array->getStorageSize() : 0;
    if (size && std::memcmp(x.array->getData(), y.array->getData(), size))
      return false;
  }
  return true;
}

Outcomes ScheduledProgram::run(int seeds, const ScheduleFaults &faults,
                               bool ghostPhases) {
  Outcomes outcomes;
  ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
    if (outcomes.rejection.empty())
      outcomes.rejection = diagnostic.str();
    return success();
  });
  FailureOr<ScheduleInfo> info = ScheduleInfo::create(kernel);
  if (failed(info))
    return outcomes;
  FailureOr<RolePrograms> programs = RolePrograms::derive(*info, faults);
  if (failed(programs))
    return outcomes;
  FailureOr<TileMachine> machine =
      TileMachine::create(*info, *programs, faults);
  FailureOr<KernelInputs> inputs = makeKernelInputs(kernel, extents, 1);
  if (failed(machine) || failed(inputs))
    return outcomes;
  KernelInputs expected = inputs->clone();
  if (failed(interpretKernel(kernel, expected.arguments)))
    return outcomes;
  for (int seed = 0; seed < seeds; ++seed) {
    KernelInputs actual = inputs->clone();
    TileMachineOptions options;
    options.seed = seed;
    options.ghostPhases = ghostPhases;
    std::string fault = machine->run(actual.arguments, options);
    if (!fault.empty())
      ++outcomes.counts[classify(fault)];
    else
      ++outcomes
            .counts[equalArrays(kernel, expected, actual) ? "equal" : "wrong"];
  }
  return outcomes;
}
