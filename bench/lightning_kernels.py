#!/usr/bin/env python3
# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a scheduled tile program of lightning attention for bench/lightning.py.

    bench/lightning_kernels.py --heads 64 --dim 128

The views are those of the model's kernel: packed projections [T, H, 3, D],
states of slots updated in place, outputs [T, H, D]. A cell is a sequence, a head
and a part of the values; the parts of a head are a cluster and share queries and
keys. Values are padded with zeros to a multiple of the width, keys to one of 32.
One role carries the state, two instances of another make the outputs of
alternate blocks, two warps load. --plain leaves the schedule out.

Few heads do not fill a GPU. Two further forms cut sequences into segments of a
constant length L, numbered through all sequences, so a cell is a segment, a head
and a part. The first kernel, --form states, writes into entering[n] what segment
n of a sequence starts from but for older segments: the initial state for the
first, else what the segment before adds to a state of zero. The second, --form
segments, starts from

    S = entering[first],  S = S exp(-rate L) + entering[i]  for i = first + 1 .. n

and goes on like the whole form; the last segment stores the state. A pack of S
sequences with T tokens has at most (T - S) // L + S segments; that is the extent
of `entering`, and cells beyond the last segment do nothing. --form plan prints
how bench/lightning.py launches both.

The decode form, --form decode, is one token of each slot of a batch, the views
[B, H, 3, D], [B, H, D] and the states alone: the cell of a slot, a head and a
part has the state in registers, adds the token, stores it and reads it out.

With --gated the norm and the gate behind lightning attention are begun: outputs
are o weight[head] sigmoid(gate), and squares[token, head, part] are sums of o^2,
of which a later kernel makes the factor of a token.
"""

import argparse
import json
from dataclasses import dataclass

SCHEDULE = """
      {cluster}
      schedule = #tile.schedule<
        roles = [@ldkv<warps = 1>, @ldq<warps = 1>{gate_role},
                 @state<warps = 4, regs = {regs[0]}>,
                 @out<warps = 4, regs = {regs[1]}, alternate = 2 over @i>],
        rings = [@kv<depth = {depth}>, @q<depth = {depth}>, @s<depth = 2>, @ost<depth = 1>{gate_ring}]>,"""

STATES_SCHEDULE = """
      {cluster}
      schedule = #tile.schedule<
        roles = [@ldkv<warps = 1>, @state<warps = 4, regs = 240>],
        rings = [@kv<depth = {depth}>]>,"""

DECODE_SCHEDULE = """
      schedule = #tile.schedule<roles = [@step<warps = 4, regs = {regs[2]}>], rings = []>,"""

HEADER = """\
tile.kernel @{symbol}(
    {starts}%slots: !tile.view<?xi32, read>,
    %rates: !tile.view<{H}xf32, read>, %states: {STATES},
    %qkv: {QKV}, {views})
    grid({ids}) = affine_map<()[{symbols}] -> ({grid})>
    attributes {{{schedule}
      {launch}mmx.spills = {spills} : i64, tile.inputs = [{inputs}]}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %cols = arith.constant {W} : index
  %rows = arith.constant {B} : index
"""

# Where the tokens of a cell are.
WHOLE = """\
  %seq1 = arith.addi %seq, %c1 : index
  %first = tile.table %starts[%seq] : !tile.view<?xi32, read> -> index
  %last = tile.table %starts[%seq1] : !tile.view<?xi32, read> -> index
"""

