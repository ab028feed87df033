//===- ThreadPool.cpp - Threads that share the cells of a loop ------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/ThreadPool.h"

#include "runtime/support/Error.h"

#include <algorithm>
#include <sched.h>
#include <system_error>
#include <utility>

using namespace mmx::runtime;

static constexpr int spins = 4000;

static void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

static int availableThreads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

ThreadPool::ThreadPool(int threads) {
  if (threads < 1)
    threads = availableThreads();
  try {
    for (int worker = 1; worker < threads; ++worker)
      workers.emplace_back([this, worker] { work(worker); });
  } catch (const std::system_error &error) {
    size_t started = workers.size();
    stop();
    fail("cannot start ", threads, " threads, only ", started + 1, ": ",
         error.what());
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  stopping = true;
  current.fetch_add(1);
  current.notify_all();
  for (std::thread &worker : workers)
    worker.join();
  workers.clear();
}

void ThreadPool::keepException() {
  std::lock_guard lock(exceptionMutex);
  if (!exception)
    exception = std::current_exception();
}

void ThreadPool::runCells(uint32_t loop, int worker) {
  while (true) {
    uint64_t seen = ticket.load();
    int64_t count = cells.load(), step = grain.load();
    Body run = body.load();
    void *argument = context.load();
    int64_t begin = uint32_t(seen);
    if (uint32_t(seen >> 32) != loop || begin >= count)
      return;
    int64_t end = std::min(begin + step, count);
    // Success means that the loop is still the one whose fields were read.
    if (!ticket.compare_exchange_weak(seen, uint64_t(loop) << 32 | end))
      continue;
    try {
      for (int64_t cell = begin; cell < end; ++cell)
        run(argument, cell, worker);
    } catch (...) {
      keepException();
    }
    if (done.fetch_add(end - begin) + (end - begin) == count)
      done.notify_one();
  }
}

uint32_t ThreadPool::awaitLoop(uint32_t last) {
  for (int spin = 0; spin < spins; ++spin) {
    uint32_t loop = current.load();
    if (loop != last)
      return loop;
    relax();
  }
  sleepers.fetch_add(1);
  current.wait(last);
  sleepers.fetch_sub(1);
  return current.load();
}

void ThreadPool::work(int worker) {
  uint32_t loop = 0;
  while (true) {
    loop = awaitLoop(loop);
    if (stopping.load())
      return;
    runCells(loop, worker);
  }
}

void ThreadPool::forEach(int64_t count, Body run, void *argument) {
  if (count < 0 || count > INT32_MAX)
    fail("expected fewer than 2^31 cells, but got ", count);
  if (count <= 1 || workers.empty()) {
    for (int64_t cell = 0; cell < count; ++cell)
      run(argument, cell, 0);
    return;
  }
  uint32_t loop = current.load() + 1;
  // An exhausted ticket first, so that nobody takes a cell while the fields
  // change.
  ticket.store(uint64_t(loop) << 32 | UINT32_MAX);
  cells.store(count);
  grain.store(std::max<int64_t>(1, count / (8 * threads())));
  body.store(run);
  context.store(argument);
  done.store(0);
  ticket.store(uint64_t(loop) << 32);
  current.store(loop);
  if (sleepers.load() > 0)
    current.notify_all();
  runCells(loop, 0);
  for (int spin = 0; done.load() < count; ++spin) {
    if (spin < spins) {
      relax();
      continue;
    }
    int64_t seen = done.load();
    if (seen < count)
      done.wait(seen);
  }
  if (exception)
    std::rethrow_exception(std::exchange(exception, nullptr));
}
