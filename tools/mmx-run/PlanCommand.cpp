//===- PlanCommand.cpp - What a model needs on a machine ------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Numbers.h"

#include "runtime/plan/Plan.h"
#include "runtime/support/Error.h"

#include <CLI/CLI.hpp>

#include <iostream>

using namespace mmx;
using namespace mmx::runtime;
using namespace mmx::tool;

static std::string targetNames() {
  std::string names;
  for (const Target &target : targetTable)
    names += concat(names.empty() ? "" : ", ", target.name);
  return names;
}

CLI::App *mmx::tool::addPlan(CLI::App &app, PlanCommandOptions &options) {
  CLI::App *plan = app.add_subcommand(
      "plan", "what a model needs on GPUs: memory, traffic, least times; needs "
              "neither a GPU nor weights; exit status 1 if it does not fit");
  plan->add_option("MODEL", options.model,
                   "checkpoint directory, config.json or package (.mmx)")
      ->required();
  plan->add_option("--target", options.target, targetNames())->required();
  plan->add_option("--ctx", options.context, "tokens of a sequence")
      ->type_name("N[k|M]")
      ->required();
  plan->add_option("--gpus", options.gpus, "tp * sp * pp of them")
      ->capture_default_str();
  plan->add_option("--tp", options.tp,
                   "ways to cut heads and vocabulary; 0: what is left of gpus")
      ->capture_default_str();
  plan->add_option("--ep", options.ep, "groups that hold whole experts")
      ->capture_default_str();
  plan->add_option("--sp", options.sp, "ways to cut a sequence")
      ->capture_default_str();
  plan->add_option("--pp", options.pp, "ways to cut the layers")
      ->capture_default_str();
  plan->add_option("--batch", options.batch, "sequences at once")
      ->capture_default_str();
  plan->add_option("--chunk", options.chunk, "most tokens of a prefill step")
      ->capture_default_str();
  plan->add_option("--quant", options.quant,
                   "weights of experts; if not given bf16")
      ->check(CLI::IsMember({"int8", "int4"}));
  plan->add_option("--cache", options.cache, "keys and values")
      ->check(CLI::IsMember({"bf16", "f32"}))
      ->capture_default_str();
  plan->add_flag("--json", options.json, "answer in JSON");
  return plan;
}

int mmx::tool::plan(const PlanCommandOptions &options) {
  PlanOptions chosen;
  chosen.target = findTarget(options.target);
  if (!chosen.target)
    fail("--target: expected one of ", targetNames(), ", but got ",
         options.target);
  chosen.gpus = options.gpus;
  chosen.tp = options.tp;
  chosen.ep = options.ep;
  chosen.sp = options.sp;
  chosen.pp = options.pp;
  std::vector<int64_t> lengths = parseLengths(options.context, "--ctx");
  if (lengths.size() != 1)
    fail("--ctx: expected one number, but got \"", options.context, "\"");
  chosen.context = lengths.front();
  chosen.batch = options.batch;
  chosen.chunk = options.chunk;
  chosen.experts = options.quant == "int8"   ? ExpertWeights::Int8
                   : options.quant == "int4" ? ExpertWeights::Int4
                                             : ExpertWeights::BF16;
  chosen.cacheBytes = options.cache == "f32" ? 4 : 2;
  Plan plan = makePlan(readModelShape(options.model), chosen);
  std::cout << (options.json ? planJson(plan) : planText(plan));
  return plan.fits() ? 0 : 1;
}
