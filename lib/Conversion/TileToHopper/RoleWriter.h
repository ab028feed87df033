//===- RoleWriter.h - One scheduled kernel for warp groups ------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the function of one scheduled tile.kernel for sm_90a. Roles become
// warp groups (roles of one warp share one), each with its own code: the
// derived role code, section by section, with the ops of the sequential program
// in between. Values are SSA: what an iteration leaves to a later one is
// carried by the loop.
//
// A value of iteration i, seen from step t, has the age t - i. An op of stage s
// defines values of age s; every step makes all values one older.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_CONVERSION_TILETOHOPPER_ROLEWRITER_H
#define MMX_LIB_CONVERSION_TILETOHOPPER_ROLEWRITER_H

#include "../TileLowering/BlockKernelCode.h"
#include "SharedPlan.h"
#include "mmx/Transforms/TileRoleCode.h"
#include <map>

namespace mmx::hopper {

using namespace lowering;

/// Builds that show races; for tests.
struct RaceBuild {
  /// Seed of random delays; 0 for none.
  int64_t delays = 0;
  /// Every thread arrives at a barrier, not one for its warp.
  bool threadArrivals = false;
};

class RoleWriter : public BlockKernelCode {
public:
  RoleWriter(const tile::ScheduleInfo &info, const tile::RolePrograms &programs,
             const FragmentLayout &layout, mlir::OpBuilder &builder,
             const RaceBuild &race);
  /// Creates the function before the kernel. `shared` names the global that
  /// stands for dynamic shared memory.
  mlir::LogicalResult run(llvm::StringRef shared);

private:
  //===--------------------------------------------------------------------===//
  // State
  //===--------------------------------------------------------------------===//

  /// A tile of the program and its age.
  using Key = std::pair<mlir::Value, int64_t>;

  /// A product that nobody waited for yet.
  struct Flight {
    mlir::Operation *mma;
    int64_t age;
    /// The fragment that it reads, if any.
    Key a;
    /// Its result is the accumulator of a later one.
    bool superseded;

    bool operator==(const Flight &) const = default;
  };

  struct State {
    llvm::DenseMap<Key, mlir::Value> tiles;
    llvm::SmallVector<Flight, 4> flights;
    /// Iterations of a loop that earlier runs of it had (i64).
    llvm::DenseMap<mlir::Operation *, mlir::Value> bases;
  };

  /// One iteration of a loop as an op of it sees it.
  struct Iteration {
    mlir::IRMapping scalars;
    /// Running count over all runs of the loop, and the one of this instance.
    mlir::Value count, own;
  };

  //===--------------------------------------------------------------------===//
  // Structure (RoleWriter.cpp)
  //===--------------------------------------------------------------------===//

  mlir::LogicalResult checkSupported();
  mlir::LogicalResult checkTile(mlir::Operation *op, mlir::Value value);
  mlir::func::FuncOp createRoleFunction();
  void collectTensorMaps();
  void setUpThreads();
  void initializeBarriers();
  mlir::LogicalResult writeRole(unsigned role);
  void moveRegisters(int64_t registers, int64_t warpInGroup);
  /// The role must not go on before the kernel launched before has ended.
  bool followsKernel(unsigned role);
  mlir::LogicalResult writeKernelBody(unsigned role);
  mlir::LogicalResult writeLoop(const tile::RoleCode &code, State &state);
  mlir::LogicalResult writeSteps(const tile::RoleCode &code, State &state,
                                 mlir::Value base, mlir::Value first,
                                 mlir::Value iterations);
  mlir::LogicalResult writeSteady(const tile::RoleCode &code, State &state,
                                  mlir::Value base, mlir::Value first,
                                  mlir::Value iterations);
  mlir::LogicalResult writeShort(const tile::RoleCode &code, State &state,
                                 mlir::Value base, mlir::Value first,
                                 int64_t iterations);
  mlir::LogicalResult writeSection(const tile::Section &section,
                                   const tile::RoleCode &code, State &state,
                                   mlir::Value base, mlir::Value first,
                                   mlir::Value step,
                                   llvm::function_ref<bool(int64_t)> exists);
  mlir::LogicalResult writeInstruction(const tile::Instruction &instruction,
                                       const tile::RoleCode &code,
                                       State &state);
  Iteration makeIteration(const tile::RoleCode &code, mlir::Value base,
                          mlir::Value first, mlir::Value own);
  mlir::LogicalResult writeScalars(mlir::Block &block);
  /// Tiles that the steady loop carries, oldest last.
  llvm::SmallVector<Key> getCarried(const tile::RoleCode &code);
  /// The tile of `loop`'s body that `operand` is, and how many iterations
  /// before; none for one from outside.
  std::optional<std::pair<mlir::Value, int64_t>> resolve(mlir::Value operand,
                                                         mlir::Operation *loop);
  mlir::Value get(State &state, mlir::Value operand, int64_t stage,
                  mlir::Operation *loop);
  static void age(State &state);

