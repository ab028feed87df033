//===- PlanText.cpp - A plan as a table and as JSON -----------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Plan.h"

#include "runtime/support/Error.h"

#include <nlohmann/json.hpp>

#include <cstdarg>
#include <cstdio>

using namespace mmx;
using namespace mmx::runtime;
using nlohmann::ordered_json;

[[gnu::format(printf, 1, 2)]] static std::string format(const char *pattern,
                                                        ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(buffer, sizeof(buffer), pattern, arguments);
  va_end(arguments);
  return buffer;
}

static double gib(double bytes) { return bytes / double(gibibyte); }

/// "1.5 GFLOP", "94.3 GB": powers of a thousand.
static std::string scaled(double value, const char *unit) {
  static constexpr const char *prefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t i = 0;
  while (value >= 1000 && i + 1 < std::size(prefixes)) {
    value /= 1000;
    ++i;
  }
  return format("%.4g %s%s", value, prefixes[i], unit);
}

static std::string seconds(double value) {
  if (value == 0)
    return "-";
  return value < 1e-3 ? format("%.4g us", value * 1e6)
         : value < 1  ? format("%.4g ms", value * 1e3)
                      : format("%.4g s", value);
}

static std::string memoryRow(const char *what, int64_t bytes,
                             const std::string &note) {
  std::string row =
      format("  %-16s %10.3f GiB  %s", what, gib(bytes), note.c_str());
  row.erase(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

static std::string memoryTable(const Plan &plan) {
  const PlanOptions &o = plan.options;
  const PlanMemory &m = plan.memory;
  std::string text = "memory of a GPU (of the one that holds most)\n";
  text += memoryRow("experts", m.experts, nameOf(o.experts));
  text += memoryRow("other weights", m.otherWeights, "bf16, router f32");
  text += memoryRow("state", m.state, concat("f32, ", o.batch, " sequences"));
  text += memoryRow("cache", m.cache,
                    concat(o.cacheBytes == 2 ? "bf16" : "f32", ", ", o.batch,
                           " x ", o.context, " tokens"));
  text += memoryRow("workspace", m.workspace,
                    concat("a step of at most ", o.chunk, " tokens"));
  text += memoryRow("reserve", m.reserve, "driver, contexts, code");
  text += memoryRow("total", m.total(), "");
  text += memoryRow("available", plan.available, std::string(o.target->name));
  int64_t left = plan.available - m.total();
  text += left >= 0
              ? format("fits: %.3f GiB are left\n", gib(left))
              : format("does not fit: %.3f GiB are missing\n", gib(-left));
  text += plan.largestContext > 0
              ? concat("largest context that fits: ", plan.largestContext,
                       " tokens\n")
              : "no context fits\n";
  for (const std::string &suggestion : plan.suggestions)
    text += concat("would fit: ", suggestion, "\n");
  return text;
}

static std::string workTable(const Plan &plan) {
  const Target &target = *plan.options.target;
  std::string text = format("\n%-24s %14s %14s\n", "work of a GPU",
                            "prefill token", "decode step");
  auto row = [&](const char *what, auto &&value) {
    text += format("  %-22s %14s %14s\n", what,
                   std::string(value(plan.prefillToken)).c_str(),
                   std::string(value(plan.decodeStep)).c_str());
  };
  row("FLOPs", [](const PlanWork &w) { return scaled(w.flops, "FLOP"); });
  row("memory traffic", [](const PlanWork &w) { return scaled(w.bytes, "B"); });
  row("sent to peers",
      [](const PlanWork &w) { return scaled(w.linkBytes, "B"); });
  row("compute floor",
      [&](const PlanWork &w) { return seconds(w.computeFloor(target)); });
  row("bandwidth floor",
      [&](const PlanWork &w) { return seconds(w.memoryFloor(target)); });
  row("link floor",
      [&](const PlanWork &w) { return seconds(w.linkFloor(target)); });
  row("bound by", [&](const PlanWork &w) { return w.bound(target); });
  double prefill = plan.prefillToken.floor(target) * plan.options.pp;
  text += format("at these floors at most %.4g tokens/s of prefill, %.4g "
                 "tokens/s of decode\n",
                 plan.options.pp / prefill,
                 plan.options.batch /
                     (plan.decodeStep.floor(target) * plan.options.pp));
  return text;
}

std::string mmx::runtime::planText(const Plan &plan) {
  const PlanOptions &o = plan.options;
  std::string text = format(
      "model      %s, %lld layers (%lld softmax), %lld parameters (%lld active)"
      "\nweights    %.1f GB in all, experts in %s\n"
      "machine    %lld x %s: tp %lld, ep %lld, sp %lld, pp %lld\n\n",
      plan.shape.type.c_str(), (long long)plan.shape.layers(),
      (long long)plan.shape.softmaxLayers(), (long long)plan.parameters,
      (long long)plan.activeParameters, plan.weightBytes / 1e9,
      nameOf(o.experts), (long long)o.gpus, std::string(o.target->name).c_str(),
      (long long)o.tp, (long long)o.ep, (long long)o.sp, (long long)o.pp);
  text += memoryTable(plan);
  text += workTable(plan);
  for (const std::string &line : plan.toCome)
    text += concat("still to come: ", line, "\n");
  return text;
}

static ordered_json workJson(const PlanWork &work, const Target &target) {
  return {{"flops", work.flops},
          {"memory_bytes", work.bytes},
          {"link_bytes", work.linkBytes},
          {"compute_floor_s", work.computeFloor(target)},
          {"bandwidth_floor_s", work.memoryFloor(target)},
          {"link_floor_s", work.linkFloor(target)},
          {"bound", work.bound(target)}};
}

std::string mmx::runtime::planJson(const Plan &plan) {
  const PlanOptions &o = plan.options;
  const PlanMemory &m = plan.memory;
  ordered_json result = {
      {"model", plan.shape.type},
      {"parameters", plan.parameters},
      {"active_parameters", plan.activeParameters},
      {"weight_bytes", plan.weightBytes},
      {"target", o.target->name},
      {"gpus", o.gpus},
      {"tp", o.tp},
      {"ep", o.ep},
      {"sp", o.sp},
      {"pp", o.pp},
      {"experts", nameOf(o.experts)},
      {"context", o.context},
      {"batch", o.batch},
      {"chunk", o.chunk},
      {"memory",
       {{"experts", m.experts},
        {"other_weights", m.otherWeights},
        {"state", m.state},
        {"cache", m.cache},
        {"workspace", m.workspace},
        {"reserve", m.reserve},
        {"total", m.total()},
        {"available", plan.available}}},
      {"fits", plan.fits()},
      {"missing_bytes", std::max<int64_t>(0, m.total() - plan.available)},
      {"largest_context", plan.largestContext},
      {"suggestions", plan.suggestions},
      {"prefill_token", workJson(plan.prefillToken, *o.target)},
      {"decode_step", workJson(plan.decodeStep, *o.target)},
      {"still_to_come", plan.toCome}};
  return result.dump(2) + "\n";
}
