//===- PackageParts.h - Pieces of a package ---------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tables of schema/package.fbs that follow from the module alone, and the
// framing of the file. Whoever writes a package starts here.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TARGET_PACKAGEPARTS_H
#define MMX_TARGET_PACKAGEPARTS_H

#include "mlir/IR/BuiltinOps.h"
#include "mmx/Dialect/MMX/MMXOps.h"
#include "mmx/package_generated.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mmx {

/// The version of the schema that is written.
inline constexpr uint32_t packageVersion = 1;

/// "mmx 0.1.0".
std::string getPackageProducer();

/// The table of a model, from the module attribute `mmx.model`.
llvm::Expected<flatbuffers::Offset<package::Model>>
packModel(flatbuffers::FlatBufferBuilder &builder, mlir::ModuleOp module);

/// The table of a weight whose dimension `along` stands in panels of `panel`;
/// 0 is row-major.
flatbuffers::Offset<package::Weight>
packWeight(flatbuffers::FlatBufferBuilder &builder, GlobalOp global,
           int64_t panel = 0, int64_t along = 0);

/// The element of a buffer or weight of element type `type`, which is f32,
/// bf16, f64, i32 or i8.
package::Element getPackageElement(mlir::Type type);

/// The bytes of the file: magic, SHA-256, zeros and the finished FlatBuffer.
std::vector<uint8_t> finishPackage(flatbuffers::FlatBufferBuilder &builder,
                                   flatbuffers::Offset<package::Package> root);

/// A package that describes the model and its weights (row-major) and has
/// nothing to run.
llvm::Expected<std::vector<uint8_t>>
writeModelDescription(mlir::ModuleOp module);

} // namespace mmx

#endif // MMX_TARGET_PACKAGEPARTS_H