SEGMENT = """\
  %length = arith.constant {L} : index
  %all = arith.constant {D} : index
  // The sequence of segment %cell, and the segment's number in it.
  %sequences = tile.dim %slots, 0 : !tile.view<?xi32, read>
  %segments, %seq, %number = scf.for %s = %c0 to %sequences step %c1 iter_args(%before = %c0, %of = %c0, %at = %c0) -> (index, index, index) {{
    %s1 = arith.addi %s, %c1 : index
    %a = tile.table %starts[%s] : !tile.view<?xi32, read> -> index
    %b = tile.table %starts[%s1] : !tile.view<?xi32, read> -> index
    %count = affine.apply affine_map<(d0, d1) -> ((d1 - d0) ceildiv {L})>(%a, %b)
    %after = arith.addi %before, %count : index
    %from = arith.cmpi sge, %cell, %before : index
    %to = arith.cmpi slt, %cell, %after : index
    %here = arith.andi %from, %to : i1
    %place = arith.subi %cell, %before : index
    %of1 = arith.select %here, %s, %of : index
    %at1 = arith.select %here, %place, %at : index
    scf.yield %after, %of1, %at1 : index, index, index
  }}
  %exists = arith.cmpi slt, %cell, %segments : index
  %begin = tile.table %starts[%seq] : !tile.view<?xi32, read> -> index
"""

COMMON = """\
  %slot = tile.table %slots[%seq] : !tile.view<?xi32, read> -> index
  %rate = tile.table %rates[%head] : !tile.view<{H}xf32, read> -> f32
  %col = arith.muli %part, %cols : index
"""

WHOLE_START = """\
  %s0 = tile.load %states[%slot, %head, %c0, %col] dims(2, 3) {{at = #tile.at<@state, order = 0>}} : {STATES} -> !tile.frag<{D}x{W}xf32>
"""

WHOLE_END = """\
  tile.store %sn, %states[%slot, %head, %c0, %col] dims(2, 3) {{at = #tile.at<@state, order = 20>}} : !tile.frag<{D}x{W}xf32>, {STATES}
}}
"""

SEGMENT_START = """\
  %seq1 = arith.addi %seq, %c1 : index
  %tail = tile.table %starts[%seq1] : !tile.view<?xi32, read> -> index
  %first = affine.apply affine_map<(d0, d1) -> (d0 + d1 * {L})>(%begin, %number)
  %stop = affine.min affine_map<(d0, d1) -> (d0 + {L}, d1)>(%first, %tail)
  %last = arith.select %exists, %stop, %first : index
  // What is left of a state after a segment.
  %lengthf = arith.constant {L}.0 : f32
  %fade = arith.mulf %rate, %lengthf : f32
  %nfade = arith.negf %fade : f32
  %faded = math.exp %nfade : f32
  %oldest = arith.subi %cell, %number : index
  %second = arith.addi %oldest, %c1 : index
  %cell1 = arith.addi %cell, %c1 : index
  %e0 = tile.load %entering[%oldest, %head, %c0, %col] dims(2, 3) {{at = #tile.at<@state, order = 0>}} : {ENTERING} -> !tile.frag<{D}x{W}xf32>
  %s0 = scf.for %n = %second to %cell1 step %c1 iter_args(%older = %e0) -> (!tile.frag<{D}x{W}xf32>) {{
    %added = tile.load %entering[%n, %head, %c0, %col] dims(2, 3) {{at = #tile.at<@state, order = 0>}} : {ENTERING} -> !tile.frag<{D}x{W}xf32>
    %sum = tile.map(%older, %added) {{at = #tile.at<@state, order = 10>}} : (!tile.frag<{D}x{W}xf32>, !tile.frag<{D}x{W}xf32>) -> !tile.frag<{D}x{W}xf32> {{
    ^bb0(%x: f32, %y: f32, %r: index, %c: index):
      %z = arith.mulf %x, %faded : f32
      %w = arith.addf %z, %y : f32
      tile.yield %w : f32
    }}
    scf.yield %sum : !tile.frag<{D}x{W}xf32>
  }} {{at = #tile.loop<@fold, order = 5>}}
"""

SEGMENT_END = """\
  // The last segment has the state of the sequence.
  %ends = arith.cmpi eq, %last, %tail : index
  %closes = arith.andi %ends, %exists : i1
  %stored = arith.select %closes, %all, %c0 : index
  tile.store %sn, %states[%slot, %head, %c0, %col] rows %stored dims(2, 3) {{at = #tile.at<@state, order = 20>}} : !tile.frag<{D}x{W}xf32>, {STATES}
}}
"""

