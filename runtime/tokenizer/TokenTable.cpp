//===- TokenTable.cpp - Tokens by id and by bytes -------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/TokenTable.h"

#include "runtime/support/Error.h"

#include <algorithm>
#include <functional>
#include <utility>

using namespace mmx::runtime;

static uint32_t hashOf(std::string_view text) {
  return uint32_t(std::hash<std::string_view>()(text));
}

void TokenTable::set(int32_t id, std::string_view bytes) {
  if (id >= size())
    tokens.resize(id + 1);
  Token &token = tokens[id];
  if (token.length != absent) {
    if (text(id) != bytes)
      fail("id ", id, " is given to \"", text(id), "\" and to \"", bytes, "\"");
    return;
  }
  token = {texts.size(), uint32_t(bytes.size())};
  texts += bytes;
}

void TokenTable::insert(uint32_t hash, int32_t id) {
  size_t mask = slots.size() - 1, at = hash & mask;
  while (slots[at].id >= 0)
    at = (at + 1) & mask;
  slots[at] = {hash, id};
}

void TokenTable::makeFindable(int32_t id) {
  if (int32_t other = find(text(id)); other >= 0)
    fail("the ids ", other, " and ", id, " are both given to \"", text(id),
         "\"");
  if (++findable * 2 > slots.size()) {
    std::vector<Slot> old(std::max<size_t>(16, slots.size() * 2));
    std::swap(old, slots);
    for (const Slot &slot : old)
      if (slot.id >= 0)
        insert(slot.hash, slot.id);
  }
  insert(hashOf(text(id)), id);
  longest = std::max(longest, text(id).size());
}

int32_t TokenTable::find(std::string_view bytes) const {
  if (bytes.size() > longest || slots.empty())
    return -1;
  uint32_t hash = hashOf(bytes);
  size_t mask = slots.size() - 1;
  for (size_t at = hash & mask; slots[at].id >= 0; at = (at + 1) & mask)
    if (slots[at].hash == hash && text(slots[at].id) == bytes)
      return slots[at].id;
  return -1;
}
