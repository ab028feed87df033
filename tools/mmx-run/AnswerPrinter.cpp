//===- AnswerPrinter.cpp - Answers as they are made -----------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerPrinter.h"

#include "runtime/support/Error.h"

#include <nlohmann/json.hpp>

#include <iostream>

using namespace mmx::runtime;
using namespace mmx::tool;

std::string AnswerText::add(int32_t id) {
  std::string more =
      tokenizer ? stream.push(tokenizer->decode({&id, 1}, /*skipSpecial=*/true))
                : concat(allIds.empty() ? "" : ",", id);
  allIds.push_back(id);
  all += more;
  return more;
}

std::string AnswerText::finish() {
  std::string rest = stream.finish();
  all += rest;
  return rest;
}

void mmx::tool::writeText(const std::string &text) {
  if (!(std::cout << text << std::flush))
    fail("cannot write the answer to standard output");
}

void mmx::tool::writeEvent(const nlohmann::ordered_json &event) {
  using nlohmann::json;
  writeText(event.dump(-1, ' ', false, json::error_handler_t::replace) + "\n");
}