# Blocks from the newest to the oldest: the next kernel starts with tokens that
# were read last, and the sum is never scaled.
ENTERING = """\
  %isfirst = arith.cmpi eq, %number, %c0 : index
  %starting = arith.andi %isfirst, %exists : i1
  %initial = arith.select %starting, %all, %c0 : index
  %span = arith.select %isfirst, %c0, %length : index
  %newest = affine.apply affine_map<(d0, d1) -> (d0 + d1 * {L} - {B})>(%begin, %number)
  %s0 = tile.load %states[%slot, %head, %c0, %col] dims(2, 3) rows %initial {{at = #tile.at<@state, order = 0>}} : {STATES} -> !tile.frag<{D}x{W}xf32>
  %sn = scf.for %back = %c0 to %span step %rows iter_args(%st = %s0) -> (!tile.frag<{D}x{W}xf32>) {{
    %t = arith.subi %newest, %back : index
    %kt = tile.load %qkv[%t, %head, %c1, %c0] dims(0, 3) {{at = #tile.at<@ldkv, order = 0, ring = @kv{multicast}>}} : {QKV} -> !tile.sram<{B}x{D}xbf16>
    %vt = tile.load %qkv[%t, %head, %c2, %col] dims(0, 3) {{at = #tile.at<@ldkv, order = 10, ring = @kv.1>}} : {QKV} -> !tile.sram<{B}x{W}xbf16>
    // What is left of the block's last value.
    %bi = arith.index_cast %back : index to i32
    %bf = arith.sitofp %bi : i32 to f32
    %bd = arith.mulf %rate, %bf : f32
    %bn = arith.negf %bd : f32
    %left = math.exp %bn : f32
    %vf = tile.read %vt {{at = #tile.at<@state, order = 0>}} : !tile.sram<{B}x{W}xbf16> -> !tile.frag<{B}x{W}xbf16>
    %vs = tile.map(%vf) {{at = #tile.at<@state, order = 10>}} : (!tile.frag<{B}x{W}xbf16>) -> !tile.frag<{B}x{W}xbf16> {{
    ^bb0(%x: bf16, %r: index, %c: index):
      %rest = arith.constant {last} : index
      %d = arith.subi %rest, %r : index
      %di = arith.index_cast %d : index to i32
      %df = arith.sitofp %di : i32 to f32
      %rd = arith.mulf %rate, %df : f32
      %n = arith.negf %rd : f32
      %e = math.exp %n : f32
      %w = arith.mulf %e, %left : f32
      %xf = arith.extf %x : bf16 to f32
      %y = arith.mulf %xf, %w : f32
      %yb = arith.truncf %y : f32 to bf16
      tile.yield %yb : bf16
    }}
    %s1 = tile.mma %kt transpose_a, %vs acc %st {{at = #tile.at<@state, order = 20, inflight = 0>}} : !tile.sram<{B}x{D}xbf16>, !tile.frag<{B}x{W}xbf16> -> !tile.frag<{D}x{W}xf32>
    scf.yield %s1 : !tile.frag<{D}x{W}xf32>
  }} {{at = #tile.loop<@i, order = 10>}}
  %stored = arith.select %exists, %all, %c0 : index
  tile.store %sn, %entering[%cell, %head, %c0, %col] rows %stored dims(2, 3) {{at = #tile.at<@state, order = 20>}} : !tile.frag<{D}x{W}xf32>, {ENTERING}
}}
"""

