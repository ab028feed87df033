//===- MMXBlockOps.td - Blocks, segments, fusion groups -*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Included by MMXOps.td.

def MMX_State : TensorRankOf<[F32], [3]>;               // [heads, D, D]

//===----------------------------------------------------------------------===//
// Loops over blocks of tokens
//===----------------------------------------------------------------------===//

def MMX_ForBlocksOp : MMX_Op<"for_blocks", [
    AttrSizedOperandSegments, AttrSizedResultSegments, IsolatedFromAbove,
    RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"::mmx::BlockYieldOp">,
    DeclareOpInterfaceMethods<MMX_SymbolicShapeInterface>,
    DeclareOpInterfaceMethods<MMX_FusionInterface>]> {
  let summary = "a loop over the blocks of every sequence (E15)";
  let description = [{
    Cuts every sequence into blocks of `block` tokens, the last one shorter,
    and runs the body on the blocks of a sequence in order; sequences are
    independent of each other. The body sees

    * for each operand of `tokens` the block's rows, `tensor<?x...>`,
    * for each operand of `blocks` the row that belongs to this block,
    * for each operand of `carry` (a pool) the value carried from the block
      before, at first row `slots[b]` of the pool (row `b` without `slots`).

    It yields in the same three groups: token rows, one row a block, and the
    carried values; the last carried value is written back to the pool. A
    sequence without tokens keeps its row.

    Block `i` of sequence `b` stands at row
    `starts[b] floordiv block + b + i` of `blocks` operands and results, which
    have `tokens floordiv block + sequences` rows; rows of no block are
    undefined.

    Example:
    ```mlir
    %o, %s1 = mmx.for_blocks 64 packed(%starts : tensor<?xi32>)
        slots(%slots : tensor<?xi32>) tokens(%q, %k, %v) blocks() carry(%s0)
        : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>) ()
          (tensor<?x4x16x16xf32>)
        -> (tensor<?x4x16xf32>) () (tensor<?x4x16x16xf32>) {
    ^bb0(%qb: tensor<?x4x16xf32>, %kb: tensor<?x4x16xf32>,
         %vb: tensor<?x4x16xf32>, %s: tensor<4x16x16xf32>):
      %r = mmx.block_readout %qb, %s : (tensor<?x4x16xf32>, tensor<4x16x16xf32>) -> tensor<?x4x16xf32>
      mmx.block_yield tokens(%r) blocks() carry(%s)
         : (tensor<?x4x16xf32>) () (tensor<4x16x16xf32>)
    }
    ```
  }];
  let arguments = (ins MMX_Index:$starts, Optional<MMX_Index>:$slots,
                       Variadic<MMX_Activation>:$tokens,
                       Variadic<MMX_States>:$blocks,
                       Variadic<MMX_States>:$carry, I64Attr:$block);
  let results = (outs Variadic<MMX_Activation>:$token_results,
                      Variadic<MMX_States>:$block_results,
                      Variadic<MMX_States>:$carry_results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $block `packed` `(` $starts `:` type($starts) `)`
    (`slots` `(` $slots^ `:` type($slots) `)`)?
    `tokens` `(` $tokens `)` `blocks` `(` $blocks `)` `carry` `(` $carry `)`
    attr-dict `:` custom<GroupTypes>(type($tokens), type($blocks), type($carry))
    `->` custom<GroupTypes>(type($token_results), type($block_results),
                            type($carry_results)) $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def MMX_BlockYieldOp : MMX_Op<"block_yield", [
    Pure, Terminator, AttrSizedOperandSegments, HasParent<"ForBlocksOp">]> {
  let summary = "ends the body of a block loop";
  let description = [{
    Example:
    ```mlir
    mmx.block_yield tokens(%o) blocks() carry(%s)
       : (tensor<?x4x16xf32>) () (tensor<4x16x16xf32>)
    ```
  }];
  let arguments = (ins Variadic<MMX_Activation>:$tokens,
                       Variadic<MMX_State>:$blocks,
                       Variadic<MMX_State>:$carry);
  let builders = [OpBuilder<(ins), [{ (void)odsState; }]>];
  let assemblyFormat = [{
    `tokens` `(` $tokens `)` `blocks` `(` $blocks `)` `carry` `(` $carry `)`
    attr-dict `:` custom<GroupTypes>(type($tokens), type($blocks), type($carry))
  }];
}

//===----------------------------------------------------------------------===//
// The parts of lightning attention on one block of m tokens
//===----------------------------------------------------------------------===//

def MMX_BlockScoresOp : MMX_PureOp<"block_scores"> {
  let summary = "Q K^T of one block, head by head";
  let description = [{
    `result[h, i, j] = sum_c query[i, h, c] key[j, h, c]`.

    Example:
    ```mlir
    %p = mmx.block_scores %q, %k
       : (tensor<?x4x16xf32>, tensor<?x4x16xf32>) -> tensor<4x?x?xf32>
    ```
  }];
  let arguments = (ins MMX_Heads:$query, MMX_Heads:$key);
  let results = (outs MMX_Scores:$result);
  let assemblyFormat =
      "$query `,` $key attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_DecayMaskOp : MMX_PureOp<"decay_mask"> {
  let summary = "applies the causal decay mask to scores (E16)";
  let description = [{
    `result[h, i, j] = scores[h, i, j] exp(-g (i - j))` for `i >= j`, else 0
    (a selection: what was there does not matter).

    Example:
    ```mlir
    %d = mmx.decay_mask %p decay <layer = 0, layers = 4, heads = 4>
       : (tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
    ```
  }];
  let arguments = (ins MMX_Scores:$scores, MMX_DecayAttr:$decay);
  let results = (outs MMX_Scores:$result);
  let assemblyFormat =
      "$scores `decay` $decay attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_BlockValuesOp : MMX_PureOp<"block_values"> {
  let summary = "P V of one block, head by head";
  let description = [{
    `result[i, h, c] = sum_j scores[h, i, j] value[j, h, c]`.

    Example:
    ```mlir
    %o = mmx.block_values %d, %v
       : (tensor<4x?x?xf32>, tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
    ```
  }];
  let arguments = (ins MMX_Scores:$scores, MMX_Heads:$value);
  let results = (outs MMX_Heads:$result);
  let assemblyFormat =
      "$scores `,` $value attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_BlockReadoutOp : MMX_PureOp<"block_readout"> {
  let summary = "Q S of one block, head by head";
  let description = [{
    `result[i, h, c] = sum_r query[i, h, r] state[h, r, c]`.

    Example:
    ```mlir
    %o = mmx.block_readout %q, %s
       : (tensor<?x4x16xf32>, tensor<4x16x16xf32>) -> tensor<?x4x16xf32>
    ```
  }];
  let arguments = (ins MMX_Heads:$query, MMX_State:$state);
  let results = (outs MMX_Heads:$result);
  let assemblyFormat =
      "$query `,` $state attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_QueryDecayOp : MMX_PureOp<"query_decay"> {
  let summary = "decays row i by i + 1 tokens (E16)";
  let description = [{
    `result[i, h] = exp(-g (i + 1)) input[i, h]`.

    Example:
    ```mlir
    %o = mmx.query_decay %r decay <layer = 0, layers = 4, heads = 4>
       : (tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
    ```
  }];
  let arguments = (ins MMX_Heads:$input, MMX_DecayAttr:$decay);
  let results = (outs MMX_Heads:$result);
  let assemblyFormat =
      "$input `decay` $decay attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_KeyDecayOp : MMX_PureOp<"key_decay"> {
  let summary = "decays row i by m - 1 - i tokens (E16)";
  let description = [{
    `result[i, h] = exp(-g (m - 1 - i)) input[i, h]`, `m` the true number of
    rows of the block.

    Example:
    ```mlir
    %w = mmx.key_decay %v decay <layer = 0, layers = 4, heads = 4>
       : (tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
    ```
  }];
  let arguments = (ins MMX_Heads:$input, MMX_DecayAttr:$decay);
  let results = (outs MMX_Heads:$result);
  let assemblyFormat =
      "$input `decay` $decay attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_BlockOuterOp : MMX_PureOp<"block_outer"> {
  let summary = "K^T V of one block, head by head";
  let description = [{
    `result[h, r, c] = sum_i key[i, h, r] value[i, h, c]`.

    Example:
    ```mlir
    %u = mmx.block_outer %k, %w
       : (tensor<?x4x16xf32>, tensor<?x4x16xf32>) -> tensor<4x16x16xf32>
    ```
  }];
  let arguments = (ins MMX_Heads:$key, MMX_Heads:$value);
  let results = (outs MMX_State:$result);
  let assemblyFormat =
      "$key `,` $value attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_BlockDecayOp : MMX_PureOp<"block_decay"> {
  let summary = "decays a state by the m tokens of a block (E16)";
  let description = [{
    `result[h] = exp(-g m) state[h]`, `m` the number of rows of `tokens`.

    Example:
    ```mlir
    %t = mmx.block_decay %s, %k decay <layer = 0, layers = 4, heads = 4>
       : (tensor<4x16x16xf32>, tensor<?x4x16xf32>) -> tensor<4x16x16xf32>
    ```
  }];
  let arguments = (ins MMX_State:$state, MMX_Heads:$tokens,
                       MMX_DecayAttr:$decay);
  let results = (outs MMX_State:$result);
  let assemblyFormat = "$state `,` $tokens `decay` $decay attr-dict `:` "
                       "functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_AddOp : MMX_PureOp<"add", [Commutative]> {
  let summary = "elementwise sum";
  let description = [{
    Example:
    ```mlir
    %o = mmx.add %a, %b
       : (tensor<?x4x16xf32>, tensor<?x4x16xf32>) -> tensor<?x4x16xf32>
    ```
  }];
  let arguments = (ins MMX_Activation:$lhs, MMX_Activation:$rhs);
  let results = (outs MMX_Activation:$result);
  let assemblyFormat =
      "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

def MMX_SegmentTableOp : MMX_PureOp<"segment_table"> {
  let summary = "starts of the segments of all sequences";
  let description = [{
    Segment `i` of sequence `b` is row `starts[b] floordiv length + b + i`;
    there are `tokens floordiv length + sequences` rows. `result[r]` to
    `result[r + 1]` are its tokens; rows of no segment are empty.

    Example:
    ```mlir
    %g = mmx.segment_table %starts, %q {length = 1024 : i64}
       : (tensor<?xi32>, tensor<?x4x16xf32>) -> tensor<?xi32>
    ```
  }];
  let arguments = (ins MMX_Index:$starts, MMX_Activation:$tokens,
                       I64Attr:$length);
  let results = (outs MMX_Index:$result);
  let assemblyFormat =
      "$starts `,` $tokens attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_ZeroStatesOp : MMX_PureOp<"zero_states"> {
  let summary = "a pool of zero states, one for each segment";
  let description = [{
    Example:
    ```mlir
    %z = mmx.zero_states %g : (tensor<?xi32>) -> tensor<?x4x16x16xf32>
    ```
  }];
  let arguments = (ins MMX_Index:$segments);
  let results = (outs MMX_States:$result);
  let assemblyFormat =
      "$segments attr-dict `:` functional-type(operands, results)";
}

def MMX_ScanStatesOp : MMX_PureOp<"scan_states"> {
  let summary = "composes the states of segments (E17)";
  let description = [{
    `local[r]` is the state that segment `r` reaches from zero. For every
    sequence, from `S = states[slots[b]]` on, for its segments in order, with
    `m` the tokens of the segment: `result[r] = S`, then
    `S <- exp(-g m) S + local[r]`; the last `S` goes back to the pool.

    Example:
    ```mlir
    %in, %s1 = mmx.scan_states %u, %s0 packed(%starts, %slots) {length = 1024 : i64}
        decay <layer = 0, layers = 4, heads = 4>
       : (tensor<?x4x16x16xf32>, tensor<?x4x16x16xf32>, tensor<?xi32>, tensor<?xi32>)
         -> (tensor<?x4x16x16xf32>, tensor<?x4x16x16xf32>)
    ```
  }];
  let arguments = (ins MMX_States:$local, MMX_States:$states,
                       MMX_Index:$starts, MMX_Index:$slots, I64Attr:$length,
                       MMX_DecayAttr:$decay);
  let results = (outs MMX_States:$result, MMX_States:$new_states);
  let assemblyFormat = [{
    $local `,` $states `packed` `(` $starts `,` $slots `)` attr-dict
    `decay` $decay `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def MMX_KernelOp : MMX_Op<"kernel", [
    IsolatedFromAbove, RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"::mmx::YieldOp">,
    DeclareOpInterfaceMethods<MMX_SymbolicShapeInterface>]> {
  let summary = "a fusion group: what becomes one kernel";
  let description = [{
    One anchor op at most (a product, an attention, an experts op, a block
    loop) with elementwise neighbours. Intermediate values stay on chip; only
    operands are read from memory and only results are written. Block
    arguments stand for the operands.

    Example:
    ```mlir
    %y = mmx.kernel(%a = %x, %b = %w) : (tensor<?x64xf32>, tensor<192x64xbf16>) -> tensor<?x192xf32> {
      %0 = mmx.linear %a, %b : (tensor<?x64xf32>, tensor<192x64xbf16>) -> tensor<?x192xf32>
      %1 = mmx.silu %0 : (tensor<?x192xf32>) -> tensor<?x192xf32>
      mmx.yield %1 : tensor<?x192xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs,
                       OptionalAttr<MMX_TileSizesAttr>:$tiles,
                       OptionalAttr<StrAttr>:$label);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def MMX_YieldOp : MMX_Op<"yield", [
    Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "ends the body of a kernel";
  let description = [{
    Example:
    ```mlir
    mmx.yield %y : tensor<?x192xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let builders = [OpBuilder<(ins), [{ (void)odsState; }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def MMX_LaunchOp : MMX_Op<"launch", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs an outlined kernel on tensors";
  let description = [{
    `kernel` names a kernel of a lower level whose parameters are the operands
    and then the results that are not written in place. `inplace[i] = j >= 0`
    says that result `i` is operand `j`, updated. `shapes[i]` gives the extents
    of result `i` in the symbols of a step, in the order tokens, sequences,
    outputs, slots, cache rows, page columns.

    Example:
    ```mlir
    %y = mmx.launch @linear_silu(%x, %w) inplace [-1]
         shapes [affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, 192)>]
       : (tensor<?x64xf32>, tensor<192x64xbf16>) -> tensor<?x192xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel,
                       Variadic<AnyRankedTensor>:$inputs,
                       DenseI64ArrayAttr:$inplace, AffineMapArrayAttr:$shapes,
                       OptionalAttr<StrAttr>:$label);
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    $kernel `(` $inputs `)` `inplace` $inplace `shapes` $shapes
    (`label` $label^)? attr-dict `:` functional-type($inputs, results)
  }];
  let hasVerifier = 1;
}
