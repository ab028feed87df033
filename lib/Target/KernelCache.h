//===- KernelCache.h - Generated code by content ----------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Entries are files of a folder. A failure to write one only costs time later,
// and one that cannot be read is made anew. Threads: any number at a time, also
// of several processes.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_LIB_TARGET_KERNELCACHE_H
#define MMX_LIB_TARGET_KERNELCACHE_H

#include "mlir/IR/Operation.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mmx {

/// Hash, in hexadecimal digits, of `kernel` as printed, of the version of LLVM
/// and of `salt`.
std::string hashKernel(mlir::Operation *kernel, llvm::StringRef salt);

/// Hash, in hexadecimal digits, of some bytes.
std::string hashBytes(llvm::ArrayRef<uint8_t> bytes);

/// The bytes of entry `name`; none if there is no such entry or no folder.
std::optional<std::vector<uint8_t>> readCacheEntry(llvm::StringRef directory,
                                                   llvm::StringRef name);
void writeCacheEntry(llvm::StringRef directory, llvm::StringRef name,
                     llvm::ArrayRef<uint8_t> bytes);

} // namespace mmx

#endif // MMX_LIB_TARGET_KERNELCACHE_H