BLOCKS = """\
  // The decay from a column to a row, 0 above the diagonal.
  %decay = tile.map() {{at = #tile.at<@out, order = 0>}} : () -> !tile.frag<{B}x{B}xf32> {{
  ^bb0(%r: index, %c: index):
    %d = arith.subi %r, %c : index
    %di = arith.index_cast %d : index to i32
    %df = arith.sitofp %di : i32 to f32
    %rd = arith.mulf %rate, %df : f32
    %n = arith.negf %rd : f32
    %e = math.exp %n : f32
    %keep = arith.cmpi sge, %d, %c0 : index
    %zero = arith.constant 0.0 : f32
    %y = arith.select %keep, %e, %zero : f32
    tile.yield %y : f32
  }}
  // What is left of a state after a full block.
  %size = arith.constant {B}.0 : f32
  %span = arith.mulf %rate, %size : f32
  %nspan = arith.negf %span : f32
  %kept = math.exp %nspan : f32
{weights}  %sn = scf.for %t = %first to %last step %rows iter_args(%st = %s0) -> (!tile.frag<{D}x{W}xf32>) {{
    %m = affine.min affine_map<(d0, d1) -> (d1 - d0, {B})>(%t, %last)
    %short = arith.cmpi slt, %m, %rows : index
    %decayed, %gain = scf.if %short -> (f32, f32) {{
      %mi = arith.index_cast %m : index to i32
      %mf = arith.sitofp %mi : i32 to f32
      %md = arith.mulf %rate, %mf : f32
      %mn = arith.negf %md : f32
      %e = math.exp %mn : f32
      %lack = arith.subf %size, %mf : f32
      %ld = arith.mulf %rate, %lack : f32
      %g = math.exp %ld : f32
      scf.yield %e, %g : f32, f32
    }} else {{
      %one = arith.constant 1.0 : f32
      scf.yield %kept, %one : f32, f32
    }}
    %kt = tile.load %qkv[%t, %head, %c1, %c0] dims(0, 3) rows %m {{at = #tile.at<@ldkv, order = 0, ring = @kv{multicast}>}} : {QKV} -> !tile.sram<{B}x{D}xbf16>
    %vt = tile.load %qkv[%t, %head, %c2, %col] dims(0, 3) rows %m {{at = #tile.at<@ldkv, order = 10, ring = @kv.1>}} : {QKV} -> !tile.sram<{B}x{W}xbf16>
    %qt = tile.load %qkv[%t, %head, %c0, %c0] dims(0, 3) {{at = #tile.at<@ldq, order = 0, ring = @q{multicast}>}} : {QKV} -> !tile.sram<{B}x{D}xbf16>
    %sb = tile.map(%st) {{at = #tile.at<@state, order = 0, stage = 1>}} : (!tile.frag<{D}x{W}xf32>) -> !tile.frag<{D}x{W}xbf16> {{
    ^bb0(%x: f32, %r: index, %c: index):
      %y = arith.truncf %x : f32 to bf16
      tile.yield %y : bf16
    }}
    %sd = tile.map(%st) {{at = #tile.at<@state, order = 10, stage = 1>}} : (!tile.frag<{D}x{W}xf32>) -> !tile.frag<{D}x{W}xf32> {{
    ^bb0(%x: f32, %r: index, %c: index):
      %y = arith.mulf %x, %decayed : f32
      tile.yield %y : f32
    }}
    %vf = tile.read %vt {{at = #tile.at<@state, order = 30>}} : !tile.sram<{B}x{W}xbf16> -> !tile.frag<{B}x{W}xbf16>
    // What is left of a value at the end of a full block, which no iteration
    // computes again, and what a short block has left more. Rows past the end
    // hold zeros.
    %vs = tile.map(%vf) {{at = #tile.at<@state, order = 40>}} : (!tile.frag<{B}x{W}xbf16>) -> !tile.frag<{B}x{W}xbf16> {{
    ^bb0(%x: bf16, %r: index, %c: index):
      %end = arith.constant {last} : index
      %d = arith.subi %end, %r : index
      %di = arith.index_cast %d : index to i32
      %df = arith.sitofp %di : i32 to f32
      %rd = arith.mulf %rate, %df : f32
      %n = arith.negf %rd : f32
      %e = math.exp %n : f32
      %w = arith.mulf %e, %gain : f32
      %xf = arith.extf %x : bf16 to f32
      %y = arith.mulf %xf, %w : f32
      %yb = arith.truncf %y : f32 to bf16
      tile.yield %yb : bf16
    }}
    %s1 = tile.mma %kt transpose_a, %vs acc %sd {{at = #tile.at<@state, order = 20, stage = 1>}} : !tile.sram<{B}x{D}xbf16>, !tile.frag<{B}x{W}xbf16> -> !tile.frag<{D}x{W}xf32>
    %ss = tile.put %sb {{at = #tile.at<@state, order = 50, stage = 1, ring = @s>}} : !tile.frag<{D}x{W}xbf16> -> !tile.sram<{D}x{W}xbf16>
    %p = tile.mma %qt, %kt transpose_b {{at = #tile.at<@out, order = 10>}} : !tile.sram<{B}x{D}xbf16>, !tile.sram<{B}x{D}xbf16> -> !tile.frag<{B}x{B}xf32>
    %o0 = tile.mma %qt, %ss {{at = #tile.at<@out, order = 20>}} : !tile.sram<{B}x{D}xbf16>, !tile.sram<{D}x{W}xbf16> -> !tile.frag<{B}x{W}xf32>
    %pd = tile.map(%p, %decay) {{at = #tile.at<@out, order = 30>}} : (!tile.frag<{B}x{B}xf32>, !tile.frag<{B}x{B}xf32>) -> !tile.frag<{B}x{B}xbf16> {{
    ^bb0(%x: f32, %d: f32, %r: index, %c: index):
      %y = arith.mulf %x, %d : f32
      %wb = arith.truncf %y : f32 to bf16
      tile.yield %wb : bf16
    }}
    %oq = tile.map(%o0) {{at = #tile.at<@out, order = 40>}} : (!tile.frag<{B}x{W}xf32>) -> !tile.frag<{B}x{W}xf32> {{
    ^bb0(%x: f32, %r: index, %c: index):
      %ri = arith.index_cast %r : index to i32
      %rf = arith.sitofp %ri : i32 to f32
      %one = arith.constant 1.0 : f32
      %age = arith.addf %rf, %one : f32
      %rd = arith.mulf %rate, %age : f32
      %n = arith.negf %rd : f32
      %e = math.exp %n : f32
      %y = arith.mulf %x, %e : f32
      tile.yield %y : f32
    }}
    %o1 = tile.mma %pd, %vt acc %oq {{at = #tile.at<@out, order = 50>}} : !tile.frag<{B}x{B}xbf16>, !tile.sram<{B}x{W}xbf16> -> !tile.frag<{B}x{W}xf32>
{epilogue}    %os = tile.put %ob {{at = #tile.at<@out, order = 70, ring = @ost>}} : !tile.frag<{B}x{W}xbf16> -> !tile.sram<{B}x{W}xbf16>
    tile.store %os, %o[%t, %head, %col] rows %m dims(0, 2) {{at = #tile.at<@out, order = 80>}} : !tile.sram<{B}x{W}xbf16>, !tile.view<?x{H}x{N}xbf16, write>
    scf.yield %s1 : !tile.frag<{D}x{W}xf32>
  }} {{at = #tile.loop<@i, order = 10>}}
"""

