//===- MMXAttentionOps.td - Lightning and softmax attention -*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Included by MMXOps.td.

//===----------------------------------------------------------------------===//
// Lightning attention
//===----------------------------------------------------------------------===//

def MMX_LightningAttentionOp : MMX_PureOp<"lightning_attention"> {
  let summary = "linear attention with a decaying state (E9)";
  let description = [{
    For every sequence `b` with tokens `starts[b] .. starts[b + 1] - 1`, every
    head `h` with rate `g`, and `S = states[slots[b], h]` (rows: key, columns:
    value):

        S   <- exp(-g) S + k_t^T v_t
        o_t  = q_t S

    for its tokens in order; the last `S` is written back to the pool. No
    scale, no rotation, no denominator. A sequence without tokens keeps its
    state. `slots` holds no number twice.

    Example:
    ```mlir
    %o, %s1 = mmx.lightning_attention %q, %k, %v, %s0 packed(%starts, %slots)
              decay <layer = 0, layers = 4, heads = 4>
       : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>,
          tensor<?x4x16x16xf32>, tensor<?xi32>, tensor<?xi32>)
         -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>)
    ```
  }];
  let arguments = (ins MMX_Heads:$query, MMX_Heads:$key, MMX_Heads:$value,
                       MMX_States:$states, MMX_Index:$starts,
                       MMX_Index:$slots, MMX_DecayAttr:$decay);
  let results = (outs MMX_Heads:$result, MMX_States:$new_states);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $states `packed` `(` $starts `,` $slots `)`
    `decay` $decay attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def MMX_LightningStepOp : MMX_PureOp<"lightning_step"> {
  let summary = "lightning attention of one token a sequence (E9)";
  let description = [{
    The decode form: token `b` is the next one of the sequence in slot
    `slots[b]`. The same as `lightning_attention` with sequences of length 1.

    Example:
    ```mlir
    %o, %s1 = mmx.lightning_step %q, %k, %v, %s0 slots(%slots)
              decay <layer = 0, layers = 4, heads = 4>
       : (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>,
          tensor<?x4x16x16xf32>, tensor<?xi32>)
         -> (tensor<?x4x16xf32>, tensor<?x4x16x16xf32>)
    ```
  }];
  let arguments = (ins MMX_Heads:$query, MMX_Heads:$key, MMX_Heads:$value,
                       MMX_States:$states, MMX_Index:$slots,
                       MMX_DecayAttr:$decay);
  let results = (outs MMX_Heads:$result, MMX_States:$new_states);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $states `slots` `(` $slots `)`
    `decay` $decay attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Softmax attention
//===----------------------------------------------------------------------===//

def MMX_RopeTableOp : MMX_PureOp<"rope_table"> {
  let summary = "cosines and sines of the rotary angles (E13)";
  let description = [{
    For `j < rotary / 2`: `result[t, j] = cos(a)` and
    `result[t, rotary / 2 + j] = sin(a)`, with
    `a = positions[t] / theta^(2 j / rotary)`, rounded as E13 says. The angle is
    reduced in double precision: positions reach ten million.

    Example:
    ```mlir
    %r = mmx.rope_table %positions {theta = 1.0e7 : f64, rotary = 8 : i64}
       : (tensor<?xi32>) -> tensor<?x8xf32>
    ```
  }];
  let arguments = (ins MMX_Index:$positions, F64Attr:$theta, I64Attr:$rotary);
  let results = (outs TensorRankOf<[F32, F64], [2]>:$result);
  let assemblyFormat =
      "$positions attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_RopeOp : MMX_PureOp<"rope"> {
  let summary = "rotates the leading dimensions of every head (E13)";
  let description = [{
    The first `rotary` dimensions (the width of the table) are rotated in
    pairs `(j, j + rotary / 2)`; the others pass through.

    Example:
    ```mlir
    %q1 = mmx.rope %q, %r
       : (tensor<?x4x16xf32>, tensor<?x8xf32>) -> tensor<?x4x16xf32>
    ```
  }];
  let arguments = (ins MMX_Heads:$input,
                       TensorRankOf<[F32, F64], [2]>:$table);
  let results = (outs MMX_Heads:$result);
  let assemblyFormat =
      "$input `,` $table attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_SoftmaxAttentionOp : MMX_PureOp<"softmax_attention"> {
  let summary = "causal attention over a paged cache (E14)";
  let description = [{
    `key` and `value` of token `t` are first written to row `cache_rows[t]` of
    the pools. Then, for every sequence `b`, every token `t` of it with
    position `p = past[b] + t - starts[b]` and every query head `h` with
    key-value head `h / (H / KV)`:

        o_t = softmax_{j <= p}(scale q_t . K_j) V_j

    where row `j` of the sequence stands at row
    `pages[b, j / page] page + j % page` of the pools. Softmax is in f32.

    Example:
    ```mlir
    %o, %kc1, %vc1 = mmx.softmax_attention %q, %k, %v, %kc, %vc
        packed(%starts, %past) paged(%cache_rows, %pages)
        {scale = 0.25 : f64, page = 64 : i64}
       : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
          tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>, tensor<?xi32>,
          tensor<?xi32>, tensor<?x?xi32>)
         -> (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>)
    ```
  }];
  let arguments = (ins MMX_Heads:$query, MMX_Heads:$key, MMX_Heads:$value,
                       MMX_Cache:$key_cache, MMX_Cache:$value_cache,
                       MMX_Index:$starts, MMX_Index:$past,
                       MMX_Index:$cache_rows, MMX_PageTable:$pages,
                       F64Attr:$scale, I64Attr:$page);
  let results = (outs MMX_Heads:$result, MMX_Cache:$new_key_cache,
                      MMX_Cache:$new_value_cache);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $key_cache `,` $value_cache
    `packed` `(` $starts `,` $past `)` `paged` `(` $cache_rows `,` $pages `)`
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def MMX_CacheAppendOp : MMX_PureOp<"cache_append"> {
  let summary = "writes rows into a cache pool";
  let description = [{
    `result` is `cache` with row `cache_rows[t]` replaced by `input[t]`.
    `cache_rows` holds no number twice. Half of what `softmax_attention` does,
    split off before fusion.

    Example:
    ```mlir
    %kc1 = mmx.cache_append %k, %kc, %rows
       : (tensor<?x2x16xf32>, tensor<?x2x16xf32>, tensor<?xi32>)
         -> tensor<?x2x16xf32>
    ```
  }];
  let arguments = (ins MMX_Heads:$input, MMX_Cache:$cache,
                       MMX_Index:$cache_rows);
  let results = (outs MMX_Cache:$result);
  let assemblyFormat = "$input `,` $cache `,` $cache_rows attr-dict `:` "
                       "functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_AttendOp : MMX_PureOp<"attend"> {
  let summary = "causal attention over rows already in the cache (E14)";
  let description = [{
    The second half of `softmax_attention`: reads the pools, writes nothing to
    them.

    Example:
    ```mlir
    %o = mmx.attend %q, %kc1, %vc1 packed(%starts, %past) paged(%pages)
        {scale = 0.25 : f64, page = 64 : i64}
       : (tensor<?x4x16xf32>, tensor<?x2x16xf32>, tensor<?x2x16xf32>,
          tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>) -> tensor<?x4x16xf32>
    ```
  }];
  let arguments = (ins MMX_Heads:$query, MMX_Cache:$key_cache,
                       MMX_Cache:$value_cache, MMX_Index:$starts,
                       MMX_Index:$past, MMX_PageTable:$pages, F64Attr:$scale,
                       I64Attr:$page);
  let results = (outs MMX_Heads:$result);
  let assemblyFormat = [{
    $query `,` $key_cache `,` $value_cache `packed` `(` $starts `,` $past `)`
    `paged` `(` $pages `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
