//===- RoleMemory.cpp - Tiles in, out and between registers and slots -----===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleWriter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mmx/Dialect/Hopper/HopperOps.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::hopper;

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

/// A box is one panel of a tile: `rows` rows of as many columns as the swizzle
/// has bytes.
unsigned RoleWriter::addTensorMap(Value view, ArrayRef<int64_t> dims,
                                  int64_t rows, MatrixAttr matrix) {
  auto type = cast<tile::ViewType>(view.getType());
  SmallVector<int64_t> box(type.getRank(), 1);
  box[dims[0]] = rows;
  box[dims[1]] = matrix.getPanelCols();
  TensorMap map = {view,
                   {box.rbegin(), box.rend()},
                   matrix.getSwizzle(),
                   type.getElementType()};
  for (auto [number, other] : llvm::enumerate(maps))
    if (other.view == view && other.box == map.box &&
        other.swizzle == map.swizzle)
      return number;
  maps.push_back(map);
  return maps.size() - 1;
}

/// The recipe of a tensor map, expressions over the extents of the kernel.
DictionaryAttr RoleWriter::describe(const TensorMap &map) {
  MLIRContext *context = e.getContext();
  int64_t number = 0, symbol = 0;
  SmallVector<AffineExpr> extents;
  for (Value param : kernel.getParams()) {
    auto type = dyn_cast<tile::ViewType>(param.getType());
    if (!type)
      continue;
    bool found = param == map.view;
    number += !found && extents.empty();
    for (int64_t extent : type.getShape()) {
      bool dynamic = ShapedType::isDynamic(extent);
      if (found)
        extents.push_back(dynamic ? getAffineSymbolExpr(symbol, context)
                                  : getAffineConstantExpr(extent, context));
      symbol += dynamic;
    }
  }
  int64_t bytes = map.element.getIntOrFloatBitWidth() / 8;
  SmallVector<AffineExpr> dims(llvm::reverse(extents)), strides;
  AffineExpr stride = getAffineConstantExpr(bytes, context);
  for (AffineExpr extent : ArrayRef(dims).drop_back()) {
    stride = stride * extent;
    strides.push_back(stride);
  }
  unsigned symbols = kernel.getGrid().getNumSymbols();
  auto toAttr = [&](ArrayRef<AffineExpr> list) {
    return AffineMapAttr::get(AffineMap::get(0, symbols, list, context));
  };
  return e.getDictionaryAttr({
      e.getNamedAttr("view", e.getI64IntegerAttr(number)),
      e.getNamedAttr("element", TypeAttr::get(map.element)),
      e.getNamedAttr("dims", toAttr(dims)),
      e.getNamedAttr("strides", toAttr(strides)),
      e.getNamedAttr("box", e.getDenseI64ArrayAttr(map.box)),
      e.getNamedAttr("swizzle", e.getI64IntegerAttr(map.swizzle)),
  });
}

/// Innermost first, as a tensor map wants them.
SmallVector<Value> RoleWriter::getCoordinates(ValueRange indices,
                                              ArrayRef<int64_t> dims,
                                              Value rowOffset,
                                              Value colOffset) {
  SmallVector<Value> coordinates;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value value = toI32(lookup(index));
    if (static_cast<int64_t>(dim) == dims[0])
      value = arith::AddIOp::create(e, value, rowOffset);
    else if (static_cast<int64_t>(dim) == dims[1])
      value = arith::AddIOp::create(e, value, colOffset);
    coordinates.push_back(value);
  }
  std::reverse(coordinates.begin(), coordinates.end());
  return coordinates;
}

//===----------------------------------------------------------------------===//
// Global memory and slots
//===----------------------------------------------------------------------===//

/// A bulk load for each panel, all counted by the full barrier. Cells of a
/// cluster load a part each, for all of them.
LogicalResult RoleWriter::writeLoad(tile::LoadOp op) {
  auto view = cast<tile::ViewType>(op.getView().getType());
  if (op.getDims().back() != view.getRank() - 1)
    return op.emitOpError("expected columns along the last dimension of the "
                          "view, which bulk loads find contiguous");
  if (!op.getRows()) {
    onFirstLane([&] { writeBulkLoad(op); });
    finishLoads(op);
    return success();
  }
  // A tail is copied by the warp: bulk loads cannot leave rows of a view out.
  Value given = e.toI64(lookup(op.getRows()));
  int64_t rows = layout.getMatrix(op.getResult()).getRows();
  e.ifElse(
      e.le(e.i64(rows), given),
      [&] { onFirstLane([&] { writeBulkLoad(op); }); },
      [&] { copyRows(op, given); });
  finishLoads(op);
  return success();
}

