//===- CachedSequence.h - A sequence asked again and again ------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One sequence that follows the prompts it is given: of a prompt only those
// tokens are computed that come after the longest beginning it still holds. The
// cache of a softmax layer can be cut anywhere, but the state of a lightning
// layer cannot be taken back: so a beginning counts if the sequence is there
// now, or if a snapshot was taken there. Snapshots are taken at the end of
// every prompt and of every answer.
//
// The session is borrowed and must outlive the sequence, which takes one of its
// slots with the first prompt. One thread at a time.
//
// Errors: a prompt that is empty, longer than the context, or has ids that the
// model lacks throws and changes nothing. If the engine throws, all is
// forgotten and the next prompt starts anew.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_SESSION_CACHEDSEQUENCE_H
#define MMX_RUNTIME_SESSION_CACHEDSEQUENCE_H

#include "runtime/session/Session.h"

#include <optional>

namespace mmx::runtime {

class CachedSequence {
public:
  /// Keeps the latest `snapshots`, each of the size of the model's states.
  explicit CachedSequence(Session &session, size_t snapshots = 4)
      : session(session), mostSnapshots(snapshots) {}
  CachedSequence(const CachedSequence &) = delete;
  CachedSequence &operator=(const CachedSequence &) = delete;
  ~CachedSequence() { clear(); }

  struct Request {
    std::span<const int32_t> prompt;
    int64_t count = 0; ///< most ids to add; 0: what the context has room for
    std::span<const int32_t> stop = {}; ///< an answer ends with one of these
    Sampler::Options sampling = {};
    /// Receives every id; ends the answer by returning false.
    std::function<bool(int32_t id)> onId = {};
  };

  /// Why an answer ended: with an id of Request::stop, because onId said so,
  /// after Request::count ids, with the context full, or where
  /// Session::Options::interrupted said so (perhaps before the first id).
  enum class End { Stop, Callback, Count, Context, Interrupted };

  struct Answer {
    std::vector<int32_t> ids;
    int64_t reused = 0;    ///< tokens of the prompt that were held already
    int64_t prefilled = 0; ///< tokens of the prompt that were computed
    End end = End::Count;
  };
  Answer answer(const Request &request);

  /// The tokens that the sequence holds: the last prompt, and the answer but
  /// for its last id.
  const std::vector<int32_t> &ids() const { return held; }
  /// Forgets all tokens and snapshots; gives the slot back.
  void clear();

private:
  void checkPrompt(std::span<const int32_t> prompt) const;
  int64_t reuse(std::span<const int32_t> prompt);
  void feed(std::span<const int32_t> ids, const Session::LogitsSink &sink);
  void run(const Request &request, Answer &answer);
  void takeSnapshot();

  Session &session;
  size_t mostSnapshots;
  std::optional<int64_t> sequence; ///< none: nothing is held
  std::vector<int32_t> held;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_SESSION_CACHEDSEQUENCE_H
