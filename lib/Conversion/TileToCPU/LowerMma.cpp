//===- LowerMma.cpp - Matrix products in registers ------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block of rows times a few vectors of columns stays in registers over the
// whole reduction. Every element is one chain of fused multiply-adds in the
// order of the reduction index, so that neither block sizes nor the number of
// rows change a bit of the result.
//
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::cpu;

/// Vectors of columns in a block, and the rows that go with them: as many sums
/// as registers hold (32 of them with 16 lanes, 16 with 8), with room for one
/// row of B and an element of A.
static int64_t chooseVectors(int64_t vectors, int64_t lanes) {
  int64_t most = lanes >= 16 ? 4 : 2;
  for (int64_t count = most; count > 1; --count)
    if (vectors % count == 0)
      return count;
  return std::min(vectors, most);
}

static int64_t chooseRows(int64_t vectors, int64_t lanes) {
  int64_t sums = lanes >= 16 ? 24 : 12;
  return std::min<int64_t>(sums / vectors, lanes >= 16 ? 12 : 6);
}

/// Steps of the reduction in the body of its loop.
static constexpr int64_t unrolledSteps = 4;

struct KernelLowering::Product {
  TilePlace a, b, acc, result;
  bool hasAcc, transposeA, transposeB;
  /// Extent of the reduction.
  int64_t depth;
  /// Rows that are needed.
  Value rows;
};

LogicalResult KernelLowering::lowerMma(tile::MmaOp op) {
  Product product;
  product.a = tiles.at(op.getA());
  product.b = tiles.at(op.getB());
  product.transposeA = op.getTransposeA();
  product.transposeB = op.getTransposeB();
  product.hasAcc = static_cast<bool>(op.getAcc());
  if (product.hasAcc)
    product.acc = tiles.at(op.getAcc());
  placeResult(op.getResult()).rows = getRowPlace(op.getResult());
  product.result = tiles.at(op.getResult());
  const TileShape &a = product.a.shape;
  product.depth = product.transposeA ? a.rows : a.cols;
  product.rows = countRows(op.getResult(), op);
  int64_t vectors = e.countVectors(product.result.shape.cols);
  int64_t count = chooseVectors(vectors, e.width);
  if (vectors >= 2 * count)
    e.forEach(e.i64(0), e.i64(vectors / count), 1, [&](Value number) {
      multiplyColumns(product, e.mul(number, e.i64(count)), count);
    });
  else
    multiplyColumns(product, e.i64(0), count);
  if (vectors % count != 0)
    multiplyColumns(product, e.i64(vectors / count * count), vectors % count);
  completeForms(op.getResult());
  return success();
}

/// All rows of some vectors of columns: blocks of the chosen height, then what
/// is left in powers of two.
void KernelLowering::multiplyColumns(const Product &product, Value firstVector,
                                     int64_t vectors) {
  int64_t height =
      std::min(chooseRows(vectors, e.width), product.result.shape.rows);
  Value whole = e.mul(e.div(product.rows, height), e.i64(height));
  e.forEach(e.i64(0), whole, height, [&](Value row) {
    multiplyBlock(product, row, height, firstVector, vectors);
  });
  Value row = whole;
  for (int64_t rest = llvm::bit_floor<uint64_t>(height - 1);
       rest >= 1 && height > 1; rest /= 2) {
    Value end = e.add(row, e.i64(rest));
    Value fits = e.le(end, product.rows);
    e.ifThen(fits,
             [&] { multiplyBlock(product, row, rest, firstVector, vectors); });
    row = e.select(fits, end, row);
  }
}

/// An element of A on all lanes, widened to f32.
static Value broadcastElement(Emitter &e, Type element, Value pointer) {
  if (!element.isBF16())
    return e.splat(e.load(element, pointer));
  // The upper half of a word is the value, the lower half is shifted out.
  Type half = e.getI16Type();
  Value bits = e.load(half, pointer);
  Value both = vector::BroadcastOp::create(
      e, VectorType::get({2 * e.width}, half), bits);
  Value words = vector::BitCastOp::create(e, e.vectorOf(e.getI32Type()), both);
  Value sixteen = e.constant(words.getType(), 16);
  Value shifted = arith::ShLIOp::create(e, words, sixteen);
  return vector::BitCastOp::create(e, e.vectorOf(e.getF32Type()), shifted);
}

void KernelLowering::multiplyBlock(const Product &product, Value row,
                                   int64_t rows, Value firstVector,
                                   int64_t vectors) {
  const TilePlace &a = product.a, &b = product.b;
  Value zero = e.i64(0), one = e.i64(1);
  // Element (row, k) of A at pointer + k * aStep.
  Value aStep = product.transposeA ? a.rows->stride : one;
  SmallVector<Value> aPointers, bPointers, sums;
  for (int64_t i = 0; i < rows; ++i) {
    Value r = e.add(row, e.i64(i));
    aPointers.push_back(product.transposeA ? elementAt(a, zero, r)
                                           : elementAt(a, r, zero));
  }
  Value bStep = product.transposeB ? b.panels->stride : b.rows->stride;
  SmallVector<Value> cols;
  for (int64_t j = 0; j < vectors; ++j) {
    Value col = e.mul(e.add(firstVector, e.i64(j)), e.i64(e.width));
    cols.push_back(col);
    Value offset = col;
    if (product.transposeB)
      offset = e.add(e.mul(e.div(col, panelRows), b.panels->panelStride),
                     e.rem(col, panelRows));
    bPointers.push_back(
        e.at(product.transposeB ? b.panels->pointer : b.rows->pointer, offset,
             b.shape.element));
  }
  Type f32 = e.getF32Type();
  for (int64_t i = 0; i < rows; ++i)
    for (Value col : cols)
      sums.push_back(
          product.hasAcc
              ? e.loadVector(f32,
                             elementAt(product.acc, e.add(row, e.i64(i)), col))
              : e.constant(e.vectorOf(f32), 0.0));
  auto steps = [&](Value k, int64_t count, ValueRange in) {
    SmallVector<Value> values(in);
    for (int64_t u = 0; u < count; ++u) {
      Value step = e.add(k, e.i64(u));
      Value bOffset = e.mul(step, bStep), aOffset = e.mul(step, aStep);
      SmallVector<Value> bVectors;
      for (Value pointer : bPointers)
        bVectors.push_back(
            e.convert(e.loadVector(b.shape.element,
                                   e.at(pointer, bOffset, b.shape.element)),
                      f32));
      for (int64_t i = 0; i < rows; ++i) {
        Value element = broadcastElement(
            e, a.shape.element, e.at(aPointers[i], aOffset, a.shape.element));
        for (int64_t j = 0; j < vectors; ++j) {
          Value &sum = values[i * vectors + j];
          sum = math::FmaOp::create(e, element, bVectors[j], sum);
        }
      }
    }
    return values;
  };
  int64_t unrolled = product.depth / unrolledSteps * unrolledSteps;
  if (unrolled)
    sums = e.forEach(zero, e.i64(unrolled), unrolledSteps, sums,
                     [&](Value k, ValueRange values) {
                       return steps(k, unrolledSteps, values);
                     });
  if (unrolled < product.depth)
    sums = steps(e.i64(unrolled), product.depth - unrolled, sums);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < vectors; ++j)
      e.store(sums[i * vectors + j],
              elementAt(product.result, e.add(row, e.i64(i)), cols[j]));
}
