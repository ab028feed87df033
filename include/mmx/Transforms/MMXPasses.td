//===- MMXPasses.td - Passes over the mmx dialect ----------*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TRANSFORMS_MMXPASSES_TD
#define MMX_TRANSFORMS_MMXPASSES_TD

include "mlir/Pass/PassBase.td"

def MMXDecompose : Pass<"mmx-decompose", "::mlir::func::FuncOp"> {
  let summary = "splits ops that take more than one kernel";
  let description = [{
    * `softmax_attention` becomes two `cache_append` and one `attend`;
    * `experts` becomes `group_tokens`, `experts_up`, `experts_down` and
      `combine`;
    * `rms_norm` over an attention output, and any that feeds a `gate`,
      becomes `sum_squares` and `normalize`, so that the statistic can be
      reduced on its own and the rest runs where the row is consumed;
    * in a function with `mmx.phase = "decode"`, `lightning_attention` becomes
      `lightning_step`.

    Example:
    ```mlir
    %n = mmx.rms_norm %o, %w {eps = 1.0e-6 : f64} : ...
    %y = mmx.gate %n, %g : ...
    ```
    becomes
    ```mlir
    %s = mmx.sum_squares %o : ...
    %n = mmx.normalize %o, %s, %w {eps = 1.0e-6 : f64, width = 64 : i64} : ...
    %y = mmx.gate %n, %g : ...
    ```
  }];
  let statistics = [
    Statistic<"numAttentions", "attentions", "softmax attentions split">,
    Statistic<"numExperts", "experts", "mixtures of experts split">,
    Statistic<"numNorms", "norms", "norms split from their statistic">,
    Statistic<"numSteps", "steps", "lightning attentions turned into steps">];
}

def MMXBlockLightning : Pass<"mmx-block-lightning", "::mlir::func::FuncOp"> {
  let summary = "turns lightning attention into loops over blocks";
  let description = [{
    `lightning_attention` becomes three `for_blocks` loops and a sum, as first
    published: the states before every block, what each block reads from
    its state (inter-block), and the masked products within a block
    (intra-block) (E16).

    Example:
    ```mlir
    %o, %s1 = mmx.lightning_attention %q, %k, %v, %s0 packed(%starts, %slots) decay ...
    ```
    becomes
    ```mlir
    %states, %s1 = mmx.for_blocks 64 ... tokens(%k, %v) blocks() carry(%s0) ...
    %inter = mmx.for_blocks 64 ... tokens(%q) blocks(%states) carry() ...
    %intra = mmx.for_blocks 64 ... tokens(%q, %k, %v) blocks() carry() ...
    %o = mmx.add %inter, %intra : ...
    ```
  }];
  let options = [
    Option<"block", "block", "int64_t", /*default=*/"64",
           "tokens of a block">];
  let statistics = [
    Statistic<"numBlocked", "blocked", "lightning attentions blocked">];
}

def MMXFuseLightning : Pass<"mmx-fuse-lightning", "::mlir::func::FuncOp"> {
  let summary = "fuses loops over the same blocks";
  let description = [{
    Two `for_blocks` loops over the same packing with the same block length
    become one when what the later one takes from the earlier one is a token
    or block result: it is then read at the index at which it was made, so the
    value need not leave the chip. An elementwise op all of whose operands are
    token results of one loop moves into that loop.

    Example:
    ```mlir
    %states, %s1 = mmx.for_blocks 64 ... tokens(%k, %v) blocks() carry(%s0) ...
    %inter = mmx.for_blocks 64 ... tokens(%q) blocks(%states) carry() ...
    ```
    becomes
    ```mlir
    %inter, %s1 = mmx.for_blocks 64 ... tokens(%k, %v, %q) blocks() carry(%s0) ...
    ```
  }];
  let statistics = [
    Statistic<"numFused", "fused", "pairs of loops fused">,
    Statistic<"numMoved", "moved", "elementwise ops moved into a loop">];
}

def MMXSplitSequence : Pass<"mmx-split-sequence", "::mlir::func::FuncOp"> {
  let summary = "splits block loops into segments that run side by side";
  let description = [{
    A `for_blocks` loop whose only carried value decays by the tokens of a
    block and gains a term that does not depend on it is split into segments
    of `length` tokens: every segment computes its state from zero, one scan
    composes them (E17), and the loop runs again from the right states. The
    length is a constant, so that results depend on nothing else.

    Example:
    ```mlir
    %o, %s1 = mmx.for_blocks 64 packed(%starts ...) slots(%slots ...) ... carry(%s0) ...
    ```
    becomes
    ```mlir
    %g = mmx.segment_table %starts, %q {length = 1024 : i64} : ...
    %z = mmx.zero_states %g : ...
    %u = mmx.for_blocks 64 packed(%g ...) ... carry(%z) ...
    %in, %s1 = mmx.scan_states %u, %s0 packed(%starts, %slots) {length = 1024 : i64} decay ...
    %o, %_ = mmx.for_blocks 64 packed(%g ...) ... carry(%in) ...
    ```
  }];
  let options = [
    Option<"length", "length", "int64_t", /*default=*/"1024",
           "tokens of a segment, a multiple of the block length">];
  let statistics = [
    Statistic<"numSplit", "split", "block loops split">];
}

def MMXFuse : Pass<"mmx-fuse", "::mlir::func::FuncOp"> {
  let summary = "groups ops into kernels";
  let description = [{
    Every op that computes ends up in an `mmx.kernel`: one anchor, the
    elementwise ops that follow it on the same elements, and the elementwise
    ops that only they read. What an op is follows from its
    `FusionInterface`; the pass knows no op by name. Ops that only rename
    elements (heads of a projection) are cloned into their readers.

    An elementwise op joins the group of the operand that is computed last,
    unless that closes a cycle.

    Example:
    ```mlir
    %0 = mmx.linear %x, %w : ...
    %1 = mmx.silu %0 : ...
    ```
    becomes
    ```mlir
    %1 = mmx.kernel(%a = %x, %b = %w) : ... {
      %0 = mmx.linear %a, %b : ...
      %2 = mmx.silu %0 : ...
      mmx.yield %2 : ...
    }
    ```
  }];
  let statistics = [
    Statistic<"numKernels", "kernels", "kernels formed">,
    Statistic<"numFollowers", "followers",
              "elementwise ops that share a kernel with an anchor">];
}

def MMXChooseTiles : Pass<"mmx-choose-tiles", "::mlir::func::FuncOp"> {
  let summary = "picks the tile sizes of every kernel";
  let description = [{
    A roofline model: from the target's table and the shapes of a kernel it
    computes the bytes that must move, the operations, and the two floors
    that follow, and picks the tile that reaches them, the same way every
    time. Sizes depend on the phase, the kernel and the target, never on the
    batch. `explain` prints the reasons as remarks.

    Example:
    ```mlir
    mmx.kernel(...) : ... { mmx.linear ... }
    ```
    becomes
    ```mlir
    mmx.kernel(...) : ... attributes {tiles = #mmx.tiles<rows = 64, cols = 64, depth = 64>} { mmx.linear ... }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "cpu, h20, h800, h100 or h200">,
    Option<"explain", "explain", "bool", /*default=*/"false",
           "say for every kernel what moves, what is computed and why the "
           "tile was chosen">];
  let statistics = [
    Statistic<"numKernels", "kernels", "kernels given tile sizes">];
}

#endif // MMX_TRANSFORMS_MMXPASSES_TD
