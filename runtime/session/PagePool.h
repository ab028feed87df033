//===- PagePool.h - Free pages of a cache -----------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A page is a run of rows that belongs to one sequence. The pool hands out
// page numbers, lowest free first, so the same order of calls gives the same
// pages. One thread at a time. Errors: an empty pool and a page that is given
// back twice throw.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_SESSION_PAGEPOOL_H
#define MMX_RUNTIME_SESSION_PAGEPOOL_H

#include <cstdint>
#include <set>

namespace mmx::runtime {

class PagePool {
public:
  explicit PagePool(int64_t pages);

  int64_t free() const { return int64_t(freePages.size()); }
  int32_t take();
  void giveBack(int32_t page);

private:
  int64_t pages;
  std::set<int32_t> freePages;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_SESSION_PAGEPOOL_H
