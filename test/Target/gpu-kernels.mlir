// RUN: mmx-opt %s --convert-tile-to-simt=threads=128 --gpu-assemble-kernels='print=true assembler=false' -o /dev/null | FileCheck %s --check-prefix=PTX
// RUN: %if ptxas %{ mmx-opt %s --convert-tile-to-simt=threads=128 --gpu-assemble-kernels | FileCheck %s --check-prefix=REPORT %}
// RUN: rm -rf %t && mmx-opt %s --convert-tile-to-simt=threads=128 --gpu-assemble-kernels='directory=%t assembler=false' -o /dev/null
// RUN: cat %t/scale.json | FileCheck %s --check-prefix=JSON
// RUN: not mmx-opt %s --convert-tile-to-simt --gpu-assemble-kernels='directory=/dev/null/x' 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: %if ptxas %{ not env MMX_PTXAS=/dev/null mmx-opt %s --convert-tile-to-simt --gpu-assemble-kernels 2>&1 | FileCheck %s --check-prefix=PROGRAM %}

// PTX: .target sm_90a
// PTX: .visible .entry scale(
// PTX-COUNT-5: .param
// PTX: .reqntid 128
// PTX-DAG: %tid.x
// PTX-DAG: %ctaid.x
// PTX: add.rn.f32

// REPORT: func.func @scale
// REPORT-SAME: mmx.report = {barriers = 1 : i64, registers = {{[1-9][0-9]*}} : i64, spills = 0 : i64, stack = 0 : i64}

// JSON: "grid":"affine_map<()[s0, s1] -> (s0 ceildiv 4)>"
// JSON-SAME: "symbol":"scale","threads":128

// FOLDER: cannot create /dev/null/x
// PROGRAM: kernel @scale: /dev/null failed
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
