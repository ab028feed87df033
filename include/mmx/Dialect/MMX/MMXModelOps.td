//===- MMXModelOps.td - Weights, linear layers, norms, residuals -*- tablegen -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Included by MMXOps.td.

class MMX_PureOp<string mnemonic, list<Trait> traits = []>
    : MMX_Op<mnemonic, traits # [Pure,
        DeclareOpInterfaceMethods<MMX_SymbolicShapeInterface>,
        DeclareOpInterfaceMethods<MMX_FusionInterface>]>;

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

def MMX_GlobalOp : MMX_Op<"global", [Symbol]> {
  let summary = "declares a weight and the checkpoint tensors it is made of";
  let description = [{
    A weight of type `type`. With one source it is that tensor; with several
    they are stacked along a new leading dimension (the experts of a layer).

    Example:
    ```mlir
    mmx.global @final_norm : tensor<64xf32> from [#mmx.source<"model.norm.weight">]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<MMX_Weight>:$type,
                       MMX_SourceArrayAttr:$sources);
  let assemblyFormat =
      "$sym_name `:` $type `from` $sources attr-dict";
  let hasVerifier = 1;
}

def MMX_WeightOp : MMX_Op<"weight", [Pure,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a weight";
  let description = [{
    Example:
    ```mlir
    %w = mmx.weight @final_norm : tensor<64xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$global);
  let results = (outs MMX_Weight:$result);
  let assemblyFormat = "$global attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

def MMX_EmbeddingOp : MMX_PureOp<"embedding"> {
  let summary = "rows of the embedding table (E1)";
  let description = [{
    `result[t] = table[ids[t]]`, without scaling.

    Example:
    ```mlir
    %h = mmx.embedding %ids, %table
       : (tensor<?xi32>, tensor<320x64xbf16>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins MMX_Index:$ids, MMX_Weight:$table);
  let results = (outs MMX_Rows:$result);
  let assemblyFormat =
      "$ids `,` $table attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_TakeRowsOp : MMX_PureOp<"take_rows"> {
  let summary = "the rows with the given numbers";
  let description = [{
    `result[i] = input[rows[i]]`: the head is applied only to the tokens whose
    logits are wanted.

    Example:
    ```mlir
    %last = mmx.take_rows %h, %rows
       : (tensor<?x64xf32>, tensor<?xi32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins MMX_Rows:$input, MMX_Index:$rows);
  let results = (outs MMX_Rows:$result);
  let assemblyFormat =
      "$input `,` $rows attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_LinearOp : MMX_PureOp<"linear"> {
  let summary = "x w^T (E3)";
  let description = [{
    `result[t, n] = sum_k input[t, k] weight[n, k]`, accumulated in f32.

    Example:
    ```mlir
    %y = mmx.linear %x, %w
       : (tensor<?x64xf32>, tensor<192x64xbf16>) -> tensor<?x192xf32>
    ```
  }];
  let arguments = (ins MMX_Rows:$input, MMX_Weight:$weight);
  let results = (outs MMX_Rows:$result);
  let assemblyFormat =
      "$input `,` $weight attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

def MMX_RMSNormOp : MMX_PureOp<"rms_norm"> {
  let summary = "root-mean-square norm of each row (E2)";
  let description = [{
    `result[t] = weight * input[t] / sqrt(mean(input[t]^2) + eps)`. The mean
    runs over the whole row, whatever the number of heads in it.

    Example:
    ```mlir
    %x = mmx.rms_norm %h, %w {eps = 1.0e-5 : f64}
       : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins MMX_Rows:$input, MMX_Weight:$weight, F64Attr:$eps);
  let results = (outs MMX_Rows:$result);
  let assemblyFormat =
      "$input `,` $weight attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_SumSquaresOp : MMX_PureOp<"sum_squares"> {
  let summary = "the sum of squares of each row";
  let description = [{
    The row statistic of a norm on its own, so that it can be computed where
    the row is produced and reduced over ranks:
    `result[t] = sum_k input[t, k]^2`.

    Example:
    ```mlir
    %s = mmx.sum_squares %o : (tensor<?x64xf32>) -> tensor<?xf32>
    ```
  }];
  let arguments = (ins MMX_Rows:$input);
  let results = (outs MMX_Stat:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_NormalizeOp : MMX_PureOp<"normalize"> {
  let summary = "applies a norm whose statistic is known";
  let description = [{
    `result[t] = weight * input[t] / sqrt(stat[t] / width + eps)`;
    `normalize(x, sum_squares(x))` is `rms_norm(x)`.

    Example:
    ```mlir
    %n = mmx.normalize %o, %s, %w {eps = 1.0e-6 : f64, width = 64 : i64}
       : (tensor<?x64xf32>, tensor<?xf32>, tensor<64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins MMX_Rows:$input, MMX_Stat:$stat, MMX_Weight:$weight,
                       F64Attr:$eps, I64Attr:$width);
  let results = (outs MMX_Rows:$result);
  let assemblyFormat = "$input `,` $stat `,` $weight attr-dict `:` "
                       "functional-type(operands, results)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

def MMX_SiluOp : MMX_PureOp<"silu"> {
  let summary = "x sigmoid(x)";
  let description = [{
    Example:
    ```mlir
    %y = mmx.silu %x : (tensor<?x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins MMX_Activation:$input);
  let results = (outs MMX_Activation:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_GateOp : MMX_PureOp<"gate"> {
  let summary = "x sigmoid(g): the output gate (E8)";
  let description = [{
    Example:
    ```mlir
    %y = mmx.gate %x, %g
       : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins MMX_Activation:$input, MMX_Activation:$gate);
  let results = (outs MMX_Activation:$result);
  let assemblyFormat =
      "$input `,` $gate attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_SwigluOp : MMX_PureOp<"swiglu"> {
  let summary = "silu(gate) up (E11)";
  let description = [{
    Example:
    ```mlir
    %y = mmx.swiglu %g, %u
       : (tensor<?x96xf32>, tensor<?x96xf32>) -> tensor<?x96xf32>
    ```
  }];
  let arguments = (ins MMX_Rows:$gate, MMX_Rows:$up);
  let results = (outs MMX_Rows:$result);
  let assemblyFormat =
      "$gate `,` $up attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_ResidualOp : MMX_PureOp<"residual"> {
  let summary = "alpha x + beta branch (E4)";
  let description = [{
    The DeepNorm residual. `input` is the normed value when the model is
    post-norm and the raw one when it is not: that choice is visible in the
    IR as which value is the operand.

    Example:
    ```mlir
    %h1 = mmx.residual %x, %a {alpha = 3.5565588 : f64, beta = 1.0 : f64}
       : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins MMX_Rows:$input, MMX_Rows:$branch, F64Attr:$alpha,
                       F64Attr:$beta);
  let results = (outs MMX_Rows:$result);
  let assemblyFormat =
      "$input `,` $branch attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_MixOp : MMX_PureOp<"mix"> {
  let summary = "(1 - c) routed + c shared: the shared expert (E12)";
  let description = [{
    `coefficient` has one logit a token; `c = sigmoid(coefficient)`, or
    `c = 1` in mode "softmax" (a softmax over one logit).

    Example:
    ```mlir
    %m = mmx.mix %routed, %shared, %c
       : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x1xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins MMX_Rows:$routed, MMX_Rows:$shared,
                       MMX_Rows:$coefficient);
  let results = (outs MMX_Rows:$result);
  let assemblyFormat = "$routed `,` $shared `,` $coefficient attr-dict `:` "
                       "functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_ConvertOp : MMX_PureOp<"convert"> {
  let summary = "rounds to another element type";
  let description = [{
    Example:
    ```mlir
    %b = mmx.convert %x : (tensor<?x64xf32>) -> tensor<?x64xbf16>
    ```
  }];
  let arguments = (ins MMX_Activation:$input);
  let results = (outs MMX_Activation:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

def MMX_SplitHeadsOp : MMX_PureOp<"split_heads"> {
  let summary = "unpacks the heads of a projection (E7)";
  let description = [{
    The row is `heads` groups of `n` vectors of `dim`, `n` the number of
    results: head-interleaved, `[q0 k0 v0 q1 k1 v1 ...]` for three results and
    a plain reshape for one. Result `j` is
    `result_j[t, h, i] = input[t, (h n + j) dim + i]`.

    Example:
    ```mlir
    %q, %k, %v = mmx.split_heads %qkv : (tensor<?x192xf32>)
       -> (tensor<?x4x16xf32>, tensor<?x4x16xf32>, tensor<?x4x16xf32>)
    ```
  }];
  let arguments = (ins MMX_Rows:$input);
  let results = (outs Variadic<MMX_Heads>:$outputs);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def MMX_MergeHeadsOp : MMX_PureOp<"merge_heads"> {
  let summary = "concatenates the heads of each token";
  let description = [{
    `result[t, h dim + i] = input[t, h, i]`.

    Example:
    ```mlir
    %r = mmx.merge_heads %o : (tensor<?x4x16xf32>) -> tensor<?x64xf32>
    ```
  }];
  let arguments = (ins MMX_Heads:$input);
  let results = (outs MMX_Rows:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
