//===- Safetensors.h - One safetensors file ---------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file is mapped, not read; the header is checked before anything else:
// its length, that it is JSON, and that every tensor has a known element type,
// a shape that agrees with its bytes, and a place of its own inside the file,
// without gaps. Errors name the file, the tensor, what was expected and what
// was found. Immutable afterwards: read from any number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_WEIGHTS_SAFETENSORS_H
#define MMX_RUNTIME_WEIGHTS_SAFETENSORS_H

#include "runtime/support/MappedFile.h"
#include "runtime/weights/TensorSource.h"

#include <map>
#include <span>

namespace mmx::runtime {

class Safetensors {
public:
  struct Tensor {
    TensorInfo info;
    uint64_t offset; ///< of the first byte in the file
    uint64_t bytes;
  };

  explicit Safetensors(std::string path);

  const std::string &path() const { return file.path(); }
  const std::map<std::string, Tensor, std::less<>> &tensors() const {
    return table;
  }
  /// The tensor called `name`, or null.
  const Tensor *find(std::string_view name) const;
  std::span<const uint8_t> bytes(const Tensor &tensor) const {
    return file.bytes().subspan(tensor.offset, tensor.bytes);
  }
  /// The elements of a tensor of type `element` ("F32", "I32") as T.
  /// Throws if there is no such tensor or it has another type.
  template <typename T>
  std::vector<T> values(std::string_view name, std::string_view element) const;
  /// See MappedFile::drop; offsets from the start of the tensor.
  void drop(const Tensor &tensor, uint64_t offset, uint64_t bytes) const {
    file.drop(tensor.offset + offset, bytes);
  }

private:
  void parseHeader();

  MappedFile file;
  std::map<std::string, Tensor, std::less<>> table;
};

/// Bytes of an element called `element`; 0 if there is no such type.
int64_t storedElementSize(std::string_view element);

} // namespace mmx::runtime

#endif // MMX_RUNTIME_WEIGHTS_SAFETENSORS_H
