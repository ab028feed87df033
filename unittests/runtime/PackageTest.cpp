//===- PackageTest.cpp - Tests of package reading -------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include "runtime/package/Package.h"
#include "runtime/package/PackageChecks.h"

#include <gtest/gtest.h>

using namespace mmx;
using namespace mmx::runtime;
using namespace mmx::test;

static std::string errorFor(std::vector<uint8_t> bytes) {
  return errorOf([&] { Package::parse(std::move(bytes), "test.mmx"); });
}

static std::string errorFor(const TestModelOptions &options) {
  return errorFor(makeTestPackage(options));
}

/// Small: its object is four bytes.
static std::vector<uint8_t> smallPackage() {
  TestModelOptions options;
  options.withObject = false;
  return makeTestPackage(options);
}

/// The same for a GPU, with all that a kernel may have.
static std::vector<uint8_t> smallGpuPackage() {
  TestModelOptions options;
  options.withObject = false;
  options.target = "h200";
  options.ptx = ".version 8.0";
  options.cluster = {2, 1, 1};
  options.mapView = 2;
  return makeTestPackage(options);
}

TEST(Package, Parses) {
  auto package = Package::parse(makeTestPackage(), "test.mmx");
  EXPECT_EQ((*package)->target()->str(), "cpu");
  ASSERT_NE(package->program("decode"), nullptr);
  EXPECT_EQ(package->program("decode")->launches()->size(), 4u);
  EXPECT_EQ(package->program("other"), nullptr);
}

TEST(Package, CarriesTextFiles) {
  TestModelOptions options;
  EXPECT_EQ(Package::parse(makeTestPackage(options), "old.mmx")
                ->text("tokenizer.json"),
            std::nullopt);
  options.texts = {{"tokenizer.json", "{}"}, {"config.json", ""}};
  auto package = Package::parse(makeTestPackage(options), "test.mmx");
  EXPECT_EQ(package->text("tokenizer.json"), "{}");
  EXPECT_EQ(package->text("config.json"), "");
  EXPECT_EQ(package->text("other.json"), std::nullopt);
  options.texts.push_back(options.texts.front());
  EXPECT_EQ(errorFor(options), "test.mmx: text file 2: the name "
                               "\"tokenizer.json\" is given twice");
}

TEST(Package, ReadsFiles) {
  TemporaryDirectory directory;
  std::vector<uint8_t> bytes = smallPackage();
  std::string path = directory.write(
      "m.mmx", {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  EXPECT_EQ(Package::open(path)->name(), path);
  EXPECT_THROW(Package::open("/nowhere.mmx"), Error);
  EXPECT_THROW(Package::open(directory.path().string()), Error);
}

TEST(Package, RefusesEveryTruncation) {
  std::vector<uint8_t> bytes = smallPackage();
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_NE(errorFor({bytes.begin(), bytes.begin() + length}), "") << length;
}

TEST(Package, RefusesEveryFlippedBit) {
  std::vector<uint8_t> bytes = smallPackage();
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::vector<uint8_t> changed = bytes;
    changed[i] ^= uint8_t(1 << i % 8);
    EXPECT_NE(errorFor(changed), "") << i;
  }
}

// With a digest that fits: some changes still make a package, but none may
// crash.
static void flipEveryBit(const std::vector<uint8_t> &bytes) {
  std::vector<uint8_t> body(bytes.begin() + Package::headerSize, bytes.end());
  for (size_t i = 0; i < body.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      body[i] ^= uint8_t(1 << bit);
      errorFor(seal(body));
      body[i] ^= uint8_t(1 << bit);
    }
  }
}

TEST(Package, SurvivesEveryFlippedBitUnderAGoodDigest) {
  flipEveryBit(smallPackage());
  flipEveryBit(smallGpuPackage());
}

TEST(Package, SurvivesEveryTruncationUnderAGoodDigest) {
  std::vector<uint8_t> bytes = smallPackage();
  std::span<const uint8_t> body = std::span(bytes).subspan(Package::headerSize);
  for (size_t length = 0; length < body.size(); ++length)
    errorFor(seal(body.first(length)));
}

static void expectError(const TestModelOptions &options,
                        const std::string &part) {
  std::string error = errorFor(options);
  EXPECT_NE(error.find("test.mmx: "), std::string::npos) << error;
  EXPECT_NE(error.find(part), std::string::npos) << error;
}

TEST(Package, RefusesWhatBreaksARule) {
  TestModelOptions options;
  options.version = 77;
  expectError(options, "expected package version 1, but got 77");
  options = {};
  options.embedSymbol = "";
  expectError(options, "kernel 0: has an empty symbol");
  options = {};
  options.headKernel = 4;
  expectError(options, "launch 3: expected a kernel below 4, but got 4");
  options = {};
  options.badExtent = true;
  expectError(options, "extent 1: expected a symbol below 6, but got 6");
  options = {};
  options.maxPositions = 0;
  expectError(options, "model: expected max_positions from 1");
  options = {};
  options.expertsPerToken = 1;
  expectError(options, "model: expected experts_per_token from 0 to 0");
}

TEST(Package, RefusesWhatNoGpuCanRun) {
  TestModelOptions good;
  good.target = "h200";
  good.mapView = 2;
  good.cluster = {2, 1, 1};
  EXPECT_EQ(errorFor(good), "");
  TestModelOptions options = good;
  options.gpu = false;
  expectError(options, "kernel 0: lacks what a launch on a GPU needs");
  options = good;
  options.target = "cpu";
  options.gpu = true;
  expectError(options, "kernel 0: is a kernel for GPUs in a package for");
  options = good;
  options.threads = 1025;
  expectError(options, "expected threads from 1 to 1024, but got 1025");
  options = good;
  options.cluster = {4, 4, 2};
  expectError(options, "expected blocks of a cluster from 1 to 16, but got 32");
  options = good;
  options.cluster = {2};
  expectError(options, "expected cluster dimensions from 3 to 3, but got 1");
  options = good;
  options.mapBox = {4};
  expectError(options, "tensor map 0: expected box dimensions from 2 to 2");
  options = good;
  options.mapBox = {3, 1};
  expectError(options, "multiple of 16 bytes, but got 12");
  options = good;
  options.mapBox = {16, 1};
  options.mapSwizzle = 32;
  expectError(options, "multiple of 16 bytes, 32 at most, but got 64");
  options = good;
  options.mapSwizzle = 48;
  expectError(options, "a swizzle of 0, 32, 64 or 128 bytes, but got 48");
  options = good;
  options.mapView = 3;
  expectError(options, "launch 0: kernel \"embed\" has a tensor map of view 3, "
                       "but the launch passes 3 buffers");
}

TEST(Roles, Parse) {
  EXPECT_EQ(parseRole("ids")->kind, RoleKind::Ids);
  EXPECT_EQ(parseRole("state.12")->kind, RoleKind::State);
  EXPECT_EQ(parseRole("state.12")->layer, 12);
  EXPECT_EQ(parseRole("hidden.0")->kind, RoleKind::Hidden);
  for (const char *text :
       {"", "state", "state.", "state.x", "state.1x", "state.-1", "state. 1",
        "idss", "logits.0", "state.99999999999999999999"})
    EXPECT_FALSE(parseRole(text)) << text;
}
