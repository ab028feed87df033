//===- SafetensorsTest.cpp - Tests of safetensors files and checkpoints ---===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include "runtime/weights/Checkpoint.h"
#include "runtime/weights/Safetensors.h"

#include <gtest/gtest.h>

using namespace mmx;
using namespace mmx::runtime;
using namespace mmx::test;

static const char *const goodHeader =
    R"({"__metadata__": {"format": "pt"},)"
    R"("a": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]},)"
    R"("b": {"dtype": "BF16", "shape": [2], "data_offsets": [8, 12]}})";

class SafetensorsTest : public testing::Test {
protected:
  /// The message for a file with this header and data.
  std::string errorFor(const std::string &header, std::string_view data) {
    std::string path =
        directory.write("t.safetensors", safetensorsBytes(header, data));
    return errorOf([&] { Safetensors file(path); });
  }
  /// Expects an error that names the file and has `part` in its message.
  void expectError(const std::string &header, std::string_view data,
                   const std::string &part) {
    std::string error = errorFor(header, data);
    EXPECT_NE(error.find("t.safetensors"), std::string::npos) << error;
    EXPECT_NE(error.find(part), std::string::npos) << error;
  }
  static std::string entry(const std::string &dtype, const std::string &shape,
                           const std::string &offsets) {
    return R"({"x": {"dtype": ")" + dtype + R"(", "shape": )" + shape +
           R"(, "data_offsets": )" + offsets + "}}";
  }

  TemporaryDirectory directory;
};

TEST_F(SafetensorsTest, ReadsTensors) {
  float values[] = {1.5f, -2.0f};
  std::string data(reinterpret_cast<const char *>(values), 8);
  data += std::string("\x80\x3f\x00\x40", 4);
  std::string path =
      directory.write("t.safetensors", safetensorsBytes(goodHeader, data));
  Safetensors file(path);
  EXPECT_EQ(file.tensors().size(), 2u);
  EXPECT_EQ(file.find("a")->info.shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(file.values<float>("a", "F32"), (std::vector<float>{1.5f, -2.0f}));
  EXPECT_EQ(file.find("c"), nullptr);
  EXPECT_THROW(file.values<int32_t>("a", "I32"), Error);
  EXPECT_THROW(file.values<float>("c", "F32"), Error);
}

TEST_F(SafetensorsTest, RefusesEveryTruncation) {
  std::string bytes = safetensorsBytes(goodHeader, std::string(12, 'x'));
  for (size_t length = 0; length < bytes.size(); ++length) {
    std::string path =
        directory.write("t.safetensors", bytes.substr(0, length));
    EXPECT_NE(errorOf([&] { Safetensors file(path); }), "") << length;
  }
}

TEST_F(SafetensorsTest, SurvivesEveryFlippedBit) {
  std::string bytes = safetensorsBytes(goodHeader, std::string(12, 'x'));
  for (size_t i = 0; i < bytes.size() - 12; ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = bytes;
      changed[i] ^= char(1 << bit);
      std::string path = directory.write("t.safetensors", changed);
      errorOf([&] { Safetensors file(path); });
    }
  }
}

TEST_F(SafetensorsTest, NamesTheMissingBytes) {
  expectError(entry("F32", "[4]", "[0, 16]"), std::string(10, 'x'),
              "6 bytes are missing");
}

TEST_F(SafetensorsTest, RefusesBadHeaders) {
  expectError("not json", "", "not JSON");
  expectError("[]", "", "JSON object");
  expectError(R"({"x": 3})", "", "expected an object");
  expectError(entry("F31", "[1]", "[0, 4]"), "xxxx", "unknown dtype");
  expectError(entry("F32", "[-1]", "[0, 4]"), "xxxx", "non-negative");
  expectError(entry("F32", "[1.5]", "[0, 4]"), "xxxx", "non-negative");
  expectError(entry("F32", "[2]", "[0, 4]"), "xxxx", "do not agree");
  expectError(entry("F32", "[1]", "[4, 0]"), "xxxx", "before its begin");
  expectError(entry("F32", "[1]", "[0]"), "xxxx", "two data_offsets");
  expectError(entry("F32", "[1]", "[-1, 4]"), "xxxx", "non-negative");
  expectError(entry("F32", "[4294967296, 4294967296]", "[0, 4]"), "xxxx",
              "do not agree");
  expectError(entry("F32", "[1]", "[0, 18446744073709551615]"), "xxxx",
              "are missing");
  expectError(R"({"x": {"shape": [1], "data_offsets": [0, 4]}})", "xxxx",
              "dtype");
}

TEST_F(SafetensorsTest, RefusesOverlapsGapsAndRests) {
  auto two = [](const char *second) {
    return concat(
        R"({"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},)",
        R"("b": {"dtype": "U8", "shape": [4], "data_offsets": )", second, "}}");
  };
  expectError(two("[2, 6]"), "xxxxxx", "overlap");
  expectError(two("[5, 9]"), "xxxxxxxxx", "gap");
  expectError(two("[4, 8]"), "xxxxxxxxx", "expected 8 bytes");
  EXPECT_EQ(errorFor(two("[4, 8]"), "xxxxxxxx"), "");
}

