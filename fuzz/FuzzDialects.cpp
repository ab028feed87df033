//===- FuzzDialects.cpp - The dialects parse and verify any text ----------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mmx/Dialect/Exec/ExecDialect.h"
#include "mmx/Dialect/Hopper/HopperDialect.h"
#include "mmx/Dialect/MMX/MMXDialect.h"
#include "mmx/Dialect/Tile/TileDialect.h"
#include "llvm/Support/raw_ostream.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                      mlir::scf::SCFDialect, mmx::MMXDialect,
                      mmx::tile::TileDialect, mmx::exec::ExecDialect,
                      mmx::hopper::HopperDialect>();
  mlir::ScopedDiagnosticHandler quiet(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  // The lexer looks for the zero that stands behind every file in memory.
  std::string text(reinterpret_cast<const char *>(data), size);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return 0;
  // What was accepted prints, and what was printed is accepted.
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  module->print(stream);
  if (!mlir::parseSourceString<mlir::ModuleOp>(printed, &context))
    std::abort();
  return 0;
}
