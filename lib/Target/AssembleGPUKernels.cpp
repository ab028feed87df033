//===- AssembleGPUKernels.cpp - Kernels to files, with their reports ------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "mmx/Target/CPUCodegen.h"
#include "mmx/Target/GPUCodegen.h"
#include "mmx/Target/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace mmx {
#define GEN_PASS_DEF_ASSEMBLEGPUKERNELS
#include "mmx/Target/Passes.h.inc"
} // namespace mmx

using namespace mlir;
using namespace mmx;

/// Numbers, texts, lists and dictionaries as they are, the rest as printed.
static llvm::json::Value toJSON(Attribute attr) {
  if (auto number = dyn_cast<IntegerAttr>(attr))
    return number.getInt();
  if (auto text = dyn_cast<StringAttr>(attr))
    return text.getValue();
  if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attr))
    return llvm::json::Array(numbers.asArrayRef());
  if (auto list = dyn_cast<ArrayAttr>(attr)) {
    llvm::json::Array array;
    for (Attribute element : list)
      array.push_back(toJSON(element));
    return array;
  }
  if (auto dictionary = dyn_cast<DictionaryAttr>(attr)) {
    llvm::json::Object object;
    for (NamedAttribute entry : dictionary)
      object[entry.getName().getValue()] = toJSON(entry.getValue());
    return object;
  }
  std::string text;
  llvm::raw_string_ostream(text) << attr;
  return text;
}

namespace {

struct AssembleGPUKernels
    : mmx::impl::AssembleGPUKernelsBase<AssembleGPUKernels> {
  using AssembleGPUKernelsBase::AssembleGPUKernelsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerCodegenDialects(registry);
  }

  void runOnOperation() override {
    GPUCodegenOptions options;
    if (!assembler)
      options.ptxas.clear();
    auto kernels = compileKernelsForGPU(getOperation(), options);
    auto fail = [&](const llvm::Twine &message) {
      // At the location alone: the module itself can be thousands of lines.
      emitError(getOperation().getLoc(), message);
      signalPassFailure();
    };
    if (!kernels)
      return fail(llvm::toString(kernels.takeError()));
    SymbolTable symbols(getOperation());
    for (const GPUKernel &kernel : *kernels) {
      Operation *function = symbols.lookup(kernel.symbol);
      if (!kernel.cubin.empty())
        function->setAttr("mmx.report", getReport(kernel.report));
      if (print)
        llvm::outs() << kernel.ptx;
      if (!directory.empty())
        if (std::string message = write(kernel, function); !message.empty())
          return fail(message);
    }
  }

private:
  DictionaryAttr getReport(const AssemblyReport &report) {
    Builder builder(&getContext());
    auto number = [&](StringRef name, int64_t value) {
      return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
    };
    return builder.getDictionaryAttr({number("registers", report.registers),
                                      number("spills", report.spillBytes),
                                      number("stack", report.stackBytes),
                                      number("barriers", report.barriers)});
  }

  /// Writes SYMBOL.ptx, SYMBOL.cubin and SYMBOL.json; returns what went wrong.
  std::string write(const GPUKernel &kernel, Operation *function) {
    if (std::error_code code = llvm::sys::fs::create_directories(directory))
      return "cannot create " + directory + ": " + code.message();
    llvm::json::Object description;
    for (NamedAttribute attr : function->getDiscardableAttrs())
      if (attr.getName().getValue().starts_with("mmx."))
        description[attr.getName().getValue().drop_front(4)] =
            toJSON(attr.getValue());
    description["symbol"] = kernel.symbol;
    std::string text;
    llvm::raw_string_ostream(text) << llvm::json::Value(std::move(description));
    std::pair<StringRef, StringRef> files[] = {
        {"ptx", kernel.ptx},
        {"cubin", llvm::toStringRef(ArrayRef(kernel.cubin))},
        {"json", text}};
    for (auto [extension, bytes] : files) {
      SmallString<128> path(directory.getValue());
      llvm::sys::path::append(path, kernel.symbol + "." + extension);
      std::error_code code;
      llvm::raw_fd_ostream stream(path, code);
      if (!code)
        stream << bytes;
      stream.close();
      if (code || stream.has_error()) {
        stream.clear_error();
        return ("cannot write " + path).str();
      }
    }
    return "";
  }
};

} // namespace
