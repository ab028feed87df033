// RUN: mmx-opt %s --tile-run-cpu='kernel=scale extents=5,5 seed=3' -o /dev/null | FileCheck %s --check-prefixes=REPORT,AGREE
// RUN: mmx-opt %s --tile-run-cpu='kernel=scale extents=5,5 interpret=false repeat=2' -o /dev/null | FileCheck %s --check-prefixes=REPORT,TIME
// RUN: mmx-opt %s --convert-tile-to-cpu=lanes=8 --cpu-compile-kernels=target=cpu-v3 | FileCheck %s --check-prefix=COMPILE
// RUN: not mmx-opt %s --convert-tile-to-cpu=lanes=4 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not mmx-opt %s --tile-run-cpu='kernel=scale extents=5,5 target=z80' 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not mmx-opt %s --tile-run-cpu='kernel=none' 2>&1 | FileCheck %s --check-prefix=NONE

// REPORT: @scale for cpu-v{{[34]}}: {{[0-9]+}} bytes of code, {{[0-9]+}} bytes of scratch
// AGREE: view 1 agrees
// TIME: time {{.*}} us

// COMPILE: @scale: {{[1-9][0-9]*}} bytes of code, {{[0-9]+}} bytes of scratch
// COMPILE: 1 kernels, object of {{[1-9][0-9]*}} bytes
// COMPILE: func.func @scale
// COMPILE-SAME: mmx.grid = #{{.*}}, mmx.kernel, mmx.scratch = {{[0-9]+}}
// COMPILE: vector<8xf32>

// LANES: expected 8 or 16 lanes, but got 4
// TARGET: expected target cpu, cpu-v3 or cpu-v4, but got 'z80'
// NONE: error: no kernel 'none'; the module has @scale
// NONE-NOT: tile.kernel
tile.kernel @scale(%x: !tile.view<?x24xf32, read>, %y: !tile.view<?x24xf32, write>)
    grid(%i) = affine_map<()[s0, s1] -> (s0 ceildiv 4)> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %row = arith.muli %i, %c4 : index
  %a = tile.load %x[%row, %c0] dims(0, 1) : !tile.view<?x24xf32, read> -> !tile.frag<4x24xf32>
  %b = tile.map(%a) : (!tile.frag<4x24xf32>) -> !tile.frag<4x24xf32> {
  ^bb0(%v: f32, %r: index, %c: index):
    %two = arith.constant 2.0 : f32
    %t = arith.mulf %v, %two : f32
    tile.yield %t : f32
  }
  tile.store %b, %y[%row, %c0] dims(0, 1) : !tile.frag<4x24xf32>, !tile.view<?x24xf32, write>
}
