//===- WeightLoaderTest.cpp - Tests of weight loading ---------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"

#include "runtime/package/Element.h"
#include "runtime/weights/CheckedTensors.h"
#include "runtime/weights/RandomTensors.h"
#include "runtime/weights/WeightLoader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

using namespace mmx;
using namespace mmx::runtime;
using namespace mmx::test;
using flatbuffers::Offset;

namespace {

struct SourceSpec {
  std::string name;
  int64_t index = -1, first = 0, rows = 0;
};

/// A package with one weight.
class OneWeight {
public:
  OneWeight(std::vector<int64_t> shape, std::vector<SourceSpec> specs,
            int64_t panel = 0, int64_t along = 0,
            package::Element element = package::Element::F32) {
    std::vector<Offset<package::Source>> sources;
    for (const SourceSpec &spec : specs)
      sources.push_back(package::CreateSourceDirect(
          builder, spec.name.c_str(), spec.index, spec.first, spec.rows));
    std::vector<Offset<package::Weight>> weights = {package::CreateWeightDirect(
        builder, "w", element, &shape, panel, along, &sources)};
    package::ModelBuilder model(builder);
    auto modelOffset = model.Finish();
    std::vector<Offset<package::Object>> objects;
    std::vector<Offset<package::Kernel>> kernels;
    std::vector<Offset<package::Program>> programs;
    builder.Finish(package::CreatePackageDirect(
        builder, 1, "test", "cpu", nullptr, "f32", modelOffset, &objects,
        &kernels, &weights, &programs));
  }
  const package::Package &operator*() const {
    return *package::GetPackage(builder.GetBufferPointer());
  }

  /// The weight as T, loaded from `tensors`; what no piece fills stays 99.
  template <typename T> std::vector<T> load(const TensorSource &tensors) const {
    int64_t bytes = weightBytes(*(**this).weights()->Get(0));
    std::vector<T> result(bytes / sizeof(T), T(99));
    auto *memory = reinterpret_cast<std::byte *>(result.data());
    for (const WeightPiece &piece : planWeights(**this, tensors))
      readPiece(piece, tensors, memory + piece.offset);
    return result;
  }

private:
  flatbuffers::FlatBufferBuilder builder;
};

std::vector<float> iota(int64_t count, float first = 0) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

} // namespace

TEST(WeightLoader, RowMajor) {
  MemoryTensors tensors;
  tensors.add("t", {2, 3}, iota(6));
  EXPECT_EQ(OneWeight({2, 3}, {{"t"}}).load<float>(tensors), iota(6));
}

TEST(WeightLoader, PanelsAlongRows) {
  MemoryTensors tensors;
  tensors.add("t", {3, 2}, iota(6));
  // Rows 0 and 1 side by side, then row 2 beside padding.
  std::vector<float> expected = {0, 2, 1, 3, 4, 0, 5, 0};
  EXPECT_EQ(OneWeight({3, 2}, {{"t"}}, 2).load<float>(tensors), expected);
}

TEST(WeightLoader, PanelsOfStackedExperts) {
  MemoryTensors tensors;
  tensors.add("e0", {3, 2}, iota(6));
  tensors.add("e1", {3, 2}, iota(6, 10));
  std::vector<float> expected = {0,  2,  1,  3,  4,  0, 5,  0,
                                 10, 12, 11, 13, 14, 0, 15, 0};
  OneWeight weight({2, 3, 2}, {{"e0"}, {"e1"}}, 2, 1);
  EXPECT_EQ(weight.load<float>(tensors), expected);
}

TEST(WeightLoader, PanelsOfOneTensorOfExperts) {
  MemoryTensors tensors;
  tensors.add("e", {2, 3, 2}, iota(12));
  std::vector<float> expected = {0, 2, 1, 3, 4,  0, 5,  0,
                                 6, 8, 7, 9, 10, 0, 11, 0};
  EXPECT_EQ(OneWeight({2, 3, 2}, {{"e"}}, 2, 1).load<float>(tensors), expected);
}

TEST(WeightLoader, IndexAndRows) {
  MemoryTensors tensors;
  tensors.add("t", {2, 4, 2}, iota(16));
  // Rows 1 and 2 of element 1, and of element 0.
  OneWeight weight({2, 2, 2}, {{"t", 1, 1, 2}, {"t", 0, 1, 2}});
  std::vector<float> expected = {10, 11, 12, 13, 2, 3, 4, 5};
  EXPECT_EQ(weight.load<float>(tensors), expected);
}

TEST(WeightLoader, Bf16) {
  MemoryTensors tensors;
  tensors.add("t", {2, 2}, {1.0f, 2.0f, 1.00390625f, -1.0f});
  OneWeight weight({2, 2}, {{"t"}}, 2, 0, package::Element::BF16);
  std::vector<uint16_t> expected = {0x3f80, 0x3f80, 0x4000, 0xbf80};
  EXPECT_EQ(weight.load<uint16_t>(tensors), expected);
}

