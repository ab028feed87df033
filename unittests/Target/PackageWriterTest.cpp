//===- PackageWriterTest.cpp - Packages written and read back -------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Target/PackageWriter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mmx/Dialect/Exec/ExecDialect.h"
#include "mmx/Dialect/MMX/MMXDialect.h"
#include "mmx/package_generated.h"
#include "llvm/Support/SHA256.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mmx;

namespace {

constexpr const char *program = R"(
#rows = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 2)>
#table = affine_map<()[s0, s1, s2, s3, s4, s5] -> (2, 96, 64)>
module attributes {mmx.model = {type = "minimax", layers = 4 : i64,
                                lightning_layers = array<i64: 0, 1>}} {
mmx.global @w : tensor<2x96x64xbf16> from [
  #mmx.source<"a", index = 1>, #mmx.source<"b", index = 2, first = 96, rows = 96>]
mmx.global @unused : tensor<4xf32> from [#mmx.source<"c">]
func.func private @k() attributes {
  mmx.kernel, mmx.grid = affine_map<()[s0, s1] -> (s0 ceildiv 64, s1 mod 3)>}
exec.program @prefill arena affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0 * 128 + 64)> {
  %state = exec.input "state.1" panel 16 along 0 : #rows, !exec.buffer<f32>
  %ids = exec.input "ids" : #rows, !exec.buffer<i32>
  %rows = exec.weight @w : #table, !exec.buffer<bf16>
  %panels = exec.weight @w panel 16 along 0 : #table, !exec.buffer<bf16>
  %c = exec.constant dense<1.0> : tensor<3xf32> : !exec.buffer<f32>
  %t = exec.temp at affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0 * 64)> : #rows, !exec.buffer<f32>
  exec.launch @k(%rows, %panels, %c, %t) writes [3]
    extents affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, s1 + 1)> label "first"
    : !exec.buffer<bf16>, !exec.buffer<bf16>, !exec.buffer<f32>, !exec.buffer<f32>
  exec.launch @k(%rows, %t, %c, %state) writes [3]
    extents affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, s1)>
    : !exec.buffer<bf16>, !exec.buffer<f32>, !exec.buffer<f32>, !exec.buffer<f32>
}
})";

class PackageWriter : public testing::Test {
protected:
  PackageWriter() {
    context.loadDialect<MMXDialect, exec::ExecDialect, func::FuncDialect>();
    object.elf = {1, 2, 3};
    object.kernels = {{"k", 100, 4096, false}};
    target.features = {"avx2", "fma"};
  }

  llvm::Expected<std::vector<uint8_t>> write(std::string text) {
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return llvm::createStringError("the module does not parse");
    return writePackage(*module, PackageCode(object, target), "f32");
  }

