//===- compiler_api.h - C interface of libmmx-compiler ----------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the runtime calls in the compiler, which it opens as a shared library
// (libmmx-compiler.so) and so can do without. Plain C types only.
//
// Ownership: every `char *` and `MmxBytes` that a call returns is freed with
// mmxFree. Threads: calls on different objects may run at the same time.
// Errors: a call returns 0 on success; otherwise *error holds a message of one
// or more lines without a final newline.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_COMPILER_API_H
#define MMX_COMPILER_API_H

#include <cstdint>

extern "C" {

enum { mmxCompilerApiVersion = 3 };

struct MmxBytes {
  uint8_t *data;
  uint64_t size;
};

/// Null strings and zeros mean the default.
struct MmxCompileOptions {
  const char *target; ///< "cpu" (this machine); more targets later
  const char *dtype;  ///< "f32" or "bf16"
  int64_t block;      ///< tokens of a lightning block; 0: chosen
  int keepHidden;     ///< programs also write "hidden.L"
  int routing;        ///< programs read "routing.L" and write "experts.L"
  void (*progress)(void *context, const char *stage, int done, int total);
  void *context;
};

/// A tensor of the checkpoint as it stands in the file (row-major).
struct MmxTensor {
  const void *data;
  const char *element; ///< "F32", "BF16", ... as safetensors spells them
  int64_t rank;
  const int64_t *shape;
};

/// An array the caller owns, named by its role (see package.fbs). Elements
/// are f32 or i32 by role; caches and states are row-major here.
struct MmxRoleBuffer {
  const char *role;
  void *data;
  int64_t rank;
  const int64_t *shape;
};

typedef struct MmxReference MmxReference;

int mmxCompilerVersion(void);

/// The programs outside of the compiler that code for `target` passes through,
/// with their versions: a package is stale when they change. Empty for none.
char *mmxDescribeTools(const char *target);

/// Compiles the model in directory `model` (or the config.json `model`).
int mmxCompile(const char *model, const MmxCompileOptions *options,
               MmxBytes *package, char **error);

/// The reference interpreter on the same model, in double precision. `tensor`
/// is asked for checkpoint tensors by name and returns 0 if it has one.
int mmxReferenceOpen(const char *model, const MmxCompileOptions *options,
                     int (*tensor)(void *context, const char *name,
                                   MmxTensor *out),
                     void *context, MmxReference **reference, char **error);
/// Runs program `name` ("prefill", "decode") on buffers given by role; pools
/// are updated in place and outputs written.
int mmxReferenceRun(MmxReference *reference, const char *name,
                    const MmxRoleBuffer *buffers, int64_t count, char **error);
/// Describes the model: a package without objects, kernels and programs.
int mmxReferenceModel(MmxReference *reference, MmxBytes *package, char **error);
void mmxReferenceClose(MmxReference *reference);

void mmxFree(void *pointer);

} // extern "C"

#endif // MMX_COMPILER_API_H
