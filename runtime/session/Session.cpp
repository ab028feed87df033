//===- Session.cpp - Sequences on an engine -------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/Session.h"

#include "runtime/support/Error.h"

#include <algorithm>
#include <set>
#include <utility>

using namespace mmx::runtime;

/// Tokens of a feed that one step takes.
struct Session::Part {
  int64_t sequence;
  std::span<const int32_t> ids;
  Want want;
};

static int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

EngineLimits mmx::runtime::limitsFor(const ModelInfo &model, int64_t sequences,
                                     int64_t context) {
  if (model.softmaxLayers.empty())
    return {sequences, 0};
  // Steps name rows by 32-bit numbers.
  int64_t most = INT32_MAX / model.page;
  int64_t pages = ceilDivide(context, model.page);
  if (pages > most / std::max<int64_t>(sequences, 1))
    fail("expected at most ", most * model.page, " rows of the cache, but ",
         sequences, " sequences of ", context, " tokens need more");
  return {sequences, sequences * pages * model.page};
}

Session::Session(Engine &engine, Options options)
    : theEngine(engine), options(std::move(options)),
      slots(engine.limits().slots),
      pages(engine.limits().cacheRows / engine.model().page) {
  int64_t most = engine.model().maxPositions;
  if (this->options.context == 0)
    this->options.context = most;
  if (this->options.context < 1 || this->options.context > most)
    fail("expected a context of 1 to ", most, " tokens, but got ",
         this->options.context);
  if (this->options.chunk < 1)
    fail("expected a chunk of at least one token, but got ",
         this->options.chunk);
}

int64_t Session::open() {
  if (slots.free() == 0)
    fail("all ", theEngine.limits().slots,
         " slots are taken; close a sequence first");
  int32_t slot = slots.take();
  theEngine.clearSlot(slot);
  sequences.emplace(nextSequence, Sequence{slot, 0, {}, {}});
  return nextSequence++;
}

const Session::Sequence &Session::find(int64_t sequence) const {
  auto found = sequences.find(sequence);
  if (found == sequences.end())
    fail("there is no sequence ", sequence);
  return found->second;
}

Session::Sequence &Session::find(int64_t sequence) {
  return const_cast<Sequence &>(std::as_const(*this).find(sequence));
}

void Session::close(int64_t sequence) {
  const Sequence &closed = find(sequence);
  for (int32_t page : closed.pages)
    pages.giveBack(page);
  slots.giveBack(closed.slot);
  sequences.erase(sequence);
}

int64_t Session::length(int64_t sequence) const {
  return find(sequence).length;
}

int64_t Session::slot(int64_t sequence) const { return find(sequence).slot; }

int64_t Session::pagesFor(int64_t tokens) const {
  const ModelInfo &model = theEngine.model();
  return model.softmaxLayers.empty() ? 0 : ceilDivide(tokens, model.page);
}

void Session::checkFeeds(std::span<const Feed> feeds) const {
  std::set<int64_t> seen;
  int64_t vocab = theEngine.model().vocab, wanted = 0;
  for (const Feed &feed : feeds) {
    const Sequence &sequence = find(feed.sequence);
    if (!seen.insert(feed.sequence).second)
      fail("sequence ", feed.sequence, " is fed twice in one call");
    if (feed.ids.empty())
      fail("expected at least one id for sequence ", feed.sequence,
           ": the prompt is empty");
    for (int64_t i = 0; i < int64_t(feed.ids.size()); ++i)
      if (feed.ids[i] < 0 || feed.ids[i] >= vocab)
        fail("expected ids from 0 to ", vocab - 1, ", but got ", feed.ids[i],
             " at position ", sequence.length + i);
    int64_t length = sequence.length + feed.ids.size();
    if (length > options.context)
      fail("expected at most ", options.context, " tokens in sequence ",
           feed.sequence, ", but got ", length,
           ": it is longer than the context");
    wanted += pagesFor(length) - int64_t(sequence.pages.size());
  }
  if (wanted > pages.free())
    fail("expected ", wanted, " free pages of the cache, but only ",
         pages.free(), " are left");
}

StepInputs Session::inputsFor(std::span<const Part> parts) {
  StepInputs inputs;
  int64_t page = theEngine.model().page;
  bool cached = !theEngine.model().softmaxLayers.empty();
  inputs.starts.push_back(0);
  for (const Part &part : parts) {
    Sequence &sequence = sequences.at(part.sequence);
    int64_t length = sequence.length + part.ids.size();
    while (int64_t(sequence.pages.size()) < pagesFor(length))
      sequence.pages.push_back(pages.take());
    inputs.slots.push_back(sequence.slot);
    inputs.past.push_back(int32_t(sequence.length));
    for (int64_t i = sequence.length; i < length; ++i) {
      bool wanted = part.want == Want::All ||
                    (part.want == Want::Last && i == length - 1);
      if (wanted)
        inputs.logitRows.push_back(int32_t(inputs.ids.size()));
      inputs.ids.push_back(part.ids[i - sequence.length]);
      inputs.positions.push_back(int32_t(i));
      inputs.cacheRows.push_back(
          cached ? int32_t(sequence.pages[i / page] * page + i % page) : 0);
    }
    inputs.starts.push_back(int32_t(inputs.ids.size()));
    inputs.pageColumns =
        std::max<int64_t>(inputs.pageColumns, sequence.pages.size());
  }
  for (const Part &part : parts) {
    const std::vector<int32_t> &own = sequences.at(part.sequence).pages;
    inputs.pages.insert(inputs.pages.end(), own.begin(), own.end());
    // Columns beyond the sequence are never read.
    inputs.pages.resize(inputs.pages.size() + inputs.pageColumns - own.size());
  }
  return inputs;
}

