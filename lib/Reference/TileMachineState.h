//===- TileMachineState.h - Agents, barriers, slots -------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_REFERENCE_TILEMACHINESTATE_H
#define MMX_LIB_REFERENCE_TILEMACHINESTATE_H

#include "mmx/Reference/TileEvaluator.h"
#include "mmx/Reference/TileMachine.h"
#include <deque>
#include <functional>
#include <map>
#include <random>

namespace mmx::tile {

struct TileMachine::Context {
  Context(const ScheduleInfo &info, const RolePrograms &programs,
          const ScheduleFaults &faults,
          llvm::DenseMap<mlir::Value, int64_t> splits)
      : info(info), programs(programs), faults(faults),
        splits(std::move(splits)) {}

  const ScheduleInfo &info;
  const RolePrograms &programs;
  const ScheduleFaults &faults;
  llvm::DenseMap<mlir::Value, int64_t> splits;
  TileEvaluator evaluator;
  llvm::DenseMap<mlir::Operation *, ScalarInstruction> scalars;
};

namespace machine {

/// An mbarrier with a phase number instead of a phase bit.
struct Barrier {
  std::string name;
  int64_t count = 0, pending = 0, bytes = 0, phase = 0;

  /// False if more arrive than the phase has room for.
  bool arrive(int64_t expectedBytes = 0) {
    bytes += expectedBytes;
    if (--pending < 0)
      return false;
    advance();
    return true;
  }
  void complete(int64_t arrivedBytes) {
    bytes -= arrivedBytes;
    advance();
  }
  void advance() {
    if (pending || bytes)
      return;
    ++phase;
    pending = count;
  }
  /// The phase of this parity is over.
  bool test(bool parity) const { return (phase & 1) != parity; }
};

/// One field of a slot, as threads and as asynchronous readers see it.
struct SlotField {
  TileValue generic, async;
};

struct Slot {
  std::vector<SlotField> fields;
  Barrier full, empty;
  /// Consumers of the cell that have started to release it.
  int64_t released = 0;
};

/// One set of registers for the results of an op.
struct Registers {
  std::vector<TileValue> values;
  /// The product that will write it, while in flight.
  std::shared_ptr<bool> product;
  /// A read of a slot that has not been waited for.
  std::function<void()> load;
};

/// The iteration of a loop that an agent is in: counted over all instances, and
/// over its own.
struct Iteration {
  int64_t global = 0, own = 0;
};

/// What an agent waits for.
struct Wait {
  enum class Kind { None, Barrier, Products, Stores, Turn } kind = Kind::None;
  const machine::Barrier *barrier = nullptr;
  bool parity = false;
  /// Products or stores that may be in flight; the turn.
  int64_t count = 0;
  /// Ghost check: the phase that must be over, exactly or at least.
  int64_t phase = 0;
  bool exact = false;
};

/// A loop that an agent is in.
struct Frame {
  const RoleCode *code = nullptr;
  int64_t total = 0, own = 0, first = 0, stride = 1;
  int64_t step = 0;
  size_t next = 0;
  const Section *section = nullptr;
  /// Iterations whose inner loops are accounted for, for each inner loop.
  llvm::DenseMap<mlir::Operation *, int64_t> accounted;
};

struct Event {
  std::function<void()> action;
  double speed;
};

class Machine;

/// Evaluates uniform scalars in the iteration that an agent is in.
class ScalarContext {
public:
  ScalarContext(TileMachine::Context &context, Machine &machine)
      : context(context), machine(machine) {}
  Cell evaluate(mlir::Value value);
  int64_t getInt(mlir::Value value) { return evaluate(value).i; }
  int64_t getTripCount(mlir::scf::ForOp loop);

  llvm::DenseMap<mlir::Operation *, Iteration> iterations;
  llvm::SmallVector<int64_t, 3> ids;

private:
  Cell evaluateArgument(mlir::BlockArgument argument);
  Cell evaluateCarried(mlir::scf::ForOp loop, unsigned number,
                       int64_t iteration);
  Cell evaluateScalarLoop(mlir::scf::ForOp loop, unsigned number);
  Cell evaluateTable(TableOp table);
  Cell evaluateOp(mlir::Operation *op);

  TileMachine::Context &context;
  Machine &machine;
  /// Values of scalar loops under way.
  llvm::DenseMap<mlir::Value, Cell> locals;
};

/// One instance of a role in one cell.
class Agent {
public:
  Agent(Machine &machine, unsigned role, int64_t instance, int64_t cell,
        llvm::ArrayRef<int64_t> ids, double speed);

