//===- KernelEmitter.h - Builds a tile kernel from a fusion group -*- C++
//-*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the emitters of single ops share: parameters made on demand, slices of
// tensors seen through reindexing ops, one map for a whole tree of elementwise
// ops, and the stores of what a kernel yields.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_CONVERSION_MMXTOTILE_KERNELEMITTER_H
#define MMX_CONVERSION_MMXTOTILE_KERNELEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mmx/Conversion/MMXToTile/TileEmitterInterfaces.h"
#include "mmx/Dialect/MMX/MMXOps.h"
#include "mmx/Dialect/Tile/TileOps.h"
#include "llvm/ADT/MapVector.h"

namespace mmx {

/// A tile of a tensor of rank 2, or of one head of a tensor of rank 3. `bound`
/// is the number of rows that count, from `row` on; null if only the extents
/// of the tensor bound them.
struct TileRegion {
  mlir::Value row;
  int64_t rows;
  mlir::Value head;
  mlir::Value col;
  int64_t cols;
  mlir::Value bound = {};
};

/// A tile of a view: see `tile.load`.
struct Slice {
  mlir::Value view;
  llvm::SmallVector<mlir::Value> indices;
  llvm::SmallVector<int64_t> dims;
};

/// Where an element is computed. The builder stands in the body of a map.
struct ElementContext {
  KernelEmitter &emitter;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// Position in the tile, and the number of rows that count (may be null).
  mlir::Value row, col, bound;

  mlir::Value constant(double value);
  /// exp(-rate n), `n` an index that is not negative.
  mlir::Value decay(DecayAttr decay, mlir::Value n);
};

/// What a parameter of a kernel stands for: one of the three.
struct LaunchOperand {
  mlir::Value tensor; ///< a value outside of the group
  mlir::ElementsAttr constant;
  int64_t scratch = -1; ///< number of the scratch of an earlier stage
};

/// The kernel that a fusion group, or one stage of it, becomes, and how to
/// launch it.
struct EmittedKernel {
  tile::KernelOp kernel;
  llvm::SmallVector<LaunchOperand> operands;
  /// Results of the group that it computes, each with the operand that it
  /// updates, or -1.
  llvm::SmallVector<std::pair<unsigned, int64_t>> results;
  /// Results for later stages: an element type, and the result of the group
  /// whose extents they have.
  llvm::SmallVector<std::pair<mlir::Type, unsigned>> scratch;
};

class KernelEmitter {
public:
  KernelEmitter(KernelOp source, int64_t panel, unsigned stage = 0);

  /// Emits the kernel into `module` under `name`.
  llvm::FailureOr<EmittedKernel> run(mlir::OpBuilder &outer,
                                     llvm::StringRef name);

  KernelOp getSource() { return source; }
  unsigned getStage() const { return stage; }
  mlir::Location getLoc() { return source.getLoc(); }
  /// Tile sizes chosen for the kernel, or the given ones if none were.
  TileSizesAttr getTiles(int64_t rows, int64_t cols, int64_t depth);

  //===--------------------------------------------------------------------===//
  // Parameters
  //===--------------------------------------------------------------------===//

  /// The view of a tensor that the group reads; `shape` reinterprets it.
  mlir::Value getInput(mlir::Value tensor, llvm::ArrayRef<int64_t> shape = {},
                       tile::AccessMode mode = tile::AccessMode::Read);
  /// The view of a weight whose dimension `along` is the columns of a product.
  mlir::Value getWeight(mlir::Value tensor, int64_t along);
  /// The view of the cache pool that `tensor` is; keys are stored in panels.
  mlir::Value getCache(mlir::Value tensor, bool isKey, tile::AccessMode mode);
  /// The pool `operand`, updated in place to be `result`.
  mlir::Value getInplace(mlir::Value operand, mlir::Value result,
                         bool isKey = false);
  /// The view that result `tensor` of the group is written to by the caller.
  mlir::Value getOutput(mlir::Value tensor, llvm::ArrayRef<int64_t> shape = {});
  /// The leading extent of result `tensor` of the group, for the grid.
  mlir::AffineExpr getRows(mlir::Value tensor);
  /// The rows of what the group yields first.
  mlir::AffineExpr getResultRows();
  /// Memory for later stages, with the shape of the result `like`.
  mlir::Value getScratch(mlir::Type element, mlir::Value like);
  /// The scratch that an earlier stage wrote, by its number.
  mlir::Value getScratchInput(int64_t number, mlir::Type element,
                              mlir::Value like);
  mlir::Value getConstant(mlir::ElementsAttr value);

  /// An extent of a view as an expression for the grid.
  mlir::AffineExpr getExtent(mlir::Value view, int64_t dim);
  /// Sets the grid; returns the coordinates of the cell.
  llvm::SmallVector<mlir::Value>
  setGrid(llvm::ArrayRef<mlir::AffineExpr> sizes);
  mlir::AffineExpr getAffine(int64_t value);
  /// The roles and rings of the kernel, and the dimension of the grid that is a
  /// cluster with its size, or nothing.
  void setSchedule(tile::ScheduleAttr schedule,
                   llvm::ArrayRef<int64_t> cluster);

