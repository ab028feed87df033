//===- ModelRunner.h - Golden checkpoints to run in many ways ---*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_UNITTESTS_MODEL_MODELRUNNER_H
#define MMX_UNITTESTS_MODEL_MODELRUNNER_H

#include "runtime/engine/PackageEngine.h"
#include "runtime/session/Session.h"
#include "runtime/weights/Checkpoint.h"

namespace mmx::test {

/// What a sequence computed: logits of the tokens fed, and all its states.
struct Answer {
  std::vector<float> logits;
  std::vector<float> states;
};

/// An engine with a session on one golden checkpoint.
class Runner {
public:
  static constexpr int64_t context = 640;

  explicit Runner(const std::string &model, int64_t slots = 1,
                  int64_t chunk = 512, int64_t block = 0, int threads = 2,
                  bool graphs = true);

  /// A new session on the same engine.
  void setChunk(int64_t chunk);

  /// Feeds all parts at once; one answer a part.
  std::vector<Answer> feed(const std::vector<runtime::Feed> &feeds);

  /// The answer of a sequence of its own.
  Answer alone(std::span<const int32_t> ids,
               runtime::Want want = runtime::Want::All);

  /// Ids that any vocabulary has.
  std::vector<int32_t> ids(int64_t count, uint32_t seed = 1) const;

  int64_t vocab() const { return engine->model().vocab; }

  std::unique_ptr<runtime::Device> device;
  runtime::Checkpoint weights;
  std::unique_ptr<runtime::PackageEngine> engine;
  std::unique_ptr<runtime::Session> session;
};

/// Bit for bit.
void expectSame(const Answer &got, const Answer &expected);
/// Within what rounding in f32 may leave.
void expectClose(const Answer &got, const Answer &expected);

/// The golden checkpoints, and their names in tests.
inline constexpr const char *goldenModels[] = {"hf-tiny", "hf-head128",
                                               "m1-tiny", "m1-options"};
std::string testName(const std::string &model);

} // namespace mmx::test

#endif // MMX_UNITTESTS_MODEL_MODELRUNNER_H
