#!/usr/bin/env python3
# Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a scheduled tile program of lightning attention for bench/lightning.py.

    bench/lightning_kernels.py --heads 64 --dim 128

The views are those of the model's kernel: packed projections [T, H, 3, D],
states of slots updated in place, outputs [T, H, D]. A cell is a sequence, a head
and a part of the values; the parts of a head are a cluster and share queries and
keys. Values are padded with zeros to a multiple of the width, keys to one of 32. One role carries
the state, two instances of another make the outputs of alternate blocks, two
warps load. --plain leaves the schedule out.
"""

import argparse

SCHEDULE = """
      {cluster}
      schedule = #tile.schedule<
        roles = [@ldkv<warps = 1>, @ldq<warps = 1>,
                 @state<warps = 4, regs = {state_regs}>,
                 @out<warps = 4, regs = {out_regs}, alternate = 2 over @i>],
        rings = [@kv<depth = {depth}>, @q<depth = {depth}>, @s<depth = 2>, @ost<depth = 1>]>,"""

PROGRAM = """\
tile.kernel @for_blocks_{H}x{N}x{N}_hopper(
    %starts: !tile.view<?xi32, read>, %slots: !tile.view<?xi32, read>,
    %rates: !tile.view<{H}xf32, read>, %states: !tile.view<?x{H}x{N}x{N}xf32, inplace>,
    %qkv: !tile.view<?x{H}x3x{N}xbf16, read>, %o: !tile.view<?x{H}x{N}xbf16, write>)
    grid(%seq, %head, %part) = affine_map<()[s0, s1, s2, s3, s4] -> (s0 - 1, {H}, {parts})>
    attributes {{{schedule}
      mmx.spills = {spills} : i64, tile.inputs = [{inputs}]}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %cols = arith.constant {W} : index
  %rows = arith.constant {B} : index
  %seq1 = arith.addi %seq, %c1 : index
  %first = tile.table %starts[%seq] : !tile.view<?xi32, read> -> index
  %last = tile.table %starts[%seq1] : !tile.view<?xi32, read> -> index
  %slot = tile.table %slots[%seq] : !tile.view<?xi32, read> -> index
  %rate = tile.table %rates[%head] : !tile.view<{H}xf32, read> -> f32
  %col = arith.muli %part, %cols : index
  %s0 = tile.load %states[%slot, %head, %c0, %col] dims(2, 3) {{at = #tile.at<@state, order = 0>}} : {STATES} -> !tile.frag<{D}x{W}xf32>
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
  %sn = scf.for %t = %first to %last step %rows iter_args(%st = %s0) -> (!tile.frag<{D}x{W}xf32>) {{
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
    %ob = tile.map(%o1) {{at = #tile.at<@out, order = 60>}} : (!tile.frag<{B}x{W}xf32>) -> !tile.frag<{B}x{W}xbf16> {{
    ^bb0(%x: f32, %r: index, %c: index):
      %y = arith.truncf %x : f32 to bf16
      tile.yield %y : bf16
    }}
    %os = tile.put %ob {{at = #tile.at<@out, order = 70, ring = @ost>}} : !tile.frag<{B}x{W}xbf16> -> !tile.sram<{B}x{W}xbf16>
    tile.store %os, %o[%t, %head, %col] rows %m dims(0, 2) {{at = #tile.at<@out, order = 80>}} : !tile.sram<{B}x{W}xbf16>, !tile.view<?x{H}x{N}xbf16, write>
    scf.yield %s1 : !tile.frag<{D}x{W}xf32>
  }} {{at = #tile.loop<@i, order = 10>}}
  tile.store %sn, %states[%slot, %head, %c0, %col] dims(2, 3) {{at = #tile.at<@state, order = 20>}} : !tile.frag<{D}x{W}xf32>, {STATES}
}}
"""

SMALL_INPUTS = ('dense<[0, 9, 9, 22, 23]> : tensor<5xi32>, '
                'dense<[3, 4, 0, 1]> : tensor<4xi32>, '
                'dense<[0.5, 0.0625]> : tensor<2xf32>, "random", "random", "poison"')


def write_program(heads, dim, block, width, depth, scheduled):
    parts = -(-dim // width)
    unit = min(32, width)  # columns of the narrowest swizzle that fits
    head = {"H": heads, "N": dim, "D": -(-dim // unit) * unit, "B": block,
            "W": width, "last": block - 1, "parts": parts,
            "multicast": ", multicast = 2" if parts > 1 else ""}
    head["STATES"] = f"!tile.view<?x{heads}x{dim}x{dim}xf32, inplace>"
    head["QKV"] = f"!tile.view<?x{heads}x3x{dim}xbf16, read>"
    head["inputs"] = SMALL_INPUTS if block < 64 else \
        '"random", "random", "random", "random", "random", "poison"'
    # Bytes that the assembler may spill of a kernel in real sizes: today none.
    head["spills"] = 64 if block >= 64 and scheduled else 0
    head["schedule"] = ""
    if scheduled:
        head["schedule"] = SCHEDULE.format(
            cluster=f"cluster = array<i64: 2, {parts}>," if parts > 1 else "",
            depth=depth, state_regs=184, out_regs=152)
    text = PROGRAM.format(**head)
    if not scheduled:
        text = "\n".join(map(strip_place, text.split("\n")))
    return text


def strip_place(line):
    """Without `{at = ...}`."""
    before, found, after = line.partition(" {at = ")
    return before + after.partition("}")[2] if found else line


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--heads", type=int, default=64)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--block", type=int, default=64)
    parser.add_argument("--width", type=int, default=64,
                        help="values of a cell")
    parser.add_argument("--depth", type=int, default=4, help="of load rings")
    parser.add_argument("--plain", action="store_true", help="no schedule")
    args = parser.parse_args()
    print(write_program(args.heads, args.dim, args.block, args.width,
                        args.depth, not args.plain), end="")


if __name__ == "__main__":
    main()