# In float32, as the model has it. Rows of a head of 96 are padded to the 128 of a
# warp group's fragments.
DECODE = """\
  %slot = tile.table %slots[%b] : !tile.view<?xi32, read> -> index
  %rate = tile.table %rates[%head] : !tile.view<{H}xf32, read> -> f32
  %col = arith.muli %part, %cols : index
  %nrate = arith.negf %rate : f32
  %decay = math.exp %nrate : f32
  %s0 = tile.load %states[%slot, %head, %c0, %col] dims(2, 3) {{at = #tile.at<@step, order = 0>}} : {STATES} -> !tile.frag<{R}x{W}xf32>
  %k = tile.load %qkv[%b, %head, %c1, %c0] dims(3) {{at = #tile.at<@step, order = 10>}} : {QKV} -> !tile.frag<{R}xbf16, along 0>
  %v = tile.load %qkv[%b, %head, %c2, %col] dims(3) {{at = #tile.at<@step, order = 20>}} : {QKV} -> !tile.frag<{W}xbf16, along 1>
  %q = tile.load %qkv[%b, %head, %c0, %c0] dims(3) {{at = #tile.at<@step, order = 30>}} : {QKV} -> !tile.frag<{R}xbf16, along 0>
  %s1 = tile.map(%s0, %k, %v) {{at = #tile.at<@step, order = 40>}} : (!tile.frag<{R}x{W}xf32>, !tile.frag<{R}xbf16, along 0>, !tile.frag<{W}xbf16, along 1>) -> !tile.frag<{R}x{W}xf32> {{
  ^bb0(%x: f32, %kb: bf16, %vb: bf16, %r: index, %c: index):
    %kf = arith.extf %kb : bf16 to f32
    %vf = arith.extf %vb : bf16 to f32
    %kv = arith.mulf %kf, %vf : f32
    %y = math.fma %x, %decay, %kv : f32
    tile.yield %y : f32
  }}
  tile.store %s1, %states[%slot, %head, %c0, %col] dims(2, 3) {{at = #tile.at<@step, order = 50>}} : !tile.frag<{R}x{W}xf32>, {STATES}
  %sq = tile.map(%s1, %q) {{at = #tile.at<@step, order = 60>}} : (!tile.frag<{R}x{W}xf32>, !tile.frag<{R}xbf16, along 0>) -> !tile.frag<{R}x{W}xf32> {{
  ^bb0(%x: f32, %qb: bf16, %r: index, %c: index):
    %qf = arith.extf %qb : bf16 to f32
    %y = arith.mulf %x, %qf : f32
    tile.yield %y : f32
  }}
  %ov = tile.reduce add %sq dim 0 {{at = #tile.at<@step, order = 70>}} : !tile.frag<{R}x{W}xf32> -> !tile.frag<{W}xf32, along 1>
  tile.store %ov, %o[%b, %head, %col] dims(2) {{at = #tile.at<@step, order = 80>}} : !tile.frag<{W}xf32, along 1>, {O}
}}
"""