void Session::runStep(Phase phase, std::span<const Part> parts,
                      const LogitsSink &sink) {
  StepInputs inputs = inputsFor(parts);
  std::vector<int64_t> numbers;
  for (const Part &part : parts)
    numbers.push_back(part.sequence);
  if (options.route)
    options.route(numbers, inputs);
  StepOutputs outputs = theEngine.run(phase, inputs);
  if (options.observer)
    options.observer({phase, numbers, inputs, outputs});
  int64_t vocab = theEngine.model().vocab, number = 0;
  for (int64_t i = 0; i < inputs.outputs(); ++i) {
    int32_t row = inputs.logitRows[i];
    while (row >= inputs.starts[number + 1])
      ++number;
    sink(numbers[number], inputs.positions[row],
         outputs.logits.subspan(i * vocab, vocab));
  }
  for (const Part &part : parts)
    sequences.at(part.sequence).length += part.ids.size();
}

void Session::feed(std::span<const Feed> feeds, const LogitsSink &sink) {
  checkFeeds(feeds);
  bool more = true;
  for (size_t done = 0; more; done += options.chunk) {
    std::vector<Part> decode, prefill;
    more = false;
    if (options.interrupted && options.interrupted())
      throw Interrupted();
    for (const Feed &feed : feeds) {
      if (done >= feed.ids.size())
        continue;
      size_t count = std::min<size_t>(options.chunk, feed.ids.size() - done);
      bool last = done + count == feed.ids.size();
      more |= !last;
      Want want = feed.want == Want::Last && !last ? Want::None : feed.want;
      (count == 1 ? decode : prefill)
          .push_back({feed.sequence, feed.ids.subspan(done, count), want});
    }
    if (!prefill.empty())
      runStep(Phase::Prefill, prefill, sink);
    if (!decode.empty())
      runStep(Phase::Decode, decode, sink);
  }
}

void Session::takeSnapshot(int64_t sequence) {
  Sequence &taken = find(sequence);
  std::vector<std::vector<float>> states;
  for (int32_t layer : theEngine.model().lightningLayers)
    states.push_back(theEngine.readState(layer, taken.slot));
  taken.snapshots[taken.length] = std::move(states);
}

std::vector<int64_t> Session::snapshots(int64_t sequence) const {
  std::vector<int64_t> lengths;
  for (const auto &[length, states] : find(sequence).snapshots)
    lengths.push_back(length);
  return lengths;
}

void Session::dropSnapshot(int64_t sequence, int64_t length) {
  if (find(sequence).snapshots.erase(length) == 0)
    fail("sequence ", sequence, " has no snapshot at ", length, " tokens");
}

void Session::rewind(int64_t sequence, int64_t length) {
  Sequence &rewound = find(sequence);
  auto found = rewound.snapshots.find(length);
  if (length != 0 && found == rewound.snapshots.end())
    fail("sequence ", sequence, " has no snapshot at ", length, " tokens");
  const std::vector<int32_t> &layers = theEngine.model().lightningLayers;
  if (length == 0)
    theEngine.clearSlot(rewound.slot);
  for (size_t i = 0; length != 0 && i < layers.size(); ++i)
    theEngine.writeState(layers[i], rewound.slot, found->second[i]);
  rewound.length = length;
  rewound.snapshots.erase(rewound.snapshots.upper_bound(length),
                          rewound.snapshots.end());
  while (int64_t(rewound.pages.size()) > pagesFor(length)) {
    pages.giveBack(rewound.pages.back());
    rewound.pages.pop_back();
  }
}

namespace {
/// Closes its sequences when it goes out of scope, on errors too.
struct OpenSequences {
  Session &session;
  std::map<int64_t, int64_t> promptOf; ///< by sequence
  ~OpenSequences() {
    for (const auto &[sequence, prompt] : promptOf)
      session.close(sequence);
  }
};
} // namespace

std::vector<std::vector<int32_t>>
Session::generate(std::span<const std::vector<int32_t>> prompts, int64_t count,
                  std::span<const int32_t> stop,
                  const std::function<bool(int64_t prompt, int32_t id)> &onId,
                  Sampler::Options sampling) {
  for (const std::vector<int32_t> &prompt : prompts)
    if (int64_t(prompt.size()) + std::max<int64_t>(count - 1, 0) >
        options.context)
      fail("expected a context of at least ", prompt.size() + count - 1,
           " tokens for a prompt of ", prompt.size(), " and ", count,
           " more, but got ", options.context);
  std::vector<std::vector<int32_t>> results(prompts.size());
  std::vector<Feed> feeds;
  OpenSequences opened{*this, {}};
  std::map<int64_t, int64_t> &promptOf = opened.promptOf;
  std::vector<Sampler> samplers;
  for (size_t i = 0; i < prompts.size(); ++i) {
    samplers.emplace_back(sampling);
    ++sampling.sequence;
    feeds.push_back({open(), prompts[i], Want::Last});
    promptOf[feeds.back().sequence] = i;
  }
  std::vector<bool> ended(prompts.size());
  for (int64_t step = 0; step < count && !feeds.empty(); ++step) {
    feed(feeds, [&](int64_t sequence, int64_t position,
                    std::span<const float> logits) {
      int64_t prompt = promptOf[sequence];
      results[prompt].push_back(samplers[prompt].next(
          logits, theEngine.tokenlessIds(), position + 1));
      int32_t id = results[prompt].back();
      ended[prompt] = std::ranges::count(stop, id) > 0;
      if (onId && !onId(prompt, id))
        ended[prompt] = true;
    });
    std::erase_if(feeds, [&](const Feed &feed) {
      return ended[promptOf[feed.sequence]];
    });
    for (Feed &feed : feeds)
      feed.ids = std::span(results[promptOf[feed.sequence]]).last(1);
  }
  return results;
}
