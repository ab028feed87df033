// RUN: mmx-opt %s --tile-run-cpu='kernel=large' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=large target=cpu-v3' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=small' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=small target=cpu-v3 front=true' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=largest' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=largest target=cpu-v3' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=running' -o /dev/null | FileCheck %s
// RUN: mmx-opt %s --tile-run-cpu='kernel=running target=cpu-v3' -o /dev/null | FileCheck %s

// Fixed trees: every bit as in the interpreter.

// CHECK: agrees
// CHECK: agrees
tile.kernel @large(%x: !tile.view<300x600xf32, read>,
                   %rows: !tile.view<300xf32, write>,
                   %cols: !tile.view<600xf32, write>)
    grid(%i) = affine_map<()[] -> (1)> {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<300x600xf32, read> -> !tile.frag<300x600xf32>
  %r = tile.reduce add %a dim 1 : !tile.frag<300x600xf32> -> !tile.frag<300xf32, along 0>
  %c = tile.reduce add %a dim 0 : !tile.frag<300x600xf32> -> !tile.frag<600xf32, along 1>
  tile.store %r, %rows[%c0] dims(0) : !tile.frag<300xf32, along 0>, !tile.view<300xf32, write>
  tile.store %c, %cols[%c0] dims(0) : !tile.frag<600xf32, along 1>, !tile.view<600xf32, write>
}

tile.kernel @small(%x: !tile.view<5x7xf32, read>,
                   %rows: !tile.view<5xf32, write>,
                   %cols: !tile.view<7xf32, write>)
    grid(%i) = affine_map<()[] -> (1)> {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<5x7xf32, read> -> !tile.frag<5x7xf32>
  %r = tile.reduce max %a dim 1 : !tile.frag<5x7xf32> -> !tile.frag<5xf32, along 0>
  %c = tile.reduce add %a dim 0 : !tile.frag<5x7xf32> -> !tile.frag<7xf32, along 1>
  tile.store %r, %rows[%c0] dims(0) : !tile.frag<5xf32, along 0>, !tile.view<5xf32, write>
  tile.store %c, %cols[%c0] dims(0) : !tile.frag<7xf32, along 1>, !tile.view<7xf32, write>
}

// Whole numbers, so that equal elements occur.
tile.kernel @largest(%x: !tile.view<50x170xf32, read>,
                     %value: !tile.view<50xf32, write>,
                     %position: !tile.view<50xi32, write>,
                     %down: !tile.view<170xf32, write>,
                     %downPosition: !tile.view<170xi32, write>)
    grid(%i) = affine_map<()[] -> (1)>
    attributes {tile.inputs = ["integers", "poison", "poison", "poison", "poison"]} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<50x170xf32, read> -> !tile.frag<50x170xf32>
  %v, %p = tile.reduce max %a dim 1 : !tile.frag<50x170xf32> -> !tile.frag<50xf32, along 0>, !tile.frag<50xi32, along 0>
  %w, %q = tile.reduce max %a dim 0 : !tile.frag<50x170xf32> -> !tile.frag<170xf32, along 1>, !tile.frag<170xi32, along 1>
  tile.store %v, %value[%c0] dims(0) : !tile.frag<50xf32, along 0>, !tile.view<50xf32, write>
  tile.store %p, %position[%c0] dims(0) : !tile.frag<50xi32, along 0>, !tile.view<50xi32, write>
  tile.store %w, %down[%c0] dims(0) : !tile.frag<170xf32, along 1>, !tile.view<170xf32, write>
  tile.store %q, %downPosition[%c0] dims(0) : !tile.frag<170xi32, along 1>, !tile.view<170xi32, write>
}

tile.kernel @running(%x: !tile.view<20x21xi32, read>,
                     %down: !tile.view<20x21xi32, write>,
                     %right: !tile.view<20x21xi32, write>,
                     %line: !tile.view<20xi32, write>)
    grid(%i) = affine_map<()[] -> (1)>
    attributes {tile.inputs = ["integers", "poison", "poison", "poison"]} {
  %c0 = arith.constant 0 : index
  %a = tile.load %x[%c0, %c0] dims(0, 1) : !tile.view<20x21xi32, read> -> !tile.frag<20x21xi32>
  %d = tile.scan %a dim 0 exclusive : !tile.frag<20x21xi32>
  %r = tile.scan %a dim 1 : !tile.frag<20x21xi32>
  %s = tile.reduce add %a dim 1 : !tile.frag<20x21xi32> -> !tile.frag<20xi32, along 0>
  %t = tile.scan %s dim 0 exclusive : !tile.frag<20xi32, along 0>
  tile.store %d, %down[%c0, %c0] dims(0, 1) : !tile.frag<20x21xi32>, !tile.view<20x21xi32, write>
  tile.store %r, %right[%c0, %c0] dims(0, 1) : !tile.frag<20x21xi32>, !tile.view<20x21xi32, write>
  tile.store %t, %line[%c0] dims(0) : !tile.frag<20xi32, along 0>, !tile.view<20xi32, write>
}
