//===- ReferenceTest.cpp - Imported models against their known answers ----===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Imports the golden checkpoints and runs them in the reference interpreter
// through the C interface of libmmx-compiler.
//
//===----------------------------------------------------------------------===//

#include "GoldenCheckpoint.h"

#include "mmx/package_generated.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <span>

namespace {

constexpr double tolerance = 1e-5;
constexpr int64_t page = 64;

/// One sequence, in slot 1 of 3 and in pages that are not in order.
class Sequence {
public:
  explicit Sequence(const std::string &model) : checkpoint(model) {
    MmxCompileOptions options = {};
    options.keepHidden = 1;
    char *error = nullptr;
    int code = mmxReferenceOpen(checkpoint.getPath().c_str(), &options,
                                GoldenCheckpoint::fetch, &checkpoint,
                                &reference, &error);
    check(code, error);
    MmxBytes bytes = {};
    code = mmxReferenceModel(reference, &bytes, &error);
    check(code, error);
    package.assign(bytes.data + 64, bytes.data + bytes.size);
    mmxFree(bytes.data);
    reset();
  }
  ~Sequence() { mmxReferenceClose(reference); }

  const mmx::package::Model &model() const {
    return *mmx::package::GetPackage(package.data())->model();
  }

  /// Forgets the sequence. What was in its slot must be cleared; rows of the
  /// caches may hold anything.
  void reset() {
    const auto &m = model();
    past = 0;
    buffers.clear();
    for (int32_t layer : *m.lightning_layers())
      add("state." + std::to_string(layer),
          {3, m.heads(), m.head_dim(), m.head_dim()}, 0.0f);
    for (int32_t layer : *m.softmax_layers())
      for (std::string role : {"key_cache.", "value_cache."})
        add(role + std::to_string(layer),
            {pages * page, m.kv_heads(), m.head_dim()}, 1e3f);
  }

  /// Runs the next tokens and returns the logits of all of them.
  std::vector<float> run(const char *program, std::span<const int32_t> ids) {
    int64_t tokens = ids.size(), width = model().hidden();
    set("ids", {tokens}, {ids.begin(), ids.end()});
    std::vector<int32_t> positions(tokens), rows(tokens), outputs(tokens),
        table(pages);
    std::iota(positions.begin(), positions.end(), past);
    std::iota(outputs.begin(), outputs.end(), 0);
    for (int64_t column = 0; column < pages; ++column)
      table[column] = pages - 1 - column;
    for (int64_t t = 0; t < tokens; ++t)
      rows[t] = table[positions[t] / page] * page + positions[t] % page;
    set("positions", {tokens}, positions);
    set("starts", {2}, {0, static_cast<int32_t>(tokens)});
    set("slots", {1}, {1});
    set("past", {1}, {past});
    set("cache_rows", {tokens}, rows);
    set("pages", {1, pages}, table);
    set("logit_rows", {tokens}, outputs);
    add("logits", {tokens, model().vocab()}, NAN);
    for (int64_t layer = 0; layer <= model().layers(); ++layer)
      add("hidden." + std::to_string(layer), {tokens, width}, NAN);
    std::vector<MmxRoleBuffer> list;
    for (auto &[role, buffer] : buffers)
      list.push_back({role.c_str(), buffer.data(),
                      static_cast<int64_t>(buffer.shape.size()),
                      buffer.shape.data()});
    char *error = nullptr;
    check(mmxReferenceRun(reference, program, list.data(), list.size(), &error),
          error);
    past += tokens;
    return get("logits");
  }

  const std::vector<float> &get(const std::string &role) {
    return buffers.at(role).floats;
  }

  GoldenCheckpoint checkpoint;

private:
  struct Buffer {
    std::vector<int64_t> shape;
    std::vector<float> floats;
    std::vector<int32_t> ints;
    void *data() {
      return ints.empty() ? static_cast<void *>(floats.data()) : ints.data();
    }
  };

  void add(const std::string &role, std::vector<int64_t> shape, float value) {
    int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t(1),
                                    std::multiplies<>());
    buffers[role] = {std::move(shape), std::vector<float>(count, value), {}};
  }
  void set(const std::string &role, std::vector<int64_t> shape,
           std::vector<int32_t> values) {
    buffers[role] = {std::move(shape), {}, std::move(values)};
  }
  static void check(int code, char *error) {
    if (code == 0)
      return;
    std::string message = error;
    mmxFree(error);
    throw std::runtime_error(message);
  }

  static constexpr int64_t pages = 10;
  MmxReference *reference = nullptr;
  std::vector<uint8_t> package;
  std::map<std::string, Buffer> buffers;
  int32_t past = 0;
};

