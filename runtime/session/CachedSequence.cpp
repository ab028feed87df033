//===- CachedSequence.cpp - A sequence asked again and again --------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/CachedSequence.h"

#include <algorithm>

using namespace mmx::runtime;

void CachedSequence::clear() {
  if (sequence)
    session.close(*sequence);
  sequence.reset();
  held.clear();
}

void CachedSequence::checkPrompt(std::span<const int32_t> prompt) const {
  if (prompt.empty())
    fail("the prompt is empty");
  if (int64_t(prompt.size()) > session.context())
    fail("expected a prompt of at most ", session.context(),
         " tokens, but got ", prompt.size(), ": it is longer than the context");
  int64_t vocab = session.engine().model().vocab;
  for (size_t i = 0; i < prompt.size(); ++i)
    if (prompt[i] < 0 || prompt[i] >= vocab)
      fail("expected ids from 0 to ", vocab - 1, ", but got ", prompt[i],
           " at position ", i);
}

/// Goes back to the longest beginning of `prompt` that is held; returns its
/// length. One token at least is left to compute, for its logits.
int64_t CachedSequence::reuse(std::span<const int32_t> prompt) {
  auto [end, ignored] = std::ranges::mismatch(held, prompt);
  int64_t common = std::min<int64_t>(end - held.begin(), prompt.size() - 1);
  if (common == int64_t(held.size()))
    return common;
  int64_t length = 0;
  for (int64_t snapshot : session.snapshots(*sequence))
    if (snapshot <= common)
      length = snapshot;
  session.rewind(*sequence, length);
  held.resize(length);
  return length;
}

void CachedSequence::feed(std::span<const int32_t> ids,
                          const Session::LogitsSink &sink) {
  Feed feed = {*sequence, ids, Want::Last};
  try {
    session.feed({&feed, 1}, sink);
  } catch (const Interrupted &) {
    int64_t fed = session.length(*sequence) - int64_t(held.size());
    held.insert(held.end(), ids.begin(), ids.begin() + fed);
    throw;
  }
  held.insert(held.end(), ids.begin(), ids.end());
}

void CachedSequence::takeSnapshot() {
  session.takeSnapshot(*sequence);
  std::vector<int64_t> all = session.snapshots(*sequence);
  for (size_t i = 0; i + mostSnapshots < all.size(); ++i)
    session.dropSnapshot(*sequence, all[i]);
}

void CachedSequence::run(const Request &request, Answer &answer) {
  Sampler sampler(request.sampling);
  int32_t next = 0;
  auto sink = [&](int64_t, int64_t position, std::span<const float> logits) {
    next = sampler.next(logits, session.engine().tokenlessIds(), position + 1);
  };
  answer.reused = reuse(request.prompt);
  try {
    feed(request.prompt.subspan(answer.reused), sink);
    takeSnapshot();
    while (true) {
      answer.ids.push_back(next);
      bool more = !request.onId || request.onId(next);
      if (std::ranges::count(request.stop, next) > 0)
        answer.end = End::Stop;
      else if (!more)
        answer.end = End::Callback;
      else if (int64_t(answer.ids.size()) == request.count)
        answer.end = End::Count;
      else if (session.length(*sequence) == session.context())
        answer.end = End::Context;
      else {
        int32_t id = next;
        feed({&id, 1}, sink);
        continue;
      }
      break;
    }
    takeSnapshot();
  } catch (const Interrupted &) {
    answer.end = End::Interrupted;
  }
  int64_t prompt = std::min(held.size(), request.prompt.size());
  answer.prefilled = prompt - answer.reused;
}

CachedSequence::Answer CachedSequence::answer(const Request &request) {
  checkPrompt(request.prompt);
  Answer answer;
  if (!sequence)
    sequence = session.open();
  try {
    run(request, answer);
  } catch (...) {
    clear();
    throw;
  }
  return answer;
}
