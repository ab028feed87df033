//===- TileInterpreterTest.cpp - Kernels run through the public header ----===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Reference/TileInterpreter.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mmx::tile;

namespace {

/// y[i] = x[i] + a for tiles of 4, one tile a cell; n is in the grid only.
constexpr const char *addKernel = R"(
tile.kernel @add(%x: !tile.view<?xf32, read>, %y: !tile.view<?xf32, write>,
                 %n: index, %a: f32)
    grid(%i) = affine_map<()[s0, s1, s2] -> (s2)> {
  %c4 = arith.constant 4 : index
  %r = arith.muli %i, %c4 : index
  %t = tile.load %x[%r] dims(0)
     : !tile.view<?xf32, read> -> !tile.frag<4xf32, along 0>
  %u = tile.map(%t) : (!tile.frag<4xf32, along 0>) -> !tile.frag<4xf32, along 0> {
  ^bb0(%v: f32, %row: index, %column: index):
    %w = arith.addf %v, %a : f32
    tile.yield %w : f32
  }
  tile.store %u, %y[%r] dims(0)
     : !tile.frag<4xf32, along 0>, !tile.view<?xf32, write>
}
)";

/// y[i + 1] = x[i].
constexpr const char *shiftKernel = R"(
tile.kernel @shift(%x: !tile.view<9xf32, read>, %y: !tile.view<9xf32, write>)
    grid(%i) = affine_map<() -> (8)> {
  %c1 = arith.constant 1 : index
  %next = arith.addi %i, %c1 : index
  %t = tile.load %x[%i] dims(0)
     : !tile.view<9xf32, read> -> !tile.frag<1xf32, along 0>
  tile.store %t, %y[%next] dims(0)
     : !tile.frag<1xf32, along 0>, !tile.view<9xf32, write>
}
)";

class TileInterpreterTest : public ::testing::Test {
protected:
  TileInterpreterTest()
      : handler(&context, [this](Diagnostic &diagnostic) {
          messages.push_back(diagnostic.str());
          return success();
        }) {
    context.loadDialect<TileDialect, affine::AffineDialect, arith::ArithDialect,
                        math::MathDialect, scf::SCFDialect>();
    module = parseSourceString<ModuleOp>(addKernel, &context);
    kernel = *module->getOps<KernelOp>().begin();
  }

  MLIRContext context;
  std::vector<std::string> messages;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
  KernelOp kernel;
};

TEST_F(TileInterpreterTest, RunsOnBorrowedMemory) {
  float x[6] = {1, 2, 3, 4, 5, 6}, y[7] = {0, 0, 0, 0, 0, 0, -1};
  HostArray source(x, {6}, ElementKind::F32);
  HostArray target(y, {6}, ElementKind::F32);
  KernelArgument arguments[] = {
      {&source}, {&target}, {nullptr, {.i = 2}}, {nullptr, {.f = 0.5f}}};
  FailureOr<SmallVector<int64_t>> extents = getKernelExtents(kernel, arguments);
  ASSERT_TRUE(succeeded(extents));
  EXPECT_EQ(*extents, (SmallVector<int64_t>{6, 6, 2}));
  FailureOr<SmallVector<int64_t, 3>> sizes = getGridSizes(kernel, *extents);
  ASSERT_TRUE(succeeded(sizes));
  EXPECT_EQ(*sizes, (SmallVector<int64_t, 3>{2}));
  TileInterpreterOptions options;
  options.orderSeed = 3;
  ASSERT_TRUE(succeeded(interpretKernel(kernel, arguments, options)));
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(y[i], x[i] + 0.5f);
  EXPECT_EQ(y[6], -1.0f); // behind the extent
}

TEST_F(TileInterpreterTest, NoCellsWriteNothing) {
  HostArray source({0}, ElementKind::F32), target({0}, ElementKind::F32);
  KernelArgument arguments[] = {{&source}, {&target}, {}, {}};
  EXPECT_TRUE(succeeded(interpretKernel(kernel, arguments)));
}

TEST_F(TileInterpreterTest, ViewsOverOneBufferAreOneArray) {
  // In place, each cell on its own elements.
  float memory[12] = {};
  HostArray array(memory, {8}, ElementKind::F32);
  KernelArgument same[] = {
      {&array}, {&array}, {nullptr, {.i = 2}}, {nullptr, {.f = 1.0f}}};
  EXPECT_TRUE(succeeded(interpretKernel(kernel, same)));
  EXPECT_EQ(memory[7], 1.0f);
  // Shifted by one element, a cell reads what its neighbour writes.
  HostArray shifted(memory, {9}, ElementKind::F32);
  module = parseSourceString<ModuleOp>(shiftKernel, &context);
  KernelArgument race[] = {{&shifted}, {&shifted}};
  EXPECT_TRUE(
      failed(interpretKernel(*module->getOps<KernelOp>().begin(), race)));
  EXPECT_EQ(messages.back(),
            "reads element [1] in cell 1, but cell 0 writes it");
}

TEST_F(TileInterpreterTest, NegativeGridsAreRefused) {
  HostArray array({8}, ElementKind::F32);
  KernelArgument arguments[] = {
      {&array}, {&array}, {nullptr, {.i = -1}}, {nullptr, {.f = 1.0f}}};
  EXPECT_TRUE(failed(interpretKernel(kernel, arguments)));
  EXPECT_EQ(messages.back(), "expected grid sizes of at least 0");
}

TEST_F(TileInterpreterTest, ArgumentsMustFit) {
  HostArray array({8}, ElementKind::F32);
  HostArray halves({8}, ElementKind::BF16);
  HostArray matrix({2, 4}, ElementKind::F32);
  HostArray panels({8}, ElementKind::F32, /*panel=*/4);
  for (HostArray *wrong : {&halves, &matrix, &panels}) {
    KernelArgument arguments[] = {{&array}, {wrong}, {}, {}};
    EXPECT_TRUE(failed(interpretKernel(kernel, arguments)));
    EXPECT_EQ(messages.back(),
              "argument 1 does not fit '!tile.view<?xf32, write>'");
  }
  KernelArgument few[] = {{&array}, {&array}};
  EXPECT_TRUE(failed(interpretKernel(kernel, few)));
  EXPECT_EQ(messages.back(), "expected 4 arguments, but got 2");
}

} // namespace
