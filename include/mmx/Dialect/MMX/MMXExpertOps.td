//===- MMXExpertOps.td - Routing and mixture of experts -*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Included by MMXOps.td.

def MMX_RouteOp : MMX_PureOp<"route"> {
  let summary = "chooses the experts of each token (E10)";
  let description = [{
    `p = softmax(logits)` over all experts, in f32; the `top_k` largest, ties
    to the smaller number, in falling order; their weights divided by their
    sum. Where `given[t, j]` is not negative it is the `j`-th expert of token
    `t` in place of the largest that is left.

    Example:
    ```mlir
    %w, %e = mmx.route %logits {top_k = 2 : i64}
       : (tensor<?x4xf32>) -> (tensor<?x2xf32>, tensor<?x2xi32>)
    %w1, %e1 = mmx.route %logits given %g {top_k = 2 : i64}
       : (tensor<?x4xf32>, tensor<?x2xi32>) -> (tensor<?x2xf32>, tensor<?x2xi32>)
    ```
  }];
  let arguments = (ins MMX_Rows:$logits, Optional<TensorRankOf<[I32], [2]>>:$given,
                       I64Attr:$top_k);
  let results = (outs TensorRankOf<[F32], [2]>:$weights,
                      TensorRankOf<[I32], [2]>:$experts);
  let assemblyFormat = [{
    $logits (`given` $given^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def MMX_ExpertsOp : MMX_PureOp<"experts"> {
  let summary = "weighted sum of the chosen experts (E11)";
  let description = [{
    `result[t] = sum_j weights[t, j] F_e(input[t])`, `e = experts[t, j]`,
    `F_e(y) = w2_e (silu(w1_e y) * (w3_e y))`. No token is dropped.

    Example:
    ```mlir
    %m = mmx.experts %y, %w, %e, %w1, %w3, %w2
       : (tensor<?x64xf32>, tensor<?x2xf32>, tensor<?x2xi32>,
          tensor<4x96x64xbf16>, tensor<4x96x64xbf16>, tensor<4x64x96xbf16>)
         -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins MMX_Rows:$input, TensorRankOf<[F32], [2]>:$weights,
                       TensorRankOf<[I32], [2]>:$experts,
                       MMX_Weight:$w1, MMX_Weight:$w3, MMX_Weight:$w2);
  let results = (outs MMX_Rows:$result);
  let assemblyFormat = [{
    $input `,` $weights `,` $experts `,` $w1 `,` $w3 `,` $w2 attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def MMX_GroupTokensOp : MMX_PureOp<"group_tokens"> {
  let summary = "sorts the choices of all tokens by expert";
  let description = [{
    Choice `c = t top_k + j` is the `j`-th expert of token `t`. `choices` lists
    all choices ordered by expert, within an expert by number; `tokens[i]` is
    `choices[i] / top_k`; expert `e` owns entries `offsets[e]` to
    `offsets[e + 1]`.

    Example:
    ```mlir
    %tokens, %choices, %offsets = mmx.group_tokens %e
       : (tensor<?x2xi32>) -> (tensor<?xi32>, tensor<?xi32>, tensor<5xi32>)
    ```
  }];
  let arguments = (ins TensorRankOf<[I32], [2]>:$experts);
  let results = (outs MMX_Index:$tokens, MMX_Index:$choices,
                      MMX_Index:$offsets);
  let assemblyFormat =
      "$experts attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_ExpertsUpOp : MMX_PureOp<"experts_up"> {
  let summary = "first half of the experts on grouped rows";
  let description = [{
    For entry `i` of expert `e`, with `y = input[tokens[i]]`:
    `result[i] = silu(w1_e y) * (w3_e y)`.

    Example:
    ```mlir
    %h = mmx.experts_up %y, %tokens, %offsets, %w1, %w3
       : (tensor<?x64xf32>, tensor<?xi32>, tensor<5xi32>,
          tensor<4x96x64xbf16>, tensor<4x96x64xbf16>) -> tensor<?x96xf32>
    ```
  }];
  let arguments = (ins MMX_Rows:$input, MMX_Index:$tokens, MMX_Index:$offsets,
                       MMX_Weight:$w1, MMX_Weight:$w3);
  let results = (outs MMX_Rows:$result);
  let assemblyFormat = [{
    $input `,` $tokens `,` $offsets `,` $w1 `,` $w3 attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def MMX_ExpertsDownOp : MMX_PureOp<"experts_down"> {
  let summary = "second half of the experts, back in the order of choices";
  let description = [{
    For entry `i` of expert `e`, with `c = choices[i]`:
    `result[c] = weights[c / top_k, c % top_k] (w2_e input[i])`.

    Example:
    ```mlir
    %d = mmx.experts_down %h, %choices, %offsets, %w2, %w
       : (tensor<?x96xf32>, tensor<?xi32>, tensor<5xi32>,
          tensor<4x64x96xbf16>, tensor<?x2xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins MMX_Rows:$input, MMX_Index:$choices,
                       MMX_Index:$offsets, MMX_Weight:$w2,
                       TensorRankOf<[F32], [2]>:$weights);
  let results = (outs MMX_Rows:$result);
  let assemblyFormat = [{
    $input `,` $choices `,` $offsets `,` $w2 `,` $weights attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def MMX_CombineOp : MMX_PureOp<"combine"> {
  let summary = "sums the choices of each token";
  let description = [{
    `result[t] = sum_j input[t top_k + j]`, in the order of `j`.

    Example:
    ```mlir
    %m = mmx.combine %d {top_k = 2 : i64}
       : (tensor<?x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins MMX_Rows:$input, I64Attr:$top_k);
  let results = (outs MMX_Rows:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
