//===- MachineCodeListing.cpp - Instructions of a listing -----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineCodeListing.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mmx;

//===----------------------------------------------------------------------===//
// Registers of an instruction
//===----------------------------------------------------------------------===//

/// The number of `R12`, `-R12.reuse`, `|R12|`; -1 for anything else, RZ too.
static int parseRegister(StringRef operand) {
  operand = operand.ltrim("-~!|");
  int number;
  if (!operand.consume_front("R") || operand.consumeInteger(10, number))
    return -1;
  return operand.empty() || operand.front() == '.' || operand.front() == '|'
             ? number
             : -1;
}

/// Columns N of `HGMMA.64xNx16`.
static int getColumns(StringRef opcode) {
  StringRef shape = opcode.split('.').second;
  int columns = 0;
  shape.split('x').second.consumeInteger(10, columns);
  return columns;
}

bool MachineInstruction::hasModifier(StringRef modifier) const {
  SmallVector<StringRef> parts;
  opcode.split(parts, '.');
  return is_contained(drop_begin(parts), modifier);
}

/// Number of registers that the instruction writes if it writes any.
static int getResultCount(const MachineInstruction &instruction) {
  StringRef opcode = instruction.opcode;
  if (instruction.is("HGMMA")) {
    int columns = getColumns(opcode);
    return instruction.hasModifier("F16") ? columns / 4 : columns / 2;
  }
  if (instruction.is("LDSM"))
    return instruction.hasModifier("4")   ? 4
           : instruction.hasModifier("2") ? 2
                                          : 1;
  if (instruction.hasModifier("128") || instruction.is("IMMA") ||
      instruction.is("TEX"))
    return 4;
  if (instruction.is("HMMA"))
    return instruction.hasModifier("F32") ? 4 : 2;
  if (instruction.is("CS2R"))
    return instruction.hasModifier("32") ? 1 : 2;
  bool wide = opcode.starts_with("D") && !opcode.starts_with("DEPBAR");
  for (StringRef modifier : {"64", "WIDE", "F64", "S64", "U64"})
    wide |= instruction.hasModifier(modifier);
  // A comparison or shift of 64 bits has a result of 32.
  if (instruction.is("SHF") || instruction.is("F2F"))
    wide = instruction.hasModifier("F64") && !instruction.hasModifier("F32");
  return wide ? 2 : 1;
}

RegisterRange MachineInstruction::getResult() const {
  // A register in front is an operand of these.
  for (StringRef name : {"BAR", "BRX", "BRXU", "CALL", "JMX", "JMXU",
                         "NANOSLEEP", "R2B", "RET", "WARPSYNC"})
    if (is(name))
      return {};
  if (operands.empty())
    return {};
  int first = parseRegister(operands.front());
  // These have a predicate for a first result.
  if (first < 0 && operands.size() > 1 &&
      (is("SHFL") || is("LOP3") || is("ATOM") || is("ATOMG") || is("ATOMS")) &&
      operands.front().trim("!").starts_with("P"))
    first = parseRegister(operands[1]);
  if (first < 0)
    return {};
  return {first, getResultCount(*this)};
}

RegisterRange MachineInstruction::getLeftOperand() const {
  if (!is("HGMMA") || operands.size() < 2)
    return {};
  int first = parseRegister(operands[1]);
  return first < 0 ? RegisterRange() : RegisterRange{first, 4};
}

SmallVector<int> MachineInstruction::getSources() const {
  SmallVector<int> sources;
  int result = getResult().count ? getResult().first : -1;
  for (auto [number, operand] : enumerate(operands)) {
    if (number < 2 && result >= 0 && parseRegister(operand) == result) {
      result = -1;
      continue;
    }
    // Addresses hold registers: desc[UR4][R2.64+0x10].
    for (size_t i = 0; i < operand.size(); ++i) {
      bool starts = operand[i] == 'R' && (i == 0 || !isAlnum(operand[i - 1]));
      int number;
      StringRef rest = operand.substr(i + 1);
      if (starts && !rest.consumeInteger(10, number))
        sources.push_back(number);
    }
  }
  return sources;
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// `/*0270*/  @!P1 BRA `(.L_x_0) ;`
static bool parseInstruction(StringRef line, MachineInstruction &instruction) {
  line = line.trim();
  if (!line.consume_front("/*") ||
      line.consumeInteger(16, instruction.address) || !line.consume_front("*/"))
    return false;
  StringRef text = line.split(';').first.trim();
  if (text.empty() || text.starts_with("/*"))
    return false;
  instruction.text = text;
  instruction.conditional = text.starts_with("@");
  if (instruction.conditional)
    text = text.split(' ').second.ltrim();
  StringRef operands;
  std::tie(instruction.opcode, operands) = text.split(' ');
  SmallVector<StringRef> parts;
  operands.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts)
    instruction.operands.push_back(part.trim());
  return true;
}

