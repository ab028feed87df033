//===- TileScheduleInfo.h - A kernel seen through its schedule --*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The roles, rings, loops and scheduled ops of one tile.kernel, and what
// follows from them without looking at order and stage: who fills and who reads
// a ring, and the counts of its barriers. Reads the IR, changes nothing.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TRANSFORMS_TILESCHEDULEINFO_H
#define MMX_TRANSFORMS_TILESCHEDULEINFO_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mmx/Dialect/Tile/TileOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mmx::tile {

/// How an op on tiles runs on the machine.
enum class OpClass {
  Load,         ///< global memory to a slot, asynchronous, bytes counted
  Gather,       ///< rows to a slot, written by the threads of the role
  Put,          ///< registers to a slot, written by the threads of the role
  LoadFragment, ///< global memory to registers
  Read,         ///< a slot to registers; over when the result is consumed
  Fragment,     ///< map, reduce, scan: registers to registers
  Mma,          ///< asynchronous; reads slots and registers until waited for
  Store,        ///< registers to global memory
  StoreSlot     ///< a slot to global memory, asynchronous
};

/// An op with a role. `loop` is the scf.for that directly contains it, or the
/// kernel; `ring` is the index of the ring that it fills, or -1.
struct ScheduledOp {
  mlir::Operation *op;
  OpClass kind;
  unsigned role;
  int64_t order, stage, inflight;
  mlir::StringAttr turn;
  mlir::Operation *loop;
  int ring;
  bool multicast;
};

struct RoleInfo {
  RoleAttr attr;
  /// The loop whose iterations alternate, or null.
  mlir::Operation *over = nullptr;

  llvm::StringRef getName() const { return attr.getName().getValue(); }
  int64_t getInstances() const { return attr.getInstances(); }
  bool isSplit() const { return attr.getMode() == InstanceMode::Split; }
};

struct RingInfo {
  RingAttr attr;
  /// The ops that fill a slot, by field.
  llvm::SmallVector<mlir::Operation *, 2> pushes;
  /// The loop that contains the pushes.
  mlir::Operation *loop = nullptr;
  unsigned producer = 0;
  llvm::SmallVector<mlir::Operation *, 4> readers;
  llvm::SmallVector<unsigned, 2> consumers;
  /// Filled by tile.load: the full barrier counts bytes.
  bool countsBytes = false;
  bool multicast = false;
  /// Written and read by one role: no barriers.
  bool local = false;
  /// Read by an mma or by a store of the slot.
  bool asyncRead = false;

  llvm::StringRef getName() const { return attr.getName().getValue(); }
  int64_t getDepth() const { return attr.getDepth(); }
};

/// A value that an op of a loop defines, as another item of that loop uses it:
/// `distance` 1 when it arrives through an iter_arg.
struct LoopDef {
  mlir::Operation *item;
  int64_t distance;
};

class ScheduleInfo {
public:
  /// Reads the schedule of `kernel`. An inconsistency is an error at its op.
  static mlir::FailureOr<ScheduleInfo> create(KernelOp kernel);

  KernelOp getKernel() const { return kernel; }

  llvm::SmallVector<RoleInfo> roles;
  llvm::SmallVector<RingInfo> rings;
  /// Ops with a role, in the order of the text.
  llvm::MapVector<mlir::Operation *, ScheduledOp> ops;
  /// The kernel and the loops with ops inside, outer ones first.
  llvm::SmallVector<mlir::Operation *> loops;

  /// The body of the kernel or of a loop.
  static mlir::Block *getBody(mlir::Operation *loop);
  /// The fragments and shared-memory tiles that `op` uses.
  static llvm::SmallVector<mlir::Value, 4> getTiles(mlir::Operation *op);
  static bool isAccumulator(mlir::Operation *op, mlir::Value value);

  LoopAttr getLoopAttr(mlir::Operation *loop) const;
  llvm::StringRef getLoopName(mlir::Operation *loop) const;
  bool isScheduledLoop(mlir::Operation *op) const;
  bool hasInnerLoop(mlir::Operation *loop) const;
  /// `inner` is `outer` or inside it.
  static bool isInside(mlir::Operation *inner, mlir::Operation *outer);

  /// The ops and loops of `loop` that `role` takes part in, by order.
  llvm::SmallVector<mlir::Operation *> getItems(mlir::Operation *loop,
                                                unsigned role) const;
  /// The tiles that an op, or the ops of `role` in a loop, use.
  llvm::SmallVector<mlir::Value> getUsedTiles(mlir::Operation *item,
                                              unsigned role) const;
  int64_t getOrder(mlir::Operation *item) const;
  int64_t getStage(mlir::Operation *item) const;
  /// The turn of an op or loop for `role`: none for a single instance.
  mlir::StringAttr getTurn(mlir::Operation *item, unsigned role) const;

  /// The ring whose slot holds `value`, or -1.
  int getRing(mlir::Value value) const;
  bool fills(mlir::Operation *op, unsigned ring) const;
  bool readsRing(mlir::Operation *op, unsigned ring) const;

  /// Where `loop` defines `value`, seen by an item of `loop`. Results of inner
  /// loops belong to the item of the inner loop.
  std::optional<LoopDef> getDefinition(mlir::Value value,
                                       mlir::Operation *loop) const;

  /// How many instances of `role` touch each push of a ring filled in `loop`.
  int64_t getMultiplicity(unsigned role, mlir::Operation *loop) const;
  int64_t getClusterSize() const;
  int64_t getFullCount(unsigned ring) const;
  /// Bytes of a slot that the full barrier waits for; 0 without loads.
  int64_t getTransferBytes(unsigned ring) const;
  int64_t getEmptyCount(unsigned ring) const;

  /// `'tile.mma' at (stage 0, order 1)`.
  std::string describe(mlir::Operation *item) const;

private:
  KernelOp kernel;

  mlir::LogicalResult collect(mlir::Operation *loop);
  mlir::LogicalResult collectOp(mlir::Operation *op, mlir::Operation *loop);
  mlir::LogicalResult collectLoop(mlir::Operation *op);
  mlir::LogicalResult resolveRoles();
  mlir::LogicalResult resolveRings();
  mlir::LogicalResult checkCrossing();
  mlir::LogicalResult checkOrders();

  llvm::StringMap<unsigned> roleIds, ringIds;
  llvm::StringMap<mlir::Operation *> loopNames;
};

/// Extents of a tile in shared memory or registers.
llvm::ArrayRef<int64_t> getTileExtents(mlir::Value tile);

/// Elements that a product sums up for each of its result.
int64_t getProductDepth(MmaOp mma);

/// Limits of compute capability 9.0: bytes of shared memory that a block may
/// have.
inline constexpr int64_t maxSharedBytes = 232448;

/// Registers of a thread that only issues loads.
inline constexpr int64_t producerRegisters = 24;

/// Bytes of a tile in shared memory or registers.
int64_t getTileBytes(mlir::Type type);

} // namespace mmx::tile

#endif // MMX_TRANSFORMS_TILESCHEDULEINFO_H
