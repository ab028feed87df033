//===- TileRunCPU.cpp - Compiles and runs a tile kernel on this CPU -------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulateBlock.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mmx/Conversion/Passes.h"
#include "mmx/Reference/TileInputs.h"
#include "mmx/Target/CPUCodegen.h"
#include "mmx/Target/Passes.h"
#include "llvm/Support/raw_ostream.h"
#include <barrier>
#include <cmath>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace mmx {
#define GEN_PASS_DEF_TILERUNCPU
#include "mmx/Target/Passes.h.inc"
} // namespace mmx

using namespace mlir;
using namespace mmx;
using namespace mmx::tile;

namespace {

using Function = void (*)(void *const *, const int64_t *, int64_t, int64_t,
                          int64_t, void *);

using Barrier = std::barrier<>;
using ThreadFunction = void (*)(void *const *, const int64_t *, int64_t,
                                int64_t, int64_t, void *, int64_t,
                                void (*)(void *), void *, const int64_t *);

/// A cell of the grid.
using Cell3 = std::array<int64_t, 3>;

void forCells(ArrayRef<int64_t> grid,
              llvm::function_ref<void(const Cell3 &)> body) {
  for (int64_t i = 0; i < grid[0]; ++i)
    for (int64_t j = 0; j < grid[1]; ++j)
      for (int64_t k = 0; k < grid[2]; ++k)
        body({i, j, k});
}

/// Cell after cell on so many threads; `begin` is called once before each, and
/// `end` after it.
void runBlocks(
    ArrayRef<int64_t> grid, int64_t threads, llvm::function_ref<void()> begin,
    llvm::function_ref<void(const Cell3 &)> end,
    llvm::function_ref<void(const Cell3 &, int64_t, Barrier &)> body) {
  Barrier barrier(threads);
  std::vector<std::thread> workers;
  for (int64_t thread = 0; thread < threads; ++thread)
    workers.emplace_back([&, thread] {
      forCells(grid, [&](const Cell3 &cell) {
        if (thread == 0)
          begin();
        barrier.arrive_and_wait();
        body(cell, thread, barrier);
        barrier.arrive_and_wait();
        if (thread == 0)
          end(cell);
      });
    });
  for (std::thread &worker : workers)
    worker.join();
}

/// No byte of the range was written since it was filled.
bool isPoison(const uint8_t *begin, const uint8_t *end) {
  return std::all_of(begin, end, [](uint8_t byte) { return byte == 0xff; });
}

/// Memory with an inaccessible page right behind it, or before it.
class GuardedBuffer {
public:
  GuardedBuffer(size_t size, bool front) : size(size) {
    size_t page = sysconf(_SC_PAGESIZE);
    length = llvm::alignTo(size, page) + 2 * page;
    base = static_cast<uint8_t *>(mmap(nullptr, length, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    data = front ? base + page : base + length - page - size;
    memset(base, 0xff, length);
    mprotect(base, page, PROT_NONE);
    mprotect(base + length - page, page, PROT_NONE);
  }
  GuardedBuffer(GuardedBuffer &&other)
      : size(other.size), length(other.length), base(other.base),
        data(other.data) {
    other.base = nullptr;
  }
  ~GuardedBuffer() {
    if (base)
      munmap(base, length);
  }
  uint8_t *getData() const { return data; }
  /// No byte around the data was written.
  bool isSurroundingIntact() const {
    size_t page = sysconf(_SC_PAGESIZE);
    return isPoison(base + page, data) &&
           isPoison(data + size, base + length - page);
  }

private:
  size_t size, length;
  uint8_t *base, *data;
};

/// Seconds that this thread has computed: others may share the machine.
double getThreadTime() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

struct TileRunCPU : mmx::impl::TileRunCPUBase<TileRunCPU> {
  using TileRunCPUBase::TileRunCPUBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerCodegenDialects(registry);
  }

  void runOnOperation() override {
    if (failed(check()))
      signalPassFailure();
    else
      markAllAnalysesPreserved();
  }

private:
  LogicalResult check();
  FailureOr<void *> compile(KernelOp op, const CPUTarget &machine);
  LogicalResult run(KernelOp op, void *function, KernelInputs &inputs);
  void printTime(llvm::function_ref<void()> run);
  LogicalResult compare(KernelOp op, const KernelInputs &actual,
                        const KernelInputs &expected);

  int64_t scratchBytes = 0;
  bool scratchIsGlobal = false; ///< every block has a slice of it
};

} // namespace

LogicalResult TileRunCPU::check() {
  FailureOr<KernelOp> found = findKernel(getOperation(), kernel);
  if (failed(found))
    return failure();
  KernelOp op = *found;
  llvm::Expected<CPUTarget> machine = CPUTarget::get(target);
  if (!machine)
    return op.emitError(llvm::toString(machine.takeError()));
  FailureOr<KernelInputs> inputs = makeKernelInputs(op, extents, seed);
  FailureOr<void *> function = compile(op, *machine);
  if (failed(inputs) || failed(function))
    return failure();
  KernelInputs expected = inputs->clone(), actual = inputs->clone();
  if (interpret && failed(interpretKernel(op, expected.arguments)))
    return failure();
  if (failed(run(op, *function, actual)))
    return failure();
  return interpret ? compare(op, actual, expected) : success();
}

/// The code stays loaded, and the file open: dlopen knows an object again by
/// its path.
FailureOr<void *> TileRunCPU::compile(KernelOp op, const CPUTarget &machine) {
  OwningOpRef<ModuleOp> module(ModuleOp::create(op.getLoc()));
  module->push_back(op->clone());
  PassManager manager(&getContext());
  if (threads > 0) {
    ConvertTileToSIMTOptions options;
    options.threads = threads;
    options.shared = shared;
    manager.addPass(createConvertTileToSIMT(options));
  } else {
    ConvertTileToCPUOptions options;
    options.lanes = machine.vectorLanes;
    manager.addPass(createConvertTileToCPU(options));
  }
  if (failed(manager.run(*module)))
    return failure();
  if (threads > 0)
    for (auto function : module->getOps<func::FuncOp>()) {
      scratchIsGlobal =
          function->getAttrOfType<IntegerAttr>("mmx.scratch").getInt() != 0;
      emulateBlock(function);
    }
  llvm::Expected<CPUObject> object = compileKernelsForCPU(*module, machine, {});
  if (!object)
    return op.emitError(llvm::toString(object.takeError()));
  int file = memfd_create("kernel", 0);
  if (file < 0 || write(file, object->elf.data(), object->elf.size()) !=
                      static_cast<ssize_t>(object->elf.size()))
    return op.emitError("cannot write a shared object to memory");
  std::string path = "/proc/self/fd/" + std::to_string(file);
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return op.emitError("cannot load the shared object: ") << dlerror();
  const CPUKernel &report = object->kernels.front();
  scratchBytes = report.scratchBytes;
  llvm::outs() << "@" << op.getSymName() << " for " << machine.name
               << (threads > 0 ? " in threads: " : ": ") << report.codeBytes
               << " bytes of code, " << scratchBytes << " bytes of scratch"
               << (scratchIsGlobal ? " in each block\n" : "\n");
  return dlsym(handle, report.symbol.c_str());
}

/// The smallest processor time of `repeat` runs.
void TileRunCPU::printTime(llvm::function_ref<void()> run) {
  double best = INFINITY;
  for (unsigned n = 0; n < repeat; ++n) {
    double start = getThreadTime();
    run();
    best = std::min(best, getThreadTime() - start);
  }
  llvm::outs() << "time " << best * 1e6 << " us\n";
}

/// Arrays are copied to guarded memory, and back.
LogicalResult TileRunCPU::run(KernelOp op, void *function,
                              KernelInputs &inputs) {
  FailureOr<SmallVector<int64_t>> symbols =
      getKernelExtents(op, inputs.arguments);
  if (failed(symbols))
    return failure();
  FailureOr<SmallVector<int64_t, 3>> sizes = getGridSizes(op, *symbols);
  if (failed(sizes))
    return failure();
  SmallVector<int64_t> grid(sizes->begin(), sizes->end());
  grid.resize(3, 1);
  std::vector<GuardedBuffer> memory;
  std::vector<void *> buffers;
  for (HostArray &array : inputs.arrays) {
    memory.emplace_back(array.getStorageSize(), front);
    buffers.push_back(memory.back().getData());
    // An array without elements has no memory.
    if (size_t size = array.getStorageSize())
      memcpy(buffers.back(), array.getData(), size);
  }
  int64_t blocks = scratchIsGlobal ? grid[0] * grid[1] * grid[2] : 1;
  int64_t areaBytes = blocks * scratchBytes;
  GuardedBuffer scratch(llvm::alignTo(areaBytes, 64), /*front=*/true);
  auto runCell = [&](const Cell3 &cell) {
    reinterpret_cast<Function>(function)(buffers.data(), symbols->data(),
                                         cell[0], cell[1], cell[2],
                                         scratch.getData());
  };
  auto runThread = [&](const Cell3 &cell, int64_t thread, Barrier &barrier) {
    reinterpret_cast<ThreadFunction>(function)(
        buffers.data(), symbols->data(), cell[0], cell[1], cell[2],
        scratch.getData(), thread,
        [](void *context) {
          static_cast<Barrier *>(context)->arrive_and_wait();
        },
        &barrier, grid.data());
  };
  bool strayed = false;
  auto runGrid = [&](bool poison) {
    auto begin = [&] {
      if (poison)
        memset(scratch.getData(), 0xff, areaBytes);
    };
    auto end = [&](const Cell3 &cell) {
      int64_t block = cell[0] + grid[0] * (cell[1] + grid[1] * cell[2]);
      const uint8_t *all = scratch.getData(), *own = all + block * scratchBytes;
      if (poison && scratchIsGlobal)
        strayed |= !isPoison(all, own) ||
                   !isPoison(own + scratchBytes, all + areaBytes);
    };
    if (threads > 0)
      runBlocks(grid, threads, begin, end, runThread);
    else
      forCells(grid, [&](const Cell3 &cell) {
        begin();
        runCell(cell);
      });
  };
  runGrid(/*poison=*/true);
  for (auto [array, buffer, guarded] :
       llvm::zip(inputs.arrays, buffers, memory)) {
    if (size_t size = array.getStorageSize())
      memcpy(array.getData(), buffer, size);
    if (!guarded.isSurroundingIntact())
      return op.emitError("wrote outside an array");
  }
  if (strayed || !scratch.isSurroundingIntact())
    return op.emitError("wrote outside the scratch area");
  if (repeat > 0)
    printTime([&] { runGrid(/*poison=*/false); });
  return success();
}

LogicalResult TileRunCPU::compare(KernelOp op, const KernelInputs &actual,
                                  const KernelInputs &expected) {
  for (auto [index, argument] : llvm::enumerate(actual.arguments)) {
    if (!argument.array)
      continue;
    const HostArray &a = *argument.array, &b = *expected.arguments[index].array;
    auto number = [&](const HostArray &array, int64_t n) {
      Cell cell = array.load(n);
      return isFloatKind(array.getKind()) ? double(cell.f) : double(cell.i);
    };
    double largest = 0, difference = 0;
    int64_t worst = -1;
    for (int64_t n = 0; n < a.getNumStored(); ++n) {
      double x = number(a, n), y = number(b, n);
      if (std::isfinite(y))
        largest = std::max(largest, std::fabs(y));
      if (x == y || (std::isnan(x) && std::isnan(y)))
        continue;
      double here = std::isfinite(x - y) ? std::fabs(x - y) : INFINITY;
      if (here > difference) {
        difference = here;
        worst = n;
      }
    }
    if (worst >= 0 && !(difference <= tolerance * largest)) {
      std::string place;
      llvm::raw_string_ostream stream(place);
      llvm::interleaveComma(a.getIndices(worst), stream);
      return op.emitError("view ")
             << index << ": expected " << number(b, worst) << " at [" << place
             << "], but got " << number(a, worst) << "; difference "
             << difference / largest << " of the largest element";
    }
    auto view = cast<ViewType>(op.getParams()[index].getType());
    if (view.getMode() != AccessMode::Read)
      llvm::outs() << "view " << index << " agrees\n";
  }
  return success();
}
