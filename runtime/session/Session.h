//===- Session.h - Sequences on an engine -----------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A session owns sequences: a sequence holds one state slot and, for softmax
// layers, pages of the cache as it grows. Slots are cleared when a sequence is
// opened; pages need not be, since a row is written before it is read.
//
// The session borrows the engine, which must outlive it and serve no other
// session. One thread at a time.
//
// Errors: ids out of range, a sequence that would outgrow the context or the
// pages that are left, and unknown sequences throw before anything changes. If
// the engine throws, the sequences of that call are in an unknown state and
// may only be closed.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_SESSION_SESSION_H
#define MMX_RUNTIME_SESSION_SESSION_H

#include "runtime/engine/Engine.h"
#include "runtime/session/PagePool.h"
#include "runtime/session/Sampler.h"
#include "runtime/support/Error.h"

#include <functional>
#include <map>

namespace mmx::runtime {

/// Pool sizes for `sequences` sequences of up to `context` tokens.
EngineLimits limitsFor(const ModelInfo &model, int64_t sequences,
                       int64_t context);

/// Which logits of its tokens a feed asks for.
enum class Want { None, Last, All };

/// Tokens to append to a sequence.
struct Feed {
  int64_t sequence;
  std::span<const int32_t> ids;
  Want want = Want::Last;
};

/// Thrown by feed where Session::Options::interrupted asked for it.
class Interrupted : public Error {
public:
  Interrupted() : Error("interrupted") {}
};

/// One step as it happened; valid during the call.
struct StepView {
  Phase phase;
  std::span<const int64_t> sequences; ///< in the order of inputs.slots
  const StepInputs &inputs;
  const StepOutputs &outputs;
};

class Session {
public:
  struct Options {
    int64_t context = 0; ///< tokens of a sequence; 0: the model's
    int64_t chunk = 512; ///< tokens of one sequence in one step
    /// Called after every step.
    std::function<void(const StepView &)> observer = {};
    /// Called before every step; may give the experts of its tokens.
    std::function<void(std::span<const int64_t> sequences, StepInputs &inputs)>
        route = {};
    /// Asked before every step; feed throws Interrupted where it says true.
    /// The sequences then hold the tokens of the steps that were run.
    std::function<bool()> interrupted = {};
  };
  Session(Engine &engine, Options options);

  /// Starts an empty sequence in a free slot.
  int64_t open();
  void close(int64_t sequence);

  int64_t length(int64_t sequence) const;
  int64_t slot(int64_t sequence) const;
  int64_t freePages() const { return pages.free(); }
  int64_t context() const { return options.context; }
  Engine &engine() { return theEngine; }

  /// Receives logits [vocab] of the token at `position` of a sequence.
  using LogitsSink = std::function<void(int64_t sequence, int64_t position,
                                        std::span<const float> logits)>;
  /// Appends the tokens of every feed, in steps of at most `chunk` tokens a
  /// sequence. Sequences with one token in a step run in a decode step, the
  /// others in a prefill step beside it: what a sequence computes does not
  /// depend on the others. No sequence may be named twice.
  void feed(std::span<const Feed> feeds, const LogitsSink &sink);

  /// Keeps a copy of what a sequence is at its present length: its states (in
  /// the memory of the host), and the rows of the cache where they are.
  void takeSnapshot(int64_t sequence);
  /// The lengths at which there are snapshots, ascending.
  std::vector<int64_t> snapshots(int64_t sequence) const;
  void dropSnapshot(int64_t sequence, int64_t length);
  /// Puts a sequence back to `length`, which has a snapshot or is 0: the tokens
  /// from there on are forgotten, and so are later snapshots.
  void rewind(int64_t sequence, int64_t length);

  /// Feeds each prompt to a sequence of its own and continues it with `count`
  /// ids or up to and including an id of `stop`. What a prompt draws does not
  /// depend on the others: prompt i samples as number `sampling.sequence` + i.
  /// `onId` may end a prompt by returning false.
  std::vector<std::vector<int32_t>>
  generate(std::span<const std::vector<int32_t>> prompts, int64_t count,
           std::span<const int32_t> stop,
           const std::function<bool(int64_t prompt, int32_t id)> &onId = {},
           Sampler::Options sampling = {});

private:
  struct Sequence {
    int32_t slot;
    int64_t length = 0;
    std::vector<int32_t> pages;
    /// By length, then by lightning layer.
    std::map<int64_t, std::vector<std::vector<float>>> snapshots;
  };
  struct Part; ///< of a feed, in one step
  const Sequence &find(int64_t sequence) const;
  Sequence &find(int64_t sequence);
  void checkFeeds(std::span<const Feed> feeds) const;
  void runStep(Phase phase, std::span<const Part> parts,
               const LogitsSink &sink);
  StepInputs inputsFor(std::span<const Part> parts);
  int64_t pagesFor(int64_t tokens) const;

  Engine &theEngine;
  Options options;
  PagePool slots, pages;
  std::map<int64_t, Sequence> sequences;
  int64_t nextSequence = 0;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_SESSION_SESSION_H