TEST(WeightLoader, LargeWeightsInManyPieces) {
  MemoryTensors tensors;
  int64_t rows = 1000, width = 2000, panel = 16;
  std::vector<float> values = iota(rows * width);
  tensors.add("t", {rows, width}, values);
  OneWeight weight({rows, width}, {{"t"}}, panel);
  EXPECT_GT(planWeights(*weight, tensors).size(), 2u);
  std::vector<float> loaded = weight.load<float>(tensors);
  ASSERT_EQ(int64_t(loaded.size()), 1008 * width);
  for (int64_t r = 0; r < 1008; ++r)
    for (int64_t c = 0; c < width; c += 97)
      ASSERT_EQ(loaded[(r / panel * width + c) * panel + r % panel],
                r < rows ? values[r * width + c] : 0)
          << r << " " << c;
}

TEST(WeightLoader, ErrorsNameTensorExpectedAndGot) {
  MemoryTensors tensors;
  tensors.add("t", {2, 3}, iota(6));
  auto errorFor = [&](OneWeight weight) {
    return errorOf([&] { planWeights(*weight, tensors); });
  };
  EXPECT_EQ(errorFor(OneWeight({3, 3}, {{"t"}})),
            "memory: tensor \"t\": expected the shape [3, 3], but got [2, 3]");
  EXPECT_EQ(errorFor(OneWeight({3, 3}, {{"u"}})),
            "memory: tensor \"u\": is missing");
  EXPECT_NE(errorFor(OneWeight({3}, {{"t", 2}})).find("more than 2"),
            std::string::npos);
  EXPECT_NE(errorFor(OneWeight({2, 3}, {{"t", -1, 1, 2}})).find("at least 3"),
            std::string::npos);
}

TEST(WeightLoader, NamesElementsThatAreNotFinite) {
  const float inf = std::numeric_limits<float>::infinity();
  auto errorFor = [](float value, package::Element element) {
    auto tensors = std::make_unique<MemoryTensors>();
    tensors->add("good", {2}, {1, -2});
    tensors->add("bad", {2, 3}, {0, 0, 0, 0, value, 0});
    CheckedTensors checked(std::move(tensors));
    OneWeight({2}, {{"good"}}, 0, 0, element).load<uint16_t>(checked);
    EXPECT_EQ(errorOf([&] { checked.data(*checked.find("good")); }), "");
    std::string error = errorOf([&] {
      OneWeight({2, 3}, {{"bad"}}, 0, 0, element).load<uint16_t>(checked);
    });
    // What is too large for bf16 only is finite for those who read floats.
    if (std::isinf(value) || std::isnan(value))
      EXPECT_EQ(errorOf([&] { checked.data(*checked.find("bad")); }), error);
    return error;
  };
  for (auto element : {package::Element::F32, package::Element::BF16}) {
    EXPECT_EQ(errorFor(inf, element),
              "memory: tensor \"bad\": expected finite numbers, but element "
              "[1, 1] is inf");
    EXPECT_NE(errorFor(-inf, element).find("is -inf"), std::string::npos);
    EXPECT_NE(errorFor(std::nanf(""), element).find("is nan"),
              std::string::npos);
  }
  EXPECT_EQ(errorFor(3.4e38f, package::Element::F32), "");
  EXPECT_NE(errorFor(3.4e38f, package::Element::BF16).find("is 3.4e+38"),
            std::string::npos);
}

TEST(WeightLoader, FindsRowsOfZeros) {
  EXPECT_EQ(tokenlessIds(testWeights(), 10), std::vector<int32_t>{7});
  MemoryTensors tied;
  tied.add("model.embed_tokens.weight", {2, 1}, {0, 1});
  EXPECT_EQ(tokenlessIds(tied, 2), std::vector<int32_t>{0});
}

TEST(RandomTensors, ValuesDoNotDependOnLayoutOrPart) {
  OneWeight plain({8, 4}, {{"t"}});
  OneWeight panels({8, 4}, {{"t"}}, 4);
  OneWeight narrow({8, 4}, {{"t"}}, 0, 0, package::Element::BF16);
  RandomTensors random(*plain, 1);
  std::vector<float> values = plain.load<float>(random);
  std::vector<float> inPanels = panels.load<float>(random);
  std::vector<uint16_t> rounded = narrow.load<uint16_t>(random);
  for (int64_t r = 0; r < 8; ++r) {
    for (int64_t c = 0; c < 4; ++c) {
      EXPECT_EQ(values[r * 4 + c], inPanels[(r / 4 * 4 + c) * 4 + r % 4]);
      EXPECT_EQ(values[r * 4 + c], floatFromBf16(rounded[r * 4 + c]));
    }
  }
  auto *data = static_cast<const float *>(random.data(*random.find("t")));
  EXPECT_TRUE(std::equal(values.begin(), values.end(), data));
  EXPECT_NE(plain.load<float>(RandomTensors(*plain, 2)), values);
}
