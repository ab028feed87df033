// RUN: mmx-opt %S/../../Reference/tile-lightning.mlir --tile-run-cpu='kernel=blocks extents=23,23,23,23 tolerance=1e-6' -o /dev/null | FileCheck %s
// RUN: mmx-opt %S/../../Reference/tile-lightning.mlir --tile-run-cpu='kernel=blocks extents=23,23,23,23 tolerance=1e-6 target=cpu-v3' -o /dev/null | FileCheck %s
// RUN: mmx-opt %S/../../Reference/tile-attention.mlir --tile-run-cpu='kernel=flash extents=7,12,12,7,5 tolerance=1e-6' -o /dev/null | FileCheck %s
// RUN: mmx-opt %S/../../Reference/tile-attention.mlir --tile-run-cpu='kernel=flash extents=7,12,12,7,5 tolerance=1e-6 target=cpu-v3 front=true' -o /dev/null | FileCheck %s
// RUN: mmx-opt %S/../../Reference/tile-experts.mlir --tile-run-cpu='kernel=grouped extents=5,10 tolerance=1e-6' -o /dev/null | FileCheck %s
// RUN: mmx-opt %S/../../Reference/tile-decode.mlir --tile-run-cpu='kernel=decode tolerance=1e-6' -o /dev/null | FileCheck %s
// RUN: mmx-opt %S/../../Reference/tile-tails.mlir --tile-run-cpu='kernel=tails tolerance=1e-6' -o /dev/null | FileCheck %s
// RUN: mmx-opt %S/../../Reference/tile-ops.mlir --tile-run-cpu='kernel=rounding' -o /dev/null | FileCheck %s

// The programs that the interpreter is tested with, compiled.

// CHECK: agrees
