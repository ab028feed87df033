//===- ThreadPool.h - Threads that share the cells of a loop ----*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pool has `threads` workers, the calling thread among them. One thread owns
// the pool and calls forEach; calls do not nest. Which worker runs a cell is
// left to chance, so bodies must not let results depend on it.
//
// Workers wait for the next loop by spinning for some tens of microseconds,
// about the time between two kernels of a step, and then sleep.
//
// Errors: the first exception that a body throws ends the loop early and is
// thrown to the caller.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_DEVICE_THREADPOOL_H
#define MMX_RUNTIME_DEVICE_THREADPOOL_H

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace mmx::runtime {

class ThreadPool {
public:
  /// `threads` < 1: as many as this process may run on.
  explicit ThreadPool(int threads = 0);
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;
  ~ThreadPool();

  int threads() const { return int(workers.size()) + 1; }

  /// Calls body(context, cell, worker) for every cell below `count`
  /// (< 2^31), worker below threads(), and returns when all are done.
  using Body = void (*)(void *context, int64_t cell, int worker);
  void forEach(int64_t count, Body body, void *context);

  /// The same for a callable body(cell, worker).
  template <typename Callable> void forEach(int64_t count, Callable &&body) {
    forEach(
        count,
        [](void *context, int64_t cell, int worker) {
          (*static_cast<std::remove_reference_t<Callable> *>(context))(cell,
                                                                       worker);
        },
        static_cast<void *>(&body));
  }

private:
  void stop();
  void work(int worker);
  void runCells(uint32_t loop, int worker);
  uint32_t awaitLoop(uint32_t last);
  void keepException();

  // The number of the current loop (upper half) and its next cell (lower
  // half). A worker takes cells by compare-and-swap, so one that wakes up late
  // can never take a cell of a loop whose fields it has not read.
  alignas(64) std::atomic<uint64_t> ticket = 0;
  alignas(64) std::atomic<int64_t> done = 0;
  alignas(64) std::atomic<uint32_t> current = 0;
  std::atomic<int> sleepers = 0;
  std::atomic<bool> stopping = false;
  std::atomic<int64_t> cells = 0;
  std::atomic<int64_t> grain = 1;
  std::atomic<Body> body = nullptr;
  std::atomic<void *> context = nullptr;
  std::mutex exceptionMutex;
  std::exception_ptr exception;
  std::vector<std::thread> workers;
};

} // namespace mmx::runtime

#endif // MMX_RUNTIME_DEVICE_THREADPOOL_H
