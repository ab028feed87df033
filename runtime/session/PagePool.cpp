//===- PagePool.cpp - Free pages of a cache -------------------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/session/PagePool.h"

#include "runtime/support/Error.h"

using namespace mmx::runtime;

PagePool::PagePool(int64_t pages) : pages(pages) {
  for (int64_t page = 0; page < pages; ++page)
    freePages.insert(freePages.end(), int32_t(page));
}

int32_t PagePool::take() {
  if (freePages.empty())
    fail("all ", pages, " pages are taken");
  int32_t page = *freePages.begin();
  freePages.erase(freePages.begin());
  return page;
}

void PagePool::giveBack(int32_t page) {
  if (page < 0 || page >= pages || !freePages.insert(page).second)
    fail("page ", page, " is not taken");
}
