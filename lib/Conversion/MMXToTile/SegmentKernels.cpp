//===- SegmentKernels.cpp - Segments of sequences as tile programs --------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

using namespace mlir;
using namespace mmx;

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

namespace {

template <typename Model, typename OpTy>
using CellModel = CellEmitterInterface::ExternalModel<Model, OpTy>;

/// One cell goes over the sequences. The rows up to the next sequence's first
/// one that hold no segment begin where the sequence ends.
struct SegmentTableModel : CellModel<SegmentTableModel, SegmentTableOp> {
  LogicalResult emitCell(Operation *op, KernelEmitter &e) const {
    auto segments = cast<SegmentTableOp>(op);
    constexpr int64_t chunk = 64;
    int64_t length = segments.getLength();
    Value starts = e.getInput(segments.getStarts());
    Value output = e.getOutput(segments.getResult());
    e.setGrid({e.getAffine(1)});
    Value sequences = e.sub(e.dim(starts, 0), e.index(1));
    tile::FragType type = tile::FragType::get(e.builder.getContext(), {chunk},
                                              e.builder.getI32Type(), 0);
    auto firstRow = [&](Value sequence) {
      return e.add(e.div(e.table(starts, sequence), length), sequence);
    };
    e.loop(e.index(0), sequences, 1, {}, [&](Value sequence, ValueRange) {
      Value next = e.add(sequence, e.index(1));
      Value from = e.table(starts, sequence);
      Value to = e.table(starts, next);
      Value first = firstRow(sequence), end = firstRow(next);
      e.loop(first, end, chunk, {}, [&](Value row, ValueRange) {
        Value offset = e.add(from, e.mul(e.sub(row, first), length));
        Value tile = e.map(type, {}, [&](ElementContext &c, ValueRange) {
          Value step = arith::ConstantIndexOp::create(c.builder, c.loc, length);
          Value past = arith::MulIOp::create(c.builder, c.loc, c.row, step);
          Value start = arith::AddIOp::create(c.builder, c.loc, offset, past);
          Value clamped = arith::MinSIOp::create(c.builder, c.loc, start, to);
          return arith::IndexCastOp::create(c.builder, c.loc,
                                            c.builder.getI32Type(), clamped)
              .getResult();
        });
        e.store(tile, {output, {row}, {0}}, e.sub(end, row));
        return SmallVector<Value>{};
      });
      return SmallVector<Value>{};
    });
    Value total = e.table(starts, sequences);
    Value last =
        e.map(tile::FragType::get(e.builder.getContext(), {1},
                                  e.builder.getI32Type(), 0),
              {}, [&](ElementContext &c, ValueRange) {
                return arith::IndexCastOp::create(c.builder, c.loc,
                                                  c.builder.getI32Type(), total)
                    .getResult();
              });
    e.store(last, {output, {firstRow(sequences)}, {0}});
    return success();
  }
};

struct ZeroStatesModel : CellModel<ZeroStatesModel, ZeroStatesOp> {
  LogicalResult emitCell(Operation *op, KernelEmitter &e) const {
    auto zeros = cast<ZeroStatesOp>(op);
    RankedTensorType type = typeOf(zeros.getResult());
    Value output = e.getOutput(zeros.getResult());
    SmallVector<Value> cell =
        e.setGrid({e.getExtent(output, 0), e.getAffine(type.getDimSize(1))});
    e.store(e.fill(e.frag({type.getDimSize(2), type.getDimSize(3)}), 0.0),
            {output, {cell[0], cell[1], e.index(0), e.index(0)}, {2, 3}});
    return success();
  }
};

/// One cell a sequence and head; the composition of segments (E17) in order.
struct ScanStatesModel : CellModel<ScanStatesModel, ScanStatesOp> {
  LogicalResult emitCell(Operation *op, KernelEmitter &e) const {
    auto scan = cast<ScanStatesOp>(op);
    RankedTensorType type = typeOf(scan.getLocal());
    SmallVector<int64_t> shape{type.getDimSize(2), type.getDimSize(3)};
    int64_t length = scan.getLength();
    Value local = e.getInput(scan.getLocal());
    Value starts = e.getInput(scan.getStarts());
    Value slots = e.getInput(scan.getSlots());
    Value pool = e.getInplace(scan.getStates(), scan.getNewStates());
    Value output = e.getOutput(scan.getResult());
    SmallVector<Value> cell =
        e.setGrid({e.getExtent(slots, 0), e.getAffine(type.getDimSize(1))});
    e.loadRate(scan.getDecay(), cell[1]);
    Value from = e.table(starts, cell[0]);
    Value to = e.table(starts, e.add(cell[0], e.index(1)));
    Value first = e.add(e.div(from, length), cell[0]);
    auto at = [&](Value view, Value row) {
      return Slice{view, {row, cell[1], e.index(0), e.index(0)}, {2, 3}};
    };
    Slice slot = at(pool, e.table(slots, cell[0]));
    Value state = e.loadFrag(slot, shape);
    SmallVector<Value> last =
        e.loop(from, to, length, state, [&](Value token, ValueRange carried) {
          Value row = e.add(first, e.div(e.sub(token, from), length));
          e.store(carried[0], at(output, row));
          Value bound = e.min(e.sub(to, token), e.index(length));
          Value own = e.loadFrag(at(local, row), shape);
          Value next = e.map(
              e.frag(shape), {carried[0], own},
              [&](ElementContext &c, ValueRange x) -> Value {
                Value kept = arith::MulFOp::create(
                    c.builder, c.loc, c.decay(scan.getDecay(), bound), x[0]);
                return arith::AddFOp::create(c.builder, c.loc, kept, x[1]);
              });
          return SmallVector<Value>{next};
        });
    e.store(last.front(), slot);
    return success();
  }
};

} // namespace

void mmx::attachSegmentModels(MLIRContext *context) {
  SegmentTableOp::attachInterface<SegmentTableModel>(*context);
  ZeroStatesOp::attachInterface<ZeroStatesModel>(*context);
  ScanStatesOp::attachInterface<ScanStatesModel>(*context);
}