/// The lanes of the warp take turns. Nobody unrolls the loop: warps that only
/// load have few registers.
void RoleWriter::forEachOfWarp(int64_t count, Emitter::Body body) {
  Value begin = arith::ExtUIOp::create(e, e.getI64Type(), lane);
  e.forEach(begin, e.i64(count), /*step=*/32, body);
  MLIRContext *context = e.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(context, e.getBoolAttr(true), {}, {},
                                          {}, {}, {}, {});
  auto annotation = LLVM::LoopAnnotationAttr::get(
      context, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
  std::prev(e.getInsertionPoint())->setAttr("llvm.loop_annotation", annotation);
}

/// Writes the tile 16 bytes at a time, zeros for what lies outside the view,
/// and counts its bytes as arrived. Tensor maps exist for rows of whole 16
/// bytes only, so no 16 bytes are partly outside. All cells of a cluster that
/// share a load do so alike.
void RoleWriter::copyRows(tile::LoadOp op, Value given) {
  Window window = getWindow(op.getView(), op.getIndices(), op.getDims());
  const View &view = *window.view;
  MatrixAttr matrix = layout.getMatrix(op.getResult());
  Value base = getTile(op.getResult());
  auto words = VectorType::get({4}, e.getI32Type());
  Value none = e.constant(words, 0);
  // Rows from `valid` on are filled: one comparison for each.
  Value valid = e.min(
      given, e.sub(view.extents[window.rowDim], window.start[window.rowDim]));
  valid = toI32(e.select(window.inside, valid, e.i64(0)));
  Value cols = e.sub(view.extents[window.colDim], window.start[window.colDim]);
  int64_t units = matrix.getCols() / 8;
  forEachOfWarp(matrix.getRows() * units, [&](Value i) {
    Value row = e.div(i, units), col = e.mul(e.rem(i, units), e.i64(8));
    Value keep = e.both(
        arith::CmpIOp::create(e, arith::CmpIPredicate::slt, toI32(row), valid),
        e.lt(col, cols));
    Value from = e.select(keep, addressIn(window, row, col), view.base);
    Value value = LLVM::LoadOp::create(e, words, from, /*alignment=*/16);
    Value place = AddressOp::create(e, base, toI32(row), toI32(col), matrix);
    LLVM::StoreOp::create(e, e.select(keep, value, none), place,
                          /*alignment=*/16);
  });
  NVVM::FenceProxyOp::create(
      e, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(e.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  LLVM::FenceOp::create(e, LLVM::AtomicOrdering::release, "block");
  NVVM::SyncWarpOp::create(e, number32(-1));
  onFirstLane([&] {
    NVVM::MBarrierCompleteTxOp::create(
        e, getBarrier(info.ops.lookup(op).ring, /*full=*/true),
        number32(tile::getTileBytes(op.getType())));
  });
}

void RoleWriter::writeBulkLoad(tile::LoadOp op) {
  const tile::ScheduledOp &scheduled = info.ops.lookup(op);
  MatrixAttr matrix = layout.getMatrix(op.getResult());
  int64_t cells = scheduled.multicast ? info.getClusterSize() : 1;
  int64_t panels = matrix.getNumPanels(), rows = matrix.getRows();
  bool splitPanels = panels % cells == 0;
  Value base = getTile(op.getResult()),
        barrier = getBarrier(scheduled.ring, true);
  Value mask;
  if (cells > 1)
    mask = arith::ConstantIntOp::create(e, e.getI16Type(), (1 << cells) - 1);
  auto product = [&](Value a, int64_t b) {
    return arith::MulIOp::create(e, a, number32(b)).getResult();
  };
  for (int64_t i = 0; i < (splitPanels ? panels / cells : panels); ++i) {
    Value panel = number32(i), row = number32(0);
    if (cells > 1 && splitPanels)
      panel =
          arith::AddIOp::create(e, product(clusterRank, panels / cells), panel);
    else if (cells > 1)
      row = product(clusterRank, rows / cells);
    Value offset = arith::AddIOp::create(e, product(panel, matrix.getPanel()),
                                         product(row, matrix.getSwizzle()));
    Value target = e.at(base, arith::ExtUIOp::create(e, e.getI64Type(), offset),
                        e.getI8Type());
    SmallVector<Value> coordinates =
        getCoordinates(op.getIndices(), op.getDims(), row,
                       product(panel, matrix.getPanelCols()));
    Type cluster = LLVM::LLVMPointerType::get(e.getContext(), 7);
    target = LLVM::AddrSpaceCastOp::create(e, cluster, target);
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        e, target, mapPointers[mapOf.lookup(op)], coordinates, barrier,
        /*im2colOffsets=*/ValueRange(), mask, /*l2CacheHint=*/Value(),
        NVVM::TMALoadModeAttr::get(e.getContext(), NVVM::TMALoadMode::TILE),
        e.getBoolAttr(false), NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
  }
}

/// One bulk store a panel by one thread; rows that must not be written send
/// all threads over the elements instead.
void RoleWriter::writeStoreSlot(tile::StoreOp op) {
  Window window = getWindow(op.getView(), op.getIndices(), op.getDims());
  MatrixAttr matrix = layout.getMatrix(op.getTile());
  int64_t rows = cast<tile::SramType>(op.getTile().getType()).getShape()[0];
  Value given = e.i64(rows);
  if (op.getRows())
    given = e.toI64(lookup(op.getRows()));
  auto bulk = [&] {
    Value first = arith::CmpIOp::create(e, arith::CmpIPredicate::eq, roleThread,
                                        number32(0));
    Value base = getTile(op.getTile());
    e.ifThen(first, [&] {
      for (int64_t panel = 0; panel < matrix.getNumPanels(); ++panel) {
        SmallVector<Value> coordinates =
            getCoordinates(op.getIndices(), op.getDims(), number32(0),
                           number32(panel * matrix.getPanelCols()));
        NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
            e, mapPointers[mapOf.lookup(op)],
            e.at(base, panel * matrix.getPanel(), e.getI8Type()), coordinates,
            /*l2CacheHint=*/Value(),
            NVVM::TMAStoreModeAttr::get(e.getContext(),
                                        NVVM::TMAStoreMode::TILE),
            /*predicate=*/Value());
      }
      NVVM::CpAsyncBulkCommitGroupOp::create(e);
    });
  };
  auto byElement = [&] {
    storeElements(op, window, given);
    // Waits count groups, one for each store, also one that needs no bulk copy.
    NVVM::CpAsyncBulkCommitGroupOp::create(e);
  };
  if (!mapOf.count(op))
    byElement();
  else
    e.ifElse(e.le(e.i64(rows), given), bulk, byElement);
}

void RoleWriter::storeElements(tile::StoreOp op, const Window &window,
                               Value given) {
  MatrixAttr matrix = layout.getMatrix(op.getTile());
  bool transposed = layout.isTransposed(op.getTile());
  const View &view = *window.view;
  Type element = matrix.getElementType();
  Value base = getTile(op.getTile());
  Value begin = arith::ExtUIOp::create(e, e.getI64Type(), roleThread);
  Value count = e.i64(matrix.getRows() * matrix.getCols());
  if (!transposed)
    count = e.min(count, e.mul(given, e.i64(matrix.getCols())));
  e.forEach(begin, count, /*step=*/128, [&](Value i) {
    Value r = e.div(i, matrix.getCols()), c = e.rem(i, matrix.getCols());
    Value row = transposed ? c : r, col = transposed ? r : c;
    Value valid = e.both(window.inside, e.lt(row, given));
    valid = e.both(valid, isInside(view, window.rowDim,
                                   e.add(window.start[window.rowDim], row)));
    valid = e.both(valid, isInside(view, window.colDim,
                                   e.add(window.start[window.colDim], col)));
    e.ifThen(valid, [&] {
      Value place = AddressOp::create(e, base, toI32(r), toI32(c), matrix);
      Value value = LLVM::LoadOp::create(e, element, place);
      e.store(e.convert(value, view.element), addressIn(window, row, col));
    });
  });
}

//===----------------------------------------------------------------------===//
// Slots and registers
//===----------------------------------------------------------------------===//

/// Addresses of elements whose rows and columns differ from those of one by
/// multiples of 8. Swizzled, such steps are an exclusive or and an addition of
/// constants: a thread needs one offset for all of them.
class RoleWriter::LaneAddresses {
public:
  LaneAddresses(Emitter &e, Value base, Value row, Value col, MatrixAttr matrix)
      : e(e), matrix(matrix) {
    Value first = AddressOp::create(e, base, row, col, matrix);
    type = first.getType();
    bits = LLVM::PtrToIntOp::create(e, e.getI32Type(), first);
  }

  Value at(int64_t rows, int64_t cols) {
    int64_t panel = cols / matrix.getPanelCols();
    int64_t unit = cols % matrix.getPanelCols() / 8;
    Value place = bits;
    if (unit != 0)
      place = arith::XOrIOp::create(e, place, constant(unit * 16));
    place = LLVM::IntToPtrOp::create(e, type, place);
    return e.at(place, panel * matrix.getPanel() + rows * matrix.getSwizzle(),
                e.getI8Type());
  }

private:
  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(e, e.getI32Type(), value);
  }

  Emitter &e;
  MatrixAttr matrix;
  Type type;
  Value bits;
};

/// Where the lanes of a warp point for ldmatrix and stmatrix, which move four
/// matrices of 8 x 8: those of two steps of 8 columns of the fragment and of
/// its two rows 8 apart. Lane l gives the address of row l % 8 of matrix l / 8;
/// `transposed` if rows of the fragment are columns of the tile.
RoleWriter::LaneAddresses
RoleWriter::getMatrixAddresses(Value base, MatrixAttr matrix, bool transposed) {
  auto part = [&](Value value, int64_t shift, int64_t mask, int64_t factor) {
    Value shifted = arith::ShRUIOp::create(e, value, number32(shift));
    Value kept = arith::AndIOp::create(e, shifted, number32(mask));
    return arith::MulIOp::create(e, kept, number32(factor)).getResult();
  };
  auto sum = [&](Value a, Value b) {
    return arith::AddIOp::create(e, a, b).getResult();
  };
  Value inMatrix = part(lane, 0, 7, 1), half = part(lane, 3, 1, 8);
  Value step = part(lane, 4, 1, 8);
  Value row = sum(part(warp, 0, 3, 16), half);
  if (transposed)
    return LaneAddresses(e, base, sum(step, inMatrix), row, matrix);
  return LaneAddresses(e, base, sum(row, inMatrix), step, matrix);
}

/// Registers of two elements that one instruction moves.
static constexpr int64_t matrixRegisters = 4;

/// body(first element, address) for every instruction.
void RoleWriter::forMatrices(Value base, MatrixAttr matrix, bool transposed,
                             llvm::function_ref<void(int64_t, Value)> body) {
  LaneAddresses addresses = getMatrixAddresses(base, matrix, transposed);
  int64_t rows = matrix.getRows(), cols = matrix.getCols();
  if (transposed)
    std::swap(rows, cols);
  int64_t first = 0;
  for (int64_t row = 0; row < rows; row += 64)
    for (int64_t col = 0; col < cols; col += 16) {
      body(first, transposed ? addresses.at(col, row) : addresses.at(row, col));
      first += 2 * matrixRegisters;
    }
}

Value RoleWriter::writeRead(tile::ReadOp op, int64_t stage) {
  bool transposed =
      layout.isTransposed(op.getResult()) != layout.isTransposed(op.getTile());
  VectorType type = getVectorType(op.getResult());
  Type i32 = e.getI32Type();
  Type words =
      LLVM::LLVMStructType::getLiteral(e.getContext(), {i32, i32, i32, i32});
  auto pair = VectorType::get({2}, type.getElementType());
  SmallVector<Value> elements;
  Value &loads = reads[{info.getRing(op.getTile()), stage}];
  auto read = [&](int64_t, Value place) {
    Value loaded = NVVM::LdMatrixOp::create(
        e, words, place, matrixRegisters,
        transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
        NVVM::LdStMatrixShapeAttr::get(e.getContext(), 8, 8),
        NVVM::LdStMatrixEltType::B16);
    for (int64_t word = 0; word < matrixRegisters; ++word) {
      Value bits = LLVM::ExtractValueOp::create(e, loaded, word);
      if (word == 0)
        loads = loads ? arith::OrIOp::create(e, loads, bits).getResult() : bits;
      Value two = LLVM::BitcastOp::create(e, pair, bits);
      elements.push_back(element(two, 0));
      elements.push_back(element(two, 1));
    }
  };
  forMatrices(getTile(op.getTile()), layout.getMatrix(op.getTile()), transposed,
              read);
  return vector::FromElementsOp::create(e, type, elements);
}

void RoleWriter::writePut(tile::PutOp op, Value value) {
  MatrixAttr matrix = layout.getMatrix(op.getResult());
  auto pair = VectorType::get({2}, matrix.getElementType());
  auto store = [&](int64_t first, Value place) {
    SmallVector<Value> words;
    for (int64_t i = first; i < first + 2 * matrixRegisters; i += 2) {
      Value two = vector::FromElementsOp::create(
          e, pair, ValueRange{element(value, i), element(value, i + 1)});
      words.push_back(LLVM::BitcastOp::create(e, e.getI32Type(), two));
    }
    NVVM::StMatrixOp::create(
        e, place, words, NVVM::MMALayout::row,
        NVVM::LdStMatrixShapeAttr::get(e.getContext(), 8, 8),
        NVVM::LdStMatrixEltType::B16);
  };
  forMatrices(getTile(op.getResult()), matrix, /*transposed=*/false, store);
}