  /// The message for the program with `from` replaced by `to`.
  std::string writeError(const std::string &from, const std::string &to) {
    std::string text = program;
    text.replace(text.find(from), from.size(), to);
    auto bytes = write(text);
    return bytes ? "" : llvm::toString(bytes.takeError());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  CPUObject object;
  CPUTarget target;
};

std::vector<int64_t> code(const package::Expression *expression) {
  return {expression->code()->begin(), expression->code()->end()};
}

TEST_F(PackageWriter, FramesTheBuffer) {
  auto bytes = write(program);
  ASSERT_TRUE(bool(bytes)) << llvm::toString(bytes.takeError());
  EXPECT_EQ(std::memcmp(bytes->data(), "MMXPKG01", 8), 0);
  auto body = llvm::ArrayRef(*bytes).drop_front(64);
  auto digest = llvm::SHA256::hash(body);
  EXPECT_EQ(std::memcmp(bytes->data() + 8, digest.data(), 32), 0);
  flatbuffers::Verifier verifier(body.data(), body.size());
  EXPECT_TRUE(package::VerifyPackageBuffer(verifier));
  auto again = write(program);
  ASSERT_TRUE(bool(again));
  EXPECT_EQ(*bytes, *again);
}

TEST_F(PackageWriter, WritesWhatProgramsUse) {
  auto bytes = write(program);
  ASSERT_TRUE(bool(bytes)) << llvm::toString(bytes.takeError());
  const auto *package = package::GetPackage(bytes->data() + 64);
  EXPECT_EQ(package->features()->Get(1)->str(), "fma");
  EXPECT_EQ(package->model()->layers(), 4);
  EXPECT_EQ(package->objects()->Get(0)->data()->size(), 3u);

  ASSERT_EQ(package->kernels()->size(), 1u);
  const auto *kernel = package->kernels()->Get(0);
  EXPECT_EQ(kernel->symbol()->str(), "k");
  EXPECT_EQ(kernel->extents(), 2u);
  EXPECT_EQ(kernel->scratch(), 4096u);
  // s0 ceildiv 64 and s1 mod 3.
  EXPECT_EQ(code(kernel->grid()->Get(0)),
            (std::vector<int64_t>{1, 0, 0, 64, 5, 0}));
  EXPECT_EQ(code(kernel->grid()->Get(1)),
            (std::vector<int64_t>{1, 1, 0, 3, 6, 0}));

  // One weight in two layouts is two weights with names of their own.
  ASSERT_EQ(package->weights()->size(), 2u);
  EXPECT_EQ(package->weights()->Get(0)->name()->str(), "w");
  EXPECT_EQ(package->weights()->Get(1)->name()->str(), "w.panel16.0");
  EXPECT_EQ(package->weights()->Get(1)->panel(), 16);
  const auto *source = package->weights()->Get(0)->sources()->Get(1);
  EXPECT_EQ(source->index(), 2);
  EXPECT_EQ(source->first(), 96);
  EXPECT_EQ(source->rows(), 96);
}

TEST_F(PackageWriter, WritesPrograms) {
  auto bytes = write(program);
  ASSERT_TRUE(bool(bytes)) << llvm::toString(bytes.takeError());
  const auto *package = package::GetPackage(bytes->data() + 64);
  ASSERT_EQ(package->programs()->size(), 1u);
  const auto *prefill = package->programs()->Get(0);
  EXPECT_EQ(prefill->name()->str(), "prefill");
  // s0 * 128 + 64.
  EXPECT_EQ(code(prefill->arena()),
            (std::vector<int64_t>{1, 0, 0, 128, 3, 0, 0, 64, 2, 0}));

  // %ids is used by no launch.
  ASSERT_EQ(prefill->buffers()->size(), 5u);
  const auto *state = prefill->buffers()->Get(0);
  EXPECT_EQ(state->kind(), package::BufferKind::Input);
  EXPECT_EQ(state->role()->str(), "state.1");
  EXPECT_EQ(state->panel(), 16);
  const auto *constant = prefill->buffers()->Get(3);
  EXPECT_EQ(constant->kind(), package::BufferKind::Constant);
  ASSERT_EQ(constant->data()->size(), 12u);
  float last;
  std::memcpy(&last, constant->data()->data() + 8, 4);
  EXPECT_EQ(last, 1.0f);
  EXPECT_EQ(code(prefill->buffers()->Get(4)->offset()),
            (std::vector<int64_t>{1, 0, 0, 64, 3, 0}));

  ASSERT_EQ(prefill->launches()->size(), 2u);
  const auto *launch = prefill->launches()->Get(0);
  EXPECT_EQ(launch->label()->str(), "first");
  EXPECT_EQ(std::vector<uint32_t>(launch->buffers()->begin(),
                                  launch->buffers()->end()),
            (std::vector<uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(code(launch->extents()->Get(1)),
            (std::vector<int64_t>{1, 1, 0, 1, 2, 0}));
  EXPECT_EQ(prefill->launches()->Get(1)->label(), nullptr);
}

TEST_F(PackageWriter, RefusesIncompleteModules) {
  EXPECT_EQ(writeError("mmx.model", "mmx.other"),
            "expected a module with the attribute mmx.model");
  EXPECT_EQ(writeError("mmx.grid", "mmx.other"),
            "expected code and the attribute mmx.grid of kernel @k");
  EXPECT_EQ(writeError("extents affine_map<()[s0, s1, s2, s3, s4, s5] -> "
                       "(s0, s1 + 1)>",
                       "extents affine_map<()[s0, s1, s2, s3, s4, s5] -> "
                       "(s0)>"),
            "expected kernel @k to have 1 extents, but its grid has 2");
  object.kernels.clear();
  EXPECT_EQ(writeError("first", "first"),
            "expected code and the attribute mmx.grid of kernel @k");
}

} // namespace