TEST_F(SafetensorsTest, RefusesATensorDescribedTwice) {
  expectError(R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]},)"
              R"("a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}})",
              "x", "twice");
}

TEST_F(SafetensorsTest, RefusesAHeaderBeyondTheFile) {
  std::string bytes = safetensorsBytes("{}", "");
  bytes[0] = 3;
  std::string path = directory.write("t.safetensors", bytes);
  std::string error = errorOf([&] { Safetensors file(path); });
  EXPECT_NE(error.find("expected a header of 3 bytes"), std::string::npos);
  bytes[7] = char(0xff);
  path = directory.write("t.safetensors", bytes);
  error = errorOf([&] { Safetensors file(path); });
  EXPECT_NE(error.find("at most"), std::string::npos) << error;
}

TEST_F(SafetensorsTest, DeepJsonDoesNotOverflowTheStack) {
  EXPECT_NE(errorFor(std::string(200'000, '['), ""), "");
}

class CheckpointTest : public SafetensorsTest {
protected:
  std::string shard(const std::string &file, const std::string &tensor) {
    return directory.write(
        file, safetensorsBytes(R"({")" + tensor +
                                   R"(": {"dtype": "F32", "shape": [1],)"
                                   R"("data_offsets": [0, 4]}})",
                               std::string("\0\0\x80\x3f", 4)));
  }
  std::string index(const std::string &map) {
    return directory.write("model.safetensors.index.json",
                           R"({"weight_map": )" + map + "}");
  }
  std::string open() {
    return errorOf([&] { Checkpoint checkpoint(directory.path().string()); });
  }
};

TEST_F(CheckpointTest, ReadsShardsNumberedFromZero) {
  shard("model-00000-of-00002.safetensors", "a");
  shard("model-00001-of-00002.safetensors", "b");
  index(R"({"b": "model-00001-of-00002.safetensors",)"
        R"("a": "model-00000-of-00002.safetensors"})");
  Checkpoint checkpoint(directory.path().string());
  const TensorInfo *tensor = checkpoint.find("b");
  ASSERT_NE(tensor, nullptr);
  float value = 0;
  checkpoint.read(*tensor, 0, 1, package::Element::F32,
                  reinterpret_cast<std::byte *>(&value));
  EXPECT_EQ(value, 1.0f);
  EXPECT_NE(checkpoint.describe("b").find("model-00001"), std::string::npos);
  EXPECT_EQ(checkpoint.find("c"), nullptr);
}

TEST_F(CheckpointTest, NamesAMissingShard) {
  index(R"({"a": "model-00000-of-00001.safetensors"})");
  std::string error = open();
  EXPECT_NE(error.find("model-00000-of-00001.safetensors, which is missing"),
            std::string::npos)
      << error;
}

TEST_F(CheckpointTest, NamesATensorThatIsElsewhere) {
  shard("s.safetensors", "a");
  index(R"({"b": "s.safetensors"})");
  EXPECT_NE(open().find("says that tensor \"b\" stands in"), std::string::npos);
}

TEST_F(CheckpointTest, FindsTensorsThatTheIndexLeavesOut) {
  directory.write("s.safetensors",
                  safetensorsBytes(goodHeader, std::string(12, 'x')));
  index(R"({"a": "s.safetensors"})");
  EXPECT_NE(Checkpoint(directory.path().string()).find("b"), nullptr);
  shard("t.safetensors", "b");
  index(R"({"a": "s.safetensors", "b": "t.safetensors"})");
  EXPECT_NE(open().find("s.safetensors: tensor \"b\" is also in "),
            std::string::npos)
      << open();
}

TEST_F(CheckpointTest, RefusesBadIndexes) {
  for (const char *map :
       {R"({"a": "../s.safetensors"})", R"({"a": "/etc/passwd"})",
        R"({"a": ".."})", R"({"a": ""})", R"({"a": 3})", "[]", "3", "{"}) {
    index(map);
    EXPECT_NE(open(), "") << map;
  }
}

TEST_F(CheckpointTest, SaysWhatItExpected) {
  EXPECT_NE(open().find("expected model.safetensors"), std::string::npos);
  EXPECT_THROW(Checkpoint("/nowhere"), Error);
}

TEST_F(CheckpointTest, CopiesMisalignedTensors) {
  directory.write("model.safetensors",
                  safetensorsBytes(R"({"a": {"dtype": "U8", "shape": [1],)"
                                   R"("data_offsets": [0, 1]},)"
                                   R"("b": {"dtype": "F32", "shape": [1],)"
                                   R"("data_offsets": [1, 5]}})",
                                   std::string("x\0\0\x80\x3f", 5)));
  Checkpoint checkpoint(directory.path().string());
  const void *data = checkpoint.data(*checkpoint.find("b"));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 4, 0u);
  EXPECT_EQ(*static_cast<const float *>(data), 1.0f);
}