# What becomes of the outputs %o1.
ROUND = """\
    %ob = tile.map(%o1) {{at = #tile.at<@out, order = 60>}} : (!tile.frag<{B}x{W}xf32>) -> !tile.frag<{B}x{W}xbf16> {{
    ^bb0(%x: f32, %r: index, %c: index):
      %y = arith.truncf %x : f32 to bf16
      tile.yield %y : bf16
    }}
"""

WEIGHTS = """\
  %weights = tile.load %weight[%head, %col] dims(1) {{at = #tile.at<@out, order = 5>}} : {WEIGHT} -> !tile.frag<{W}xbf16, along 1>
"""

GATE = """\
    %gt = tile.load %gate[%t, %head, %col] dims(0, 2) {{at = #tile.at<@ldg, order = 0, ring = @g>}} : {GATE} -> !tile.sram<{B}x{W}xbf16>
    %sq = tile.map(%o1) {{at = #tile.at<@out, order = 55>}} : (!tile.frag<{B}x{W}xf32>) -> !tile.frag<{B}x{W}xf32> {{
    ^bb0(%x: f32, %r: index, %c: index):
      %y = arith.mulf %x, %x : f32
      tile.yield %y : f32
    }}
    %rs = tile.reduce add %sq dim 1 {{at = #tile.at<@out, order = 56>}} : !tile.frag<{B}x{W}xf32> -> !tile.frag<{B}xf32, along 0>
    tile.store %rs, %squares[%t, %head, %part] rows %m dims(0) {{at = #tile.at<@out, order = 57>}} : !tile.frag<{B}xf32, along 0>, {SQUARES}
    %gf = tile.read %gt {{at = #tile.at<@out, order = 58>}} : !tile.sram<{B}x{W}xbf16> -> !tile.frag<{B}x{W}xbf16>
    %ob = tile.map(%o1, %gf, %weights) {{at = #tile.at<@out, order = 60>}} : (!tile.frag<{B}x{W}xf32>, !tile.frag<{B}x{W}xbf16>, !tile.frag<{W}xbf16, along 1>) -> !tile.frag<{B}x{W}xbf16> {{
    ^bb0(%x: f32, %g: bf16, %v: bf16, %r: index, %c: index):
      %vw = arith.extf %v : bf16 to f32
      %y = arith.mulf %x, %vw : f32
      %gw = arith.extf %g : bf16 to f32
      %n = arith.negf %gw : f32
      %e = math.exp %n : f32
      %one = arith.constant 1.0 : f32
      %d = arith.addf %e, %one : f32
      %z = arith.divf %y, %d fastmath<afn> : f32
      %zb = arith.truncf %z : f32 to bf16
      tile.yield %zb : bf16
    }}
"""