  //===--------------------------------------------------------------------===//
  // Threads and barriers (RoleBarriers.cpp)
  //===--------------------------------------------------------------------===//

  bool isWarpGroup() const { return info.roles[role].attr.getWarps() == 4; }
  bool isRaceBuild() const { return race.delays != 0 || race.threadArrivals; }
  bool hasOneGroup() const { return threads == 128; }
  mlir::Value number32(int64_t value);
  mlir::Value toI32(mlir::Value value);
  /// Byte `offset` of shared memory.
  mlir::Value sharedAt(mlir::Value offset);
  mlir::Value getSlot(unsigned ring);
  mlir::Value getParity(unsigned ring);
  mlir::Value getBarrier(unsigned ring, bool full);
  mlir::Value getTile(mlir::Value sram);
  void waitBarrier(mlir::Value barrier, mlir::Value parity);
  void arrive(mlir::Value barrier);
  void arriveOfWarps(unsigned ring, bool full, int64_t stage);
  mlir::Value afterReads(mlir::Value barrier, unsigned ring, int64_t stage);
  void expectBytes(unsigned ring);
  void finishLoads(mlir::Operation *load);
  void roleBarrier();
  void fence(unsigned ring);
  void waitStores(unsigned ring);
  void onFirstLane(llvm::function_ref<void()> body);
  void delay(mlir::Value iteration);

  //===--------------------------------------------------------------------===//
  // Memory (RoleMemory.cpp)
  //===--------------------------------------------------------------------===//

  struct TensorMap {
    mlir::Value view;
    llvm::SmallVector<int64_t> box; ///< innermost first
    int64_t swizzle;
    mlir::Type element;
  };
  unsigned addTensorMap(mlir::Value view, llvm::ArrayRef<int64_t> dims,
                        int64_t rows, MatrixAttr matrix);
  mlir::DictionaryAttr describe(const TensorMap &map);
  llvm::SmallVector<mlir::Value> getCoordinates(mlir::ValueRange indices,
                                                llvm::ArrayRef<int64_t> dims,
                                                mlir::Value rowOffset,
                                                mlir::Value colOffset);
  mlir::LogicalResult writeLoad(tile::LoadOp op);
  void writeBulkLoad(tile::LoadOp op);
  void copyRows(tile::LoadOp op, mlir::Value given);
  void forEachOfWarp(int64_t count, Emitter::Body body);
  void writeStoreSlot(tile::StoreOp op);
  void storeElements(tile::StoreOp op, const Window &window, mlir::Value given);
  class LaneAddresses;
  LaneAddresses getMatrixAddresses(mlir::Value base, MatrixAttr matrix,
                                   bool transposed);
  void forMatrices(mlir::Value base, MatrixAttr matrix, bool transposed,
                   llvm::function_ref<void(int64_t, mlir::Value)> body);
  mlir::Value writeRead(tile::ReadOp op, int64_t stage);
  void writePut(tile::PutOp op, mlir::Value value);

  //===--------------------------------------------------------------------===//
  // Fragments and global memory (RoleFragments.cpp)
  //===--------------------------------------------------------------------===//

  static bool isVector(mlir::Value fragment) {
    return mlir::cast<tile::FragType>(fragment.getType()).getShape().size() ==
           1;
  }
  int64_t getRun(mlir::Value fragment, mlir::Value view,
                 mlir::ValueRange indices, llvm::ArrayRef<int64_t> dims);
  using RunBody = llvm::function_ref<void(int64_t, mlir::Value, mlir::Value)>;
  void forRuns(mlir::Value fragment, const Window &window, int64_t run,
               mlir::Value rows, RunBody body);
  mlir::Value writeLoadFragment(tile::LoadOp op);
  void writeStoreFragment(tile::StoreOp op, mlir::Value value);

  //===--------------------------------------------------------------------===//
  // Reductions (RoleReduce.cpp)
  //===--------------------------------------------------------------------===//

