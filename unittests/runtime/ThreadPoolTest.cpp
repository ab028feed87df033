//===- ThreadPoolTest.cpp - Tests of the thread pool ----------------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/ThreadPool.h"
#include "runtime/support/Error.h"

#include <gtest/gtest.h>

#include <chrono>

using namespace mmx::runtime;

TEST(ThreadPool, RunsEveryCellOnce) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t count : {0, 1, 2, 3, 7, 64, 1000}) {
      std::vector<std::atomic<int>> runs(count);
      pool.forEach(count, [&](int64_t cell, int worker) {
        ASSERT_GE(worker, 0);
        ASSERT_LT(worker, threads);
        ++runs[cell];
      });
      for (const std::atomic<int> &run : runs)
        EXPECT_EQ(run, 1);
    }
  }
}

// Loops that follow at once, and loops after which the workers sleep.
TEST(ThreadPool, ManyLoops) {
  ThreadPool pool(4);
  std::atomic<int64_t> sum = 0;
  for (int64_t loop = 0; loop < 20'000; ++loop)
    pool.forEach(loop % 9, [&](int64_t cell, int) { sum += cell + 1; });
  int64_t expected = 0;
  for (int64_t loop = 0; loop < 20'000; ++loop)
    expected += (loop % 9) * (loop % 9 + 1) / 2;
  EXPECT_EQ(sum, expected);
  for (int loop = 0; loop < 20; ++loop) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    sum = 0;
    pool.forEach(100, [&](int64_t, int) { ++sum; });
    EXPECT_EQ(sum, 100);
  }
}

TEST(ThreadPool, ThrowsWhatABodyThrows) {
  ThreadPool pool(3);
  EXPECT_THROW(pool.forEach(100,
                            [](int64_t cell, int) {
                              if (cell % 10 == 3)
                                fail("cell ", cell);
                            }),
               Error);
  std::atomic<int64_t> count = 0;
  pool.forEach(100, [&](int64_t, int) { ++count; });
  EXPECT_EQ(count, 100);
}

TEST(ThreadPool, RefusesNegativeCounts) {
  ThreadPool pool(2);
  EXPECT_THROW(pool.forEach(-1, [](int64_t, int) {}), Error);
}