/// The largest difference, relative to the largest expected magnitude: the
/// answers were computed in float32, so that is what their error scales with.
double getDistance(std::span<const float> got,
                   std::span<const float> expected) {
  if (got.size() != expected.size())
    return INFINITY;
  double difference = 0, scale = 1;
  for (size_t i = 0; i < got.size(); ++i) {
    if (!std::isfinite(got[i]))
      return INFINITY;
    difference = std::max(difference, std::abs(double(got[i]) - expected[i]));
    scale = std::max(scale, std::abs(double(expected[i])));
  }
  return difference / scale;
}

class Golden : public testing::TestWithParam<const char *> {};

} // namespace

TEST_P(Golden, PrefillGivesTheKnownLogits) {
  Sequence sequence(GetParam());
  for (int prompt = 0;; ++prompt) {
    std::string name = "prompt." + std::to_string(prompt) + ".";
    if (!sequence.checkpoint.has(name + "logits"))
      break;
    sequence.reset();
    std::vector<int32_t> ids = sequence.checkpoint.getInts(name + "input_ids");
    std::vector<float> logits = sequence.run("prefill", ids);
    EXPECT_LE(
        getDistance(logits, sequence.checkpoint.getFloats(name + "logits")),
        tolerance)
        << name;
  }
}

TEST_P(Golden, HiddenRowsAndStates) {
  Sequence sequence(GetParam());
  sequence.run("prefill", sequence.checkpoint.getInts("prompt.6.input_ids"));
  for (int64_t layer = 0; layer <= sequence.model().layers(); ++layer) {
    std::string role = "hidden." + std::to_string(layer);
    EXPECT_LE(getDistance(sequence.get(role),
                          sequence.checkpoint.getFloats("prompt.6." + role)),
              tolerance)
        << role;
  }
  for (int32_t layer : *sequence.model().lightning_layers()) {
    std::string role = "state." + std::to_string(layer);
    std::span<const float> pool = sequence.get(role);
    size_t size = pool.size() / 3;
    EXPECT_LE(getDistance(pool.subspan(size, size),
                          sequence.checkpoint.getFloats("prompt.6." + role)),
              tolerance)
        << role;
    EXPECT_EQ(std::ranges::count(pool.first(size), 0.0f), ptrdiff_t(size));
  }
}

TEST_P(Golden, ChunksAndDecodeContinueThePrompt) {
  Sequence sequence(GetParam());
  const GoldenCheckpoint &golden = sequence.checkpoint;
  std::vector<int32_t> ids = golden.getInts("prompt.7.input_ids");
  std::vector<float> logits;
  size_t first = 0;
  for (size_t count : {100u, 1u, 64u, 92u}) {
    std::vector<float> part =
        sequence.run("prefill", std::span(ids).subspan(first, count));
    logits.insert(logits.end(), part.begin(), part.end());
    first += count;
  }
  ASSERT_EQ(first, ids.size());
  EXPECT_LE(getDistance(logits, golden.getFloats("prompt.7.logits")),
            tolerance);
  int64_t vocab = sequence.model().vocab();
  std::vector<float> last(logits.end() - vocab, logits.end());
  for (int32_t expected : golden.getInts("prompt.7.greedy_ids")) {
    int32_t id = std::ranges::max_element(last) - last.begin();
    ASSERT_EQ(id, expected);
    last = sequence.run("decode", std::span(&id, 1));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Golden,
                         testing::Values("hf-tiny", "hf-head128", "m1-tiny",
                                         "m1-options"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Reference, SaysWhatIsWrong) {
  GoldenCheckpoint checkpoint("hf-tiny");
  MmxReference *reference = nullptr;
  char *error = nullptr;
  ASSERT_EQ(mmxReferenceOpen("/nowhere", nullptr, GoldenCheckpoint::fetch,
                             &checkpoint, &reference, &error),
            1);
  EXPECT_NE(std::string(error).find("/nowhere"), std::string::npos);
  mmxFree(error);

  ASSERT_EQ(mmxReferenceOpen(checkpoint.getPath().c_str(), nullptr,
                             GoldenCheckpoint::fetch, &checkpoint, &reference,
                             &error),
            0);
  EXPECT_EQ(mmxReferenceRun(reference, "prefill", nullptr, 0, &error), 1);
  EXPECT_STREQ(error, "expected a buffer for \"ids\"");
  mmxFree(error);
  EXPECT_EQ(mmxReferenceRun(reference, "train", nullptr, 0, &error), 1);
  EXPECT_STREQ(error, "expected program \"prefill\" or \"decode\", but got "
                      "\"train\"");
  mmxFree(error);
  int32_t id = 1;
  int64_t shape[] = {1, 1};
  MmxRoleBuffer ids = {"ids", &id, 2, shape};
  EXPECT_EQ(mmxReferenceRun(reference, "prefill", &ids, 1, &error), 1);
  EXPECT_STREQ(error,
               "expected a buffer of shape [?] for \"ids\", but got [1, 1]");
  mmxFree(error);
  mmxReferenceClose(reference);
}
