//===- TileRoleTrace.cpp - What a role executes, in order -----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileRoleTrace.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mmx::tile;

namespace {

/// The sections of one loop by kind.
struct Sections {
  SmallVector<SectionOp> prologue, epilogue;
  SectionOp step, steady, guarded;
};

class Tracer {
public:
  Tracer(const ScheduleInfo &info, unsigned role, int64_t trips)
      : info(info), role(role), trips(trips) {}

  LogicalResult runLoop(Operation *listing, Operation *loop,
                        const Iteration &around);

  RoleTrace trace;

private:
  FailureOr<Sections> collect(Operation *listing, Operation *loop);
  LogicalResult runSection(SectionOp section, int64_t step, int64_t count,
                           bool guarded, Operation *loop,
                           const Iteration &around);
  LogicalResult run(Operation &instruction, Operation *loop,
                    const Iteration &iteration);
  FailureOr<Operation *> findItem(Operation *instruction, Operation *loop,
                                  int64_t order);
  int findRing(StringRef name);

  const ScheduleInfo &info;
  unsigned role;
  int64_t trips;
};

} // namespace

static int64_t getStageOf(Operation &instruction) {
  auto stage = instruction.getAttrOfType<IntegerAttr>("stage");
  return stage ? stage.getInt() : 0;
}

/// A step waits, skips or runs by stages; turns have none.
static bool hasStage(Operation &instruction) {
  return instruction.hasAttr("stage");
}

int Tracer::findRing(StringRef name) {
  for (auto [index, ring] : llvm::enumerate(info.rings))
    if (ring.getName() == name)
      return index;
  return -1;
}

FailureOr<Operation *> Tracer::findItem(Operation *instruction, Operation *loop,
                                        int64_t order) {
  for (Operation *item : info.getItems(loop, role))
    if (!info.isScheduledLoop(item) && info.getOrder(item) == order)
      return item;
  return instruction->emitOpError("expected an op of role @")
             << info.roles[role].getName() << " with order " << order
             << " in its loop",
         failure();
}

FailureOr<Sections> Tracer::collect(Operation *listing, Operation *loop) {
  Sections result;
  for (auto section : listing->getRegion(0).getOps<SectionOp>()) {
    StringRef kind = section.getKind();
    auto name = section.getLoop();
    if (loop == info.getKernel() ? name.has_value()
                                 : name != info.getLoopName(loop))
      return section.emitOpError("expected a section of its loop"), failure();
    auto *list = kind == "prologue"   ? &result.prologue
                 : kind == "epilogue" ? &result.epilogue
                                      : nullptr;
    SectionOp *single = kind == "step"      ? &result.step
                        : kind == "steady"  ? &result.steady
                        : kind == "guarded" ? &result.guarded
                                            : nullptr;
    int64_t number = section.getNumber();
    if (list ? number != static_cast<int64_t>(list->size())
             : !single || *single || number != 0)
      return section.emitOpError("expected sections to be numbered from 0, "
                                 "each once"),
             failure();
    if (list)
      list->push_back(section);
    else
      *single = section;
  }
  if (!result.step && !result.steady)
    return listing->emitOpError("expected a section 'step' or 'steady'"),
           failure();
  if (result.prologue.size() != result.epilogue.size())
    return listing->emitOpError("expected as many prologues as epilogues, but "
                                "got ")
               << result.prologue.size() << " and " << result.epilogue.size(),
           failure();
  return result;
}