  mlir::LogicalResult writeReduce(tile::ReduceOp op, int64_t stage,
                                  State &state, mlir::Operation *loop);
  mlir::Value fold(tile::ReduceOp op, llvm::SmallVector<mlir::Value> values);
  mlir::Value foldLanes(tile::ReduceOp op, mlir::Value value, int64_t from,
                        int64_t to);
  llvm::SmallVector<mlir::Value> reduceCols(tile::ReduceOp op,
                                            mlir::Value fragment);
  llvm::SmallVector<mlir::Value> reduceRows(tile::ReduceOp op,
                                            mlir::Value fragment);
  llvm::SmallVector<mlir::Value> foldWarps(tile::ReduceOp op,
                                           llvm::ArrayRef<mlir::Value> values);

  //===--------------------------------------------------------------------===//
  // Arithmetic (RoleTiles.cpp)
  //===--------------------------------------------------------------------===//

  using ElementBody =
      llvm::function_ref<void(int64_t, mlir::Value, mlir::Value)>;
  /// body(i, row, col) for the elements of a fragment; rows and columns (i32)
  /// are those of the tile, transposed or not, 0 for what a vector lacks.
  void forElements(mlir::Value fragment, ElementBody body);
  /// Row and column of the layout of a thread's first element.
  mlir::Value getFirstRow();
  mlir::Value getFirstCol();
  mlir::VectorType getVectorType(mlir::Value fragment);
  mlir::LogicalResult writeMma(tile::MmaOp op, int64_t stage, State &state,
                               mlir::Operation *loop);
  void writeWait(const tile::Instruction &instruction, State &state);
  mlir::LogicalResult writeMap(tile::MapOp op, int64_t stage, State &state,
                               mlir::Operation *loop);
  mlir::Value element(mlir::Value vector, int64_t i);
  /// Which element of a fragment of `cols` columns stands in a row and a column
  /// of those that a thread has.
  static int64_t getElementAt(int64_t row, int64_t col, int64_t cols);
  /// Which value of `vector` belongs to element i of a fragment.
  int64_t getVectorElement(mlir::Value vector, mlir::Value fragment, int64_t i);
  mlir::LogicalResult writeOp(mlir::Operation *op, int64_t stage, State &state,
                              mlir::Operation *loop);

  // Of the base class: a walk over the sequential program, not used here.
  mlir::LogicalResult lowerTileOp(mlir::Operation *op) override;
  void startCarried(mlir::scf::ForOp, mlir::Value, mlir::Value,
                    mlir::Value) override {}
  void nextCarried(mlir::scf::ForOp, mlir::Value, mlir::Value) override {}

  const tile::ScheduleInfo &info;
  const tile::RolePrograms &programs;
  const FragmentLayout &layout;
  SharedPlan plan;
  llvm::SmallVector<TensorMap> maps;
  /// Of each load and store of a slot, its tensor map.
  llvm::DenseMap<mlir::Operation *, unsigned> mapOf;
  llvm::SmallVector<mlir::Value> mapPointers;
  mlir::Value sharedBase;
  /// i32 0 that the assembler does not know.
  mlir::Value hiddenZero;
  /// i32: thread of the block, lane of the warp, warp and warp group.
  mlir::Value thread, lane, warp, group;
  /// Of the block in its cluster.
  mlir::Value clusterRank;
  int64_t threads = 0;
  RaceBuild race;
  /// Of the next instruction that may be delayed.
  int64_t place = 0;

  // While a role is written.
  unsigned role = 0;
  mlir::Value instance;
  /// i32: thread of the instance.
  mlir::Value roleThread;
  /// What the section has read so far of slots of a ring, by ring and stage: an
  /// i32 that depends on every load.
  std::map<std::pair<unsigned, int64_t>, mlir::Value> reads;
  /// The iteration of each loop that the op being written belongs to.
  llvm::DenseMap<mlir::Operation *, const Iteration *> current;
};

/// Threads of a block: a warp group for each instance of a role of four warps,
/// and one for all roles of one warp.
struct ThreadPlan {
  explicit ThreadPlan(const tile::ScheduleInfo &info);
  llvm::SmallVector<int64_t> firstGroup;  ///< by role
  llvm::SmallVector<int64_t> warpInGroup; ///< roles of one warp
  int64_t groups = 0;
};

} // namespace mmx::hopper

#endif // MMX_LIB_CONVERSION_TILETOHOPPER_ROLEWRITER_H
