//===- Assembler.cpp - PTX to machine code, with a report -----------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mmx/Target/Assembler.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

using namespace llvm;
using namespace mmx;

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

/// The number before `what` in `line`, or 0.
static int64_t numberBefore(StringRef line, StringRef what) {
  SmallVector<StringRef> groups;
  int64_t number = 0;
  if (Regex(("([0-9]+) " + what).str()).match(line, &groups))
    groups[1].getAsInteger(10, number);
  return number;
}

AssemblyReport mmx::parseAssemblyReport(StringRef text) {
  AssemblyReport report;
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  static Regex remark("\\(C75[0-9][0-9]\\)");
  for (StringRef line : lines) {
    report.registers =
        std::max(report.registers,
                 numberBefore(line.substr(line.find("Used ")), "registers"));
    report.spillBytes += numberBefore(line, "bytes spill stores") +
                         numberBefore(line, "bytes spill loads");
    report.stackBytes += numberBefore(line, "bytes stack frame");
    report.sharedBytes += numberBefore(line, "bytes smem");
    report.barriers = std::max(report.barriers, numberBefore(line, "barriers"));
    if (remark.match(line))
      report.remarks.push_back(line.trim().str());
  }
  return report;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

std::string mmx::findAssembler() {
  if (std::optional<std::string> given = sys::Process::GetEnv("MMX_PTXAS"))
    return *given;
#ifdef MMX_PTXAS
  if (sys::fs::can_execute(MMX_PTXAS))
    return MMX_PTXAS;
#endif
  SmallVector<StringRef> folders;
  SmallString<128> home;
  if (std::optional<std::string> cuda = sys::Process::GetEnv("CUDA_HOME")) {
    home = *cuda;
    sys::path::append(home, "bin");
    if (ErrorOr<std::string> found =
            sys::findProgramByName("ptxas", {home.str()}))
      return *found;
  }
  ErrorOr<std::string> found = sys::findProgramByName("ptxas");
  return found ? *found : "";
}

static Error makeError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

std::string mmx::identifyAssembler(StringRef ptxas) {
  std::string identity = ptxas.str();
  SmallString<128> log;
  if (sys::fs::createTemporaryFile("mmx", "log", log))
    return identity;
  auto removeLog = scope_exit([&] { sys::fs::remove(log); });
  int status = sys::ExecuteAndWait(ptxas, {ptxas, "--version"}, std::nullopt,
                                   {std::nullopt, log.str(), log.str()});
  auto buffer = MemoryBuffer::getFile(log);
  if (status == 0 && buffer)
    identity += (*buffer)->getBuffer();
  return identity;
}

Expected<Assembly> mmx::assemble(StringRef ptxas, StringRef ptx,
                                 StringRef arch) {
  SmallString<128> source, object, log;
  auto removeAll = scope_exit([&] {
    for (StringRef path : {source.str(), object.str(), log.str()})
      if (!path.empty())
        sys::fs::remove(path);
  });
  int fd;
  if (std::error_code code =
          sys::fs::createTemporaryFile("mmx", "ptx", fd, source))
    return makeError("cannot create a temporary file: " + code.message());
  {
    raw_fd_ostream stream(fd, /*shouldClose=*/true);
    stream << ptx;
    stream.close();
    if (stream.has_error()) {
      std::string message = stream.error().message();
      stream.clear_error();
      return makeError("cannot write " + source + ": " + message);
    }
  }
  if (sys::fs::createTemporaryFile("mmx", "cubin", object) ||
      sys::fs::createTemporaryFile("mmx", "log", log))
    return makeError("cannot create a temporary file");
  std::string archOption = ("-arch=" + arch).str();
  StringRef arguments[] = {ptxas, archOption, "-v", "-o", object, source};
  std::string message;
  int status = sys::ExecuteAndWait(
      ptxas, arguments, std::nullopt, {std::nullopt, log.str(), log.str()},
      /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  Assembly result;
  if (auto buffer = MemoryBuffer::getFile(log))
    result.log = (*buffer)->getBuffer().str();
  if (status != 0)
    return makeError(ptxas + " failed" +
                     (message.empty() ? "" : ": " + message) + "\n" +
                     result.log);
  auto buffer = MemoryBuffer::getFile(object);
  if (!buffer)
    return makeError("cannot read what " + ptxas + " wrote");
  result.cubin.assign((*buffer)->getBufferStart(), (*buffer)->getBufferEnd());
  return std::move(result);
}