LogicalResult Tracer::runLoop(Operation *listing, Operation *loop,
                              const Iteration &around) {
  FailureOr<Sections> sections = collect(listing, loop);
  if (failed(sections))
    return failure();
  int64_t count = loop == info.getKernel()  ? 1
                  : info.hasInnerLoop(loop) ? 2
                                            : trips;
  trace.loops.push_back({loop, listing, around, count});
  auto runAll = [&](SectionOp section, int64_t from, int64_t to, bool guarded) {
    for (int64_t step = from; step < to; ++step)
      if (failed(runSection(section, step, count, guarded, loop, around)))
        return failure();
    return success();
  };
  if (sections->step) {
    int64_t stages = 0;
    for (Operation &instruction : sections->step.getBody().front())
      stages = std::max(stages, getStageOf(instruction));
    return runAll(sections->step, 0, count + stages, /*guarded=*/true);
  }
  int64_t stages = sections->prologue.size();
  if (count >= stages) {
    for (auto [step, section] : llvm::enumerate(sections->prologue))
      if (failed(runAll(section, step, step + 1, false)))
        return failure();
    if (failed(runAll(sections->steady, stages, count, false)))
      return failure();
    for (auto [step, section] : llvm::enumerate(sections->epilogue))
      if (failed(runAll(section, count + step, count + step + 1, false)))
        return failure();
    return success();
  }
  if (sections->guarded)
    return runAll(sections->guarded, 0, count + stages, true);
  if (count == 0)
    return success();
  return listing->emitOpError("expected a section 'guarded' for fewer "
                              "iterations than stages");
}

LogicalResult Tracer::runSection(SectionOp section, int64_t step, int64_t count,
                                 bool guarded, Operation *loop,
                                 const Iteration &around) {
  for (Operation &instruction : section.getBody().front()) {
    if (!hasStage(instruction))
      continue;
    int64_t number = step - getStageOf(instruction);
    if (number < 0 || number >= count) {
      if (guarded)
        continue;
      return instruction.emitOpError("of stage ")
             << getStageOf(instruction)
             << " runs for an iteration that does not exist";
    }
    Iteration iteration = around;
    iteration.push_back(number);
    if (failed(run(instruction, loop, iteration)))
      return failure();
  }
  return success();
}

LogicalResult Tracer::run(Operation &instruction, Operation *loop,
                          const Iteration &iteration) {
  TraceStep step{&instruction};
  step.iteration = iteration;
  if (auto op = dyn_cast<RunOp>(instruction)) {
    FailureOr<Operation *> item = findItem(op, loop, op.getOrder());
    if (failed(item))
      return failure();
    step.item = *item;
    if ((*item)->getName().getStringRef() != op.getName() ||
        info.getStage(*item) != static_cast<int64_t>(op.getStage()))
      return op.emitOpError("expected ") << info.describe(*item);
  } else if (auto wait = dyn_cast<WaitMmaOp>(instruction)) {
    FailureOr<Operation *> item = findItem(wait, loop, wait.getOrder());
    if (failed(item))
      return failure();
    step.item = *item;
  } else if (auto inner = dyn_cast<RunLoopOp>(instruction)) {
    for (Operation *item : info.getItems(loop, role))
      if (info.isScheduledLoop(item) &&
          info.getLoopName(item) == inner.getLoop())
        step.item = item;
    if (!step.item)
      return inner.emitOpError("expected a loop of role @")
             << info.roles[role].getName();
    if (failed(runLoop(inner, step.item, iteration)))
      return failure();
  } else if (auto ring = instruction.getAttrOfType<FlatSymbolRefAttr>("ring")) {
    step.ring = findRing(ring.getValue());
    if (step.ring < 0)
      return instruction.emitOpError("expected a ring of the schedule");
    if (info.rings[step.ring].loop != loop)
      return instruction.emitOpError("expected to stand in the loop that "
                                     "fills the ring");
  }
  trace.steps.push_back(std::move(step));
  return success();
}

FailureOr<RoleTrace> mmx::tile::traceRole(const ScheduleInfo &info,
                                          RoleOp listing, unsigned role,
                                          int64_t trips) {
  Tracer tracer(info, role, trips);
  if (failed(tracer.runLoop(listing, info.getKernel(), {})))
    return failure();
  return std::move(tracer.trace);
}
