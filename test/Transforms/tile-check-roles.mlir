// Code that the passes write is accepted, in both forms.
// RUN: mmx-opt %S/../Dialect/Tile/Inputs/lightning.mlir --tile-specialize-warps --tile-check-roles -o %t.steps.mlir
// RUN: mmx-opt %t.steps.mlir --tile-pipeline -o %t.mlir
// RUN: mmx-opt %t.mlir --tile-check-roles -o /dev/null
// RUN: mmx-opt %S/../Dialect/Tile/Inputs/attention.mlir --tile-specialize-warps --tile-pipeline -o %t.attention.mlir

// Fences.
// RUN: sed -e '/tile.fence @s stage/d' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=FENCE
// RUN: sed -e '/tile.fence @s stage/d' %t.steps.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=FENCE
// FENCE: error: 'tile.arrive_full' op ring @s: no proxy fence between the write by @state and its arrive
// RUN: sed -e '/tile.fence @ost stage/d' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=STORE
// STORE: error: 'tile.run' op ring @ost: no proxy fence before the store of its slot

// Counts.
// RUN: sed -e 's/\(@kv .*\) empty 16/\1 empty 8/' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: 'tile.barriers' op ring @kv: empty barrier counts 8, schedule needs 16
// RUN: sed -e 's/\(@s .*\) full 4/\1 full 1/' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=FULL
// FULL: error: 'tile.barriers' op ring @s: full barrier counts 1, schedule needs 4
// RUN: sed -e 's/\(@kv .*\) bytes [0-9]*/\1 bytes 8/' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: error: 'tile.barriers' op ring @kv: full barrier counts bytes 8, schedule needs
// RUN: sed -e 's/\(@kv .*\) depth 4/\1 depth 3/' -e 's/@kv depth 4/@kv depth 3/' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=DEPTH
// DEPTH: error: 'tile.barriers' op ring @kv: has depth 3, schedule needs 4
// RUN: sed -e '/tile.barriers @kv/d' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=BARRIERS
// BARRIERS: error: 'tile.roles' op has no barriers for ring @kv
// RUN: sed -e 's/\(@kv .*\) multicast/\1/' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=MULTICAST
// MULTICAST: error: 'tile.barriers' op expected 'multicast' and 'local' as in the schedule

// Waits and releases.
// RUN: sed -e '/tile.wait_full @s stage/d' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=WAITFULL
// WAITFULL: error: 'tile.run' op reads ring @s before a wait for its slot
// RUN: sed -e '/tile.wait_empty @s stage/d' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=WAITEMPTY
// WAITEMPTY: error: 'tile.run' op fills a slot of ring @s before its tile.wait_empty
// RUN: sed -e '/tile.expect @kv stage/d' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=EXPECT
// EXPECT: error: 'tile.run' op fills a slot of ring @kv before its tile.expect
// RUN: sed -e '/tile.arrive_full @s stage/d' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=ARRIVE
// ARRIVE: op has no tile.arrive_full for a slot of ring @s
// RUN: sed -e '/tile.arrive_empty @s stage/d' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=RELEASE
// RELEASE: op has no tile.arrive_empty for a slot of ring @s
// RUN: sed -e 's/pending 0/pending 1/' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=PENDING
// PENDING: error: 'tile.wait_mma' op leaves 1 products in flight, among them 'tile.mma'
// RUN: sed -e '/tile.wait_mma for 50/d' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=MMA
// MMA: error: 'tile.arrive_empty' op releases the slot of ring @kv before 'tile.mma' at (stage 0, order 50) is over
// RUN: sed -e '/tile.run "tile.map" order 40 stage 0 copies 2/d' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=GONE
// GONE: error: 'tile.run' op uses the result of 'tile.map' at (stage 0, order 40) before that runs
// RUN: sed -e 's/ copies 2//' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=COPIES
// COPIES: error: 'tile.run' op has 1 sets of registers, which are written again before the last use of its result

// The steady wait in the prologue: the product that it waits for is in flight.
// RUN: sed -e 's/for 0 pending 0/for 0 pending 1/' %t.attention.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=PROLOGUE
// PROLOGUE: error: 'tile.wait_mma' op leaves 1 products in flight, among them 'tile.mma' at (stage 0, order 0)

// Turns.
// RUN: sed -e '/tile.turn_end @t/d' %t.attention.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=TURNEND
// TURNEND: error: 'tile.section' op does not end the turn @t
// RUN: sed -e '/tile.turn_begin @t/d' %t.attention.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=TURNBEGIN
// TURNBEGIN: error: 'tile.wait_full' op waits outside of the turn @t of what follows
// RUN: sed -e '/tile.turn_begin @t/{h;d}' -e '/tile.wait_full @k stage 0/{p;x}' %t.attention.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=TURNBEGIN

// What does not fit the kernel.
// RUN: sed -e 's/tile.run "tile.put" order 50/tile.run "tile.put" order 51/' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: error: 'tile.run' op expected an op of role @state with order 51 in its loop
// RUN: sed -e 's/tile.run "tile.put" order 50 stage 1/tile.run "tile.put" order 50 stage 0/' %t.steps.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: error: 'tile.run' op expected 'tile.put' at (stage 1, order 50)
// RUN: sed -e 's/tile.run "tile.put" order 50 stage 1/tile.run "tile.put" order 50 stage 0/' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=NOITERATION
// NOITERATION: error: 'tile.run' op of stage 0 runs for an iteration that does not exist
// RUN: sed -e 's/tile.role @state warps 4/tile.role @state warps 1/' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=WARPS
// WARPS: error: 'tile.role' op expected 4 warps and 1 instances as in the schedule
// RUN: sed -e 's/tile.section epilogue/tile.section prologue/' %t.mlir | not mmx-opt --tile-check-roles 2>&1 | FileCheck %s --check-prefix=SECTIONS
// SECTIONS: error: 'tile.section' op expected sections to be numbered from 0, each once
