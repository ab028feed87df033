//===- MachineCodeChecker.cpp - Registers of products in flight -----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Target/MachineCodeChecker.h"

#include "MachineCodeListing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <deque>

using namespace llvm;
using namespace mmx;

//===----------------------------------------------------------------------===//
// What is in flight
//===----------------------------------------------------------------------===//

namespace {

/// The youngest product that holds a register, by its group: -1 before the end
/// of its group, then the number of groups that ended after it.
struct Hold {
  static constexpr int8_t none = INT8_MAX;
  int8_t age = none;
  unsigned product = 0; ///< the instruction

  bool operator==(const Hold &other) const = default;
};

/// What the products in flight hold before an instruction.
struct State {
  std::array<Hold, 256> read, written;

  bool operator==(const State &other) const = default;

  template <typename Function> void forEach(Function function) {
    for (auto *holds : {&read, &written})
      for (Hold &hold : *holds)
        if (hold.age != Hold::none)
          function(hold);
  }

  void startProduct(const MachineInstruction &product, unsigned number) {
    RegisterRange a = product.getLeftOperand(), d = product.getResult();
    for (int i = 0; i < a.count && a.first + i < 256; ++i)
      read[a.first + i] = {-1, number};
    for (int i = 0; i < d.count && d.first + i < 256; ++i)
      written[d.first + i] = {-1, number};
    // The last product of a group counts it.
    if (is_contained(product.operands, "gsb0"))
      forEach([](Hold &hold) {
        hold.age = std::min<int>(hold.age + 1, Hold::none - 1);
      });
  }

  /// At most `pending` groups stay in flight.
  void wait(int pending) {
    forEach([&](Hold &hold) {
      if (hold.age >= pending)
        hold = Hold();
    });
  }

  /// Adds what is in flight on another path; true if that is more.
  bool join(const State &other) {
    bool changed = false;
    auto joinAll = [&](auto &mine, const auto &others) {
      for (auto [hold, theirs] : zip(mine, others))
        if (theirs.age < hold.age) {
          hold = theirs;
          changed = true;
        }
    };
    joinAll(read, other.read);
    joinAll(written, other.written);
    return changed;
  }
};

} // namespace

static void step(State &state, const MachineInstruction &instruction,
                 unsigned number) {
  if (instruction.is("HGMMA"))
    return state.startProduct(instruction, number);
  if (!instruction.opcode.starts_with("WARPGROUP.DEPBAR") ||
      instruction.operands.size() < 2)
    return;
  int pending = 0;
  instruction.operands[1].getAsInteger(0, pending);
  state.wait(pending);
}

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

/// A state before every instruction that may be reached.
static std::vector<State> solve(const MachineFunction &function) {
  std::vector<State> states(function.instructions.size());
  std::deque<unsigned> work;
  for (unsigned i = 0; i < states.size(); ++i)
    work.push_back(i);
  std::vector<bool> waiting(states.size(), true);
  while (!work.empty()) {
    unsigned number = work.front();
    work.pop_front();
    waiting[number] = false;
    State state = states[number];
    step(state, function.instructions[number], number);
    for (unsigned next : function.successors[number])
      if (next < states.size() && states[next].join(state) && !waiting[next]) {
        waiting[next] = true;
        work.push_front(next);
      }
  }
  return states;
}

static void checkFunction(const MachineFunction &function,
                          std::vector<std::string> &findings) {
  if (none_of(function.instructions,
              [](const MachineInstruction &i) { return i.is("HGMMA"); }))
    return;
  std::vector<State> states = solve(function);
  for (auto [number, instruction] : enumerate(function.instructions)) {
    if (instruction.is("HGMMA"))
      continue;
    const State &state = states[number];
    auto report = [&](StringRef does, int reg, StringRef product,
                      const Hold &hold) {
      findings.push_back(formatv(
          "{0}: '{1}' at {2:x} {3} R{4}, which '{5}' at {6:x} still {7}; "
          "expected WARPGROUP.DEPBAR between them",
          function.name, instruction.text, instruction.address, does, reg,
          function.instructions[hold.product].text,
          function.instructions[hold.product].address, product));
    };
    RegisterRange result = instruction.getResult();
    for (int i = result.first; i < std::min(result.first + result.count, 255);
         ++i)
      if (state.read[i].age != Hold::none)
        return report("writes", i, "reads", state.read[i]);
      else if (state.written[i].age != Hold::none)
        return report("writes", i, "writes", state.written[i]);
    for (int source : instruction.getSources())
      if (source < 255 && state.written[source].age != Hold::none)
        return report("reads", source, "writes", state.written[source]);
  }
}

std::vector<std::string> mmx::findOperandsInFlight(StringRef listing) {
  std::vector<std::string> findings;
  for (const MachineFunction &function : parseListing(listing))
    checkFunction(function, findings);
  return findings;
}

//===----------------------------------------------------------------------===//
// The disassembler
//===----------------------------------------------------------------------===//

std::string mmx::findDisassembler() {
  if (std::optional<std::string> given =
          sys::Process::GetEnv("MMX_DISASSEMBLER"))
    return *given;
#ifdef MMX_DISASSEMBLER
  if (sys::fs::can_execute(MMX_DISASSEMBLER))
    return MMX_DISASSEMBLER;
#endif
  for (StringRef name : {"nvdisasm", "cuobjdump"})
    if (ErrorOr<std::string> found = sys::findProgramByName(name))
      return *found;
  return "";
}

Expected<std::string> mmx::disassemble(StringRef disassembler,
                                       ArrayRef<uint8_t> cubin) {
  SmallString<128> object, listing;
  auto removeAll = scope_exit([&] {
    sys::fs::remove(object);
    sys::fs::remove(listing);
  });
  int fd;
  if (sys::fs::createTemporaryFile("mmx", "cubin", fd, object) ||
      sys::fs::createTemporaryFile("mmx", "sass", listing))
    return createStringError("cannot create a temporary file");
  {
    raw_fd_ostream stream(fd, /*shouldClose=*/true);
    stream.write(reinterpret_cast<const char *>(cubin.data()), cubin.size());
    stream.close();
    if (stream.has_error()) {
      stream.clear_error();
      return createStringError("cannot write " + object);
    }
  }
  bool isCuobjdump = sys::path::filename(disassembler).contains("cuobjdump");
  StringRef arguments[] = {disassembler, isCuobjdump ? "-sass" : "-c", object};
  std::string message;
  int status =
      sys::ExecuteAndWait(disassembler, arguments, std::nullopt,
                          {std::nullopt, listing.str(), std::nullopt},
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  auto buffer = MemoryBuffer::getFile(listing);
  if (status != 0 || !buffer)
    return createStringError(disassembler + " failed" +
                             (message.empty() ? "" : ": " + message));
  return (*buffer)->getBuffer().str();
}
