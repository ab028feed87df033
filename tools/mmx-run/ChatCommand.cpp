//===- ChatCommand.cpp - A conversation -----------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerPrinter.h"
#include "Interrupts.h"
#include "LineReader.h"
#include "LoadedModel.h"
#include "TextModel.h"

#include "runtime/chat/Conversation.h"
#include "runtime/session/CachedSequence.h"
#include "runtime/support/Error.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <iostream>
#include <unistd.h>

using namespace mmx::runtime;
using namespace mmx::tool;
using json = nlohmann::ordered_json;

/// Room for a conversation if --ctx does not say how much.
static constexpr int64_t defaultContext = 32768;

static constexpr const char *helpText =
    R"(A line is a message; one that begins with """ goes on up to a line that ends
with """. A line that begins with / is a command, with // a message that begins
with /.
  /reset   forget the conversation, but for --system
  /help    these lines
  /exit    leave, as ctrl-D does
Ctrl-C ends an answer; a second time, or while no answer is made, it leaves.
)";

static const char *endName(CachedSequence::End end) {
  switch (end) {
  case CachedSequence::End::Stop:
    return "stop";
  case CachedSequence::End::Callback:
    return "stop_text";
  case CachedSequence::End::Count:
    return "count";
  case CachedSequence::End::Context:
    return "context";
  case CachedSequence::End::Interrupted:
    return "interrupt";
  }
  return "";
}

namespace {

class ChatLoop {
public:
  ChatLoop(const AnswerOptions &options, const TextModel &text,
           const Sampler::Options &sampling, std::vector<int32_t> stop,
           Interrupts &interrupts, Session &session, StageTable &stages)
      : options(options), text(text), sampling(sampling), stop(std::move(stop)),
        interrupts(interrupts), stages(stages), sequence(session),
        conversation(text.tokenizer(), text.chatFormat(),
                     options.controlInMessages),
        input(STDIN_FILENO, interrupts), isTerminal(::isatty(STDIN_FILENO)) {
    reset();
  }

  /// Returns the exit status.
  int run();

private:
  void reset();
  LineReader::Result readMessage(std::string &message);
  LineReader::Result readBlock(std::string &message);
  bool runCommand(const std::string &line);
  void answer(const std::string &message);
  void keep(const AnswerText &answer, const CachedSequence::Answer &made);
  void report(const AnswerText &answer, const CachedSequence::Answer &made,
              double seconds);
  void reportError(const std::string &message);
  bool isQuiet() const {
    return options.progress == Progress::Mode::None ||
           options.progress == Progress::Mode::Json;
  }

  const AnswerOptions &options;
  const TextModel &text;
  Sampler::Options sampling;
  std::vector<int32_t> stop;
  Interrupts &interrupts;
  StageTable &stages;
  CachedSequence sequence;
  Conversation conversation;
  LineReader input;
  bool isTerminal;
  int64_t turn = 0;
};

} // namespace

void ChatLoop::reset() {
  conversation.clear();
  sequence.clear();
  if (!options.system.empty())
    conversation.add("system", options.system);
}

/// The lines up to one that ends with three quotes.
LineReader::Result ChatLoop::readBlock(std::string &message) {
  constexpr std::string_view quotes = "\"\"\"";
  message.erase(0, quotes.size());
  while (!message.ends_with(quotes)) {
    if (isTerminal)
      std::cerr << ". " << std::flush;
    std::string line;
    LineReader::Result result = input.next(line);
    if (result == LineReader::Result::End)
      fail("expected \"\"\" at the end of a message of several lines");
    if (result != LineReader::Result::Line)
      return result;
    message += "\n" + line;
  }
  message.resize(message.size() - quotes.size());
  return LineReader::Result::Line;
}

LineReader::Result ChatLoop::readMessage(std::string &message) {
  if (isTerminal)
    std::cerr << "> " << std::flush;
  LineReader::Result result = input.next(message);
  if (result == LineReader::Result::Line && message.starts_with("\"\"\""))
    return readBlock(message);
  return result;
}

/// Returns whether the loop goes on.
bool ChatLoop::runCommand(const std::string &line) {
  std::string command = line.substr(0, line.find_last_not_of(" \t") + 1);
  if (command == "/exit")
    return false;
  if (command == "/reset")
    reset();
  else if (command == "/help")
    std::cerr << helpText;
  else
    reportError(concat("there is no command ", command,
                       "; /help lists them, and // begins a message with /"));
  return true;
}

void ChatLoop::reportError(const std::string &message) {
  if (options.json)
    writeEvent({{"event", "error"}, {"turn", turn}, {"message", message}});
  std::cerr << "mmx-run: error: " << message << "\n";
}

void ChatLoop::report(const AnswerText &answer,
                      const CachedSequence::Answer &made, double seconds) {
  if (options.json) {
    json event = {{"event", "answer"}, {"turn", turn}};
    event["end"] = endName(made.end);
    event["ids"] = made.ids;
    event["text"] = answer.text();
    event["reused_tokens"] = made.reused;
    event["prefilled_tokens"] = made.prefilled;
    event["seconds"] = seconds;
    writeEvent(event);
  }
  if (made.end == CachedSequence::End::Context)
    std::cerr << "mmx-run: the context is full: /reset starts anew, and "
                 "--ctx makes it larger\n";
  if (isQuiet())
    return;
  std::cerr << "[" << made.reused << " tokens reused, " << made.prefilled
            << " prefilled, " << made.ids.size() << " new, "
            << std::round(double(made.ids.size()) / seconds * 10) / 10
            << " new tokens/s]\n";
}

/// Adds what was answered to the conversation.
void ChatLoop::keep(const AnswerText &answer,
                    const CachedSequence::Answer &made) {
  if (answer.stopped())
    return conversation.addAnswer(answer.text());
  std::span<const int32_t> ids = made.ids;
  // The format itself ends the turn.
  if (made.end == CachedSequence::End::Stop)
    ids = ids.first(ids.size() - 1);
  conversation.addAnswer(ids);
}

void ChatLoop::answer(const std::string &message) {
  checkUtf8(message, "the message");
  conversation.add("user", message);
  AnswerText answer(&text.tokenizer(), options.stops);
  CachedSequence::Answer made;
  double before = stages.seconds("answer");
  std::string left = stages.enter("answer");
  try {
    std::vector<int32_t> prompt = conversation.prompt();
    auto onId = [&](int32_t id) {
      std::string more = answer.add(id);
      if (options.json)
        writeEvent({{"event", "token"},
                    {"turn", turn},
                    {"position", prompt.size() + answer.ids().size() - 1},
                    {"id", id},
                    {"text", more}});
      else
        writeText(more);
      return !answer.stopped();
    };
    made = sequence.answer(
        {prompt, options.count.value_or(0), stop, sampling, onId});
  } catch (...) {
    stages.enter(left);
    conversation.removeLast();
    throw;
  }
  stages.enter(left);
  std::string rest = answer.finish();
  if (!options.json)
    writeText(rest + "\n");
  if (made.ids.empty())
    conversation.removeLast();
  else
    keep(answer, made);
  report(answer, made, stages.seconds("answer") - before);
}

int ChatLoop::run() {
  while (true) {
    std::string line;
    try {
      LineReader::Result result = readMessage(line);
      if (result == LineReader::Result::Interrupted) {
        if (isTerminal)
          std::cerr << "\n";
        return Interrupts::exitStatus;
      }
      if (result == LineReader::Result::End) {
        if (isTerminal)
          std::cerr << "\n";
        return 0;
      }
      if (line.find_first_not_of(" \t\r\n") == std::string::npos)
        continue;
      if (line.starts_with("/") && !line.starts_with("//")) {
        if (!runCommand(line))
          return 0;
        continue;
      }
      answer(line.starts_with("//") ? line.substr(1) : line);
    } catch (const Error &error) {
      // What was asked cannot be answered; what comes next may be.
      if (!std::cout)
        throw;
      reportError(error.what());
    }
    ++turn;
    // One that came while an answer was made has ended that answer.
    interrupts.take();
  }
}

int mmx::tool::chat(const AnswerOptions &options) {
  checkUtf8(options.system, "--system");
  std::unique_ptr<Trace> trace = openTrace(options);
  StageTable stages(trace.get());
  std::shared_ptr<const Package> package = openNamedPackage(options);
  TextFiles files(package, checkpointDirectory(options));
  TextModel text(files);
  Sampler::Options sampling = samplingFor(options, generationConfig(files));
  Progress progress(options.progress);
  int64_t context = options.context > 0 ? options.context : defaultContext;
  LoadedModel loaded(options, /*extras=*/{}, /*sequences=*/1, context, stages,
                     progress, package);
  if (options.context == 0)
    context = std::min(context, loaded.engine().model().maxPositions);
  Interrupts interrupts;
  Session session(loaded.engine(),
                  {.context = context,
                   .chunk = options.chunk,
                   .interrupted = [&] { return interrupts.pending(); }});
  std::vector<int32_t> stop;
  if (!options.ignoreStop)
    stop = text.stopIds();
  if (::isatty(STDIN_FILENO) && options.progress != Progress::Mode::None)
    std::cerr << options.model << ", room for " << context
              << " tokens; /help lists commands\n";
  ChatLoop loop(options, text, sampling, stop, interrupts, session, stages);
  int status = loop.run();
  std::cerr << loaded.profileText();
  if (trace)
    trace->write();
  return status;
}