SMALL_INPUTS = ['dense<[0, 9, 9, 22, 23]> : tensor<5xi32>',
                'dense<[3, 4, 0, 1]> : tensor<4xi32>',
                'dense<[0.5, 0.0625]> : tensor<2xf32>']


@dataclass
class Form:
    """A kernel: its name, views after those of all forms, contents of views
    from the states on, parts of the program."""
    symbol: str
    views: list
    inputs: list
    states_mode: str
    cells: str
    program: list
    schedule: str = SCHEDULE
    launch: str = ""
    cell: str = "%cell"
    packed: bool = True  # sequences of tokens, with their starts
    parts_first: bool = False  # neighbours in the grid are parts of a head

    def order(self, dims):
        return dims[::-1] if self.parts_first else dims


FORMS = {
    "whole": Form("for_blocks", ["%o: {O}"], ["random", "random", "poison"],
                  "inplace", "s0 - 1",
                  [WHOLE, COMMON, WHOLE_START, BLOCKS, WHOLE_END],
                  cell="%seq"),
    "states": Form("segment_states", ["%entering: {ENTERING}"],
                   ["random", "random", "poison"], "read", "s4",
                   [SEGMENT, COMMON, ENTERING], STATES_SCHEDULE,
                   "mmx.precedes, "),
    "segments": Form("segment_blocks", ["%entering: {ENTERING}", "%o: {O}"],
                     ["random", "random", "random", "poison"], "write", "s4",
                     [SEGMENT, COMMON, SEGMENT_START, BLOCKS, SEGMENT_END],
                     # The states and what enters segments.
                     launch="mmx.follows = array<i64: 3, 5>, "),
    "decode": Form("lightning_step", ["%o: {O}"], ["random", "random", "poison"],
                   "inplace", "s0", [DECODE], DECODE_SCHEDULE, cell="%b",
                   packed=False, parts_first=True),
}


GATED_VIEWS = ["%gate: {GATE}", "%weight: {WEIGHT}", "%squares: {SQUARES}"]
GATED_INPUTS = ["random", "random", "poison"]


def choose_segment(cells):
    """Tokens of a segment, so that 128k tokens have 128 cells. `cells` are those
    of a sequence: its heads in their parts."""
    return 1024 * cells


def make_schedule(args, form, parts):
    if args.plain:
        return ""
    return form.schedule.format(
        cluster=f"cluster = array<i64: 2, {parts}>," if parts > 1 else "",
        depth=args.depth,
        regs=(*((168, 160) if args.gated else (184, 152)), args.step_regs),
        gate_role=", @ldg<warps = 1>" if args.gated else "",
        gate_ring=", @g<depth = 2>" if args.gated else "")


def make_symbol(args, form):
    """`form` is the name before the sizes."""
    gated = "_gated" if args.gated and form != "segment_states" else ""
    segment = f"_{args.segment}" if form.startswith("segment") else ""
    return f"{form}{gated}_{args.heads}x{args.dim}x{args.dim}{segment}_hopper"


