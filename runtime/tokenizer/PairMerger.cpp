//===- PairMerger.cpp - Merges of neighbouring tokens ---------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tokenizer/PairMerger.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <queue>
#include <utility>

using namespace mmx::runtime;

/// Up to here looking at every pair for the first merge is faster than a queue.
static constexpr size_t few = 64;

const PairMerger::Slot &PairMerger::find(int32_t left, int32_t right) const {
  uint64_t key = uint64_t(uint32_t(left)) << 32 | uint32_t(right);
  size_t mask = slots.size() - 1;
  // Fibonacci hashing: the upper bits of the product are the mixed ones.
  size_t at = key * 0x9e3779b97f4a7c15 >> (64 - std::countr_zero(slots.size()));
  while (slots[at].left >= 0 &&
         (slots[at].left != left || slots[at].right != right))
    at = (at + 1) & mask;
  return slots[at];
}

bool PairMerger::add(int32_t left, int32_t right, int32_t whole) {
  auto slotOf = [&](int32_t left, int32_t right) -> Slot & {
    return const_cast<Slot &>(find(left, right));
  };
  if (slotOf(left, right).left >= 0)
    return false;
  if (size_t(count + 1) * 2 > slots.size()) {
    std::vector<Slot> old(slots.size() * 2);
    std::swap(old, slots);
    for (const Slot &slot : old)
      if (slot.left >= 0)
        slotOf(slot.left, slot.right) = slot;
  }
  slotOf(left, right) = {left, right, count++, whole};
  return true;
}

void PairMerger::mergeFew(int32_t *ids, size_t &count) const {
  // Those at i are of the tokens i and i + 1.
  int32_t ranks[few], wholes[few];
  auto look = [&](size_t i) {
    const Slot &slot = find(ids[i], ids[i + 1]);
    ranks[i] = slot.rank;
    wholes[i] = slot.whole;
  };
  for (size_t i = 0; i + 1 < count; ++i)
    look(i);
  while (count > 1) {
    size_t best = std::min_element(ranks, ranks + count - 1) - ranks;
    if (ranks[best] == none)
      break;
    ids[best] = wholes[best];
    std::copy(ids + best + 2, ids + count, ids + best + 1);
    if (best + 2 < count) {
      std::copy(ranks + best + 2, ranks + count - 1, ranks + best + 1);
      std::copy(wholes + best + 2, wholes + count - 1, wholes + best + 1);
    }
    --count;
    if (best + 1 < count)
      look(best);
    if (best > 0)
      look(best - 1);
  }
}

namespace {

/// In a list of tokens; `end` stands before the first and after the last.
struct Symbol {
  static constexpr size_t end = SIZE_MAX;
  int32_t id;
  size_t before, after;
};

/// A merge of the symbols `left` and the one after it, as they were.
struct Candidate {
  int32_t rank, leftId, rightId, whole;
  size_t left;
  bool operator>(const Candidate &other) const {
    return std::pair(rank, left) > std::pair(other.rank, other.left);
  }
};

} // namespace

void PairMerger::mergeMany(std::vector<int32_t> &ids, size_t begin) const {
  std::vector<Symbol> symbols;
  symbols.reserve(ids.size() - begin);
  for (size_t i = begin; i < ids.size(); ++i)
    symbols.push_back({ids[i], symbols.size() - 1, symbols.size() + 1});
  symbols.back().after = Symbol::end;
  auto candidateAt = [&](size_t left) {
    int32_t a = symbols[left].id, b = symbols[symbols[left].after].id;
    const Slot &slot = find(a, b);
    return Candidate{slot.rank, a, b, slot.whole, left};
  };
  std::vector<Candidate> first;
  for (size_t i = 0; i + 1 < symbols.size(); ++i)
    if (Candidate candidate = candidateAt(i); candidate.rank != none)
      first.push_back(candidate);
  std::priority_queue queue(std::greater<>(), std::move(first));
  auto offer = [&](size_t left) {
    if (left == Symbol::end || symbols[left].after == Symbol::end)
      return;
    if (Candidate candidate = candidateAt(left); candidate.rank != none)
      queue.push(candidate);
  };
  while (!queue.empty()) {
    Candidate best = queue.top();
    queue.pop();
    Symbol &left = symbols[best.left];
    // Either side may have been merged away since.
    if (left.id != best.leftId || left.after == Symbol::end ||
        symbols[left.after].id != best.rightId)
      continue;
    Symbol &right = symbols[left.after];
    left.id = best.whole;
    left.after = right.after;
    right = {-1, Symbol::end, Symbol::end};
    if (left.after != Symbol::end)
      symbols[left.after].before = best.left;
    offer(left.before);
    offer(best.left);
  }
  ids.resize(begin);
  for (size_t i = 0; i != Symbol::end; i = symbols[i].after)
    ids.push_back(symbols[i].id);
}

void PairMerger::merge(std::vector<int32_t> &ids, size_t begin) const {
  size_t number = ids.size() - begin;
  if (number > few)
    return mergeMany(ids, begin);
  mergeFew(ids.data() + begin, number);
  ids.resize(begin + number);
}