  bool isDone() const {
    return frames.empty() && wait.kind == Wait::Kind::None;
  }
  bool isReady() const;
  void step();
  std::string getName() const;
  /// What it waits for, for messages.
  std::string describeWait() const;

  double speed;
  /// Products in flight; the first retires next.
  std::deque<Event> products;

private:
  void enter(const RoleCode &code);
  void leave();
  bool nextSection(Frame &frame);
  void execute(Frame &frame, const Instruction &instruction);
  void enterLoop(Frame &frame, const Instruction &instruction);
  void account(Frame &frame, mlir::Operation *inner, int64_t until);
  void skip(mlir::Operation *loop);
  void waitForSlot(const Instruction &instruction);
  void beginTurn(const Instruction &instruction);
  void release(int ring);

  /// Number of pushes into the ring before that of the current iteration.
  int64_t getPush(int ring);
  Slot &getSlot(int ring);

  void runOp(const ScheduledOp &op);
  void runLoad(const ScheduledOp &op);
  void runFill(const ScheduledOp &op, TileValue value);
  void runMma(const ScheduledOp &op);
  void runRead(const ScheduledOp &op);
  void runStoreSlot(const ScheduledOp &op);
  void runMap(const ScheduledOp &op);
  void runStore(StoreOp store);
  std::optional<Footprint> getFootprint(mlir::Operation *op);
  TileValue loadGlobal(mlir::Operation *op);
  void setResults(const ScheduledOp &op, llvm::ArrayRef<TileValue> values);

  Registers &getRegisters(const ScheduledOp &op, int64_t own);
  /// The registers that hold `value`, and which result it is.
  std::pair<Registers *, unsigned> lookUp(mlir::Value value);
  std::pair<Registers *, unsigned> lookUpAt(mlir::Value value, int64_t own);
  /// The fragment, waited for; a fault if a product still writes it.
  const TileValue *getFragment(mlir::Value value);
  /// Elements that another instance has.
  bool isForeign(mlir::Value value, int64_t element) const;
  void maskForeign(mlir::Value value, TileValue &tile) const;

  Machine &machine;
  TileMachine::Context &context;
  const ScheduleInfo &info;
  unsigned role;
  int64_t instance, cell;
  ScalarContext scalars;
  std::vector<Frame> frames;
  Wait wait;
  /// Arrivals of further warps that are still to be made.
  std::deque<Barrier *> arrivals;
  std::vector<int64_t> pushes;
  llvm::DenseMap<mlir::Operation *, int64_t> loopCounts;
  std::map<mlir::Operation *, std::vector<Registers>> registers;
  struct Unfenced {
    SlotField *field;
    std::vector<int64_t> elements;
  };
  std::vector<Unfenced> unfenced;
  std::vector<std::shared_ptr<bool>> stores;
  llvm::DenseMap<mlir::StringAttr, int64_t> turnCounts;
};

/// One cluster of cells.
class Machine {
public:
  Machine(TileMachine::Context &context,
          llvm::ArrayRef<KernelArgument> arguments,
          const TileMachineOptions &options, uint64_t seed);
  /// Runs the cells with the given coordinates.
  void run(llvm::ArrayRef<llvm::SmallVector<int64_t, 3>> cells);

  void fail(const std::string &message) {
    if (fault.empty())
      fault = message;
  }
  void addEvent(std::function<void()> action) {
    events.push_back({std::move(action), drawSpeed()});
  }
  double drawSpeed();
  bool drawBit() { return random() & 1; }
  Slot &getSlot(int64_t cell, int ring, int64_t instance, int64_t number);

  TileMachine::Context &context;
  llvm::DenseMap<mlir::Value, KernelArgument> arguments;
  const TileMachineOptions &options;
  int64_t numCells = 1;
  std::string fault;
  /// Turns taken, by cell, role and name.
  std::map<std::tuple<int64_t, unsigned, const void *>, int64_t> turns;

private:
  void makeSlots();
  /// Lets one ready agent or event go on; false if there is none.
  bool advance();

  std::mt19937_64 random;
  std::deque<Agent> agents;
  std::vector<Event> events;
  std::map<std::tuple<int64_t, int, int64_t>, std::vector<Slot>> slots;
};

/// Every element NaN, or a value that data does not have.
void poison(TileValue &tile);
Cell getPoison(ElementKind kind);

} // namespace machine
} // namespace mmx::tile

#endif // MMX_LIB_REFERENCE_TILEMACHINESTATE_H
