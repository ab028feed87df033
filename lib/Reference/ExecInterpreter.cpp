//===- ExecInterpreter.cpp - Runs host programs ---------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Reference/ExecInterpreter.h"

#include "mmx/Dialect/Exec/ExecShapes.h"
#include "mmx/Dialect/MMX/MMXInterfaces.h"
#include "mmx/Reference/TileInterpreter.h"
#include "mmx/Transforms/ExecLiveness.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <random>

using namespace mlir;
using namespace mmx;
using namespace mmx::exec;
using tile::Cell;
using tile::ElementKind;
using tile::HostArray;

static constexpr uint8_t poison = 0xff;

static ElementKind getKind(Value buffer) {
  return *tile::getElementKind(
      cast<BufferType>(buffer.getType()).getElementType());
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The elements of a constant, row-major.
static void copyConstant(ConstantOp op, HostArray &array) {
  ArrayRef<char> raw = cast<DenseElementsAttr>(op.getValue()).getRawData();
  for (int64_t i = 0; i < array.getStorageSize(); ++i)
    array.getData()[i] = raw[i % raw.size()];
}

ExecMachine::ExecMachine(ProgramOp program, ArrayRef<int64_t> symbols)
    : program(program), symbols(symbols) {
  for (Operation &op : program.getBody().front()) {
    if (isa<LaunchOp, TempOp>(op))
      continue;
    Value buffer = op.getResult(0);
    int64_t panel = 0, along = 0;
    if (auto input = dyn_cast<InputOp>(op)) {
      panel = input.getPanel();
      along = input.getAlong();
    } else if (auto weight = dyn_cast<WeightOp>(op)) {
      panel = weight.getPanel();
      along = weight.getAlong();
    }
    HostArray array(getExtents(buffer), getKind(buffer), panel, along);
    if (auto constant = dyn_cast<ConstantOp>(op))
      copyConstant(constant, array);
    arrays.try_emplace(buffer, std::move(array));
  }
}

SmallVector<int64_t> ExecMachine::getExtents(Value buffer) {
  SmallVector<int64_t> extents;
  for (AffineExpr extent : getShape(buffer).getResults())
    extents.push_back(evaluate(extent, symbols));
  return extents;
}

HostArray &ExecMachine::getArray(Value buffer) {
  return arrays.find(buffer)->second;
}

uint8_t *ExecMachine::getData(Value buffer) {
  auto it = places.find(buffer);
  return it != places.end() ? it->second.data : getArray(buffer).getData();
}

void ExecMachine::placeTemporaries(TempMemory kind) {
  places.clear();
  SmallVector<std::pair<Value, Place>> list;
  int64_t end = 0;
  SmallVector<int64_t> offsets;
  for (TempOp temp : program.getBody().getOps<TempOp>()) {
    int64_t size = evaluate(getSizeInBytes(temp), symbols);
    bool isPlanned = kind == TempMemory::Arena;
    int64_t offset =
        isPlanned ? evaluate(temp.getOffset()->getResult(0), symbols) : end;
    end = std::max<int64_t>(end, llvm::alignTo(offset + size, 64));
    offsets.push_back(offset);
    list.push_back({temp, {nullptr, size}});
  }
  memory.assign(end, poison);
  for (auto [entry, offset] : llvm::zip(list, offsets)) {
    entry.second.data = memory.data() + offset;
    places.insert(entry);
  }
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

LogicalResult ExecMachine::runLaunch(LaunchOp launch,
                                     const SymbolTable &kernels) {
  auto kernel = kernels.lookup<tile::KernelOp>(launch.getKernel());
  if (!kernel || kernel.getParams().size() != launch.getBuffers().size())
    return launch.emitOpError("expected a tile.kernel of ")
           << launch.getBuffers().size() << " views named "
           << launch.getKernelAttr();
  ArrayRef<AffineExpr> extents = launch.getExtents().getResults();
  std::vector<HostArray> views;
  for (auto [buffer, param] :
       llvm::zip(launch.getBuffers(), kernel.getParams())) {
    auto type = cast<tile::ViewType>(param.getType());
    SmallVector<int64_t> shape(type.getShape());
    for (int64_t &extent : shape) {
      if (!ShapedType::isDynamic(extent))
        continue;
      if (extents.empty())
        return launch.emitOpError("expected more extents for ") << type;
      extent = evaluate(extents.front(), symbols);
      extents = extents.drop_front();
    }
    views.emplace_back(getData(buffer), shape, getKind(buffer), type.getPanel(),
                       type.getAlong());
  }
  SmallVector<tile::KernelArgument> arguments;
  for (HostArray &view : views)
    arguments.push_back({&view});
  if (failed(tile::interpretKernel(kernel, arguments)))
    return launch.emitOpError("failed");
  return success();
}

LogicalResult ExecMachine::run(const SymbolTable &kernels, TempMemory kind) {
  if (kind == TempMemory::Arena && !program.getArena())
    return program.emitOpError("expected a buffer plan, run exec-plan-buffers");
  placeTemporaries(kind);
  SmallVector<LiveRange> ranges = getLiveRanges(program);
  llvm::sort(ranges, [](const LiveRange &a, const LiveRange &b) {
    return a.last < b.last;
  });
  const LiveRange *dead = ranges.begin();
  int64_t number = 0;
  for (LaunchOp launch : program.getBody().getOps<LaunchOp>()) {
    if (failed(runLaunch(launch, kernels)))
      return failure();
    for (; dead != ranges.end() && dead->last == number; ++dead) {
      TempOp temp = dead->temp;
      Place place = places.lookup(temp.getResult());
      std::memset(place.data, poison, place.size);
    }
    ++number;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Element `i` of a table; every sequence starts at `i * tokens / sequences`.
static int64_t getTableEntry(StringRef role, int64_t i,
                             ArrayRef<int64_t> symbols) {
  int64_t tokens = symbols[unsigned(StepSymbol::Tokens)];
  int64_t sequences =
      std::max<int64_t>(symbols[unsigned(StepSymbol::Sequences)], 1);
  int64_t columns =
      std::max<int64_t>(symbols[unsigned(StepSymbol::PageColumns)], 1);
  auto start = [&](int64_t sequence) { return sequence * tokens / sequences; };
  int64_t sequence = 0;
  while (sequence + 1 < sequences && start(sequence + 1) <= i)
    ++sequence;
  int64_t position = i - start(sequence);
  if (role == "starts")
    return start(i);
  if (role == "positions")
    return position;
  if (role == "cache_rows")
    return sequence * columns * 64 + position;
  if (role == "logit_rows")
    return std::max<int64_t>(start(i % sequences + 1) - 1, 0);
  if (role == "past")
    return 0;
  if (role.starts_with("routing."))
    return -1;
  // "slots" and "pages" count; the ids are small.
  return role == "ids" ? i % 7 : i;
}

void exec::fillInputs(ExecMachine &machine, ProgramOp program,
                      ArrayRef<int64_t> symbols, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (Operation &op : program.getBody().front()) {
    if (!isa<InputOp, WeightOp>(op))
      continue;
    HostArray &array = machine.getArray(op.getResult(0));
    auto input = dyn_cast<InputOp>(op);
    bool isTable = input && input.getKind() == RoleKind::Table;
    for (int64_t i = 0; i < array.getNumStored(); ++i) {
      if (isTable)
        array.store(i, {.i = getTableEntry(input.getRole(), i, symbols)},
                    ElementKind::I32);
      else
        array.store(i, {.f = float(random() >> 40) * 0x1p-23f - 1.0f},
                    ElementKind::F32);
    }
  }
}
