//===- RoleWriter.cpp - Loops and sections of roles -----------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleWriter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::hopper;
using tile::Instruction;
using tile::InstructionKind;
using tile::RoleCode;
using tile::Section;

/// Bytes that builds for race checkers may spill more than others.
static constexpr int64_t raceSpills = 1024;

ThreadPlan::ThreadPlan(const tile::ScheduleInfo &info) {
  int64_t singles = 0;
  for (const tile::RoleInfo &role : info.roles) {
    bool single = role.attr.getWarps() == 1;
    firstGroup.push_back(single ? -1 : groups);
    warpInGroup.push_back(single ? singles++ : 0);
    if (!single)
      groups += role.getInstances();
  }
  for (int64_t &first : firstGroup)
    if (first < 0)
      first = groups;
  groups += singles > 0;
}

RoleWriter::RoleWriter(const tile::ScheduleInfo &info,
                       const tile::RolePrograms &programs,
                       const FragmentLayout &layout, OpBuilder &builder,
                       const RaceBuild &race)
    : BlockKernelCode(info.getKernel(), builder), info(info),
      programs(programs), layout(layout), plan(info, layout), race(race) {}

LogicalResult RoleWriter::lowerTileOp(Operation *op) {
  return op->emitOpError("expected a role");
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// What a schedule may say and this code cannot do yet.
LogicalResult RoleWriter::checkSupported() {
  auto follows = kernel->getAttrOfType<DenseI64ArrayAttr>("mmx.follows");
  int64_t views = llvm::count_if(kernel.getParams(), [](Value param) {
    return isa<tile::ViewType>(param.getType());
  });
  for (int64_t view : follows ? follows.asArrayRef() : ArrayRef<int64_t>())
    if (view < 0 || view >= views)
      return kernel.emitOpError("expected views below ")
             << views << " in mmx.follows, but got " << view;
  for (const tile::RoleInfo &role : info.roles) {
    if (role.isSplit())
      return kernel.emitOpError("expected no split roles for sm_90a, but @")
             << role.getName() << " has " << role.getInstances()
             << " parts; let them alternate";
    if (role.over && (info.hasInnerLoop(role.over) ||
                      role.over->getParentOp() != kernel.getOperation()))
      return kernel.emitOpError("expected the instances of @")
             << role.getName()
             << " to alternate over a loop of the kernel without inner loops";
  }
  for (auto &[op, scheduled] : info.ops) {
    if (scheduled.kind == tile::OpClass::Gather)
      return op->emitOpError("expected no gather in a kernel for sm_90a");
    if (scheduled.turn)
      return op->emitOpError("expected no turns in a kernel for sm_90a");
  }
  for (auto &[op, scheduled] : info.ops)
    for (Value value : op->getResults())
      if (failed(checkTile(op, value)))
        return failure();
  if (plan.getBytes() > tile::maxSharedBytes)
    return kernel.emitOpError("expected at most ")
           << tile::maxSharedBytes << " bytes of shared memory, but got "
           << plan.getBytes();
  return success();
}

LogicalResult RoleWriter::checkTile(Operation *op, Value value) {
  if (auto sram = dyn_cast<tile::SramType>(value.getType())) {
    if (sram.getShape().size() != 2)
      return op->emitOpError("expected tiles of rank 2 in shared memory for "
                             "sm_90a, but got ")
             << sram;
    if (!layout.getMatrix(value))
      return op->emitOpError("expected rows of a multiple of 32 bytes in "
                             "shared memory, but got ")
             << sram;
    return success();
  }
  auto frag = dyn_cast<tile::FragType>(value.getType());
  if (!frag)
    return success();
  if (info.roles[info.ops.lookup(op).role].attr.getWarps() != 4)
    return op->emitOpError("expected fragments in roles of 4 warps for sm_90a");
  int64_t rows = 64, cols = 8;
  if (frag.getShape().size() == 2)
    std::tie(rows, cols) = layout.getShape(value);
  else
    (layout.runsAlongRows(value) ? rows : cols) = frag.getShape()[0];
  if (rows % 64 != 0 || cols % 8 != 0)
    return op->emitOpError("expected fragments whose rows are a multiple of 64 "
                           "and columns of 8, but got ")
           << frag
           << (layout.isTransposed(value) ? ", which lies transposed" : "");
  return success();
}

func::FuncOp RoleWriter::createRoleFunction() {
  threads = ThreadPlan(info).groups * 128;
  func::FuncOp function =
      createFunction({threads, plan.getBytes()}, maps.size());
  function->setAttr("mmx.warp_groups", e.getUnitAttr());
  if (auto spills = kernel->getAttrOfType<IntegerAttr>("mmx.spills"))
    function->setAttr("mmx.spills",
                      e.getI64IntegerAttr(spills.getInt() +
                                          (isRaceBuild() ? raceSpills : 0)));
  // A single warp group has no use for moving registers between groups.
  for (const tile::RoleInfo &role : info.roles)
    if (int64_t registers = role.attr.getRegs(); hasOneGroup() && registers > 0)
      function->setAttr("mmx.registers", e.getI64IntegerAttr(registers));
  if (kernel->hasAttr("mmx.follows"))
    function->setAttr("mmx.programmatic", e.getUnitAttr());
  if (DenseI64ArrayAttr cluster = kernel.getClusterAttr()) {
    SmallVector<int64_t> sizes = {1, 1, 1};
    sizes[cluster[0]] = cluster[1];
    function->setAttr("mmx.cluster", e.getDenseI64ArrayAttr(sizes));
  }
  SmallVector<Attribute> recipes;
  for (const TensorMap &map : maps)
    recipes.push_back(describe(map));
  if (!recipes.empty())
    function->setAttr("mmx.tensor_maps", e.getArrayAttr(recipes));
  return function;
}

void RoleWriter::collectTensorMaps() {
  for (auto &[op, scheduled] : info.ops) {
    if (scheduled.kind == tile::OpClass::Load) {
      auto load = cast<tile::LoadOp>(op);
      MatrixAttr matrix = layout.getMatrix(load.getResult());
      int64_t rows = matrix.getRows();
      // Cells of a cluster share the rows where panels cannot be shared.
      int64_t cells = scheduled.multicast ? info.getClusterSize() : 1;
      if (matrix.getNumPanels() % cells != 0)
        rows /= cells;
      mapOf[op] = addTensorMap(load.getView(), load.getDims(), rows, matrix);
    } else if (scheduled.kind == tile::OpClass::StoreSlot) {
      auto store = cast<tile::StoreOp>(op);
      MatrixAttr matrix = layout.getMatrix(store.getTile());
      if (!layout.isTransposed(store.getTile()))
        mapOf[op] = addTensorMap(store.getView(), store.getDims(),
                                 matrix.getRows(), matrix);
    }
  }
}

void RoleWriter::setUpThreads() {
  Type i32 = e.getI32Type();
  thread = NVVM::ThreadIdXOp::create(e, i32);
  lane = arith::AndIOp::create(e, thread, number32(31));
  warp = arith::ShRUIOp::create(e, thread, number32(5));
  // The same value in all lanes: branches on it are uniform.
  Value all = number32(-1), zero = number32(0);
  warp = NVVM::ShflOp::create(e, i32, all, warp, zero, number32(31),
                              NVVM::ShflKind::idx, UnitAttr());
  group = arith::ShRUIOp::create(e, warp, number32(2));
  hiddenZero = arith::ShRUIOp::create(e, NVVM::DynamicSmemSize::create(e, i32),
                                      number32(31));
  if (info.getClusterSize() > 1)
    clusterRank = NVVM::ClusterId::create(e, i32);
}

void RoleWriter::initializeBarriers() {
  bool cluster = info.getClusterSize() > 1;
  Value first =
      arith::CmpIOp::create(e, arith::CmpIPredicate::eq, thread, number32(0));
  e.ifThen(first, [&] {
    for (auto [number, ring] : llvm::enumerate(info.rings)) {
      if (ring.local)
        continue;
      for (int64_t slot = 0; slot < ring.getDepth(); ++slot) {
        auto init = [&](int64_t offset, int64_t count) {
          NVVM::MBarrierInitOp::create(
              e, sharedAt(e.i64(offset + 8 * slot)),
              number32(race.threadArrivals ? 32 * count : count), Value());
        };
        init(plan.getFull(number), info.getFullCount(number));
        init(plan.getEmpty(number), info.getEmptyCount(number));
      }
    }
    NVVM::FenceMbarrierInitOp::create(e);
  });
  if (cluster) {
    NVVM::ClusterArriveOp::create(e, e.getUnitAttr());
    NVVM::ClusterWaitOp::create(e, e.getUnitAttr());
  } else {
    gpu::BarrierOp::create(e);
  }
}

LogicalResult RoleWriter::run(StringRef shared) {
  if (failed(checkSupported()))
    return failure();
  collectTensorMaps();
  func::FuncOp function = createRoleFunction();
  llvm::append_range(mapPointers,
                     function.getArguments().take_front(maps.size()));
  sharedBase = LLVM::AddressOfOp::create(
      e, LLVM::LLVMPointerType::get(e.getContext(), 3), shared);
  setUpThreads();
  initializeBarriers();
  if (kernel->hasAttr("mmx.precedes"))
    NVVM::GriddepcontrolOp::create(e,
                                   NVVM::GridDepActionKind::launch_dependents);
  if (failed(setUpCell(function, maps.size())))
    return failure();
  for (unsigned number = 0; number < info.roles.size(); ++number)
    if (failed(writeRole(number)))
      return failure();
  // Nobody leaves while others may still reach its shared memory.
  if (info.getClusterSize() > 1) {
    NVVM::ClusterArriveOp::create(e, e.getUnitAttr());
    NVVM::ClusterWaitOp::create(e, e.getUnitAttr());
  }
  func::ReturnOp::create(e);
  return success();
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// Those of a warp group; roles of one warp share a group, which the first of
/// them speaks for.
void RoleWriter::moveRegisters(int64_t registers, int64_t warpInGroup) {
  if (isWarpGroup() && registers > 0)
    NVVM::SetMaxRegisterOp::create(e, registers,
                                   NVVM::SetMaxRegisterAction::increase);
  else if (!isWarpGroup() && warpInGroup == 0)
    NVVM::SetMaxRegisterOp::create(e, tile::producerRegisters,
                                   NVVM::SetMaxRegisterAction::decrease);
}

LogicalResult RoleWriter::writeRole(unsigned number) {
  role = number;
  ThreadPlan threadPlan(info);
  const tile::RoleInfo &info = this->info.roles[number];
  int64_t first = threadPlan.firstGroup[number];
  int64_t count = isWarpGroup() ? info.getInstances() : 1;
  auto compare = [&](arith::CmpIPredicate predicate, Value a, int64_t b) {
    return arith::CmpIOp::create(e, predicate, a, number32(b)).getResult();
  };
  Value mine = compare(arith::CmpIPredicate::eq, group, first);
  if (count > 1)
    mine = e.both(compare(arith::CmpIPredicate::uge, group, first),
                  compare(arith::CmpIPredicate::ult, group, first + count));
  IRMapping outer = mapping;
  LogicalResult status = success();
  e.ifThen(mine, [&] {
    if (!hasOneGroup())
      moveRegisters(info.attr.getRegs(), threadPlan.warpInGroup[number]);
    instance = arith::SubIOp::create(e, group, number32(first));
    roleThread = arith::AndIOp::create(e, thread, number32(127));
    if (isWarpGroup()) {
      status = writeKernelBody(number);
      return;
    }
    Value inGroup = arith::AndIOp::create(e, warp, number32(3));
    Value chosen = compare(arith::CmpIPredicate::eq, inGroup,
                           threadPlan.warpInGroup[number]);
    e.ifThen(chosen, [&] { status = writeKernelBody(number); });
  });
  mapping = outer;
  return status;
}

bool RoleWriter::followsKernel(unsigned number) {
  auto follows = kernel->getAttrOfType<DenseI64ArrayAttr>("mmx.follows");
  if (!follows)
    return false;
  SmallVector<Value> views;
  for (Value param : kernel.getParams())
    if (isa<tile::ViewType>(param.getType()))
      views.push_back(param);
  auto touches = [&](Operation *op) {
    return llvm::any_of(follows.asArrayRef(), [&](int64_t view) {
      return llvm::is_contained(op->getOperands(), views[view]);
    });
  };
  // Scalars are read by all roles.
  bool scalars = kernel.getBody()
                     .walk([&](tile::TableOp op) {
                       return touches(op) ? WalkResult::interrupt()
                                          : WalkResult::advance();
                     })
                     .wasInterrupted();
  return scalars || llvm::any_of(info.ops, [&](auto &entry) {
           return entry.second.role == number && touches(entry.first);
         });
}

LogicalResult RoleWriter::writeKernelBody(unsigned number) {
  const RoleCode *code = programs.getCode(number, kernel);
  if (!code)
    return success();
  if (followsKernel(number))
    NVVM::GriddepcontrolOp::create(e, NVVM::GridDepActionKind::wait);
  State state;
  current.clear();
  if (failed(writeSteps(*code, state, e.i64(0), e.i64(0), e.i64(1))))
    return failure();
  // Shared memory must not go while stores read it.
  bool stores = llvm::any_of(info.ops, [&](auto &entry) {
    return entry.second.role == number &&
           entry.second.kind == tile::OpClass::StoreSlot;
  });
  if (stores)
    NVVM::CpAsyncBulkWaitGroupOp::create(e, 0, /*read=*/UnitAttr());
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void RoleWriter::age(State &state) {
  llvm::DenseMap<Key, Value> older;
  auto next = [](Key key) {
    return Key(key.first, key.second < 0 ? key.second : key.second + 1);
  };
  for (auto &[key, value] : state.tiles)
    older[next(key)] = value;
  state.tiles = std::move(older);
  for (Flight &flight : state.flights) {
    ++flight.age;
    if (flight.a.first)
      flight.a = next(flight.a);
  }
}

std::optional<std::pair<Value, int64_t>> RoleWriter::resolve(Value operand,
                                                             Operation *loop) {
  Block *body = tile::ScheduleInfo::getBody(loop);
  auto argument = dyn_cast<BlockArgument>(operand);
  if (argument && argument.getOwner() == body && isa<scf::ForOp>(loop))
    return std::pair(
        cast<scf::ForOp>(loop).getTiedLoopYieldedValue(argument)->get(), 1);
  if (operand.getParentBlock() == body)
    return std::pair(operand, 0);
  return std::nullopt;
}

/// Value of a fragment that an op of stage `stage` in `loop` uses.
Value RoleWriter::get(State &state, Value operand, int64_t stage,
                      Operation *loop) {
  auto found = resolve(operand, loop);
  // What stands outside the innermost loop does not age while it runs.
  Key key = found ? Key(found->first, stage + found->second) : Key(operand, -1);
  return state.tiles.lookup(key);
}

SmallVector<RoleWriter::Key> RoleWriter::getCarried(const RoleCode &code) {
  llvm::MapVector<Value, int64_t> oldest;
  auto loop = cast<scf::ForOp>(code.loop);
  auto note = [&](Value value, int64_t age) {
    int64_t &most = oldest[value];
    most = std::max(most, age);
  };
  for (const Instruction &instruction : code.derived) {
    // A product in flight keeps what it reads until it is waited for.
    if (instruction.kind != InstructionKind::Op &&
        instruction.kind != InstructionKind::WaitMma)
      continue;
    for (Value operand : tile::ScheduleInfo::getTiles(instruction.op))
      if (isa<tile::FragType>(operand.getType()))
        if (auto found = resolve(operand, code.loop))
          note(found->first, instruction.at.stage + found->second);
  }
  for (auto [yielded, result] :
       llvm::zip(loop.getYieldedValues(), loop.getResults()))
    if (isa<tile::FragType>(yielded.getType()) && yielded.getDefiningOp() &&
        info.ops.contains(yielded.getDefiningOp()) &&
        info.ops.lookup(yielded.getDefiningOp()).role == role)
      note(yielded, std::max<int64_t>(code.stages, 1));
  SmallVector<Key> carried;
  for (auto [value, age] : oldest) {
    Operation *op = value.getDefiningOp();
    auto scheduled = op ? info.ops.find(op) : info.ops.end();
    if (scheduled == info.ops.end() || scheduled->second.role != role)
      continue;
    for (int64_t a = scheduled->second.stage + 1; a <= age; ++a)
      carried.push_back({value, a});
  }
  return carried;
}

/// Iterations of the loop that this instance runs: those whose running count
/// is the number of the instance modulo their number.
LogicalResult RoleWriter::writeLoop(const RoleCode &code, State &state) {
  auto loop = cast<scf::ForOp>(code.loop);
  const tile::RoleInfo &roleInfo = info.roles[role];
  int64_t instances = roleInfo.over == loop ? roleInfo.getInstances() : 1;
  Value from = e.toI64(lookup(loop.getLowerBound()));
  Value to = e.toI64(lookup(loop.getUpperBound()));
  Value step = e.toI64(lookup(loop.getStep()));
  Value all =
      e.max(arith::CeilDivSIOp::create(e, e.sub(to, from), step).getResult(),
            e.i64(0));
  Value base = state.bases.lookup(loop);
  if (!base)
    base = e.i64(0);
  Value first = e.i64(0), mine = all;
  if (instances > 1) {
    first = arith::ExtUIOp::create(e, e.getI64Type(), instance);
    mine =
        e.max(e.div(e.add(e.sub(all, first), e.i64(instances - 1)), instances),
              e.i64(0));
    // The division is of numbers that are not negative.
    mine = e.select(e.lt(first, all), mine, e.i64(0));
  }
  for (auto [argument, init, yielded] :
       llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs(),
                 loop.getYieldedValues()))
    if (isa<tile::FragType>(argument.getType()))
      if (Value value = get(state, init, 0, loop->getParentOp()))
        state.tiles[{yielded, 0}] = value;
  State inner;
  inner.bases = state.bases;
  inner.flights = state.flights;
  for (auto &[key, value] : state.tiles) {
    bool ownValue = resolve(key.first, loop).has_value();
    inner.tiles[{key.first, ownValue ? 1 : -1}] = value;
  }
  if (failed(writeSteps(code, inner, base, first, mine)))
    return failure();
  for (auto [result, yielded] :
       llvm::zip(loop.getResults(), loop.getYieldedValues()))
    if (Value value =
            inner.tiles.lookup({yielded, std::max<int64_t>(code.stages, 1)}))
      state.tiles[{result, 0}] = value;
  state.flights = inner.flights;
  state.bases = inner.bases;
  state.bases[loop] = e.add(base, all);
  return success();
}

/// Results of the loop have age max(stages, 1) afterwards.
LogicalResult RoleWriter::writeSteps(const RoleCode &code, State &state,
                                     Value base, Value first,
                                     Value iterations) {
  if (code.loop == kernel.getOperation())
    return writeSection(code.steady, code, state, base, first, e.i64(0),
                        [](int64_t) { return true; });
  if (code.stages == 0)
    return writeSteady(code, state, base, first, iterations);
  // Values after the loop, whichever way it ran.
  SmallVector<Key> results;
  for (Value yielded : cast<scf::ForOp>(code.loop).getYieldedValues())
    if (state.tiles.contains({yielded, 1}))
      results.push_back({yielded, code.stages});
  SmallVector<Type> types;
  for (Key key : results)
    types.push_back(getVectorType(key.first));
  LogicalResult status = success();
  State entry = state;
  auto finish = [&](State &after) {
    SmallVector<Value> values;
    for (Key key : results)
      values.push_back(after.tiles.lookup(key));
    scf::YieldOp::create(e, values);
  };
  /// At least `count` iterations, or exactly so many less than the stages.
  std::function<SmallVector<Value>(int64_t)> choose = [&](int64_t count) {
    Value condition =
        count == code.stages
            ? e.le(e.i64(count), iterations)
            : e.compare(arith::CmpIPredicate::eq, iterations, e.i64(count));
    auto branch = scf::IfOp::create(e, types, condition, /*withElse=*/true);
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(&branch.getThenRegion().front());
    State then = entry;
    if (count == code.stages)
      status = writeSteady(code, then, base, first, iterations);
    else
      status = writeShort(code, then, base, first, count);
    if (failed(status))
      return SmallVector<Value>();
    finish(then);
    state.flights = then.flights;
    e.setInsertionPointToStart(&branch.getElseRegion().front());
    if (count > 1) {
      SmallVector<Value> values = choose(count - 1);
      if (failed(status))
        return SmallVector<Value>();
      scf::YieldOp::create(e, values);
    } else {
      State none = entry;
      for (Key key : results)
        none.tiles[key] = none.tiles.lookup({key.first, 1});
      finish(none);
    }
    return SmallVector<Value>(branch.getResults());
  };
  SmallVector<Value> values = choose(code.stages);
  if (failed(status))
    return failure();
  for (auto [key, value] : llvm::zip(results, values))
    state.tiles[key] = value;
  return success();
}

LogicalResult RoleWriter::writeSteady(const RoleCode &code, State &state,
                                      Value base, Value first,
                                      Value iterations) {
  auto always = [](int64_t) { return true; };
  int64_t stages = code.stages;
  for (int64_t step = 0; step < stages; ++step) {
    if (failed(writeSection(code.prologue[step], code, state, base, first,
                            e.i64(step), always)))
      return failure();
    age(state);
  }
  SmallVector<Key> carried = getCarried(code);
  SmallVector<Value> inits;
  for (Key key : carried) {
    Value value = state.tiles.lookup(key);
    // What no iteration made yet is not read either.
    if (!value)
      value = LLVM::PoisonOp::create(e, getVectorType(key.first));
    inits.push_back(value);
  }
  SmallVector<Flight, 4> before = state.flights;
  auto steady =
      scf::ForOp::create(e, e.i64(stages), iterations, e.i64(1), inits);
  {
    OpBuilder::InsertionGuard guard(e);
    e.setInsertionPointToStart(steady.getBody());
    for (auto [key, argument] : llvm::zip(carried, steady.getRegionIterArgs()))
      state.tiles[key] = argument;
    if (failed(writeSection(code.steady, code, state, base, first,
                            steady.getInductionVar(), always)))
      return failure();
    age(state);
    if (state.flights != before)
      return code.loop->emitOpError("expected as many products in flight at "
                                    "the end of a step as at its start");
    SmallVector<Value> values;
    for (Key key : carried)
      values.push_back(state.tiles.lookup(key));
    if (!values.empty())
      scf::YieldOp::create(e, values);
  }
  for (auto [key, value] : llvm::zip(carried, steady.getResults()))
    state.tiles[key] = value;
  for (int64_t number = 0; number < stages; ++number) {
    if (failed(writeSection(code.epilogue[number], code, state, base, first,
                            e.add(iterations, e.i64(number)), always)))
      return failure();
    if (number + 1 < stages)
      age(state);
  }
  return success();
}

/// So few iterations that all steps are written out.
LogicalResult RoleWriter::writeShort(const RoleCode &code, State &state,
                                     Value base, Value first,
                                     int64_t iterations) {
  for (int64_t step = 0; step < iterations + code.stages; ++step) {
    auto exists = [&](int64_t stage) {
      return step - stage >= 0 && step - stage < iterations;
    };
    if (failed(writeSection(code.guarded, code, state, base, first, e.i64(step),
                            exists)))
      return failure();
    if (step + 1 < iterations + code.stages)
      age(state);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Sections
//===----------------------------------------------------------------------===//

/// The scalar ops of a body; every role computes them for itself.
LogicalResult RoleWriter::writeScalars(Block &block) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>() || info.ops.contains(&op) ||
        info.isScheduledLoop(&op))
      continue;
    if (failed(lowerOp(&op)))
      return failure();
  }
  return success();
}

RoleWriter::Iteration RoleWriter::makeIteration(const RoleCode &code,
                                                Value base, Value first,
                                                Value own) {
  Iteration result;
  result.own = own;
  if (auto loop = dyn_cast<scf::ForOp>(code.loop)) {
    const tile::RoleInfo &roleInfo = info.roles[role];
    int64_t instances = roleInfo.over == loop ? roleInfo.getInstances() : 1;
    Value offset = e.add(first, e.mul(own, e.i64(instances)));
    result.count = e.add(base, offset);
    Value step = e.toI64(lookup(loop.getStep()));
    Value value =
        e.add(e.toI64(lookup(loop.getLowerBound())), e.mul(offset, step));
    mapping.map(loop.getInductionVar(), e.toIndex(value));
  } else {
    result.count = own;
  }
  return result;
}

LogicalResult
RoleWriter::writeSection(const Section &section, const RoleCode &code,
                         State &state, Value base, Value first, Value step,
                         llvm::function_ref<bool(int64_t)> exists) {
  IRMapping outer = mapping;
  std::map<int64_t, Iteration> iterations; // by stage
  for (const Instruction &instruction : section) {
    int64_t stage = instruction.at.stage;
    if (!exists(stage) || iterations.count(stage))
      continue;
    mapping = outer;
    Iteration iteration =
        makeIteration(code, base, first, e.sub(step, e.i64(stage)));
    if (failed(writeScalars(*tile::ScheduleInfo::getBody(code.loop))))
      return failure();
    iteration.scalars = mapping;
    iterations[stage] = std::move(iteration);
  }
  for (const Instruction &instruction : section) {
    if (!exists(instruction.at.stage))
      continue;
    const Iteration &iteration = iterations[instruction.at.stage];
    current[code.loop] = &iteration;
    mapping = iteration.scalars;
    delay(iteration.count);
    if (failed(writeInstruction(instruction, code, state)))
      return failure();
  }
  current.erase(code.loop);
  // Values of this section are not seen from others.
  reads.clear();
  mapping = outer;
  return success();
}

LogicalResult RoleWriter::writeInstruction(const Instruction &instruction,
                                           const RoleCode &code, State &state) {
  unsigned ring = instruction.ring;
  switch (instruction.kind) {
  case InstructionKind::Op:
    e.setLoc(instruction.op->getLoc());
    return writeOp(instruction.op, instruction.at.stage, state, code.loop);
  case InstructionKind::Loop:
    if (failed(writeLoop(*instruction.body, state)))
      return failure();
    writeWait(instruction, state);
    break;
  case InstructionKind::WaitMma:
    writeWait(instruction, state);
    break;
  case InstructionKind::WaitEmpty: {
    Value odd = arith::XOrIOp::create(e, getParity(ring), number32(1));
    waitBarrier(getBarrier(ring, /*full=*/false), odd);
    break;
  }
  case InstructionKind::WaitFull:
    waitBarrier(getBarrier(ring, /*full=*/true), getParity(ring));
    break;
  case InstructionKind::Expect:
    expectBytes(ring);
    break;
  case InstructionKind::ArriveFull:
    arriveOfWarps(ring, /*full=*/true, instruction.at.stage);
    break;
  case InstructionKind::ArriveEmpty:
    arriveOfWarps(ring, /*full=*/false, instruction.at.stage);
    break;
  case InstructionKind::Fence:
    fence(ring);
    break;
  case InstructionKind::WaitStores:
    waitStores(ring);
    break;
  case InstructionKind::TurnBegin:
  case InstructionKind::TurnEnd:
    return kernel.emitOpError("expected no turns");
  }
  return success();
}