  //===--------------------------------------------------------------------===//
  // Scalars
  //===--------------------------------------------------------------------===//

  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t b);
  mlir::Value div(mlir::Value a, int64_t b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value dim(mlir::Value view, int64_t dim);
  /// An i32 element as an index.
  mlir::Value table(mlir::Value view, mlir::ValueRange indices);
  /// Loads the rates of `head`; from then on maps may decay by `decay`.
  void loadRate(DecayAttr decay, mlir::Value head);
  mlir::Value getRate(DecayAttr decay) { return rates.lookup(decay); }
  /// exp(-rate n) as a uniform scalar.
  mlir::Value decay(DecayAttr decay, mlir::Value n);

  //===--------------------------------------------------------------------===//
  // Tiles
  //===--------------------------------------------------------------------===//

  tile::FragType frag(llvm::ArrayRef<int64_t> shape, int64_t along = -1);
  /// `slice` as a tile of `type`.
  mlir::Value load(const Slice &slice, mlir::Type type, mlir::Value rows = {});
  /// A slice of rank as `shape` has, in shared memory, or in registers.
  mlir::Value loadSram(const Slice &slice, llvm::ArrayRef<int64_t> shape,
                       mlir::Value rows = {});
  mlir::Value loadFrag(const Slice &slice, llvm::ArrayRef<int64_t> shape,
                       int64_t along = -1, mlir::Value rows = {});
  tile::StoreOp store(mlir::Value tile, const Slice &slice,
                      mlir::Value rows = {});
  mlir::Value fill(tile::FragType type, double value);
  /// A copy in shared memory.
  mlir::Value put(mlir::Value fragment);
  mlir::Value mma(mlir::Value a, mlir::Value b, mlir::Value acc = {},
                  bool transposeA = false, bool transposeB = false);
  mlir::Value reduce(tile::ReduceKind kind, mlir::Value value, int64_t dim);

  using MapBody =
      llvm::function_ref<mlir::Value(ElementContext &, mlir::ValueRange)>;
  /// One result; bf16 operands are seen as f32.
  mlir::Value map(tile::FragType type, mlir::ValueRange operands, MapBody body,
                  mlir::Value bound = {});

  /// A loop over `[from, to)` by `step`; `body` returns the next values.
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value from, mlir::Value to, int64_t step, mlir::ValueRange init,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                         mlir::ValueRange)>
           body);

  //===--------------------------------------------------------------------===//
  // Values of the group
  //===--------------------------------------------------------------------===//

  /// The part of `tensor` in `region`, where `tensor` is an operand of the
  /// group seen through reindexing ops, or a result of it.
  llvm::FailureOr<Slice> getSlice(mlir::Value tensor, const TileRegion &region,
                                  OperandAccess access = OperandAccess::Element,
                                  bool isOutput = false);

  using Leaf =
      llvm::function_ref<mlir::Value(mlir::Value tensor, OperandAccess access)>;
  /// Values of elementwise ops as tiles of `type`, in one map. `leaf` gives
  /// the tiles where the tree ends: it returns null to descend.
  llvm::FailureOr<llvm::SmallVector<mlir::Value>>
  evaluate(llvm::ArrayRef<mlir::Value> roots, tile::FragType type, Leaf leaf,
           mlir::Value bound = {});

  using KnownTiles = llvm::SmallMapVector<mlir::Value, mlir::Value, 4>;
  /// Computes what follows from the known tiles and stores all that the group
  /// yields in `region`, but for what is stored by other means.
  llvm::LogicalResult finish(const TileRegion &region, const KnownTiles &known);

  mlir::OpBuilder builder;

private:
  struct Param {
    mlir::BlockArgument view;
    LaunchOperand operand; ///< its tensor is an argument of the group
  };
  mlir::BlockArgument addView(mlir::Type element, llvm::ArrayRef<int64_t> shape,
                              tile::AccessMode mode, int64_t panel,
                              int64_t along);
  mlir::Value getParam(mlir::Value tensor, llvm::ArrayRef<int64_t> shape,
                       tile::AccessMode mode, int64_t panel, int64_t along);
  llvm::FailureOr<EmittedKernel> assemble(mlir::OpBuilder &outer,
                                          llvm::StringRef name);
  mlir::AffineMap finishGrid(llvm::ArrayRef<mlir::BlockArgument> views);
  mlir::Value getOutputView(mlir::Value tensor, llvm::ArrayRef<int64_t> shape);
  unsigned getYieldIndex(mlir::Value tensor);

  KernelOp source;
  int64_t panel;
  unsigned stage;
  mlir::Region body;
  mlir::Block *block;
  llvm::SmallVector<Param> inputs;
  llvm::SmallMapVector<mlir::Value, mlir::BlockArgument, 2> outputs;
  llvm::SmallVector<std::pair<mlir::BlockArgument, mlir::Value>> scratch;
  llvm::SmallVector<mlir::BlockArgument> gridIds;
  llvm::SmallDenseMap<mlir::Value, unsigned> inplace; ///< result -> input
  llvm::SmallDenseSet<mlir::Value> stored; ///< results `finish` leaves alone
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> extents;
  llvm::SmallVector<mlir::AffineExpr> grid;
  tile::ScheduleAttr schedule;
  llvm::SmallVector<int64_t, 2> cluster;
  llvm::DenseMap<mlir::Attribute, mlir::Value> rates;
};

struct LightningBlock;

/// A block loop of lightning attention whose tiles have warp groups.
llvm::LogicalResult emitScheduledLightning(KernelEmitter &emitter,
                                           const LightningBlock &block);

/// A kernel of elementwise ops alone.
llvm::LogicalResult emitElementwiseCell(KernelEmitter &emitter);

/// Attach the models of the ops of one file.
void attachElementModels(mlir::MLIRContext *context);
void attachRowModels(mlir::MLIRContext *context);
void attachLightningModels(mlir::MLIRContext *context);
void attachSegmentModels(mlir::MLIRContext *context);
void attachSoftmaxModels(mlir::MLIRContext *context);
void attachExpertModels(mlir::MLIRContext *context);

} // namespace mmx

#endif // MMX_CONVERSION_MMXTOTILE_KERNELEMITTER_H
