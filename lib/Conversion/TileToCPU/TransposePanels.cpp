//===- TransposePanels.cpp - The panel form of a tile from its rows -------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mmx;
using namespace mmx::cpu;

/// Transposes as many registers as one has lanes. Interleaving the first half
/// with the second one rotates the bits of the position (register, lane) by
/// one; log2(lanes) rounds exchange register and lane.
static void transpose(Emitter &e, SmallVectorImpl<Value> &vectors) {
  int64_t lanes = e.width;
  SmallVector<int64_t> low, high;
  for (int64_t lane = 0; lane < lanes / 2; ++lane) {
    low.append({lane, lanes + lane});
    high.append({lanes / 2 + lane, lanes + lanes / 2 + lane});
  }
  for (int64_t round = 1; round < lanes; round *= 2) {
    SmallVector<Value> next;
    for (int64_t i = 0; i < lanes / 2; ++i) {
      Value a = vectors[i], b = vectors[i + lanes / 2];
      next.push_back(vector::ShuffleOp::create(e, a, b, low));
      next.push_back(vector::ShuffleOp::create(e, a, b, high));
    }
    vectors.assign(next);
  }
}

void KernelLowering::completeForms(Value tile) {
  TilePlace &place = tiles.at(tile);
  if (!plan.needsPanels(tile) || place.panels)
    return;
  PanelForm panels = getPanelPlace(tile);
  TileShape shape = place.shape;
  e.forEach(e.i64(0), e.i64(shape.rows), e.width, [&](Value row) {
    Value group = e.add(e.mul(e.div(row, panelRows), panels.panelStride),
                        e.rem(row, panelRows));
    e.forEach(e.i64(0), e.i64(shape.cols), e.width, [&](Value col) {
      SmallVector<Value> vectors;
      for (int64_t i = 0; i < e.width; ++i) {
        // Rows that the last panel lacks repeat the last row.
        Value from = e.min(e.add(row, e.i64(i)), e.i64(shape.rows - 1));
        vectors.push_back(
            e.loadVector(shape.element, elementAt(place, from, col)));
      }
      transpose(e, vectors);
      Value offset = e.add(group, e.mul(col, panels.stride));
      Value pointer = e.at(panels.pointer, offset, shape.element);
      for (auto [i, vector] : llvm::enumerate(vectors))
        e.store(vector, e.at(pointer, i * panelRows, shape.element));
    });
  });
  place.panels = panels;
}