def write_program(args):
    form = FORMS[args.form]
    gated = args.gated and args.form in ("whole", "segments")
    unit = min(32, args.width)  # columns of the narrowest swizzle that fits
    state = f"!tile.view<?x{args.heads}x{args.dim}x{args.dim}xf32, "
    rows = f"!tile.view<?x{args.heads}x"
    small = args.block < 64
    head = {"H": args.heads, "N": args.dim, "D": -(-args.dim // unit) * unit,
            "R": -(-args.dim // 64) * 64 if not small else args.dim,
            "B": args.block, "W": args.width, "L": args.segment,
            "starts": "%starts: !tile.view<?xi32, read>, " if form.packed else "",
            "last": args.block - 1, "parts": args.parts,
            "multicast": ", multicast = 2" if args.parts > 1 else "",
            "symbol": make_symbol(args, form.symbol),
            "ids": ", ".join(form.order([form.cell, "%head", "%part"])),
            "grid": ", ".join(form.order([form.cells, str(args.heads),
                                          str(args.parts)])),
            "launch": form.launch,
            # Bytes that the assembler may spill of a kernel in real sizes:
            # with gates a few, of the loads and before loops.
            "spills": 0 if small or args.plain else 96 if gated else 64,
            "STATES": f"{state}{form.states_mode}>",
            "ENTERING": state + ("write>" if args.form == "states" else "read>"),
            "QKV": f"{rows}3x{args.dim}xbf16, read>",
            "O": f"{rows}{args.dim}xbf16, write>",
            "GATE": f"{rows}{args.dim}xbf16, read>",
            "WEIGHT": f"!tile.view<{args.heads}x{args.dim}xbf16, read>",
            "SQUARES": f"{rows}{args.parts}xf32, write>"}
    lengths = form.packed * ['"random"'] + ['"random"', '"random"']
    if small:
        lengths = SMALL_INPUTS[not form.packed:]
    contents = form.inputs + (GATED_INPUTS if gated else [])
    head["inputs"] = ", ".join(lengths + [f'"{text}"' for text in contents])
    views = form.views + (GATED_VIEWS if gated else [])
    head["views"] = ", ".join(views).format(**head)
    # Dynamic extents: of four views before these.
    symbols = (4 if form.packed else 3) + head["views"].count("<?")
    head["symbols"] = ", ".join(f"s{i}" for i in range(symbols))
    head["schedule"] = make_schedule(args, form, args.parts)
    head["epilogue"] = (GATE if gated else ROUND).format(**head)
    head["weights"] = WEIGHTS.format(**head) if gated else ""
    text = "".join([HEADER] + form.program).format(**head)
    if args.plain:
        text = "\n".join(map(strip_place, text.split("\n")))
    return text


def write_plan(args):
    """What bench/lightning.py launches for the two forms of segments."""
    states = ["starts", "slots", "rates", "state", "qkv", "entering"]
    blocks = states + ["out"] + (["gate", "weight", "squares"] if args.gated
                                 else [])
    return json.dumps({
        "form": "prefill", "heads": args.heads, "dim": args.dim,
        "segment": args.segment, "gated": args.gated,
        "buffers": {"entering": [
            f"(tokens - sequences) // {args.segment} + sequences",
            "heads", "dim", "dim"]},
        "launches": [
            {"kernel": make_symbol(args, "segment_states"), "views": states},
            {"kernel": make_symbol(args, "segment_blocks"), "views": blocks}]},
        indent=1) + "\n"


def strip_place(line):
    """Without `{at = ...}`."""
    before, found, after = line.partition(" {at = ")
    return before + after.partition("}")[2] if found else line


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--form", choices=[*FORMS, "plan"], default="whole")
    parser.add_argument("--heads", type=int, default=64)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--block", type=int, default=64)
    parser.add_argument("--width", type=int, default=64,
                        help="values of a cell")
    parser.add_argument("--depth", type=int, default=4, help="of load rings")
    parser.add_argument("--segment", type=int,
                        help="tokens, a multiple of the block")
    parser.add_argument("--step-regs", type=int, default=104,
                        help="registers of a thread of the decode form")
    parser.add_argument("--gated", action="store_true",
                        help="outputs weighted and gated")
    parser.add_argument("--plain", action="store_true", help="no schedule")
    args = parser.parse_args()
    args.parts = -(-args.dim // args.width)
    args.segment = args.segment or choose_segment(args.heads * args.parts)
    if args.segment % args.block:
        parser.error("expected a segment of whole blocks")
    write = write_plan if args.form == "plan" else write_program
    print(write(args), end="")


if __name__ == "__main__":
    main()