/// The name of a function that begins at this line.
static StringRef parseFunctionName(StringRef line) {
  line = line.trim();
  if (line.consume_front("Function : "))
    return line;
  if (line.consume_front(".text.") && line.consume_back(":"))
    return line;
  return "";
}

namespace {

/// Where the labels of a function stand.
struct Labels {
  StringMap<unsigned> byName;
  DenseMap<unsigned, unsigned> byAddress;

  /// The instruction that an operand `` `(.L_x_0) `` or `0x270` names.
  std::optional<unsigned> find(StringRef operand) const {
    operand = operand.trim();
    unsigned address;
    if (operand.consume_front("`(")) {
      auto label = byName.find(operand.split(')').first);
      if (label != byName.end())
        return label->second;
    } else if (!operand.getAsInteger(0, address)) {
      auto place = byAddress.find(address);
      if (place != byAddress.end())
        return place->second;
    }
    return std::nullopt;
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// All successors but those of BSYNC.
static void connectBranches(MachineFunction &function, const Labels &labels) {
  size_t count = function.instructions.size();
  function.successors.resize(count);
  for (auto [number, instruction] : enumerate(function.instructions)) {
    auto &successors = function.successors[number];
    bool isBranch = instruction.opcode.starts_with("BR") ||
                    instruction.opcode.starts_with("JM");
    bool isLast = instruction.is("EXIT") || instruction.is("RET") ||
                  instruction.is("BSYNC") ||
                  (isBranch && instruction.operands.size() == 1);
    if (number + 1 < count && (instruction.conditional || !isLast))
      successors.push_back(number + 1);
    if (!isBranch)
      continue;
    std::optional<unsigned> target;
    for (StringRef operand : instruction.operands)
      if (!target)
        target = labels.find(operand);
    if (target)
      successors.push_back(*target);
    else // Anywhere.
      for (const auto &label : labels.byName)
        successors.push_back(label.second);
  }
}

/// Threads go on from `BSYNC B0` where the `BSSY B0, label` that they executed
/// last says, which several may have done.
static void connectMeetings(MachineFunction &function, const Labels &labels) {
  using Targets = SmallVector<unsigned, 1>;
  std::vector<StringMap<Targets>> reaching(function.instructions.size());
  auto work = to_vector(seq<unsigned>(0, function.instructions.size()));
  while (!work.empty()) {
    unsigned number = work.pop_back_val();
    const MachineInstruction &instruction = function.instructions[number];
    StringMap<Targets> after = reaching[number];
    if (instruction.is("BSSY") && instruction.operands.size() == 2)
      if (std::optional<unsigned> target = labels.find(instruction.operands[1]))
        after[instruction.operands[0]] = {*target};
    auto &successors = function.successors[number];
    if (instruction.is("BSYNC") && !instruction.operands.empty())
      for (unsigned target : after[instruction.operands[0]])
        if (!is_contained(successors, target))
          successors.push_back(target);
    for (unsigned next : successors) {
      bool changed = false;
      for (const auto &barrier : after)
        for (unsigned target : barrier.second)
          if (Targets &known = reaching[next][barrier.first()];
              !is_contained(known, target)) {
            known.push_back(target);
            changed = true;
          }
      if (changed)
        work.push_back(next);
    }
  }
}

std::vector<MachineFunction> mmx::parseListing(StringRef listing) {
  std::vector<MachineFunction> functions;
  std::vector<Labels> labels;
  SmallVector<StringRef> lines;
  listing.split(lines, '\n');
  for (StringRef line : lines) {
    StringRef name = parseFunctionName(line);
    if (!name.empty()) {
      functions.push_back({name.str(), {}, {}});
      labels.emplace_back();
      continue;
    }
    if (functions.empty())
      continue;
    std::vector<MachineInstruction> &code = functions.back().instructions;
    StringRef label = line.trim();
    if (label.starts_with(".L") && label.consume_back(":")) {
      labels.back().byName[label] = code.size();
      continue;
    }
    MachineInstruction instruction;
    if (!parseInstruction(line, instruction))
      continue;
    labels.back().byAddress[instruction.address] = code.size();
    code.push_back(std::move(instruction));
  }
  for (auto [function, places] : zip(functions, labels)) {
    connectBranches(function, places);
    connectMeetings(function, places);
  }
  return functions;
}
